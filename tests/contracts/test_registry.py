"""The solvers by name: what each promises whoever calls it."""

from inspect import signature

import numpy as np
import pytest

from costtogo.exact.lights_out import FewestPresses
from costtogo.exact.nearby import nearby_table
from costtogo.heuristics.manhattan import Manhattan
from costtogo.learning.local_vi import Local
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks, solves
from costtogo.search.registry import SOLVERS, solver

EIGHT, LIGHTS = make("puzzle8"), make("lights_out_3")
TILES = Manhattan(EIGHT, linear_conflicts=True)
AROUND = nearby_table(EIGHT, 3)
OPTIMAL = {"bwas", "ida_star", "gf2"}
CASES = {  # puzzle, what is known of it, setting
    "bwas": (EIGHT, TILES, {"path_weight": 1, "batch_size": 1}),
    "greedy": (EIGHT, TILES, {"max_moves": 500}),
    "beam": (EIGHT, TILES, {"width": 100, "nearby": AROUND}),
    "anytime": (EIGHT, TILES, {"seconds": 0.2, "max_nodes": 10_000, "nearby": AROUND}),
    "ida_star": (EIGHT, TILES, {}),
    "gf2": (LIGHTS, FewestPresses(LIGHTS), {}),
    "local_vi": (EIGHT, Local(EIGHT, 4), {}),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_takes_puzzle_heuristic_and_starts_and_tells_of_each_start(name, distances_of):
    puzzle, heuristic, setting = CASES[name]
    assert [*signature(solver(name)).parameters][::2][:2] == ["puzzle", "starts"]
    starts = random_walks(puzzle, 5, 9, np.random.default_rng(1))[:, -1]
    for start in starts:
        found = solver(name)(puzzle, heuristic, start[None], **setting)
        assert len(found.cost) == len(found.nodes_expanded) == len(found.solutions) == len(found.ended) == 1
        assert found.solved[0] and found.ended[0] == "solved" and solves(puzzle, start[None], found.solutions)[0]
        assert found.lower_bound[0] <= found.cost[0] == len(found.solutions[0])
        if puzzle is EIGHT:
            distance = distances_of("puzzle8")[puzzle.rank(start[None])[0]]
            assert found.lower_bound[0] <= distance <= found.cost[0]
            assert found.cost[0] == distance or name not in OPTIMAL
