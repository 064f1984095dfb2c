"""The tables of a report by the stem of their files: what there is of each puzzle, one under the other.

A table is a function of the results on one puzzle, or of these and a model; without rows where a part has not run.
"""

import math
from collections.abc import Callable
from functools import partial

import pandas as pd

from costtogo.tables.budgets import budgets, doublings
from costtogo.tables.local_vi import LOCAL_VI_TABLES, sizes
from costtogo.tables.provenance import provenance
from costtogo.tables.results import START, StudyResults, Tables, alike
from costtogo.tables.searches import SEARCH_TABLES, best_cell, left_by_stages
from costtogo.tables.several_seeds import repeats, seeds
from costtogo.tables.side_by_side import side_by_side
from costtogo.tables.trainings import settings

MEASURES = ("admissible_percent", "overestimation_mean", "overestimation_max", "consistent_percent")
AUDITS = (  # of a network on sampled states
    *("nearby", "known", "consistency", "scrambled", "greedy", "progress", "dead_ends", "bounds"),
)
LARGE = 1000  # from here on a headline number is whole
OF_SEARCH = {"shortest": "optimal_percent", "moves": "length", "nodes": "nodes_expanded"}  # headline numbers by column
OF_LISTED = OF_SEARCH | {
    "error": "selected_mean_absolute_error",
    "admissible": "admissible_percent",
    "consistent": "consistent_percent",
}
OF_SAMPLED = {"solved": "solved_percent", **OF_SEARCH}
Table = Callable[[StudyResults], pd.DataFrame]


def tables_of(results: StudyResults) -> Tables:
    """The tables on what the study asks of the one puzzle of some results; those without rows are left out."""
    found: dict[str, Table] = LOCAL_VI_TABLES if results.asked.local_vi else {}
    if results.model_names:
        exhaustive = results.asked.is_exhaustive
        found = found | (EXHAUSTIVE if exhaustive else SAMPLED) | SEARCH_TABLES
        found[f"settings_{results.puzzle}"] = settings
        others = [group for group in results.asked.by_group if group not in SEARCH_TABLES]
        found |= {group: left_by_stages(f"{group}/{{}}/grid") for group in others}
        for model in results.trained:
            of_model = EXHAUSTIVE_OF_MODELS if exhaustive else SAMPLED_OF_MODELS
            found |= {f"{kind}_{model}": partial(table, model=model) for kind, table in of_model.items()}
    return _with_rows({name: table(results) for name, table in found.items()})


def of_study(results: StudyResults, by_puzzle: dict[str, Tables]) -> Tables:
    """The tables of all puzzles, as tables_of returns them for each, one under the other, and those on the study."""
    names = dict.fromkeys(name for frames in by_puzzle.values() for name in frames)
    parts = {name: {puzzle: each[name] for puzzle, each in by_puzzle.items() if name in each} for name in names}
    frames = {name: _one_under_the_other(found) for name, found in parts.items()}
    frames |= {"states_per_distance": states_per_distance(results), "provenance": provenance(results)}
    return _with_rows(frames)


def _with_rows(frames: Tables) -> Tables:
    """Those that have rows."""
    return {name: frame for name, frame in frames.items() if not frame.empty}


def _one_under_the_other(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The tables of some puzzles as one, which says of each row what puzzle it is on where nothing else does."""
    several = len(frames) > 1 and not {"puzzle", "model", "search"} & set(next(iter(frames.values())).columns)
    parts = [frame.assign(puzzle=puzzle)[["puzzle", *frame]] if several else frame for puzzle, frame in frames.items()]
    return pd.concat(parts, ignore_index=True)


def of_models(table: Callable[[StudyResults, str], pd.DataFrame]) -> Table:
    """A table of each model of a puzzle, one under the other."""
    return lambda results: pd.concat([table(results, model) for model in results.model_names])


def states_per_distance(results: StudyResults) -> pd.DataFrame:
    """puzzle, distance, states, of every puzzle whose states are all listed."""
    layers = [layers_of(results, puzzle) for puzzle in results.listed]
    return pd.concat(layers, ignore_index=True) if layers else pd.DataFrame()


def layers_of(results: StudyResults, puzzle: str) -> pd.DataFrame:
    """The same of one puzzle."""
    return results.frame(f"tables/{puzzle}").assign(puzzle=puzzle)[["puzzle", "distance", "states"]]


def training(results: StudyResults) -> pd.DataFrame:
    """What the card of each training says of it."""
    models = results.trained
    return pd.DataFrame([{"model": model, **results.card(f"models/{model}")["metrics"]} for model in models])


def loss(results: StudyResults, model: str) -> pd.DataFrame:
    """Both losses along the training, of iterations evenly spread over those that validated."""
    curve = results.frame(f"models/{model}/curve")
    return curve.loc[curve["shown"], ["iteration", "loss", "validation_loss"]]


def convergence_points(results: StudyResults, model: str) -> pd.DataFrame:
    """Iteration, effective_k and the losses at each update of the target network."""
    curve = results.frame(f"models/{model}/curve")
    columns = ["model", "iteration", "convergence_points", "effective_k", "loss", "validation_loss"]
    return curve[curve["updated"]].assign(model=model)[columns]


def learning_curve(results: StudyResults, model: str) -> pd.DataFrame:
    """The mean absolute error and bias over all states of the puzzle at each convergence point."""
    errors = results.frame(f"models/{model}/errors").assign(model=model)
    return errors[["model", "iteration", "convergence_point", "mean_absolute_error", "bias"]]


def audit(results: StudyResults, model: str) -> pd.DataFrame:
    """The measures of each audited checkpoint, and whether the searches use it."""
    measures = results.frame(f"audits/{model}/measures")
    return measures.assign(selected=measures["iteration"] == results.selected_iteration(model))


def policy(results: StudyResults) -> pd.DataFrame:
    """What each policy does at each distance, by checkpoint, and whether the searches by BWAS use that."""
    found = results.of_each(results.model_names, "audits/{}/policy")
    if found.empty:
        return found
    chosen = {model: results.selected_iteration(model) for model in found["model"].unique()}
    return found.assign(selected=found["iteration"] == found["model"].map(chosen))


def grid(results: StudyResults, model: str) -> pd.DataFrame:
    """Every cell searched with the model's network, and with its puzzle's exact and zero heuristic."""
    return searched(results, [model, baseline(results)])


def baseline(results: StudyResults) -> str:
    """The name of the searches with the exact and the zero heuristic of the one puzzle."""
    return f"baseline_{results.puzzle}"


def searched(results: StudyResults, searches: list[str], table: str = "grid") -> pd.DataFrame:
    """A table of some searches, one under the other, with the name of each before it."""
    frames = {search: results.frame(f"searches/{search}/{table}") for search in searches}
    return pd.concat([frame.assign(search=search)[["search", *frame]] for search, frame in frames.items()])


def cells_of(results: StudyResults, table: str = "grid") -> pd.DataFrame:
    """Every cell of every search of the one puzzle, by its models and by the baselines."""
    return searched(results, [*results.model_names, baseline(results)], table)


def start(results: StudyResults) -> pd.DataFrame:
    """The searches from the start state of a tower."""
    cells = cells_of(results)
    columns = ["search", "heuristic", "path_weight", "batch_size", "solved_percent", "optimal_percent"]
    cells = cells.loc[cells["set"] == START, [*columns, "length", "nodes_expanded", "nodes_generated"]]
    return cells.assign(puzzle=results.puzzle)[["puzzle", *cells.columns]]


def optimal_by_distance(results: StudyResults) -> pd.DataFrame:
    """Optimal solutions and nodes by distance at the headline λ and N, on every set, with every heuristic."""
    return at_headline(results, cells_of(results, "by_distance"))


def at_headline(results: StudyResults, cells: pd.DataFrame) -> pd.DataFrame:
    """The cells with the headline's λ and N, of the one puzzle."""
    return alike(cells, results.headline_cell(results.puzzle), "path_weight", "batch_size")


def headline_numbers(results: StudyResults) -> dict[str, dict[str, float]]:
    """The few numbers by which models are compared, of each model; what was not measured is left out.

    solved, shortest: searches that found a solution, and one of the fewest moves, %.  moves, nodes: of a solution, and
    expanded by a search, on average.  error: mean absolute, moves.  admissible, consistent: by the audit, %.
    Of a model audited on every state those of its chosen checkpoint and of the headline's search; of another those of
    its best search on the set that the study searches first; of local value iteration its last average.
    """
    numbers: dict[str, dict[str, float]] = {}
    for puzzle in results.puzzles:
        own = results.of(puzzle)
        of_model = _of_listed if own.asked.is_exhaustive else _of_sampled
        numbers |= {model: of_model(own, model) for model in own.model_names}
        if own.asked.local_vi:
            numbers["local_vi"] = {"moves": sizes(own)["average_moves"].iloc[-1]}
    return {model: _in_short(found) for model, found in numbers.items()}


def _of_listed(results: StudyResults, model: str) -> dict[str, float]:
    found = of_chosen_checkpoint(results, model)
    return {name: found.get(column) for name, column in OF_LISTED.items()}


def _of_sampled(results: StudyResults, model: str) -> dict[str, float]:
    asked = results.asked
    grids = [results.find_frame(f"{group}/{model}/grid") for group in dict.fromkeys(("searches", *asked.by_group))]
    tests = [search.set for search in asked.searches if getattr(asked.instances[search.set], "role", "test") == "test"]
    cells = [frame[frame["set"].isin(tests[:1])] for frame in grids if frame is not None]
    cells = [frame.reindex(columns=[*OF_SAMPLED.values(), "nodes_generated"]) for frame in cells if len(frame)]
    found = best_cell(pd.concat(cells)) if cells else {}
    consistent = results.metric(f"audits/{model}", "consistent_percent")
    return {name: found.get(column) for name, column in OF_SAMPLED.items()} | {"consistent": consistent}


def _in_short(numbers: dict[str, float]) -> dict[str, float]:
    """Numbers to three digits behind the point, large ones to none; without those that were not measured."""
    found = {name: float(value) for name, value in numbers.items() if value is not None and math.isfinite(value)}
    return {name: round(value, 3) if abs(value) < LARGE else round(value) for name, value in found.items()}


def chosen_numbers(results: StudyResults) -> dict[str, dict[str, float]]:
    """Audit and headline search of each model of the one puzzle, whose states are all listed."""
    return {model: of_chosen_checkpoint(results, model) for model in results.model_names}


def of_chosen_checkpoint(results: StudyResults, model: str) -> dict[str, float]:
    """Audit and headline search of the checkpoint that the searches use; of one instance a share has no interval."""
    measures, headline = audit(results, model), results.headline_cell(results.puzzle)
    measured = measures[measures["selected"] & (measures["scope"] == "all")]
    cells = alike(cells_of(results), headline, "set", "path_weight", "batch_size")
    own = cells[cells["search"] == model]
    interval = ("optimal_low", "optimal_high") if (own["instances"] > 1).all() else ()
    found = [measured[["mean_absolute_error"]].add_prefix("selected_"), measured[[*MEASURES]]]
    found += [own[["optimal_percent", *interval, "length", "nodes_expanded"]]]
    found += [
        cells.loc[cells["heuristic"] == kind, ["nodes_expanded"]].add_prefix(f"{kind}_") for kind in ("exact", "zero")
    ]
    metrics = results.card(f"searches/{model}")["metrics"]
    numbers = {name: value for name, value in metrics.items() if name.startswith(("all_starts_", "engines_"))}
    numbers["selected_iteration"] = results.selected_iteration(model)
    for rows in found:
        numbers |= rows.iloc[0].to_dict() if len(rows) else {}
    return {name: value for name, value in numbers.items() if value is not None and math.isfinite(value)}


EXHAUSTIVE = {  # of a puzzle whose networks are audited on every state
    "convergence_points": of_models(convergence_points),
    "audit": of_models(audit),
    "policy": policy,
    "hanoi_start": start,
    "optimal_by_distance": optimal_by_distance,
    "repeats": repeats,
}
EXHAUSTIVE_OF_MODELS = {"grid": grid, "loss": loss, "learning_curve": learning_curve}
SAMPLED = {  # of one whose networks are audited on a sample
    "training": training,
    **{name: left_by_stages(f"audits/{{}}/{name}") for name in AUDITS},
    "grid": left_by_stages("searches/{}/grid"),
    "seeds": seeds,
    "budgets": budgets,
    "doublings": doublings,
    "side_by_side": side_by_side,
}
SAMPLED_OF_MODELS = {"loss": loss}
