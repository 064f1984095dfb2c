"""DAVI: its targets, its convergence points, its schedule, and that it learns."""

import numpy as np
import pytest
import torch

from costtogo.exact.hashing import distinct
from costtogo.heuristics.table import Remembered, TableHeuristic, exact
from costtogo.learning import resume
from costtogo.learning.curriculum import curriculum_of
from costtogo.learning.davi import begin, bellman_targets, child_costs, set_learning_rate, train
from costtogo.learning.training import mean_square, squared_error
from costtogo.params.trainers import training_of
from costtogo.params.training import ModelParams
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks

HANOI = make("hanoi_3")
ALL_STATES = HANOI.unrank(np.arange(27))


def params(**changes) -> ModelParams:
    """A training of hanoi_3 that learns in about a second."""
    values = {
        "puzzle": "hanoi_3",
        "seed": 1,
        "precision": "float32",
        "architecture": {"first_layers": [32, 16], "residual_blocks": 1, "batch_norm_momentum": 0.9},
        "sampler": {"kind": "uniform"},
        "iterations": 300,
        "states_per_iteration": 120,
        "validation_states": 40,
        "minibatch": 60,
        "learning_rate": 5e-3,
        "learning_rate_decay": 0.3,
        "adam_beta_1": 0.9,
        "adam_beta_2": 0.999,
        "adam_epsilon": 1e-7,
        "epsilon": 0.1,
        "check_every": 2,
        "checkpoint_every": 1,
    }
    return training_of(**(values | changes))


def trained(**changes):
    """A finished training and the progress of each iteration."""
    training = begin(HANOI, params(**changes), "float32")
    return training, list(train(training))


def targets_of(puzzle, states, cost_to_go):
    """The Bellman targets of states by a cost-to-go."""
    return bellman_targets(puzzle, states, child_costs(puzzle, states, cost_to_go))


@pytest.fixture(scope="module")
def learned():
    return trained()


def test_the_exact_table_is_its_own_bellman_target(puzzle, distance):
    ranks = np.random.default_rng(0).integers(puzzle.state_count, size=500)
    ranks = np.append(ranks, puzzle.rank(puzzle.goal[None]))
    targets = targets_of(puzzle, puzzle.unrank(ranks), exact(puzzle, distance))
    assert targets.dtype == np.float32
    np.testing.assert_array_equal(targets, distance[ranks])


@pytest.mark.parametrize("name", ["hanoi_4", "hanoi_3_4"])
def test_targets_equal_the_definition_state_by_state(name):
    puzzle = make(name)
    values = np.random.default_rng(1).uniform(0, 9, puzzle.state_count).astype(np.float32)
    states = puzzle.unrank(np.arange(puzzle.state_count))
    targets = targets_of(puzzle, states, TableHeuristic(puzzle, values))
    for state, target in zip(states, targets, strict=True):
        children, legal = puzzle.expand(state[None])
        least = min(1 + values[puzzle.rank(child[None])[0]] for child in children[legal])
        assert target == (0 if (state == puzzle.goal).all() else least)


@pytest.mark.parametrize("apart", [1, 1 << 40])
@pytest.mark.parametrize(("count", "different"), [(0, 1), (1, 1), (50, 1), (300, 40), (300, 10**6)])
def test_distinct_hashes_are_those_that_numpy_finds(count, different, apart):
    hashes = np.random.default_rng(count).integers(different, size=count).astype(np.uint64) * np.uint64(apart)
    first, which = distinct(hashes)
    _, expected = np.unique(hashes, return_index=True)
    np.testing.assert_array_equal(first, np.sort(expected))
    np.testing.assert_array_equal(hashes[first][which], hashes)


@pytest.mark.parametrize("name", ["cube2", "hanoi_4", "puzzle8"])
def test_the_child_of_several_states_is_evaluated_once(name):
    puzzle, asked = make(name), []
    values = np.random.default_rng(1).uniform(0, 9, puzzle.state_count).astype(np.float32)
    states = random_walks(puzzle, 20, 30, np.random.default_rng(2)).reshape(-1, puzzle.cells)

    def cost_to_go(children):
        asked.append(puzzle.rank(children))
        return values[asked[-1]]

    costs = child_costs(puzzle, states, cost_to_go)
    children, legal = puzzle.expand(states)
    np.testing.assert_array_equal(costs[legal], values[puzzle.rank(children[legal])])
    assert np.isinf(costs[~legal]).all()
    assert sorted(np.concatenate(asked)) == np.unique(puzzle.rank(children[legal])).tolist()


def test_the_goals_target_is_zero_though_its_children_are_not():
    values = np.full(27, 5, dtype=np.float32)
    assert targets_of(HANOI, HANOI.goal[None], TableHeuristic(HANOI, values)).tolist() == [0]


def test_a_remembered_heuristic_gives_the_same_values_and_evaluates_each_state_once():
    asked = []

    def heuristic(states):
        asked.append(HANOI.rank(states))
        return HANOI.rank(states).astype(np.float32)

    remembered = Remembered(HANOI, heuristic)
    for ranks in (np.array([3, 5, 3]), np.array([5, 7]), np.array([7, 3])):
        np.testing.assert_array_equal(remembered(HANOI.unrank(ranks)), ranks)
    assert np.concatenate(asked).tolist() == [3, 5, 7]


def test_a_convergence_point_forgets_the_values_of_the_old_target():
    training = begin(HANOI, params(), "float32")
    before = training.cost_to_go(ALL_STATES)
    with torch.no_grad():
        training.network.output.bias += 1
    np.testing.assert_array_equal(training.cost_to_go(ALL_STATES), before)
    training.update_target()
    np.testing.assert_allclose(training.cost_to_go(ALL_STATES)[1:], before[1:] + 1, rtol=1e-5)


def test_a_convergence_point_comes_only_when_looked_for_and_below_epsilon(learned):
    training, progress = learned
    for each in progress:
        looked = each.iteration % training.params.check_every == 0
        assert each.updated == (looked and each.validation_loss < training.params.epsilon)
        assert np.isnan(each.validation_loss) != looked
    assert len({each.updated for each in progress if not np.isnan(each.validation_loss)}) == 2, "both must occur"


def test_convergence_points_are_counted_one_by_one(learned):
    _, progress = learned
    assert [each.iteration for each in progress] == list(range(1, 301))
    assert [each.convergence_points for each in progress] == np.cumsum([each.updated for each in progress]).tolist()


def test_the_target_becomes_the_trained_network_at_convergence_points_alone():
    training = begin(HANOI, params(iterations=60, epsilon=0.5), "float32")
    kept = {name: tensor.clone() for name, tensor in training.target.state_dict().items()}
    seen = set()
    for progress in train(training):
        if progress.updated:
            kept = {name: tensor.clone() for name, tensor in training.network.state_dict().items()}
        assert all(torch.equal(kept[name], tensor) for name, tensor in training.target.state_dict().items())
        seen.add(progress.updated)
    assert seen == {False, True}


def test_a_small_training_learns_the_distances(learned, distances_of):
    training, _ = learned
    error = np.abs(training.cost_to_go(ALL_STATES) - distances_of("hanoi_3"))
    untrained = np.abs(begin(HANOI, params(), "float32").cost_to_go(ALL_STATES) - distances_of("hanoi_3"))
    assert error.mean() < 0.5 < untrained.mean()


def test_the_same_seed_ends_in_the_same_weights_and_another_seed_in_others():
    first, second, other = (trained(iterations=8, seed=seed)[0].network.state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_the_states_drawn_depend_on_the_seed_and_not_on_the_weights_alone():
    losses = []
    for seed in (1, 2):
        training = begin(HANOI, params(iterations=3), "float32")
        training.params = params(iterations=3, seed=seed)
        losses.append([progress.loss for progress in train(training)])
    assert losses[0][0] != losses[1][0]
    assert len(set(losses[0])) == 3


def test_walks_grow_with_the_convergence_points_before_the_iteration():
    sampler = {"kind": "adaptive_k", "walk_max": 6, "conv_point_offs": 1}
    _, progress = trained(iterations=60, epsilon=0.5, sampler=sampler)
    before = [0, *(each.convergence_points for each in progress)]
    assert [each.effective_k for each in progress] == [min(6, points + 2) for points in before[:-1]]
    assert {2, 3, 6} <= {each.effective_k for each in progress}


@pytest.mark.parametrize("kind", ["uniform", "deepcube", "deepcubea", "adaptive_k"])
def test_an_iteration_has_exactly_as_many_states_as_asked_for(kind):
    curriculum = curriculum_of(HANOI, params(sampler={"kind": kind, "walk_max": 7}).sampler)
    assert len(curriculum.draw(50, 7, np.random.default_rng(0))) == 50


def rates(**changes) -> list[float]:
    training = begin(HANOI, params(learning_rate=2.0, iterations=10, **changes), "float32")
    found = []
    for training.iteration in range(1, 11):
        set_learning_rate(training)
        found.append(training.optimizer.param_groups[0]["lr"])
    return found


def test_the_learning_rate_falls_linearly_over_the_last_share_of_the_iterations():
    assert rates(learning_rate_decay=0) == [2.0] * 10
    assert rates(learning_rate_decay=0.4) == pytest.approx([2.0] * 7 + [1.5, 1.0, 0.5])
    assert rates(learning_rate_decay=1) == pytest.approx(np.arange(10, 0, -1) * 0.2)


def test_the_learning_rate_falls_by_its_factor_from_each_iteration_to_the_next():
    falling = rates(learning_rate_decay=0, learning_rate_factor=0.5)
    assert falling == pytest.approx([2 * 0.5**done for done in range(10)])
    assert rates(learning_rate_decay=0.4, learning_rate_factor=0.5)[-1] == pytest.approx(0.5 * 0.5**9)


def test_a_forced_update_is_a_convergence_point_whatever_the_loss():
    training, progress = trained(iterations=12, epsilon=1e-30, forced_update=7)
    assert [each.iteration for each in progress if each.updated] == [7]
    assert training.convergence_points == 1


def test_a_target_that_follows_whole_is_the_trained_network():
    training, progress = trained(iterations=5, polyak=1.0)
    pairs = zip(training.network.state_dict().values(), training.target.state_dict().values(), strict=True)
    assert all(torch.equal(value, tensor) for value, tensor in pairs if tensor.is_floating_point())
    assert [each.updated for each in progress] == [False, True, False, True, False]


def test_a_last_minibatch_of_a_single_state_is_trained_on_too():
    training, progress = trained(iterations=2, states_per_iteration=61, minibatch=60)
    assert len(progress) == 2 and np.isfinite(progress[-1].loss)
    assert all(torch.isfinite(tensor).all() for tensor in training.network.state_dict().values())


@pytest.mark.parametrize("sampler", ["deepcube", "deepcubea", "adaptive_k"])
def test_the_states_next_to_the_goal_of_a_puzzle_without_ranks_are_learned_and_resumed(sampler, tmp_path):
    cube = make("cube3")
    changes = {"puzzle": "cube3", "states_per_iteration": 200, "minibatch": 50, "validation_states": 50}
    changes |= {"iterations": 20, "check_every": 5, "epsilon": 0.3, "sampler": {"kind": sampler, "walk_max": 2}}
    training = begin(cube, params(**changes), "float32")
    progress = list(train(training))
    assert progress[-1].loss < progress[0].loss and training.convergence_points > 0
    resume.save(tmp_path / "point.safetensors", training, {}, {"key": "mine"}, {})
    again = begin(cube, training.params, "float32")
    assert resume.load(tmp_path / "point.safetensors", again, "mine") is not None
    states = cube.expand(cube.goal[None])[0][0]
    np.testing.assert_array_equal(again.cost_to_go(states), training.cost_to_go(states))


def test_the_loss_by_action_is_the_same_without_picking_out_the_legal_actions():
    targets = torch.rand(30, 5, generator=torch.Generator().manual_seed(0))
    targets[targets < 0.3] = torch.nan
    outputs = torch.ones(2, 30, 5, requires_grad=True)
    picked, masked = squared_error(outputs[0], targets), mean_square(outputs[1] - targets, ~targets.isnan())
    torch.testing.assert_close(picked, masked)
    gradient = torch.autograd.grad(picked + masked, outputs)[0]
    assert gradient.isfinite().all()
    torch.testing.assert_close(gradient[0], gradient[1])
