"""The report's chapter on the puzzles whose states are all listed: what its templates are filled in with."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from costtogo.analysis.numbers import amount, places
from costtogo.analysis.suboptimality import SEPARATED
from costtogo.learning.instances import SMALL
from costtogo.literature.answers.listed_searches import NETWORK_ENGINE
from costtogo.literature.answers.puzzle import listings
from costtogo.literature.answers.sampled_searches import trees_in_short
from costtogo.literature.comparison import compare_all
from costtogo.literature.counterparts import THESIS
from costtogo.literature.estimates import not_run, price_of_undecided, thresholds_of_exact
from costtogo.literature.reported import DOCUMENTS
from costtogo.puzzles import family, make, title
from costtogo.report import sampled
from costtogo.report.beside import documents, documents_differences, numbers_table, repeated, repeated_differences
from costtogo.report.figures import Figures
from costtogo.report.markdown import cell_text, code
from costtogo.report.pages import Page
from costtogo.report.render import items, render
from costtogo.report.several_seeds import repeats_table
from costtogo.report.trainings import training_table
from costtogo.tables.results import START, StudyResults, Tables, alike
from costtogo.tables.timings import of_cells, of_settings
from costtogo.tables.whole import at_headline, audit, cells_of, chosen_numbers, layers_of, of_models, policy

LEAST_INSTANCES = 30  # at a distance, for its share to be reported
COUNTS = {"instances": "instances", "solved": "solved_percent"}  # of the searches with each kind of heuristic
HEADLINES = (  # of the table of key numbers
    *("model", "puzzle", "cell", "selected_iteration", "selected_mean_absolute_error"),
    *("admissible_percent", "consistent_percent"),
    *("optimal_percent", "optimal_low", "optimal_high"),
    *("nodes_expanded", "exact_nodes_expanded", "zero_nodes_expanded", "run"),
)


def puzzles(results: StudyResults) -> list[str]:
    """The puzzles of a study whose networks are audited and searched with on every state."""
    return [puzzle for puzzle in results.models if results.puzzles[puzzle].is_exhaustive]


compared = compare_all  # the literature's numbers with ours; where results are timed, wall-clock times alone


def heading(results: StudyResults) -> str:
    """What a report with such puzzles is called."""
    return "Learned cost-to-go, reproduced"


def summary(results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame) -> str:
    """The key numbers of each model, and what was done."""
    puzzles = [results.of(puzzle) for puzzle in results.models]
    headlines = [
        {"model": model, "puzzle": each.puzzle, "cell": cell_text(each.headline_cell(each.puzzle)), **numbers}
        | {"run": each.run(f"searches/{model}")}
        for each in puzzles
        for model, numbers in chosen_numbers(each).items()
    ]
    sizes = [{"title": title(each.puzzle), **each.card(f"tables/{each.puzzle}")["metrics"]} for each in puzzles]
    headlines = pd.DataFrame(headlines).reindex(columns=HEADLINES)
    models = [each.model(name) for each in puzzles for name in each.model_names]
    again = [tables["repeats"] for tables in by_puzzle.values() if "repeats" in tables]
    values = {"headlines": headlines, "puzzles": sizes, "models": models, "level": 100 * SEPARATED}
    again = pd.concat(again) if again else pd.DataFrame(columns=["study"])
    return render(
        "summary", **values, repeats=repeats_table(again) if len(again) else "", repeated=again["study"].unique()
    )


def pages(
    results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame, figures: Figures
) -> Iterator[Page]:
    """One for each puzzle."""
    for puzzle in results.models:
        own = results.of(puzzle)
        chapter = sampled.Chapter(own, by_puzzle[puzzle], comparison, figures.of(puzzle))
        yield Page(puzzle, "listed", "\n".join(filter(None, [_puzzle(own, figures), chapter.further()])))


def findings(results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame) -> list[list[str]]:
    """For each puzzle: how the best network searches, what it does from every state, how far the networks are off."""
    return [items(render("findings_listed", **_found(results.of(puzzle)))) for puzzle in results.models]


def _found(results: StudyResults) -> dict[str, Any]:
    """The numbers of each model of a puzzle, and the one with most optimal solutions and the fewest nodes expanded."""
    puzzle = results.puzzle
    numbers = pd.DataFrame(chosen_numbers(results)).T.rename_axis("model").reset_index()
    best = numbers.sort_values(["optimal_percent", "nodes_expanded"], ascending=[False, True]).iloc[0]
    searched = alike(cells_of(results), results.headline_cell(puzzle), "set", "path_weight", "batch_size")
    of_kind = searched.groupby("heuristic")
    counts = {name: of_kind[column].first().to_dict() for name, column in COUNTS.items()}
    found = {"best": best.dropna().to_dict(), "numbers": numbers, **counts}
    found |= {
        "headline": results.headline_model,
        "hardest": _hardest(results, best["model"]),
        "ends": _ends_of_the_grid(results, best["model"]),
        "errors": _errors(results, best["model"]),
        "trees": [trees_in_short(results, lambda own, name: name == searched["set"].iloc[0])],
    }
    return {"title": title(puzzle), "cell": cell_text(results.headline_cell(puzzle)), **found}


def _hardest(results: StudyResults, model: str) -> dict[str, Any]:
    """The distance from which least searches of the headline cell find the fewest moves; empty where all alike do.

    Of distances with as many instances as a share takes.
    """
    cells = cells_of(results, "by_distance")
    own = cells[(cells["heuristic"] == "network") & (cells["search"] == model)]
    own = alike(own, results.headline_cell(results.puzzle), "set", "path_weight", "batch_size")
    own = own[own["instances"] >= LEAST_INSTANCES]
    return {} if own["optimal_percent"].nunique() < 2 else own.loc[own["optimal_percent"].idxmin()].to_dict()


def _ends_of_the_grid(results: StudyResults, model: str) -> dict[str, Any]:
    """The cells of a model's largest grid with the fewest nodes, and with most optimal solutions; empty of one cell."""
    cells = cells_of(results)
    own = cells[(cells["heuristic"] == "network") & (cells["search"] == model)].dropna(subset="nodes_expanded")
    own = own[own["set"] == own["set"].mode().min()]
    if len(own) < 2 or own["optimal_percent"].nunique() < 2:
        return {}
    ordered = own.sort_values(["optimal_percent", "nodes_expanded"], ascending=[False, True])
    fewest = own.loc[own["nodes_expanded"].idxmin()]
    return {"cells": len(own), "set": fewest["set"], "fewest": fewest.to_dict(), "most": ordered.iloc[0].to_dict()}


def _errors(results: StudyResults, model: str) -> dict[str, Any]:
    """The errors over all states of a model's last checkpoint, of the chosen one and of that with the smallest."""
    measures = of_models(audit)(results)
    own = measures[(measures["model"] == model) & (measures["scope"] == "all")].sort_values("iteration")
    rows = {"last": own.iloc[-1], "chosen": own[own["selected"]].iloc[0]}
    rows["least"] = own.loc[own["mean_absolute_error"].idxmin()]
    return {"checkpoints": len(own), **{name: row.to_dict() for name, row in rows.items()}}


def literature(results: StudyResults, comparison: pd.DataFrame) -> str:
    """The literature's numbers with ours, section by section."""
    thesis = comparison["source"] == THESIS
    told = {"estimated": len(not_run(results)) > 0, "thresholds": thresholds_of_exact(results)}
    told["exact"] = THESIS in results.params.beside
    own = repeated(comparison[thesis], **told) if thesis.any() else ""
    parts = [own, documents(comparison[~thesis], _others(comparison))]
    return "\n".join(filter(None, parts))


def differences(results: StudyResults, comparison: pd.DataFrame) -> str:
    """Where ours is worse than the literature, and its slips."""
    thesis = comparison["source"] == THESIS
    price = price_of_undecided(results, comparison)
    parts = [repeated_differences(comparison[thesis], listings(results), price) if thesis.any() else ""]
    parts.append(documents_differences(comparison[~thesis], _others(comparison)))
    return "\n".join(filter(None, parts))


def _others(comparison: pd.DataFrame) -> str:
    """The documents other than the thesis as a title."""
    found = map(DOCUMENTS.get, comparison.loc[comparison["source"] != THESIS, "source"].unique())
    names = " and ".join(f"the {name}" if name[0].islower() else name for name in found)
    return names[:1].upper() + names[1:]


def kept(results: StudyResults) -> list[StudyResults]:
    """What the studies shown in this one have kept of trainings on the puzzles."""
    return results.kept_on(*puzzles(results))


def instance_sets(results: StudyResults) -> str:
    """The instance sets of the listed puzzles, and how many states of each a selection set holds too."""
    rows = []
    for puzzle in puzzles(results):
        for name, group in results.frame(f"instances/{puzzle}").groupby("set", sort=False):
            role, count = group["role"].iloc[0], group["instances"].sum()
            mean = places(2)((group["distance"] * group["instances"]).sum() / count)
            shared = amount(group["shared"].sum()) if role == "test" else "–"
            rows.append([puzzle, name, role, amount(count), mean, amount(group["distance"].max()), shared])
    return render("instances", rows=rows, small=SMALL) if rows else ""


def timings(results: StudyResults, comparison: pd.DataFrame, figures: Figures) -> str:
    """The wall-clock times of the searches, and the literature's with ours."""
    clocks = {title(puzzle): at_headline(results.of(puzzle), of_cells(results.of(puzzle))) for puzzle in results.models}
    searches = {puzzle: clock for puzzle, clock in clocks.items() if not clock.empty}
    told = numbers_table(comparison, repeated=True) if len(comparison) else None
    others = {title(puzzle): _by_group(results.of(puzzle)) for puzzle in results.models}
    others = {puzzle: groups for puzzle, groups in others.items() if groups}
    exact = not_run(results) if len(comparison) and (comparison["source"] == THESIS).any() else None
    values = {"searches": searches, "others": others, "comparison": told, "engine": NETWORK_ENGINE, "not_run": exact}
    text = render("listed_timings", **values)
    return "\n".join(filter(None, [text, figures.gallery(figures.timed(results.models))]))


def _by_group(results: StudyResults) -> Tables:
    """Seconds of the searches by other solvers than BWAS: by the words for it, settings and seconds."""
    found = of_settings(results) if results.asked.by_group else pd.DataFrame(columns=["group"])
    groups = {first.words: found[found["group"] == group] for group, (first, *_) in results.asked.by_group.items()}
    return {words: rows.drop(columns="group").dropna(axis=1, how="all") for words, rows in groups.items() if len(rows)}


def _puzzle(results: StudyResults, figures: Figures) -> str:
    """The part on the one puzzle of some results."""
    puzzle = results.puzzle
    return render(
        "listed",
        **results.card(f"tables/{puzzle}")["metrics"],
        title=title(puzzle),
        drawn=figures.of(puzzle),
        puzzle=puzzle,
        training=training_table(results),
        audit=_audited(results),
        policy=_policies(results),
        headline=results.headline_cell(puzzle),
        cells=_at_headline(results),
        farthest=_from_the_farthest(results),
        metrics=chosen_numbers(results),
        start=_from_the_start(results),
    )


def _audited(results: StudyResults) -> pd.DataFrame:
    """The measures of the checkpoint of each model that the searches use."""
    measures = of_models(audit)(results)
    return measures[measures["selected"]]


def _policies(results: StudyResults) -> pd.DataFrame:
    """What each policy does by distance, at the checkpoint that the searches use, after a row over all states."""
    found = policy(results)
    if found.empty:
        return found
    parts = []
    for model, rows in found[found["selected"]].groupby("model", sort=False):
        measures = rows.columns.drop(["model", "iteration", "convergence_point", "distance", "states", "selected"])
        means = {name: np.average(rows[name], weights=rows["states"]) for name in measures}
        whole = pd.DataFrame([{"model": model, "distance": "all", "states": rows["states"].sum(), **means}])
        parts += [whole, rows[list(whole.columns)].astype({"distance": object})]
    return pd.concat(parts, ignore_index=True)


def _at_headline(results: StudyResults) -> pd.DataFrame:
    """Every set at the headline λ and N, with every heuristic; the share of one instance has no interval."""
    cells = at_headline(results, _named(cells_of(results))).sort_values("set", kind="stable")
    several = cells["instances"] > 1
    return cells.assign(**{name: cells[name].where(several) for name in ("optimal_low", "optimal_high")})


def _named(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells whose column search has the model in code letters, or the name of the heuristic that takes its place."""
    return cells.assign(search=cells["heuristic"].where(cells["heuristic"] != "network", cells["search"].map(code)))


def _from_the_farthest(results: StudyResults) -> dict[str, Any] | None:
    """The searches from all states that are farthest from the goal, where a set holds them all."""
    farthest = layers_of(results, results.puzzle).iloc[-1]
    shares = at_headline(results, _named(cells_of(results, "by_distance")))
    whole = (shares["distance"] == farthest["distance"]) & (shares["instances"] == farthest["states"])
    return {**farthest, "searches": shares[whole]} if farthest["states"] > 1 and whole.any() else None


def _from_the_start(results: StudyResults) -> dict[str, Any] | None:
    """Nodes expanded and length from the start state of a tower, one column a heuristic; None of another puzzle."""
    cells = _named(cells_of(results))
    cells = cells[cells["set"] == START]
    if family(results.puzzle) != "hanoi" or cells.empty:
        return None
    rows, names = [], list(dict.fromkeys(cells["search"]))
    for (size, weight), group in cells.groupby(["batch_size", "path_weight"]):
        found = group.set_index("search").to_dict("index")
        rows.append([f"λ = {weight:g}, N = {size}", *(_start_text(found.get(name)) for name in names)])
    moves = len(make(results.puzzle).recursive_solution())
    return {"moves": moves, "header": ["", *names], "rows": rows}


def _start_text(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    if not row["solved_percent"]:
        return f"{amount(row['nodes_expanded'])} (unsolved)"
    return amount(row["nodes_expanded"]) + (f" ({amount(row['length'])})" if row["optimal_percent"] < 100 else "")
