"""The value networks: their size, their Keras defaults, their frozen form, their checkpoints."""

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo.files import FileError, write_arrays, write_tensors
from costtogo.heuristics import layers
from costtogo.heuristics import network as networks
from costtogo.heuristics.layers import BatchNorm
from costtogo.heuristics.network import Network, NetworkHeuristic, build, load, load_network
from costtogo.heuristics.residual import ResidualNetwork
from costtogo.heuristics.table import tabulate
from costtogo.params.training import ArchitectureParams, architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks
from costtogo.types import UserError

ARCHITECTURES = yaml.safe_load((Path(__file__).parent.parent / "params.yaml").read_text())["architectures"]
SMALL = architecture_of(first_layers=[24, 12], residual_blocks=2)
HANOI = make("hanoi_4")
STATES = HANOI.unrank(np.arange(81))


def lived_in(architecture: ArchitectureParams, seed: int = 0, puzzle=HANOI, states=STATES) -> Network:
    """A network whose batch normalisation and biases are no longer as they began, in inference mode."""
    network = build(architecture, puzzle, seed).train()
    for module in network.modules():
        if isinstance(module, BatchNorm):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
        if isinstance(module, torch.nn.Linear | BatchNorm):
            torch.nn.init.uniform_(module.bias, -0.5, 0.5)
    for _ in range(5):
        network(network.encoded(states))
    return network.eval()


def values_in_inference_mode(network: Network, puzzle=HANOI, states=STATES) -> np.ndarray:
    with torch.no_grad():
        return network(network.encoded(states)).numpy()


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("DNN_0", 13_763_001),
        ("DNN_noBatchNorm", 13_735_001),
        ("DNN_reduced_0", 6_698_601),
        ("DNN_reduced_0_noBatchNorm", 6_681_401),
    ],
)
def test_a_network_of_the_thesis_has_its_number_of_parameters_on_2x2x2(name, count):
    with torch.device("meta"):
        network = ResidualNetwork(architecture_of(**ARCHITECTURES[name]), make("cube2"))
    assert network.parameter_count == count


@given(
    first=st.lists(st.integers(2, 20), min_size=1, max_size=3),
    blocks=st.integers(0, 2),
    layers=st.integers(1, 3),
    batch_norm=st.booleans(),
    after=st.booleans(),
)
def test_the_frozen_network_equals_the_network_in_inference_mode(first, blocks, layers, batch_norm, after):
    architecture = architecture_of(
        first_layers=first,
        residual_blocks=blocks,
        layers_per_block=layers,
        batch_norm=batch_norm,
        norm_after_relu=after,
    )
    network = lived_in(architecture)
    frozen = NetworkHeuristic(HANOI, network, "float32")
    np.testing.assert_allclose(frozen.outputs(STATES), values_in_inference_mode(network), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("name", ["cube2", "cube3"])
def test_sums_for_whole_pieces_are_those_of_their_stickers(name, after):
    puzzle = make(name)
    states = random_walks(puzzle, 20, 30, np.random.default_rng(0)).reshape(-1, puzzle.cells)
    network = lived_in(SMALL.model_copy(update={"norm_after_relu": after}), 0, puzzle, states)
    frozen, expected = NetworkHeuristic(puzzle, network, "float32"), values_in_inference_mode(network, puzzle, states)
    np.testing.assert_allclose(frozen.outputs(states), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(frozen.outputs(states[:1]), expected[:1], rtol=1e-4, atol=1e-5)


def test_normalisation_after_each_relu_is_that_of_layers_written_out():
    network = lived_in(SMALL.model_copy(update={"norm_after_relu": True}))

    def layer(values, linear, norm):
        rectified = linear(values).clamp(min=0)
        return (rectified - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias

    with torch.no_grad():
        values = network.encoded(STATES)
        for linear, norm in zip(network.first, network.first_norms, strict=True):
            values = layer(values, linear, norm)
        for block in network.blocks:
            inside = values
            for linear, norm in zip(block.layers, block.norms, strict=True):
                inside = layer(inside, linear, norm)
            values = values + inside
        expected = network.output(values).numpy()
    np.testing.assert_allclose(values_in_inference_mode(network), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch_norm", [True, False])
def test_freezing_leaves_the_network_as_it_was_and_training_on_leaves_the_frozen_one(batch_norm):
    network = lived_in(SMALL.model_copy(update={"batch_norm": batch_norm}))
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    frozen = NetworkHeuristic(HANOI, network, "float32")
    first = frozen.outputs(STATES)
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 1
    np.testing.assert_array_equal(frozen.outputs(STATES), first)


def test_bfloat16_is_close_to_float32():
    network = lived_in(SMALL)
    coarse, fine = (
        NetworkHeuristic(HANOI, network, precision).outputs(STATES) for precision in ("bfloat16", "float32")
    )
    assert 0 < np.abs(coarse - fine).max() < 0.05 * np.abs(fine).max() + 0.05


def test_the_goal_has_value_zero_whatever_the_network_says():
    heuristic = NetworkHeuristic(HANOI, lived_in(SMALL), "float32")
    assert heuristic.outputs(STATES)[0] != 0
    expected = heuristic.outputs(STATES)
    expected[0] = 0
    np.testing.assert_array_equal(heuristic(STATES), expected)


def test_a_batch_evaluated_in_parts_equals_the_whole(monkeypatch):
    heuristic = NetworkHeuristic(HANOI, lived_in(SMALL), "float32")
    whole = heuristic(STATES)
    monkeypatch.setattr(networks, "CHUNK", 7)
    np.testing.assert_allclose(heuristic(STATES), whole, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(tabulate(HANOI, heuristic, chunk=5).values.shape, whole.shape)
    np.testing.assert_allclose(tabulate(HANOI, heuristic, chunk=5).values, whole, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "evaluated"), [(1, 1), (3, 4), (33, 64), (64, 64), (65, 128), (129, 192), (2000, 2048), (2048, 2048)]
)
def test_where_onednn_multiplies_bfloat16_few_numbers_of_rows_are_evaluated(rows, evaluated, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    heuristic, seen = NetworkHeuristic(HANOI, lived_in(SMALL), "bfloat16"), []
    evaluate = heuristic.evaluate
    monkeypatch.setattr(heuristic, "evaluate", lambda states: seen.append(len(states)) or evaluate(states))
    states = STATES[np.arange(rows) % 81]
    np.testing.assert_allclose(heuristic.outputs(states), heuristic.outputs(STATES)[np.arange(rows) % 81], rtol=1e-2)
    assert seen == ([evaluated, 128] if layers.multiplies_bfloat16() else [rows, 81])


@pytest.mark.parametrize("name", ["puzzle15", "puzzle35"])
def test_sums_of_rows_and_products_of_one_hot_values_agree(name):
    puzzle = make(name)
    network = build(architecture_of(first_layers=[64, 32], residual_blocks=1), puzzle, 0).eval()
    states = random_walks(puzzle, 50, 200, np.random.default_rng(0))[:, -1]
    coarse, fine = (NetworkHeuristic(puzzle, network, kind).outputs(states) for kind in ("bfloat16", "float32"))
    with torch.no_grad():
        np.testing.assert_allclose(fine, network(network.encoded(states)).numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(coarse, fine, atol=0.05)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("hanoi_4", {"first_layers": [24, 12], "residual_blocks": 2}),
        ("hanoi_4", {"kind": "automaton"}),
        ("hanoi_4", {"kind": "gru"}),
        ("puzzle8", {"kind": "tuples"}),
        ("puzzle8", {"kind": "convolutional", "channels": [8, 8], "first_layers": [12]}),
        ("puzzle8", {"first_layers": [12], "above": "manhattan"}),
        ("puzzle8", {"first_layers": [12], "outputs": "actions"}),
        ("lights_out_3", {"kind": "rows", "first_layers": [12], "outputs": "actions"}),
    ],
)
def test_no_states_have_no_values(name, architecture, precision):
    puzzle = make(name)
    heuristic = NetworkHeuristic(puzzle, build(architecture_of(**architecture), puzzle, 0).eval(), precision)
    none = puzzle.goal[None][:0]
    assert heuristic(none).shape == (0,)
    assert heuristic.children(none).shape == (0, len(puzzle.actions))


def test_the_networks_input_is_the_one_hot_encoding():
    encoded = lived_in(SMALL).encoded(STATES).numpy().reshape(len(STATES), HANOI.cells, HANOI.letters)
    np.testing.assert_array_equal(encoded, STATES[:, :, None] == np.arange(HANOI.letters))


@given(rows=st.integers(2, 40), momentum=st.floats(0.05, 0.95))
def test_the_running_variance_follows_the_biased_variance_as_in_keras(rows, momentum):
    norm = BatchNorm(3, momentum=1 - momentum).train()
    values = torch.randn(rows, 3, generator=torch.Generator().manual_seed(rows)) * 5 + 2
    normalised = norm(values)
    average, variance = values.mean(dim=0), values.var(dim=0, unbiased=False)
    torch.testing.assert_close(norm.running_mean, (1 - momentum) * average, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(norm.running_var, momentum + (1 - momentum) * variance, rtol=1e-4, atol=1e-5)
    expected = (values - average) / torch.sqrt(variance + norm.eps)
    torch.testing.assert_close(normalised, expected, rtol=1e-3, atol=1e-4)


def test_the_running_variance_stays_as_it_is_in_inference_mode():
    norm = BatchNorm(3).eval()
    norm(torch.randn(10, 3))
    torch.testing.assert_close(norm.running_var, torch.ones(3))


def test_weights_begin_within_the_bounds_of_glorot_and_biases_at_zero():
    network = build(SMALL, HANOI, seed=3)
    for module in network.modules():
        if isinstance(module, torch.nn.Linear):
            bound = np.sqrt(6 / (module.in_features + module.out_features))
            assert 0.75 * bound < module.weight.abs().max() <= bound
            assert (module.bias == 0).all()


def test_the_same_seed_begins_with_the_same_weights_and_another_seed_with_others():
    first, second, other = (build(SMALL, HANOI, seed).first[0].weight for seed in (1, 1, 2))
    assert torch.equal(first, second) and not torch.equal(first, other)


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    """A checkpoint of hanoi_4."""
    path = tmp_path / "000007.safetensors"
    networks.save(path, lived_in(SMALL), {"puzzle": "hanoi_4", "precision": "float32", "iteration": 7})
    return path


def test_a_checkpoint_is_read_back_as_it_was_written(checkpoint):
    puzzle, network, description = load_network(checkpoint)
    assert puzzle == HANOI and not network.training
    assert description["iteration"] == 7 and description["architecture"] == SMALL.model_dump()
    original = lived_in(SMALL).state_dict()
    assert all(torch.equal(original[name], tensor) for name, tensor in network.state_dict().items())
    np.testing.assert_array_equal(load(checkpoint)(STATES), NetworkHeuristic(HANOI, network, "float32")(STATES))


def test_a_checkpoint_is_evaluated_in_its_own_precision_unless_another_is_given(checkpoint):
    assert load(checkpoint).precision == "float32"
    assert load(checkpoint, "bfloat16").precision == "bfloat16"


@pytest.mark.parametrize(("native", "precision"), [(True, "bfloat16"), (False, "float32")])
def test_one_trained_in_bfloat16_is_evaluated_in_float32_where_that_is_not_native(
    tmp_path, monkeypatch, native, precision
):
    path = tmp_path / "000007.safetensors"
    networks.save(path, lived_in(SMALL), {"puzzle": "hanoi_4", "precision": "bfloat16", "iteration": 7})
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: native)
    heuristic = load(path)
    assert heuristic.precision == precision and np.isfinite(heuristic(STATES)).all()


@pytest.mark.parametrize("able", [True, False])
def test_onednn_multiplies_bfloat16_where_it_can_and_many_rows_of_float32_where_it_outruns_mkl(monkeypatch, able):
    monkeypatch.setattr(layers, "multiplies_bfloat16", lambda: able)
    monkeypatch.setattr(layers, "outruns_mkl", lambda: able)
    cpu = torch.device("cpu")
    assert layers.by_onednn(torch.bfloat16, cpu, 1) == able
    assert layers.by_onednn(torch.float32, cpu, layers.FEW_ROWS) == able
    assert not layers.by_onednn(torch.float32, cpu, layers.FEW_ROWS - 1)
    assert not layers.by_onednn(torch.float64, cpu, 1000)
    assert not layers.by_onednn(torch.bfloat16, torch.device("cuda"), 1000)


@pytest.mark.parametrize("shape", [(300,), (20, 16)])
def test_a_layer_multiplied_by_onednn_gives_the_values_and_gradients_of_the_plain_one(monkeypatch, shape):
    def told(outruns: bool) -> list[torch.Tensor]:
        monkeypatch.setattr(layers, "outruns_mkl", lambda: outruns)
        torch.manual_seed(3)
        layer, values = layers.Linear(24, 40), torch.randn(*shape, 24, requires_grad=True)
        made = layer(values)
        (made**2).sum().backward()
        assert ("_Products" in made.grad_fn.name()) == outruns
        return [made, values.grad, layer.weight.grad, layer.bias.grad]

    for fast, plain in zip(told(True), told(False), strict=True):
        torch.testing.assert_close(fast, plain, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("after", [True, False])
def test_a_network_multiplied_by_onednn_says_what_the_plain_one_says(monkeypatch, after):
    network = lived_in(SMALL.model_copy(update={"norm_after_relu": after}))

    def told(outruns: bool) -> np.ndarray:
        monkeypatch.setattr(layers, "outruns_mkl", lambda: outruns)
        return NetworkHeuristic(HANOI, network, "float32").outputs(STATES)

    np.testing.assert_allclose(told(True), told(False), rtol=1e-4, atol=1e-5)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def cut_in_its_header(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:60])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def of_text(path: Path) -> None:
    path.write_text("This is a letter, not a network.\n" * 30)


def of_arrays(path: Path) -> None:
    write_arrays(path, distance=np.zeros(81))


def of_other_tensors(path: Path) -> None:
    write_tensors(path, {"x": torch.zeros(3)}, {"note": "not a network"})


def without_description(path: Path) -> None:
    from safetensors.torch import save

    path.write_bytes(save({"x": torch.zeros(3)}))


def of_another_shape(path: Path) -> None:
    other = build(architecture_of(first_layers=[5], residual_blocks=0), HANOI, 0).state_dict()
    write_tensors(path, other, {"puzzle": "hanoi_4", "architecture": SMALL.model_dump()})


DAMAGES = [
    truncated, cut_in_its_header, empty, of_text, of_arrays, of_other_tensors, without_description, of_another_shape,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_foreign_checkpoint_is_told_in_one_sentence_with_its_path(damage, checkpoint):
    damage(checkpoint)
    with pytest.raises(FileError) as told:
        load(checkpoint)
    assert str(checkpoint) in str(told.value) and is_one_sentence(str(told.value))


def test_a_checkpoint_of_an_unknown_puzzle_is_told_in_one_sentence(checkpoint, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(networks, "rules", lambda puzzle: None)  # as where the puzzle was known once
        networks.save(checkpoint, lived_in(SMALL), {"puzzle": "cube9"})
    with pytest.raises(UserError) as told:
        load(checkpoint)
    assert is_one_sentence(str(told.value))


def test_a_checkpoint_that_is_not_there_is_told_in_one_sentence(tmp_path):
    with pytest.raises(FileError, match="No such file") as told:
        load(tmp_path / "none.safetensors")
    assert is_one_sentence(str(told.value))


def test_a_gated_network_reads_the_largest_cell_first_and_is_never_below_zero_when_frozen():
    puzzle = make("hanoi_4")
    network = build(architecture_of(kind="gru", states=6), puzzle, seed=3)
    states = puzzle.unrank(np.arange(81))
    with torch.no_grad():
        raw = network(network.encoded(states))
        memory = torch.zeros(81, 6)
        cell = torch.nn.GRUCell(3, 6)
        cell.load_state_dict({name.removesuffix("_l0"): value for name, value in network.unit.state_dict().items()})
        for disk in reversed(range(4)):
            memory = cell(torch.nn.functional.one_hot(torch.from_numpy(states[:, disk]).long(), 3).float(), memory)
        torch.testing.assert_close(raw, network.output(memory)[:, 0])
    values = NetworkHeuristic(puzzle, network, "float32").outputs(states)
    np.testing.assert_allclose(values, np.maximum(raw.numpy(), 0), atol=1e-6)


def test_a_checkpoint_is_loaded_on_the_device_that_there_is_unless_one_is_named(checkpoint, monkeypatch):
    asked = []
    monkeypatch.setattr(networks, "present", lambda device: asked.append(device) or "cpu")
    load(checkpoint)
    load(checkpoint, device="cuda")
    assert asked == ["auto", "cuda"]


@pytest.mark.parametrize("found", [False, True])
def test_device_auto_is_cuda_where_torch_finds_it(monkeypatch, found):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: found)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: int(found))
    assert networks.present("auto") == ("cuda" if found else "cpu")
    assert networks.present("cpu") == "cpu"


def test_a_device_that_is_not_there_is_one_sentence(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError) as told:
        networks.present("cuda")
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize("count", [0, 1, 700, 5000])
def test_states_evaluated_in_parts_by_several_threads_have_the_values_of_one(count):
    heuristic = NetworkHeuristic(HANOI, lived_in(SMALL), "float32")
    states = HANOI.unrank(np.arange(count) % HANOI.state_count)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = heuristic(states)
        torch.set_num_threads(3)
        np.testing.assert_allclose(heuristic(states), alone, rtol=1e-5, atol=1e-5)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)


def test_each_thread_that_evaluates_a_part_computes_alone():
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        with networks.workers.__wrapped__(2) as pool:
            assert list(pool.map(lambda _: torch.get_num_threads(), range(4))) == [1] * 4
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)
