"""What each solver promises whoever calls it: those of costtogo.search but two_phase, which is a program of its own and
goes by nothing of ours (test_two_phase), and two elsewhere."""

from importlib import import_module
from inspect import signature
from pkgutil import iter_modules

import numpy as np
import pytest

from costtogo import search
from costtogo.exact import lights_out
from costtogo.exact.lights_out import FewestPresses
from costtogo.exact.nearby import nearby_table
from costtogo.exact.piece_patterns import database_of
from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.matching import MatchingBound
from costtogo.heuristics.network import build
from costtogo.heuristics.piece_patterns import PieceHeuristic
from costtogo.learning import local_vi
from costtogo.learning.local_vi import Local
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks, solves

MODULES = [import_module(f"costtogo.search.{module.name}") for module in iter_modules(search.__path__)]
SOLVERS = {"gf2": lights_out.solve, "local_vi": local_vi.solve}
SOLVERS |= {module.__name__.split(".")[-1]: module.solve for module in MODULES if hasattr(module, "solve")}
del SOLVERS["two_phase"]
EIGHT, LIGHTS = make("puzzle8"), make("lights_out_3")
TILES = Manhattan(EIGHT, linear_conflicts=True)
GROUPS = build(architecture_of(kind="tuples"), EIGHT, 1).frozen_children()
AROUND = nearby_table(EIGHT, 3)
OPTIMAL = {"bwas", "ida_star", "gf2"}
LEVEL, CUBE = make("sokoban_6"), make("cube3")
CASES = {  # puzzle, what is known of it, setting; of a solver that needs none, (EIGHT, TILES, {})
    "bwas": (EIGHT, TILES, {"path_weight": 1, "batch_size": 1}),
    "greedy": (EIGHT, TILES, {"max_moves": 500}),
    "beam": (EIGHT, TILES, {"width": 100, "nearby": AROUND}),
    "anytime": (EIGHT, TILES, {"seconds": 1000, "max_nodes": 10_000, "nearby": AROUND}),
    "tile_beam": (EIGHT, GROUPS, {"seconds": 1000, "max_nodes": 10_000_000}),
    "gf2": (LIGHTS, FewestPresses(LIGHTS), {}),
    "local_vi": (EIGHT, Local(EIGHT, 4), {}),
    "cube_ida": (CUBE, PieceHeuristic(CUBE, database_of(CUBE, "1 2 3 4 | 5 6 7 8 | 9 10 11 12", print)), {}),
    "exact_levels": (LEVEL, MatchingBound(LEVEL), {}),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_takes_puzzle_heuristic_and_starts_and_tells_of_each_start(name, distances_of):
    puzzle, heuristic, setting = CASES.get(name, (EIGHT, TILES, {}))
    assert [*signature(SOLVERS[name]).parameters][::2][:2] == ["puzzle", "starts"]
    starts = random_walks(puzzle, 5, 9, np.random.default_rng(1))[:, -1]
    for start in starts:
        found = SOLVERS[name](puzzle, heuristic, start[None], **setting)
        assert len(found.cost) == len(found.nodes_expanded) == len(found.solutions) == len(found.ended) == 1
        assert found.solved[0] and found.ended[0] == "solved" and solves(puzzle, start[None], found.solutions)[0]
        assert found.lower_bound[0] <= found.cost[0] == len(found.solutions[0])
        if puzzle is EIGHT:
            distance = distances_of("puzzle8")[puzzle.rank(start[None])[0]]
            assert found.lower_bound[0] <= distance <= found.cost[0]
            assert found.cost[0] == distance or name not in OPTIMAL
