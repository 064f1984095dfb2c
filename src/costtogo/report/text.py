"""The report as Markdown: a summary, a section for each puzzle, and where the numbers come from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from costtogo.figures.catalogue import FigureEntry, catalogue
from costtogo.files import read_text
from costtogo.puzzles import family, make
from costtogo.report.markdown import amount, frame_table, is_missing, percent, places, short, table
from costtogo.report.results import StudyResults
from costtogo.report.tables import (
    START,
    adoptions,
    audit,
    headline_numbers,
    puzzle_cells,
    same_weights,
    searches_of,
    states_per_distance,
)

DIGEST_LENGTH = 16  # characters of a digest that the report shows; tables/provenance.csv has all of them


def report(results: StudyResults, captions: Path, measured: Path, *sections: str) -> str:
    """The whole report; further sections stand before the provenance.

    captions is the folder of the captions, measured that of what other studies kept.
    """
    figures = [entry for entry in catalogue(results.params, measured) if not entry.timed]
    parts = [
        f"# Learned cost-to-go, reproduced: the study `{results.study}`\n",
        *_summary(results),
        *_method(results),
    ]
    for puzzle in results.models:
        own = [entry for entry in figures if entry.puzzle == puzzle]
        parts += _puzzle(results, puzzle, own, captions)
    selected = {model: results.selected_iteration(model) for model in results.model_names}
    parts += [*sections, *_instances(results), *provenance_text(results, selected)]
    return "\n".join(parts)


def puzzle_title(puzzle: str) -> str:
    """A puzzle's name for readers.  "cube2" -> "2×2×2 cube", "hanoi_7" -> "Towers of Hanoi H(7, 3)"; "15-puzzle"."""
    match family(puzzle):
        case "hanoi":
            return f"Towers of Hanoi H({puzzle.removeprefix('hanoi_')}, 3)"
        case "sliding":
            return f"{puzzle.removeprefix('puzzle')}-puzzle"
        case "lights_out":
            return "Lights Out, " + " × ".join([puzzle.removeprefix("lights_out_")] * 2)
        case _:
            return "×".join([puzzle.removeprefix("cube")] * 3) + " cube"


def cell_text(cell: dict[str, Any]) -> str:
    """A cell in the literature's letters.  -> "test, λ = 0.7, N = 5"."""
    return f"{cell['set']}, λ = {cell['path_weight']:g}, N = {cell['batch_size']}"


def gallery(entries: list[FigureEntry], captions: Path) -> str:
    """Figures of one kind, each with its label, and their caption below the last."""
    shown = [f"![{entry.label}]({entry.stem}.png)\n\n**{entry.label}.**" for entry in entries]
    caption = " ".join(read_text(captions / f"{entries[0].kind}.rst").split())
    return "\n\n".join(shown) + f" {caption}\n"


def _summary(results: StudyResults) -> Iterator[str]:
    numbers = headline_numbers(results)
    rows = []
    for puzzle, models in results.models.items():
        rows += [_summary_row(model, numbers[model], results.headline(puzzle)) for model in models]
    header = [
        "model",
        "checkpoint (iteration)",
        "mean absolute error, moves",
        "admissible, %",
        "consistent, %",
    ]
    header += ["searched: set, λ, N", "optimal, % [95 % interval]", "nodes expanded", "exact", "zero"]
    yield "## Summary\n"
    yield table(header, rows)
    yield (
        "Error, admissible and consistent shares are over all states of the puzzle. *Optimal* is the"
        " share of the instances of the set that BWAS solved with the fewest moves. The last two columns"
        " are the nodes expanded by the same search with the exact distance and with none (zero; on a"
        " part of the set, spread over it; the tables below say how many); – was not measured."
        " Wall-clock times are in [timings.md](timings.md), all numbers in"
        " [tables/](tables/), and the literature's beside ours in"
        " [reported_vs_reproduced.csv](reported_vs_reproduced.csv).\n"
    )


def _summary_row(model: str, numbers: dict[str, float], cell: dict[str, Any]) -> list[str]:
    optimal = interval_text(*(numbers.get(name) for name in ("optimal_percent", "optimal_low", "optimal_high")))
    return [
        f"`{model}`",
        amount(numbers["selected_iteration"]),
        places(3)(numbers.get("mean_absolute_error")),
        percent(numbers.get("admissible_percent")),
        percent(numbers.get("consistent_percent")),
        cell_text(cell),
        optimal,
        *(amount(numbers.get(name)) for name in ("nodes_expanded", "exact_nodes_expanded", "zero_nodes_expanded")),
    ]


def interval_text(value: float | None, low: float | None, high: float | None) -> str:
    """A share with its interval, if there is one.  -> "99.87 [99.78, 99.92]"."""
    if low is None:
        return percent(value)
    return f"{percent(value)} [{percent(low)}, {percent(high)}]"


def _method(results: StudyResults) -> Iterator[str]:
    yield "## What was done\n"
    listed = "; ".join(_size_text(results, puzzle) for puzzle in results.models)
    yield (
        f"Breadth-first search from the goal gave the exact distance of every state: {listed}. Networks"
        " were trained from nothing by deep approximate value iteration, which sees no exact distance."
        " Each was then held against the exact table on every state: does it overestimate (is it"
        " admissible), does it fall by more than one move between neighbours (is it consistent), and how"
        " far is it off? Last, batch weighted A* (BWAS) searched with each network over path weights λ"
        " and batch sizes N, beside the same search with the exact distance and with none. The checkpoint"
        " for the searches was chosen on instances of its own (the selection set). The protocol is that"
        " of the thesis (Tardón Rubio 2022); the literature's numbers stand beside ours below.\n"
    )


def _size_text(results: StudyResults, puzzle: str) -> str:
    metrics = results.card(f"tables/{puzzle}")["metrics"]
    states, diameter = amount(metrics["states"]), amount(metrics["diameter"])
    return f"{puzzle_title(puzzle)}, {states} states up to {diameter} moves away"


def _puzzle(results: StudyResults, puzzle: str, figures: list[FigureEntry], captions: Path) -> Iterator[str]:
    def drawn(*kinds: str) -> list[str]:
        present = [[entry for entry in figures if entry.kind == kind] for kind in kinds]
        return [gallery(entries, captions) for entries in present if entries]

    yield f"## {puzzle_title(puzzle)}\n"
    metrics = results.card(f"tables/{puzzle}")["metrics"]
    yield (
        f"{amount(metrics['states'])} states; the farthest is {amount(metrics['diameter'])} moves from the"
        f" goal, the mean {amount(metrics['mean_distance'])}.\n"
    )
    yield from drawn("states", "distances", "sampler_distances", "sampler_difference", "effective_k")
    yield "### Training\n"
    yield training_table(results, results.models[puzzle])
    yield "Parameters are in italics; *tables/convergence_points.csv* lists every convergence point.\n"
    yield from drawn("training", "mean_costs", "last_points", "kept_training", "learning_curve", "error_at_point")
    yield "### Audit\n"
    yield _audit_table(results, puzzle)
    yield from drawn("audit", "error_by_distance", "walk_costs", "error_by_checkpoint")
    yield "### Search\n"
    yield _search_table(results, puzzle)
    yield from _farthest_table(results, puzzle)
    yield from _grid_tables(results, puzzle)
    yield from _search_notes(results, puzzle)
    yield from drawn("grid", "optimal_by_distance", "optimal_by_iteration")
    if family(puzzle) == "hanoi":
        yield "### From the start state\n"
        yield _start_table(results, puzzle)
        yield from drawn("from_start", "way")


def training_table(results: StudyResults, models: list[str]) -> str:
    """Parameters and results of the trainings, one column a model."""
    cards = [results.card(f"models/{model}") for model in models]
    parameters = [used_parameters(card["parameters"]["training"]) for card in cards]
    metrics = [card["metrics"] for card in cards]
    rows = [[f"*{key}*", *(short(flat.get(key, "–")) for flat in parameters)] for key in _keys(parameters)]
    rows += [[key.replace("_", " "), *(_measured(found.get(key)) for found in metrics)] for key in _keys(metrics)]
    return table(["", *(f"`{model}`" for model in models)], rows)


def used_parameters(training: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a training by dotted key, without those that its sampler, optimizer and network do not look at."""
    if training["sampler"]["kind"] != "non_backtracking":
        training = training | {"sampler": {key: value for key, value in training["sampler"].items() if key != "stride"}}
    tower, adam = {"disks", "residual", "patience", "hold"}, {"learning_rate", "learning_rate_decay", "minibatch"}
    adam |= {"adam_beta_1", "adam_beta_2", "adam_epsilon"}
    of_sampler = {
        "uniform": {"walk_max", "conv_point_offs", *tower},
        "adaptive_k": tower,
        "growing_tower": {"walk_max", "conv_point_offs"},
    }.get(training["sampler"]["kind"], {"conv_point_offs", *tower})
    idle = {f"sampler.{name}" for name in of_sampler}
    idle |= adam if training.get("optimizer") == "lbfgs" else {"lbfgs_steps"}
    idle |= {"polyak"} if training.get("trainer") in ("random_walk", "presses") else set()
    idle |= {"epsilon"} if training.get("trainer") in ("random_walk", "presses") or training.get("polyak") else set()
    recurrent = training.get("architecture", {}).get("kind") in ("automaton", "gru")
    used = flatten(training)
    layers = {key for key in used if key.startswith("architecture.")} - {"architecture.kind", "architecture.states"}
    idle |= layers if recurrent else {"architecture.states"}
    if training.get("architecture", {}).get("kind") == "rows":
        idle |= layers - {"architecture.outputs", "architecture.first_layers"}
    if training.get("architecture", {}).get("kind") == "convolutional":
        idle |= {"architecture.residual_blocks", "architecture.layers_per_block"}
    return {key: value for key, value in used.items() if key not in idle}


def _keys(dictionaries: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for entries in dictionaries for key in entries))


def _measured(value) -> str:
    return amount(value) if is_missing(value) or value >= 100 or value == int(value) else f"{value:.4g}"


def flatten(nested: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested parameters by dotted key.  {"sampler": {"kind": "uniform"}} -> {"sampler.kind": "uniform"}."""
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _audit_table(results: StudyResults, puzzle: str) -> str:
    frame = pd.concat([audit(results, model) for model in results.models[puzzle]])
    frame["model"] = (
        frame["model"].map(lambda model: f"`{model}`").where(~frame["selected"], frame["model"].map("**`{}`**".format))
    )
    columns = {
        "model": ("model", str),
        "iteration": ("iteration", amount),
        "scope": ("states", str),
        "states": ("number", amount),
        "admissible_percent": ("admissible, %", percent),
        "overestimation_mean": ("mean overestimate, moves", places(3)),
        "overestimation_max": ("largest, moves", places(2)),
        "consistent_percent": ("consistent, %", percent),
        "mean_absolute_error": ("mean absolute error, moves", places(3)),
        "bias": ("bias, moves", places(3)),
    }
    note = (
        "\nThe checkpoint that the searches use is in bold. The mean overestimate is over the states that are"
        " overestimated; *sample* follows the literature's protocol, *all* is every state.\n"
    )
    return frame_table(frame, columns) + note


def _search_table(results: StudyResults, puzzle: str) -> str:
    """Every set at the headline λ and N, with every heuristic."""
    cell = results.headline(puzzle)
    cells = puzzle_cells(results, puzzle)
    cells = cells[same_weights(cells, cell)].sort_values("set", kind="stable")
    shares = cells[["optimal_percent", "optimal_low", "optimal_high"]].to_numpy()
    cells["interval"] = [
        interval_text(*share) if count > 1 else percent(share[0])
        for share, count in zip(shares, cells["instances"], strict=True)
    ]
    cells["search"] = _search_names(cells)
    columns = {
        "set": ("set", str),
        "search": ("heuristic", str),
        "instances": ("instances", amount),
        "solved_percent": ("solved, %", percent),
        "interval": ("optimal, % [95 % interval]", str),
        "length": ("length, moves", places(2)),
        "excess": ("moves too many", places(4)),
        "nodes_expanded": ("nodes expanded", amount),
        "nodes_generated": ("nodes generated", amount),
    }
    setting = f"λ = {cell['path_weight']:g}, N = {cell['batch_size']}"
    return f"All sets at {setting}; the figures show others.\n\n" + frame_table(cells, columns)


def _farthest_table(results: StudyResults, puzzle: str) -> Iterator[str]:
    """The searches from all states that are farthest from the goal, where a set holds them all."""
    layers = states_per_distance(results)
    farthest = layers[layers["puzzle"] == puzzle].iloc[-1]
    frames = []
    for search in searches_of(results, puzzle):
        shares = results.frame(f"searches/{search}/by_distance")
        whole = (shares["distance"] == farthest["distance"]) & (shares["instances"] == farthest["states"])
        frames.append(shares[whole & same_weights(shares, results.headline(puzzle))].assign(search=search))
    found = pd.concat(frames)
    if farthest["states"] > 1 and not found.empty:
        found["search"] = _search_names(found)
        columns = {
            "search": ("heuristic", str),
            "optimal_percent": ("optimal, %", percent),
            "nodes_expanded": ("nodes expanded", amount),
        }
        moves = farthest["distance"]
        yield f"From all {farthest['states']} states that are {moves} moves away, the farthest there are:\n"
        yield frame_table(found, columns)


def _grid_tables(results: StudyResults, puzzle: str) -> Iterator[str]:
    """Every set that was searched over several λ or N, laid out as in the literature: λ down, N across."""
    cells = puzzle_cells(results, puzzle)
    cells = cells[cells["set"] != START].assign(name=_search_names)
    for place, group in cells.groupby("set", sort=False):
        sizes = sorted(group["batch_size"].unique())
        if len(sizes) == group["path_weight"].nunique() == 1:
            continue
        for column, title, form in (("optimal_percent", "Optimal, %", percent), ("nodes_expanded", "Expanded", amount)):
            wide = group.pivot(index=["name", "path_weight"], columns="batch_size", values=column)
            wide = wide.reindex(list(dict.fromkeys(group["name"])), level="name")
            rows = [
                [name, f"{weight:g}", *map(form, row)]
                for (name, weight), row in zip(wide.index, wide.to_numpy(), strict=True)
            ]
            yield f"{title}, on the set {place}:\n"
            yield table(["heuristic", "λ", *(f"N = {size}" for size in sizes)], rows)


def _search_notes(results: StudyResults, puzzle: str) -> Iterator[str]:
    """What the cards of the searches say beside their tables: every start, and whether the two engines agree."""
    numbers = headline_numbers(results)
    for model in results.models[puzzle]:
        found = numbers[model]
        if "all_starts_optimal_percent" in found:
            yield (
                f"`{model}`, searched with the headline setting from every state of the puzzle:"
                f" {percent(found['all_starts_optimal_percent'])} % of the solutions are optimal,"
                f" {amount(found['all_starts_nodes_expanded'])} nodes are expanded on average, and the longest"
                f" detour is {amount(found.get('all_starts_worst_excess'))} moves.\n"
            )
        if "engines_agree_percent" in found:
            yield (
                f"`{model}`: {percent(found['engines_agree_percent'])} % of the searches that were repeated over the"
                " network itself (a part of each set, without those of more than network_max_steps steps) found"
                " solutions as long as those over the table of its values.\n"
            )


def _search_names(cells: pd.DataFrame) -> pd.Series:
    """The model in code letters, or the name of the heuristic that takes its place."""
    return cells["heuristic"].where(cells["heuristic"] != "network", cells["search"].map("`{}`".format))


def _start_table(results: StudyResults, puzzle: str) -> str:
    """Nodes expanded and length from the start state, one column a heuristic."""
    cells = puzzle_cells(results, puzzle)
    cells = cells[cells["set"] == START]
    cells = cells.assign(name=_search_names(cells))
    names = list(dict.fromkeys(cells["name"]))
    rows = []
    for (size, weight), group in cells.groupby(["batch_size", "path_weight"]):
        found = {row["name"]: row for row in group.to_dict("records")}
        rows.append([f"λ = {weight:g}, N = {size}", *(_start_text(found.get(name)) for name in names)])
    moves = len(make(puzzle).recursive_solution())
    head = (
        "Nodes expanded from the start state; in brackets the moves where they are more than the least. The recursive"
        f" solution, which needs no search, takes {amount(moves)} moves.\n\n"
    )
    return head + table(["", *names], rows)


def _start_text(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    if not row["solved_percent"]:
        return f"{amount(row['nodes_expanded'])} (unsolved)"
    return amount(row["nodes_expanded"]) + (f" ({amount(row['length'])})" if row["optimal_percent"] < 100 else "")


def _instances(results: StudyResults) -> Iterator[str]:
    yield "## Instance sets\n"
    rows = []
    for puzzle in results.models:
        frame = results.frame(f"instances/{puzzle}")
        chosen_on = set(frame.loc[frame["role"] == "selection", "rank"])
        for name, group in frame.groupby("set", sort=False):
            role, mean = group["role"].iloc[0], places(2)(group["distance"].mean())
            shared = amount(len(chosen_on & set(group["rank"]))) if role == "test" else "–"
            rows.append([puzzle, name, role, amount(len(group)), mean, amount(group["distance"].max()), shared])
    header = ["puzzle", "set", "role", "instances", "mean distance, moves", "largest, moves"]
    yield table([*header, "states that a selection set holds too"], rows)
    yield (
        "Checkpoints are chosen on the selection sets and measured on the test sets, drawn so that the"
        " two share no state. The Towers of Hanoi are exempt: their spaces are so small that disjoint"
        " sets would leave little to test on. The last column counts the states that are in both.\n"
    )


def provenance_text(results: StudyResults, selected: dict[str, int]) -> Iterator[str]:
    """Versions, seeds, digests of the data and of the networks; selected: the iteration of each model's network."""
    cards = list(results.cards.values())
    yield "## Where the numbers come from\n"
    versions: dict[str, set[str]] = {}
    for card in cards:
        for name, version in card["versions"].items():
            versions.setdefault(name, set()).add(version)
    yield (
        "Versions: "
        + ", ".join(f"{name} {' and '.join(sorted(found))}" for name, found in sorted(versions.items()))
        + ".\n"
    )
    adopted = [card for card in cards if adoptions(card)]
    if adopted:
        yield (
            f"Of the {len(cards)} stages {len(adopted)} were taken over to newer code without a run, after it had been "
            "shown to give the same bytes: column *adopted* of *tables/provenance.csv*.\n"
        )
    seeds = [
        [f"{card['stage']} `{card['name']}`", key, short(value)]
        for card in cards
        for key, value in flatten(card["parameters"]).items()
        if key.split(".")[-1] == "seed"
    ]
    yield table(["stage", "parameter", "seed"], seeds)
    digests = [
        [f"`{path}`", f"`{digest[:DIGEST_LENGTH]}`"]
        for card in cards
        if card["group"] in ("tables", "pattern_databases", "instances", "optima")
        for path, digest in sorted(card["outputs"].items())
    ]
    yield "Data (SHA-256, first characters; *tables/provenance.csv* has every file in full):\n"
    yield table(["file", "digest"], digests)
    yield _checkpoints(results, selected)


def _checkpoints(results: StudyResults, selected: dict[str, int]) -> str:
    """The digest of the network that the searches of each model use."""
    rows = []
    for model, iteration in selected.items():
        checkpoints = results.frame(f"models/{model}/checkpoints")
        chosen = checkpoints[checkpoints["iteration"] == iteration].iloc[0]
        rows.append([f"`{model}`", f"`{chosen['file']}`", f"`{chosen['sha256'][:DIGEST_LENGTH]}`"])
    return table(["model", "checkpoint", "digest"], rows)
