"""The stage of the searches: what follows from admissibility, and what is searched but once."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from costtogo.heuristics.table import TableHeuristic
from costtogo.params.searches import CellParams
from costtogo.puzzles import make
from costtogo.stages import search

HANOI = make("hanoi_4_4")
CELL = CellParams(set="test", path_weight=0.7, batch_size=5)


@pytest.fixture
def task(distances_of) -> search.Task:
    """Searches of H(4, 4), whose four pegs leave many ways, from 30 states."""
    distance = distances_of("hanoi_4_4")
    ranks = np.random.default_rng(1).choice(256, size=30, replace=False)
    instances = pd.DataFrame({"set": "test", "instance": np.arange(30), "rank": ranks, "distance": distance[ranks]})
    wanted = SimpleNamespace(headline=CELL, admissible_instances=20, grids=[], max_expansions=10_000, max_nodes=10_000)
    return search.Task(HANOI, wanted, distance, instances)


def misleading(distance) -> TableHeuristic:
    """Far too high in a third of the states, so that λ = 1 alone does not find shortest solutions."""
    wrong = np.random.default_rng(5).random(len(distance)) < 0.3
    return TableHeuristic(HANOI, (distance + 12.0 * wrong).astype(np.float32))


def test_a_heuristic_less_its_largest_overestimate_finds_shortest_solutions_at_a_price(task):
    found = search.search_admissible(task, misleading(task.distance), 12.0).set_index("heuristic")
    assert found["instances"].tolist() == [20, 20, 20]
    assert found.loc["network", "optimal_percent"] < 100
    assert found.loc["shifted", "optimal_percent"] == found.loc["exact", "optimal_percent"] == 100
    assert found.loc["shifted", "nodes_expanded"] > found.loc["exact", "nodes_expanded"]


def test_every_start_counts_once(task):
    metrics = search.search_all_starts(task, misleading(task.distance))
    starts = HANOI.unrank(np.arange(256))
    result = search.solve(HANOI, misleading(task.distance), starts, path_weight=0.7, batch_size=5, limits=task.limits)
    excess = result.cost - task.distance
    assert 0 < excess.max() == metrics["all_starts_worst_excess"]
    assert metrics["all_starts_mean_excess"] == pytest.approx(excess.mean())
    assert metrics["all_starts_optimal_percent"] == pytest.approx(100 * np.mean(excess == 0))
    assert metrics["all_starts_nodes_expanded"] == pytest.approx(result.nodes_expanded.mean())


def test_what_a_checkpoint_has_searched_is_not_searched_again(task, monkeypatch):
    tables = {10: misleading(task.distance), 20: TableHeuristic(HANOI, task.distance.astype(np.float32))}
    points = pd.DataFrame({"convergence_point": [1, 2]}, index=[10, 20])
    afresh = search.search_checkpoints(task, tables, points, {})
    known, _ = search.search_grid(task, "network", tables[10], 0.0, [CELL, CELL.model_copy(update={"batch_size": 1})])
    searched, whole = [], search.search_grid

    def counted(task, name, heuristic, *rest):
        searched.append(heuristic)
        return whole(task, name, heuristic, *rest)

    monkeypatch.setattr(search, "search_grid", counted)
    again = search.search_checkpoints(task, tables, points, {10: known})
    assert searched == [tables[20]]
    for name, frame in afresh.items():
        pd.testing.assert_frame_equal(again[name], frame)
