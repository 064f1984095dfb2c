"""Compiled beams on sliding tiles that go by groups of tiles: what they find, in both directions, within limits."""

import threading
import time

import numpy as np
import pytest
import torch

from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.network import NetworkHeuristic, build
from costtogo.heuristics.tile_groups import TupleValues
from costtogo.learning.instances import draw_walk_ends
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import inverses, solves
from costtogo.search import beam, shorten, tile_beam
from costtogo.solve_options import Setting
from costtogo.solving.searches import solver_of

SMALL, LARGE = make("puzzle8"), make("puzzle24")
TUPLES = architecture_of(kind="tuples", block_reach=1, line_reach=2)
ROOM = 1_000_000


def network(puzzle, scale: float = 0.05):
    """A network with random weights above zero, as those have that learn."""
    made = build(TUPLES, puzzle, 1)
    torch.nn.init.normal_(made.weight, std=scale, generator=torch.Generator().manual_seed(5))
    made.weight.data.abs_()
    return made


def values(puzzle) -> TupleValues:
    return network(puzzle).frozen_children()


@pytest.mark.parametrize("place", [0, 3000, -1])
def test_where_no_state_is_left_out_the_solution_is_a_shortest_one_and_says_so(place, distances_of):
    start = SMALL.unrank(np.argsort(distances_of("puzzle8"), kind="stable")[place][None])
    found = tile_beam.solve(SMALL, values(SMALL), start, seconds=60, max_nodes=60_000_000)
    distance = distances_of("puzzle8")[SMALL.rank(start)][0]
    assert found.cost[0] == found.lower_bound[0] == distance
    assert solves(SMALL, start, found.solutions)[0] and not found.out_of_time[0]


def test_boards_are_taken_in_the_order_of_the_networks_values():
    start, guide = draw_walk_ends(LARGE, 1, (400, 400), np.random.default_rng(2)), network(LARGE)
    known = NetworkHeuristic(LARGE, guide, "float32")
    slow = beam.solve(LARGE, known, start, width=300)
    fast = tile_beam.shorter(LARGE, start[0], LARGE.goal, than=1000, width=300, values=values(LARGE))
    # Boards of equal value, and those that differ by less than a sixteenth of a move, may come in another order.
    assert solves(LARGE, start, [fast.path])[0] and abs(len(fast.path) - slow.cost[0]) <= 0.1 * slow.cost[0]
    plain = tile_beam.shorter(LARGE, start[0], LARGE.goal, than=1000, width=300)
    assert len(plain.path) != len(fast.path)


def test_a_search_from_the_goal_is_gone_the_other_way_round():
    start, guide = draw_walk_ends(LARGE, 1, (300, 300), np.random.default_rng(6)), values(LARGE)
    back = tile_beam.shorter(LARGE, LARGE.goal, start[0], than=1000, width=200, values=guide)
    assert solves(LARGE, start, [inverses(LARGE)[back.path[::-1]]])[0]


def test_it_ends_in_time_and_gives_the_best_of_all_beams():
    starts, guide = draw_walk_ends(LARGE, 3, (1000, 3000), np.random.default_rng(4)), values(LARGE)
    tile_beam.solve(LARGE, guide, starts[:1], seconds=0.1, max_nodes=ROOM)
    for start in starts:
        narrow = tile_beam.shorter(LARGE, start, LARGE.goal, than=1000, width=tile_beam.FIRST_WIDTH, values=guide)
        begun = time.monotonic()
        found = tile_beam.solve(LARGE, guide, start[None], seconds=1, max_nodes=60_000_000, threads=2)
        assert time.monotonic() - begun < 10, "far more than the second, for slow machines"
        assert solves(LARGE, start[None], found.solutions)[0] and found.cost[0] == len(found.solutions[0])
        assert found.cost[0] <= len(narrow.path) and found.lower_bound[0] == Manhattan(LARGE)(start[None])[0]
        assert found.nodes_generated[0] > narrow.generated


def test_an_interruption_ends_both_directions(monkeypatch):
    def interrupted(_):
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    monkeypatch.setattr(tile_beam, "report", interrupted)
    monkeypatch.setattr(tile_beam, "FIRST_WIDTH", 100_000)
    start, begun = draw_walk_ends(LARGE, 1, (1000, 3000), np.random.default_rng(4)), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tile_beam.solve(LARGE, values(LARGE), start, seconds=3600, max_nodes=300_000_000, threads=2)
    assert time.monotonic() - begun < 60, "not the hour"


def test_no_more_nodes_are_kept_than_asked_for(monkeypatch):
    widths, own = [], tile_beam.shorter
    monkeypatch.setattr(tile_beam, "shorter", lambda *ends, **options: widths.append(options) or own(*ends, **options))
    start = draw_walk_ends(LARGE, 1, (1000, 3000), np.random.default_rng(4))
    found = tile_beam.solve(LARGE, values(LARGE), start, seconds=60, max_nodes=ROOM)
    assert found.solved[0] and not found.out_of_time[0]
    assert all(options["width"] * options["than"] * 2 <= ROOM for options in widths)
    assert [options["width"] for options in widths[:2]] == [tile_beam.FIRST_WIDTH] * 2 and len(widths) > 2


@pytest.mark.parametrize("solver", ["beam", "auto"])
def test_solve_goes_by_them_over_a_network_of_kind_tuples(solver, monkeypatch):
    asked, own = [], tile_beam.solve
    monkeypatch.setattr(tile_beam, "solve", lambda *given, **options: asked.append(options) or own(*given, **options))
    stretches, own_shorter = [], shorten.shorter
    monkeypatch.setattr(shorten, "shorter", lambda *g, **o: stretches.append(o.get("values")) or own_shorter(*g, **o))
    guide = NetworkHeuristic(LARGE, network(LARGE), "float32")
    start = draw_walk_ends(LARGE, 1, (1000, 3000), np.random.default_rng(8))[0]
    found = solver_of(LARGE, Setting(solver, seconds=1.5), lambda: guide)(start)
    assert found.solved and asked and solves(LARGE, start[None], [found.actions])[0]
    assert any(isinstance(used, TupleValues) for used in stretches) == (solver == "auto")
