"""The stages that search over a network from the study's own instance sets: results/<study>/<group>/<model>/.

searches.parquet has a row for each instance and setting, grid.parquet one for each set and setting.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from costtogo.params.searches import SearchParams
from costtogo.stages.search.loading import index_of, load_network, read_ends, read_sets
from costtogo.stages.search.running import finish_cells
from costtogo.stages.stage_run import StageRun

SOLUTIONS = ("solved_percent", "length", "optimal_percent")
WORK = (*SOLUTIONS, "nodes_expanded")


def stage_of(
    kind: type[SearchParams],
    rows: Callable[..., Iterator[pd.DataFrame]],
    measures: tuple[str, ...] = WORK,
    *,
    by_table: bool = True,
) -> Callable[..., None]:
    """The function `run` of the stage of a kind of searches, in the module of `rows`.

    rows: those of one setting after another; of the stage, the network, the exact distances around the goal, what is
    asked, and the instances and starts of its set.  measures: those of the summaries that go to the card.
    by_table: False where no search looks at the exact distances, which are then neither read nor given.
    """

    def run(params: Path, out: Path, table: Path, instances: Path, model: Path) -> None:
        """Search from every instance of the sets named, with every setting; model is the folder of a training."""
        read = [table] if by_table else []
        stage = StageRun(kind.group, rows.__module__, params, out, [*read, instances, index_of(model)])
        network, sets = load_network(model, stage.device), read_sets(stage.puzzle, instances)
        nearby = [read_ends(stage, table)] if by_table else []
        asked = [kind(**values) for values in stage.parameters[kind.group]]
        found = (part for each in asked for part in rows(stage, network, *nearby, each, *sets[each.set]))
        finish_cells(stage, found, [*kind.cell], measures)

    return run
