"""Networks that lie above a lower bound: what they say, what they are trained on, and that they are nearer by."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.matching import MatchingBound
from costtogo.heuristics.network import NetworkHeuristic, build, load, save
from costtogo.heuristics.table import exact
from costtogo.learning.davi import begin, child_costs, train
from costtogo.params.trainers import training_of
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.types import UserError

PUZZLE = make("puzzle8")
ARCHITECTURE = {"first_layers": [32, 16], "batch_norm_momentum": 0.9}
ABOVE = ARCHITECTURE | {"above": "manhattan"}
STATES = np.concatenate([PUZZLE.goal[None], PUZZLE.unrank(np.arange(0, PUZZLE.state_count, 50))])
BOUND = Manhattan(PUZZLE, linear_conflicts=True)(STATES)


def training(architecture: dict, **changes):
    """A training of the 8-puzzle, or of what changes say, before its first iteration."""
    values = {
        "puzzle": "puzzle8",
        "seed": 4,
        "precision": "float32",
        "architecture": architecture,
        "sampler": {"kind": "uniform"},
        "iterations": 60,
        "states_per_iteration": 500,
        "validation_states": 20,
        "minibatch": 100,
        "learning_rate": 5e-3,
        "learning_rate_decay": 0.3,
        "adam_beta_1": 0.9,
        "adam_beta_2": 0.999,
        "adam_epsilon": 1e-7,
        "epsilon": 0.1,
        "polyak": 0.3,
        "check_every": 10,
        "checkpoint_every": 1,
    }
    params = training_of(**values | changes)
    return begin(make(params.puzzle), params, "float32")


def with_output(network, value: float):
    """The network with one output for all states."""
    torch.nn.init.zeros_(network.output.weight)
    torch.nn.init.constant_(network.output.bias, value)
    return network


@pytest.mark.parametrize(("output", "added"), [(2.5, 2.5), (0, 0), (-3, 0)])
def test_the_output_is_added_to_the_bound_and_never_goes_below_it(output, added):
    network = with_output(build(architecture_of(**ABOVE), PUZZLE, 1), output).eval()
    values = NetworkHeuristic(PUZZLE, network, "float32")(STATES)
    assert values.dtype == np.float32 and values[0] == 0
    np.testing.assert_allclose(values[1:], BOUND[1:] + added)


def test_a_checkpoint_lies_above_the_bound_too(tmp_path):
    network = with_output(build(architecture_of(**ABOVE), PUZZLE, 1), 2).eval()
    save(tmp_path / "network.safetensors", network, {"puzzle": "puzzle8", "precision": "float32", "iteration": 1})
    np.testing.assert_allclose(load(tmp_path / "network.safetensors")(STATES[1:]), BOUND[1:] + 2)


def test_it_is_trained_on_what_is_missing_from_the_bound():
    """Of a network that says 0 the first loss is the mean square of what Bellman's equation adds to the bound."""
    begun = training(ABOVE, states_per_iteration=4000, minibatch=4000, iterations=1)
    for network in (begun.network, begun.target):
        with_output(network, 0)
    progress = next(train(begun))
    every = PUZZLE.unrank(np.arange(PUZZLE.state_count))
    bound = Manhattan(PUZZLE, linear_conflicts=True)
    targets = 1 + child_costs(PUZZLE, every, bound).min(axis=1)
    targets[bound(every) == 0] = 0
    added = np.mean((targets - bound(every)) ** 2)
    assert added > 0.2 and progress.loss == pytest.approx(added, rel=0.2)


def test_a_short_training_is_nearer_to_the_distance_and_mostly_below_it(distances_of):
    distance = exact(PUZZLE, distances_of("puzzle8"))(STATES)
    errors = {}
    for name, architecture in (("from nothing", ARCHITECTURE), ("above", ABOVE)):
        done = training(architecture)
        list(train(done))
        errors[name] = np.abs(done.heuristic(STATES) - distance).mean()
    assert errors["above"] < np.abs(BOUND - distance).mean() < errors["from nothing"]


LEVEL = "#####\n#.  #\n# $@#\n#   #\n#####"  # its box can be pushed to the target, or to the lower wall for good


def test_a_network_of_levels_lies_above_the_matching_and_gives_up_what_that_gives_up():
    puzzle = make("sokoban_5")
    states = [puzzle.parse_state(LEVEL)[None]]
    for action in (0, 2, 1):  # up, left and down, which pushes the box
        states.append(puzzle.move(states[-1], np.array([action])))
    network = with_output(build(architecture_of(**ABOVE | {"above": "matching"}), puzzle, 1), 3).eval()
    found = NetworkHeuristic(puzzle, network, "float32")(np.concatenate(states))
    bound = MatchingBound(puzzle)(np.concatenate(states))
    assert np.isinf(bound).tolist() == [False, False, False, True]
    np.testing.assert_array_equal(found, bound + 3)


def test_value_iteration_on_levels_lies_above_the_matching_and_walks_end_in_what_it_gives_up():
    sampler = {"kind": "levels", "levels": 20, "boxes": 2, "walk_max": 50, "greedy_share": 0.5}
    changes = {"puzzle": "sokoban_8", "sampler": sampler, "ceiling": 60, "iterations": 30}
    done = training(ABOVE | {"above": "matching"}, **changes)
    losses = [each.loss for each in train(done)]
    assert np.isfinite(losses).all() and np.isfinite(done.bound(done.walks)).all() and len(done.walks) > 100


def test_who_cannot_lie_above_a_bound_is_told_so():
    with pytest.raises(ValidationError, match="above a bound needs outputs: state"):
        architecture_of(**ABOVE | {"outputs": "actions"})
    with pytest.raises(ValidationError, match="above a bound is for the trainers davi and imitation"):
        training(ABOVE, trainer="random_walk", sampler={"kind": "non_backtracking", "walk_max": 60})
    hanoi = make("hanoi_3")
    with pytest.raises(UserError, match="hanoi_3 has no bound"):
        NetworkHeuristic(hanoi, build(architecture_of(**ABOVE), hanoi, 1).eval(), "float32")


def test_an_architecture_without_one_is_written_out_as_before():
    assert "above" not in architecture_of(**ARCHITECTURE).model_dump()
