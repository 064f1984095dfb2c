"""Networks that add up what small groups of tiles say: what they compute, what they learn, and on which boards."""

import numpy as np
import pytest
import torch
from test_above import training

from costtogo.heuristics.children import child_costs
from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.network import NetworkHeuristic, build, of_architecture
from costtogo.heuristics.table import exact
from costtogo.heuristics.tuples import TupleNetwork
from costtogo.learning.davi import train
from costtogo.learning.instances import draw_walk_ends
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.types import UserError

SMALL = architecture_of(kind="tuples", block_reach=1, line_reach=2)


def boards(name: str, count: int = 200) -> np.ndarray:
    """Ends of random walks, the goal among them."""
    puzzle = make(name)
    drawn = draw_walk_ends(puzzle, count, (1, 300), np.random.default_rng(3))
    return np.concatenate([puzzle.goal[None], drawn])


def with_weights(name: str, scale: float, architecture=SMALL) -> TupleNetwork:
    """A network with random weights."""
    network = build(architecture, make(name), 1)
    torch.nn.init.normal_(network.weight, std=scale, generator=torch.Generator().manual_seed(5))
    return network


@pytest.mark.parametrize("name", ["puzzle8", "puzzle24", "puzzle48"])
def test_it_begins_as_manhattan_distance(name):
    puzzle, states = make(name), boards(name)
    heuristic = NetworkHeuristic(puzzle, build(SMALL, puzzle, 1), "float32")
    np.testing.assert_array_equal(heuristic(states), Manhattan(puzzle)(states))


@pytest.mark.parametrize("name", ["puzzle8", "puzzle24", "puzzle48"])
def test_compiled_values_and_those_of_children_are_the_networks_own(name):
    puzzle, states, network = make(name), boards(name), with_weights(name, 0.3)
    heuristic = NetworkHeuristic(puzzle, network, "float32")
    with torch.no_grad():
        own = network.outputs(torch.from_numpy(states)).numpy()
        assert (network(network.encoded(states)).numpy() < Manhattan(puzzle)(states)).any()
    np.testing.assert_allclose(heuristic.outputs(states), own, atol=1e-4)
    assert (own >= Manhattan(puzzle)(states)).all() and (own > Manhattan(puzzle)(states)).any()
    children, slow = heuristic.children(states), child_costs(puzzle, states, heuristic)
    np.testing.assert_allclose(children, slow, atol=1e-4)
    assert (children[1:].min(1) == 0).any() or name != "puzzle8"


@pytest.mark.parametrize("name", ["puzzle15", "puzzle24"])
def test_a_board_and_its_mirror_image_have_one_value(name):
    puzzle, states = make(name), boards(name)
    heuristic = NetworkHeuristic(puzzle, with_weights(name, 0.3), "float32")
    (mirror,) = [symmetry for symmetry in puzzle.symmetries if not np.array_equal(symmetry.apply(states), states)]
    np.testing.assert_allclose(heuristic(mirror.apply(states)), heuristic(states), atol=1e-4)


def test_one_weight_serves_all_images_of_a_group_and_all_boards():
    counts = {name: build(SMALL, make(name), 1).parameter_count for name in ("puzzle8", "puzzle24", "puzzle48")}
    assert len(set(counts.values())) == 1
    groups, codes = build(SMALL, make("puzzle8"), 1).groups, (3 * 3 + 2) ** 4
    assert len(np.unique(groups.rows[:codes])) < codes / 7  # of eight images of a block, save where some are alike


def test_what_it_learns_is_nearer_than_linear_conflicts_and_holds_on_a_larger_board(distances_of):
    walks = {"kind": "non_backtracking", "walk_max": 60, "stride": 5, "spacing": 2}
    done = training({"kind": "tuples"}, sampler=walks, iterations=150, learning_rate=1e-2)
    for _ in train(done):
        pass
    puzzle = make("puzzle8")
    states = puzzle.unrank(np.arange(0, puzzle.state_count, 7))
    distance = exact(puzzle, distances_of("puzzle8"))(states)
    by_conflicts = np.mean(np.abs(distance - Manhattan(puzzle, linear_conflicts=True)(states)))
    assert np.mean(np.abs(distance - done.heuristic(states))) < by_conflicts / 2
    # A larger board: what the groups add follows the conflicts there, and is more.
    larger, states = make("puzzle15"), boards("puzzle15", 1000)
    moved = of_architecture(done.params.architecture, larger)
    moved.load_state_dict(done.network.state_dict())
    added = NetworkHeuristic(larger, moved.eval(), "float32")(states) - Manhattan(larger)(states)
    conflicts = Manhattan(larger, linear_conflicts=True)(states) - Manhattan(larger)(states)
    assert added.mean() > conflicts.mean() and np.corrcoef(added, conflicts)[0, 1] > 0.4


def test_other_puzzles_are_refused():
    with pytest.raises(UserError, match="^There is no network of kind tuples for cube2.$"):
        build(SMALL, make("cube2"), 1)
