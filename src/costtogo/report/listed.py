"""The report's parts on puzzles whose states are all listed: what their templates are filled in with."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from costtogo.puzzles import family, make, title
from costtogo.report.markdown import Format, amount, code, percent, places
from costtogo.report.render import render
from costtogo.report.results import StudyResults
from costtogo.report.tables import START, at_headline, audit, cells_of, headline_numbers, layers_of, of_models
from costtogo.report.trainings import training_table

GRIDS = {"Optimal, %": ("optimal_percent", percent), "Expanded": ("nodes_expanded", amount)}


def summary(results: StudyResults, puzzles: list[str]) -> str:
    """The numbers that stand for each model of some puzzles, and what was done."""
    rows, sizes = [], []
    for puzzle in puzzles:
        own = results.of(puzzle)
        cell = cell_text(own.headline(puzzle))
        rows += [{"model": model, "cell": cell, **numbers} for model, numbers in headline_numbers(own).items()]
        sizes.append({"title": title(puzzle), **own.card(f"tables/{puzzle}")["metrics"]})
    measures = ["mean_absolute_error", "admissible_percent", "consistent_percent", "optimal_percent", "optimal_low"]
    measures += ["optimal_high", "nodes_expanded", "exact_nodes_expanded", "zero_nodes_expanded"]
    headlines = pd.DataFrame(rows).reindex(columns=["model", "cell", "selected_iteration", *measures])
    return render("summary", headlines=headlines, puzzles=sizes)


def cell_text(cell: dict[str, Any]) -> str:
    """A cell in the literature's letters.  -> "test, λ = 0.7, N = 5"."""
    return f"{cell['set']}, λ = {cell['path_weight']:g}, N = {cell['batch_size']}"


def chapter(results: StudyResults, drawn: Callable[..., str]) -> str:
    """The part on the one puzzle of some results.  drawn: gives the figures of some kinds as Markdown."""
    puzzle = results.puzzle
    return render(
        "listed",
        **results.card(f"tables/{puzzle}")["metrics"],
        title=title(puzzle),
        drawn=drawn,
        training=training_table(results, results.model_names),
        audit=_audited(results),
        headline=results.headline(puzzle),
        cells=_at_headline(results),
        farthest=_from_the_farthest(results),
        grids=_grids(results),
        metrics=headline_numbers(results),
        start=_from_the_start(results),
    )


def _audited(results: StudyResults) -> pd.DataFrame:
    """The measures of every checkpoint that was audited, the one that the searches use in bold."""
    measures = of_models(audit)(results)
    names = measures["model"].map(code)
    return measures.assign(model=names.where(~measures["selected"], "**" + names + "**"))


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


def _grids(results: StudyResults) -> list[dict[str, Any]]:
    """Every set that was searched over several λ or N, laid out as in the literature: λ down, N across."""
    cells, found = _named(cells_of(results)), []
    for place, group in cells[cells["set"] != START].groupby("set", sort=False):
        sizes = sorted(group["batch_size"].unique())
        if len(sizes) == group["path_weight"].nunique() == 1:
            continue
        header = ["heuristic", "λ", *(f"N = {size}" for size in sizes)]
        for heading, (column, form) in GRIDS.items():
            found.append({"set": place, "title": heading, "header": header, "rows": _over_n(group, column, form)})
    return found


def _over_n(cells: pd.DataFrame, column: str, form: Format) -> list[list[str]]:
    """A column of cells by heuristic and λ, one row each, N across."""
    wide = cells.pivot(index=["search", "path_weight"], columns="batch_size", values=column)
    wide = wide.reindex(list(dict.fromkeys(cells["search"])), level="search")
    rows = zip(wide.index, wide.to_numpy(), strict=True)
    return [[name, f"{weight:g}", *map(form, row)] for (name, weight), row in rows]


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


def instance_sets(results: StudyResults, puzzles: list[str]) -> str:
    """The instance sets of some puzzles, and how many states of each a selection set holds too."""
    rows = []
    for puzzle in puzzles:
        frame = results.frame(f"instances/{puzzle}")
        chosen_on = set(frame.loc[frame["role"] == "selection", "rank"])
        for name, group in frame.groupby("set", sort=False):
            role, mean = group["role"].iloc[0], places(2)(group["distance"].mean())
            shared = amount(len(chosen_on & set(group["rank"]))) if role == "test" else "–"
            rows.append([puzzle, name, role, amount(len(group)), mean, amount(group["distance"].max()), shared])
    return render("instances", rows=rows)
