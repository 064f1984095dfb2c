"""The two engines compute the same, byte for byte: torch, here on the processor, beside the puzzle's own functions."""

import numpy as np
import pytest
import torch
from known_puzzles import ABILITIES

from costtogo.engines import engine_of, engine_on
from costtogo.engines.device import DeviceEngine
from costtogo.engines.host import HostEngine
from costtogo.puzzles import make, names_of_files
from costtogo.puzzles.base import Puzzle, random_walks

WALKS, LENGTH = 50, 30
NAMES = sorted({*ABILITIES, "hanoi_7", "puzzle35", "lights_out_9", "sokoban_8", *names_of_files()})


@pytest.fixture(scope="module", params=NAMES)
def engines(request):
    """Both engines of a puzzle."""
    puzzle = make(request.param)
    return HostEngine(puzzle), DeviceEngine(puzzle, "cpu")


@pytest.fixture
def states(engines):
    """States along random walks, and the goal."""
    walks = random_walks(engines[0].puzzle, WALKS, LENGTH, np.random.default_rng(1))
    return np.concatenate([engines[0].puzzle.goal[None], walks.reshape(-1, walks.shape[2])])


def same(host, device) -> None:
    """Equal values, shapes and kinds; hashes may be the same bits as signed numbers."""
    host = host.view(np.int64) if host.dtype == np.uint64 else host
    assert host.dtype == device.numpy().dtype
    np.testing.assert_array_equal(device.numpy(), host)


def test_successors_and_legality_are_the_same(engines, states):
    host, device = engines
    given = device.given(states)
    for wanted, found in zip(host.expand(states), device.expand(given), strict=True):
        same(wanted, found)
    same(host.legal(states), device.legal(given))
    same(host.is_goal(states), device.is_goal(given))


def test_moves_are_the_same_and_an_illegal_one_changes_nothing(engines, states):
    host, device = engines
    actions = np.random.default_rng(2).integers(len(host.puzzle.actions), size=len(states))
    same(host.move(states, actions), device.move(device.given(states), device.given(actions)))


def test_the_same_draws_make_the_same_walks(engines):
    host, device = engines
    draws = np.random.default_rng(3).random((WALKS, LENGTH + 1))
    for wanted, found in zip(host.walk(draws), device.walk(draws), strict=True):
        same(wanted, found)
    wanted, found = (engine.random_walks(WALKS, LENGTH, np.random.default_rng(4)) for engine in engines)
    same(wanted, found)


def test_the_same_draws_pick_the_same_actions(engines, states):
    host, device = engines
    legal, draws = host.legal(states), np.random.default_rng(5).random(len(states))
    same(host.pick(legal, draws), device.pick(device.given(legal), draws))


def test_hashes_and_the_first_of_equal_states_are_the_same(engines, states):
    host, device = engines
    children = host.expand(states)[0].reshape(-1, states.shape[1])
    hashes, found = host.hashes(children), device.hashes(device.given(children))
    same(hashes, found)
    for wanted, rows in zip(host.distinct(hashes), device.distinct(found), strict=True):
        same(wanted, rows)


def test_no_states_give_no_children(engines):
    device = engines[1]
    none = device.given(engines[0].puzzle.goal[None][:0])
    children, legal = device.expand(none)
    assert children.shape == (0, legal.shape[1], none.shape[1]) and len(device.hashes(none)) == 0
    assert [len(part) for part in device.distinct(device.hashes(none))] == [0, 0]


def test_a_batch_is_computed_where_it_is():
    cube = make("cube2")
    assert isinstance(engine_of(cube, cube.goal[None]), HostEngine)
    found = engine_of(cube, torch.from_numpy(cube.goal[None]))
    assert isinstance(found, DeviceEngine) and found is engine_of(cube, torch.zeros(2, 24, dtype=torch.uint8))


def test_a_puzzle_that_declares_no_rule_and_the_processor_have_the_engine_of_the_host():
    class Undeclared(type(make("cube2"))):
        rule = None

    assert isinstance(engine_on(Undeclared(), "cuda"), HostEngine)
    assert isinstance(engine_on(make("cube2"), "cpu"), HostEngine)


@pytest.mark.parametrize("name", NAMES)
def test_every_puzzle_of_this_package_declares_its_rule(name):
    assert isinstance(make(name), Puzzle) and make(name).rule is not None
