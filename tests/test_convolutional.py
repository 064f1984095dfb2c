"""The convolutional network: it is what torch's own convolutions make of a board, frozen or not, and it learns."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from messages import is_one_sentence
from torch import nn

from costtogo.heuristics import network as networks
from costtogo.heuristics.convolutional import ConvolutionalNetwork
from costtogo.heuristics.layers import BatchNorm
from costtogo.heuristics.network import NetworkHeuristic, build, load
from costtogo.learning import davi
from costtogo.params.trainers import training_of
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.types import UserError

PUZZLE = make("puzzle8")
STATES = PUZZLE.unrank(np.arange(0, 181440, 2500))
SMALL = {"kind": "convolutional", "channels": [6, 8, 5], "first_layers": [7]}


def lived_in(**changes) -> ConvolutionalNetwork:
    """A network whose batch normalisation and biases are no longer as they began, in inference mode."""
    network = build(architecture_of(**SMALL | changes), PUZZLE, seed=1).train()
    for module in network.modules():
        if isinstance(module, BatchNorm):
            nn.init.uniform_(module.weight, 0.5, 1.5)
        if isinstance(module, nn.Linear | BatchNorm):
            nn.init.uniform_(module.bias, -0.5, 0.5)
    for _ in range(5):
        network(network.encoded(STATES))
    return network.eval()


def values_of(network: ConvolutionalNetwork) -> np.ndarray:
    with torch.no_grad():
        return network(network.encoded(STATES)).numpy()


def test_layers_over_patches_are_the_convolutions_of_torch():
    network = lived_in(batch_norm=False)
    cells = torch.from_numpy(np.eye(9, dtype=np.float32)[STATES]).view(-1, 3, 3, 9)
    board = cells.permute(0, 3, 1, 2)
    for place, layer in enumerate(network.layers[:3]):
        kernels = layer.weight.view(len(layer.weight), 2, 2, -1).permute(0, 3, 1, 2)
        board = nn.functional.conv2d(board, kernels, layer.bias, padding=1 if place == 0 else 0).relu()
    hidden = network.layers[3](board.permute(0, 2, 3, 1).flatten(1)).relu()
    expected = network.output(hidden).detach().numpy()
    np.testing.assert_allclose(values_of(network), expected, rtol=1e-4, atol=1e-5)


@settings(deadline=None, max_examples=12)
@given(
    channels=st.lists(st.integers(2, 9), min_size=1, max_size=4),
    first=st.lists(st.integers(2, 9), max_size=2),
    batch_norm=st.booleans(),
    after=st.booleans(),
    outputs=st.sampled_from(["state", "actions"]),
)
def test_the_frozen_network_equals_the_network_in_inference_mode(channels, first, batch_norm, after, outputs):
    made = {"channels": channels, "first_layers": first, "batch_norm": batch_norm}
    network = lived_in(**made, norm_after_relu=after, outputs=outputs)
    with torch.no_grad():
        frozen = network.frozen(torch.float32)(torch.from_numpy(STATES)).numpy()
    assert frozen.shape == ((len(STATES), 4) if outputs == "actions" else (len(STATES),))
    np.testing.assert_allclose(frozen, values_of(network), rtol=1e-4, atol=1e-5)


def test_bfloat16_is_close_to_float32():
    network = lived_in(norm_after_relu=True)
    coarse, fine = (NetworkHeuristic(PUZZLE, network, kind).outputs(STATES) for kind in ("bfloat16", "float32"))
    assert 0 < np.abs(coarse - fine).max() < 0.05 * np.abs(fine).max() + 0.05


def test_freezing_keeps_the_network_and_training_on_leaves_the_frozen_one():
    network = lived_in(norm_after_relu=True)
    frozen = NetworkHeuristic(PUZZLE, network, "float32")
    before = frozen.outputs(STATES)
    with torch.no_grad():
        for tensor in [*network.parameters(), *network.buffers()]:
            tensor.add_(1)
    np.testing.assert_array_equal(frozen.outputs(STATES), before)


def test_the_report_s_network_for_the_15_puzzle_has_the_parameters_of_torch_s_layers():
    architecture = architecture_of(kind="convolutional", channels=[100, 200, 100], first_layers=[100])
    layers = [nn.Conv2d(16, 100, 2), nn.BatchNorm2d(100), nn.Conv2d(100, 200, 2), nn.BatchNorm2d(200)]
    layers += [nn.Conv2d(200, 100, 2), nn.BatchNorm2d(100), nn.Linear(9 * 100, 100), nn.BatchNorm1d(100)]
    layers.append(nn.Linear(100, 1))
    expected = sum(parameter.numel() for layer in layers for parameter in layer.parameters())
    assert build(architecture, make("puzzle15"), seed=0).parameter_count == expected


def test_a_checkpoint_is_read_back_as_it_was_written(tmp_path):
    network, path = lived_in(norm_after_relu=True), tmp_path / "000009.safetensors"
    networks.save(path, network, {"puzzle": "puzzle8", "precision": "float32", "iteration": 9})
    found = load(path)
    assert networks.load_network(path)[1].architecture == network.architecture
    np.testing.assert_array_equal(found(STATES), NetworkHeuristic(PUZZLE, network, "float32")(STATES))


def test_cells_that_lie_in_no_square_are_told_and_so_are_convolutions_that_leave_nothing():
    with pytest.raises(UserError, match="cube2") as told:
        build(architecture_of(**SMALL), make("cube2"), seed=0)
    assert is_one_sentence(str(told.value))
    with pytest.raises(UserError, match="leave nothing") as told:
        build(architecture_of(**SMALL | {"channels": [2] * 5}), PUZZLE, seed=0)
    assert is_one_sentence(str(told.value))


def test_convolutions_need_channels():
    for wrong in ({}, {"channels": []}):
        with pytest.raises(ValueError, match="channels"):
            architecture_of(kind="convolutional", **wrong)


@pytest.mark.parametrize("outputs", ["state", "actions"])
def test_it_learns_the_states_near_the_goal(outputs, distances_of):
    architecture = {"kind": "convolutional", "channels": [16, 16], "first_layers": [16], "outputs": outputs}
    params = training_of(
        puzzle="puzzle8",
        seed=3,
        precision="float32",
        architecture=architecture | {"batch_norm_momentum": 0.9},
        sampler={"kind": "deepcubea", "walk_max": 6},
        iterations=300,
        states_per_iteration=200,
        validation_states=50,
        minibatch=100,
        learning_rate=3e-3,
        learning_rate_decay=0.0,
        adam_beta_1=0.9,
        adam_beta_2=0.999,
        adam_epsilon=1e-7,
        epsilon=0.05,
        check_every=5,
        checkpoint_every=1,
    )
    training = davi.begin(PUZZLE, params, "float32")
    for _ in davi.train(training):
        pass
    distance = distances_of("puzzle8")
    near = np.flatnonzero(distance <= 5)
    error = training.heuristic(PUZZLE.unrank(near)) - distance[near]
    assert np.abs(error).mean() < 0.5
