"""The stages that search from a study's own instance sets: results/<study>/<group>/<name>/.

searches.parquet has a row for each instance and setting, grid.parquet one for each set and setting. The module of a
solver says which searches there are; here they are run, checked, timed and written, alike for all solvers.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from costtogo.analysis.suboptimality import summarise
from costtogo.exact.nearby import Ends
from costtogo.params.searches import SearchParams
from costtogo.progress import say
from costtogo.puzzles.base import Puzzle
from costtogo.search.replayed import Search
from costtogo.stages.search.loading import Sets, index_of, load_network, read_ends, read_sets
from costtogo.stages.search.running import SUMMARY, describe, metrics_of, run_alone, run_searches
from costtogo.stages.stage_run import StageRun
from costtogo.types import States

ROW = ["instance", "distance", "solved", "cost", "nodes_expanded", "nodes_generated", "ended", "solution"]
# The rows and states of a set, or of a part of it, the columns of a setting, and the search with that setting.
Searches = Iterator[tuple[tuple[pd.DataFrame, States], dict[str, Any], Search]]


class Given(NamedTuple):
    """What the searches of a stage may go by.

    heuristic: None where the solver has its own.  nearby: the exact distances around the goal, None where no search
    looks at them.  max_nodes: that a search may keep in memory; None where each setting says so itself.
    """

    puzzle: Puzzle
    sets: Sets
    heuristic: Any = None
    nearby: Ends | None = None
    max_nodes: int | None = None
    threads: int = 1


def stage_of(kind: type[SearchParams], searches: Callable[[Given, Any], Searches]) -> Callable[..., None]:
    """The function `run` of the stage that searches over a network, for a solver of the module of `searches`.

    searches: those that one entry of the study's list asks for.
    """

    def run(params: Path, out: Path, table: Path, instances: Path, model: Path) -> None:
        """Search from every instance of the sets named, with every setting; model is the folder of a training."""
        read = [table] if kind.by_table else []
        stage = StageRun(kind.group, searches.__module__, params, out, [*read, instances, index_of(model)])
        nearby = read_ends(stage, table) if kind.by_table else None
        asked = [kind(**values) for values in stage.parameters[kind.group]]
        search_all(stage, asked, searches, instances, load_network(model, stage.device), nearby)

    return run


def search_all(
    stage: StageRun,
    asked: list[SearchParams],
    searches: Callable[[Given, Any], Searches],
    instances: Path,
    heuristic: Any = None,
    nearby: Ends | None = None,
) -> None:
    """Run all searches that are asked for and finish the stage with their rows and a summary of each cell."""
    limits = {name: stage.parameters[name] for name in ("max_nodes", "threads") if name in stage.parameters}
    given, frames = Given(stage.puzzle, read_sets(stage.puzzle, instances), heuristic, nearby, **limits), []
    for kind in asked:
        for rows in rows_of(given, kind, searches):
            frames.append(rows)
            for key, part in rows.groupby([*kind.cell], sort=False):
                say(f"{stage.out.name}, {in_words(kind.cell, key)}: {describe(part)}")
    found, by = pd.concat(frames, ignore_index=True), [*asked[0].cell]
    grid = summarise(found, by).filter([*by, *SUMMARY])
    tables = {"searches": found.filter([*by, *ROW]), "grid": grid}
    clock, metrics = found[[*by, "instance", "seconds"]], metrics_of(grid, by, asked[0].measures)
    stage.finish_tables(tables, metrics, clock, threads=given.threads)


def rows_of(given: Given, asked: SearchParams, searches: Callable[[Given, Any], Searches]) -> Iterator[pd.DataFrame]:
    """The rows of one search after another, from each instance by itself or from all in one call."""
    for (instances, starts), cell, search in searches(given, asked):
        if asked.alone:
            name = in_words(asked.cell, (instances["set"].iloc[0], *cell.values()))
            rows = run_alone(given.puzzle, search, instances, starts, name, **cell)
        else:
            rows = run_searches(given.puzzle, search, instances, starts, **cell)
        yield rows if asked.tells_why else rows.drop(columns="ended")


def in_words(cell: tuple[str, ...], key: tuple) -> str:
    """A setting as lines of progress name it.  -> "set scrambled, width 100"."""
    return ", ".join(f"{name} {value}" for name, value in zip(cell, key, strict=True))
