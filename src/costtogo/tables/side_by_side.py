"""All solvers that searched over a network, side by side: trees, beams by value and by policy, BWAS."""

from collections.abc import Iterator

import pandas as pd

from costtogo.params.searches import TreeParams
from costtogo.tables.extracts import of_clock
from costtogo.tables.results import StudyResults, alike
from costtogo.tables.searches import beams_text

COUNTED = ["instances", "solved_percent", "length", "length_low", "length_high", "known", "optimal_percent"]


def side_by_side(results: StudyResults) -> pd.DataFrame:
    """A row for each set, model and setting, where the study asks for trees: what they solved, and what that took.

    Columns model, set, solver, COUNTED, evaluated, seconds, NaN where they may not be seen, and run, the key in MLflow.
    evaluated: states that the network was asked for, on average; of BWAS and of beams by a value of the state all that
    were generated, of which those met before cost nothing.
    """
    if "trees" not in results.asked.by_group:
        return pd.DataFrame()
    rows = [row for name in results.model_names for row in _of_model(results, name)]
    order = {name: place for place, name in enumerate(results.asked.instances)}
    found = pd.DataFrame(rows)
    return found.sort_values("set", key=lambda names: names.map(order), kind="stable") if len(found) else found


def _of_model(results: StudyResults, model: str) -> Iterator[dict]:
    """Those of a model."""
    outputs = results.asked.models[model].architecture.outputs
    trees = results.asked.by_group["trees"]
    for group, told in (("trees", _tree), ("policy_beams", _policy_beam), ("beams", _beam), ("searches", _bwas)):
        grid, clock = results.find_frame(f"{group}/{model}/grid"), results.find_frame(f"timings/{group}/{model}")
        if grid is None:
            continue
        cell = [name for name in grid.columns[: grid.columns.get_loc("instances")] if name != "model"]
        clock = None if clock is None else clock if "searches" in clock else of_clock(clock)
        for row in grid.to_dict("records"):
            if group == "trees" and not any(row["set"] == each.set and _is(each, row) for each in trees):
                continue
            by_parent = group in ("trees", "policy_beams") or outputs == "actions"
            seconds = float("nan") if clock is None else alike(clock, row, *cell)["seconds"].mean()
            yield {
                "model": model,
                "set": row["set"],
                "solver": told(results, row),
                **{name: row[name] for name in COUNTED},
                "evaluated": row["nodes_expanded" if by_parent else "nodes_generated"],
                "seconds": seconds,
                "run": results.run(f"{group}/{model}"),
            }


def _is(asked: TreeParams, row: dict) -> bool:
    return any(all(row[name] == value for name, value in zip(asked.cell, one, strict=True)) for one in asked.settings)


def _tree(results: StudyResults, row: dict) -> str:
    """ "trees, c = 50, uniform prior, not shortened, at most 2,000 states"."""
    leaves = f", ν = {row['virtual_loss']:g}, {row['leaves']} leaves" if row["leaves"] > 1 else ""
    parts = {
        "prior": {"uniform": "uniform prior"},
        "values": {"constant": "the same value everywhere"},
        "untried": {"zero": "W from 0"},
        "shortening": {"none": "not shortened", "tree": "shortened in the tree alone"},
    }
    told = [words[row[name]] for name, words in parts.items() if row[name] in words]
    limit = f"at most {row['max_expansions']:,} states"
    return ", ".join([f"trees, c = {row['exploration']:g}{leaves}", *told, limit])


def _policy_beam(results: StudyResults, row: dict) -> str:
    return "greedy walk by the policy" if row["width"] == 1 else f"beams by the policy, width {row['width']:,}"


def _beam(results: StudyResults, row: dict) -> str:
    return "greedy walk by the values" if row["width"] == 1 else beams_text(results, row["set"], row["width"])


def _bwas(results: StudyResults, row: dict) -> str:
    return f"BWAS, λ = {row['path_weight']:g}, N = {row['batch_size']:,}"
