"""The two engines compute the same, byte for byte: torch, here on the processor, beside the puzzle's own functions."""

from contextlib import nullcontext
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from known_puzzles import ABILITIES
from messages import is_one_sentence
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from costtogo.contract import check
from costtogo.engines import engine_of, engine_on
from costtogo.engines.device import RECORDINGS, Captured, DeviceEngine
from costtogo.engines.host import HostEngine
from costtogo.exact.nearby import nearby_table
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.heuristics.network import NetworkHeuristic, build
from costtogo.learning import resume
from costtogo.params.trainers import training_of
from costtogo.params.training import architecture_of
from costtogo.puzzles import make, names_of_files
from costtogo.puzzles.base import Puzzle, random_walks
from costtogo.puzzles.cube import Cube2
from costtogo.search import bwas
from costtogo.search.beam import BeamLimits, solve
from costtogo.types import UserError

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


COMMON = {"seed": 3, "iterations": 200, "states_per_iteration": 61, "validation_states": 40, "check_every": 20}
COMMON |= {"precision": "float32", "checkpoint_every": 1, "minibatch": 30, "learning_rate": 3e-3, "epsilon": 0.5}
COMMON |= {"learning_rate_decay": 0.5, "adam_beta_1": 0.9, "adam_beta_2": 0.999, "adam_epsilon": 1e-3}
PLAIN = {"first_layers": [24, 12], "residual_blocks": 1, "batch_norm": False}
WALKS_OF_TILES = {"kind": "non_backtracking", "walk_max": 40, "stride": 5, "greedy_share": 0.3, "greedy_moves": 9}
TRAININGS = {
    "random walks by action": {"puzzle": "cube3", "trainer": "random_walk", "outputs": "actions"},
    "random walks by state": {"puzzle": "sokoban_8", "trainer": "random_walk"},
    "davi": {"puzzle": "cube3", "sampler": {"kind": "adaptive_k", "walk_max": 20, "conv_point_offs": 1}, "epsilon": 5},
    "davi of a listed puzzle": {"puzzle": "hanoi_4", "sampler": {"kind": "deepcubea", "walk_max": 16}},
    "davi two moves ahead": {"puzzle": "cube2", "sampler": {"kind": "deepcube", "walk_max": 9}, "lookahead": 2},
    "davi with greedy walks": {"puzzle": "puzzle15", "sampler": WALKS_OF_TILES, "polyak": 0.1, "above": "manhattan"},
    "davi by action": {"puzzle": "lights_out_4", "sampler": {"kind": "deepcubea", "walk_max": 9}, "outputs": "actions"},
    "adi": {"puzzle": "cube3", "trainer": "adi", "sampler": {"kind": "deepcube", "walk_max": 9}, "outputs": "policy"},
}


def training_with(name: str, engine: type | None = None, **changes):
    """A training that has not begun, and its module."""
    values = COMMON | {"sampler": {"kind": "non_backtracking", "walk_max": 15}} | TRAININGS[name] | changes
    architecture = {key: values.pop(key) for key in ("outputs", "above", "batch_norm") if key in values}
    own = {key for key in ("epsilon", *COMMON) if key.startswith(("adam", "epsilon"))} if name == "adi" else set()
    values = {key: value for key, value in values.items() if key not in own}
    params = training_of(**values, architecture=PLAIN | architecture)
    module, puzzle = import_module(f"costtogo.learning.{params.trainer}"), make(params.puzzle)
    training = module.begin(puzzle, params, "float32")
    if engine is not None:
        training.engine = engine(puzzle, "cpu")
    return module, training


@pytest.mark.parametrize("name", TRAININGS)
def test_both_engines_train_on_the_same_states_to_the_same_losses(name, monkeypatch):
    module, training = training_with(name)
    wanted = np.array([(each.loss, each.validation_loss) for each in module.train(training)])
    for method in ("expand", "legal", "move", "is_goal", "pick", "walk", "random_walks", "hashes", "distinct"):
        monkeypatch.delattr(HostEngine, method)  # nothing asks the host
    module, training = training_with(name, DeviceEngine)
    found = np.array([(each.loss, each.validation_loss) for each in module.train(training)])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_a_training_with_greedy_walks_goes_on_from_a_resume_point_of_its_engine(tmp_path):
    module, training = training_with("davi with greedy walks", DeviceEngine)
    wanted = []
    for progress in module.train(training):
        wanted.append(progress.loss)
        if progress.iteration == 10:
            resume.save(tmp_path / "point", training, {}, {"key": "same"}, {})
        if progress.iteration == 20:
            break
    module, training = training_with("davi with greedy walks", DeviceEngine)
    resume.load(tmp_path / "point", training, "same")
    assert isinstance(training.walks, torch.Tensor)
    found = [progress.loss for progress, _ in zip(module.train(training), range(10), strict=False)]
    assert found == wanted[10:]


class Tape(TorchDispatchMode):
    """Stands in for a CUDA graph: notes each operation with its tensors, and computes them again in the same memory.

    Like a graph it does not see what Python computes. A graph computes nothing while it is recorded; the tape does, so
    that its first repetition is over by then.
    """

    def __init__(self):
        super().__init__()
        self.operations, self.repetitions = [], 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        results = function(*args, **(kwargs or {}))
        self.operations.append((function, args, kwargs or {}, results))
        return results

    @torch.no_grad()
    def replay(self) -> None:
        self.repetitions += 1
        for function, args, kwargs, results in self.operations if self.repetitions > 1 else ():
            for before, now in zip(tree_leaves(results), tree_leaves(function(*args, **kwargs)), strict=True):
                if isinstance(now, torch.Tensor) and before.data_ptr() != now.data_ptr():
                    before.copy_(now)


RECORDED = {"batch_norm": True, "states_per_iteration": 80, "iterations": 60}  # the last minibatch is a smaller one


@pytest.fixture
def gpu(monkeypatch):
    """An engine on the processor whose recordings are tapes; the list of them."""
    tapes = []

    class Noted(Tape):
        def __init__(self):
            super().__init__()
            tapes.append(self)

    stream = SimpleNamespace(wait_stream=lambda other: None)
    for name, value in {
        "Stream": lambda: stream,
        "current_stream": lambda: stream,
        "set_stream": lambda other: None,
        "stream": lambda other: nullcontext(),
        "graph_pool_handle": lambda: None,
        "CUDAGraph": Noted,
        "graph": lambda graph, pool, stream: graph,
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(DeviceEngine, "captured", lambda self, act: Captured(act, torch.device("cuda")))
    return tapes


@pytest.mark.parametrize("name", ["random walks by action", "davi", "davi with greedy walks"])
def test_recorded_steps_and_walks_are_those_that_are_not(name, gpu):
    module, training = training_with(name, **RECORDED)
    wanted = np.array([(each.loss, each.validation_loss) for each in module.train(training)])
    module, training = training_with(name, DeviceEngine, **RECORDED)
    for group in training.optimizer.param_groups:
        group["lr"] = torch.tensor(group["lr"], dtype=torch.float64)  # a number would be recorded, too
    found = np.array([(each.loss, each.validation_loss) for each in module.train(training)])
    assert max(tape.repetitions for tape in gpu) > 100 and len(gpu) > 1  # of steps, and of walks or of the last steps
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_a_function_is_recorded_for_each_shape_and_the_oldest_are_dropped(gpu):
    captured = Captured(lambda values, more: (values + more, values.sum()), torch.device("cuda"))
    for size in [*range(1, RECORDINGS + 3)] * 6:
        values = torch.rand(size)
        for wanted, found in zip((values + 1, values.sum()), captured(values, torch.ones(size)), strict=True):
            assert torch.equal(wanted, found)
    assert len(captured.recordings) == RECORDINGS
    assert not gpu  # each came too seldom
    kept = [captured(torch.full((2,), float(number)), torch.ones(2))[0] for number in range(9)]
    assert [each.tolist() for each in kept] == [[number + 1.0] * 2 for number in range(9)] and len(gpu) == 1


def test_where_a_recording_fails_one_sentence_says_so_and_all_goes_on(gpu, monkeypatch, capsys):
    def failing(graph, pool, stream):
        raise RuntimeError("operation not permitted when stream is capturing\nand more")

    monkeypatch.setattr(torch.cuda, "graph", failing)
    captured = Captured(lambda values: 2 * values, torch.device("cuda"))
    assert [captured(torch.tensor([number])).item() for number in range(9)] == [*range(0, 18, 2)]
    assert is_one_sentence(capsys.readouterr().err.strip() + ".")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", TRAININGS)
def test_a_gpu_records_and_comes_to_the_same_losses(name):
    module, training = training_with(name, **RECORDED)
    wanted = np.array([(each.loss, each.validation_loss) for each in module.train(training)])
    module, training = training_with(name, **RECORDED)
    training.to("cuda")
    found = np.array([(each.loss, each.validation_loss) for each in module.train(training)])
    recordings = training.captured(None).recordings.values()
    assert all(each.graph is not None for each in recordings if each.calls > 3)
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=1e-2)


class Elsewhere:
    """A heuristic of the host for tensors, so that both engines search by the same values."""

    def __init__(self, heuristic, engine, by_action: bool):
        self.heuristic, self.engine, self.by_action = heuristic, engine, by_action

    def __call__(self, states):
        return self.engine.given(self.heuristic(self.engine.fetched(states)))

    def children(self, states):
        return child_costs(self.engine.puzzle, states, self)


def rounded(puzzle: Puzzle):
    """A heuristic with many equal values: the cells that differ from the goal, by fives."""
    return lambda states: ((states != puzzle.goal).sum(axis=1) // 5).astype(np.float32)


@pytest.mark.parametrize("by_action", [True, False], ids=["by action", "by state"])
@pytest.mark.parametrize(
    ("name", "depth"), [("cube3", 3), ("puzzle15", None), ("lights_out_5", 2), ("sokoban_8", None)]
)
def test_beams_of_both_engines_are_the_same(name, depth, by_action):
    puzzle = make(name)
    nearby = None if depth is None else nearby_table(puzzle, depth)
    starts, limits = random_walks(puzzle, 3, 9, np.random.default_rng(5))[:, -1], BeamLimits(max_moves=12)
    for width in (1, 40):
        host, device = (
            solve(
                puzzle,
                Elsewhere(rounded(puzzle), engine, by_action),
                starts,
                width=width,
                nearby=nearby,
                limits=limits,
            )
            for engine in (HostEngine(puzzle), DeviceEngine(puzzle, "cpu"))
        )
        for wanted, found in zip(host.rows(), device.rows(), strict=True):
            assert [*map(str, wanted)] == [*map(str, found)]
    assert host.solved.any()


@pytest.mark.parametrize("by_action", [True, False], ids=["by action", "by state"])
@pytest.mark.parametrize(("name", "near"), [("cube3", 2), ("puzzle15", 0), ("lights_out_5", 2), ("sokoban_8", 0)])
def test_batch_weighted_a_star_of_both_engines_is_the_same(name, near, by_action):
    puzzle = make(name)
    starts, solved = random_walks(puzzle, 5, 4, np.random.default_rng(5))[:, -1], False
    for weight, batch_size, until_proved in ((0.6, 1, False), (1.0, 30, False), (1.0, 500, True)):
        results = []
        for engine in (HostEngine(puzzle), DeviceEngine(puzzle, "cpu")):
            heuristic = Elsewhere(rounded(puzzle), engine, by_action)
            heuristic = NearbyHeuristic(heuristic, nearby_table(puzzle, near)) if near else heuristic
            options = {"path_weight": weight, "batch_size": batch_size, "until_proved": until_proved}
            results.append(bwas.solve(puzzle, heuristic, starts, **options, limits=bwas.Limits(3000, 5000)))
        for wanted, found in zip(*(result.rows() for result in results), strict=True):
            assert [*map(str, wanted)] == [*map(str, found)]
        solved |= results[0].solved.any()
    assert solved


@pytest.mark.parametrize("outputs", ["state", "actions"])
def test_batch_weighted_a_star_over_a_network_of_a_device_keeps_states_there(outputs, monkeypatch):
    puzzle = make("cube3")
    starts = random_walks(puzzle, 3, 5, np.random.default_rng(5))[:, -1]
    network = build(architecture_of(**PLAIN, outputs=outputs), puzzle, 0)
    host, device = (NetworkHeuristic(puzzle, network, "float32") for _ in range(2))
    device.engine = DeviceEngine(puzzle, "cpu")
    options = {"path_weight": 0.6, "batch_size": 50, "limits": bwas.Limits(max_expansions=3000)}
    wanted = bwas.solve(puzzle, host, starts, **options)
    monkeypatch.setattr(puzzle.__class__, "expand", None)
    monkeypatch.setattr(NetworkHeuristic, "_by_threads", None)
    found = bwas.solve(puzzle, device, starts, **options)
    for name in ("cost", "nodes_expanded", "nodes_generated"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


def test_a_search_that_fills_the_device_costs_one_sentence(monkeypatch):
    def full(self, states):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    engine = DeviceEngine(make("cube3"), "cpu")
    monkeypatch.setattr(DeviceEngine, "expand", full)
    heuristic = Elsewhere(rounded(engine.puzzle), engine, False)
    starts = random_walks(engine.puzzle, 1, 9, np.random.default_rng(5))[:, -1]
    with pytest.raises(UserError) as error:
        bwas.solve(engine.puzzle, heuristic, starts, path_weight=0.6, batch_size=7)
    assert is_one_sentence(str(error.value)) and "N = 7" in str(error.value)


def test_hashes_seen_are_told_from_new_ones_as_by_the_table_of_the_host():
    puzzle, generator = make("cube2"), np.random.default_rng(6)
    host, device = HostEngine(puzzle).seen(), DeviceEngine(puzzle, "cpu").seen()
    for size in (300, 10, 0, 500, 3, 40, 900):
        hashes = generator.integers(1, 2000, size=size, dtype=np.uint64)
        given = torch.from_numpy(hashes.view(np.int64))
        rows = host.new(hashes)
        same(rows, device.new(given))
        host.enter(hashes[rows])
        device.enter(given[torch.from_numpy(rows)])
        assert host.count == device.count
    assert len(device.runs) < 4


def test_a_device_that_is_full_costs_one_sentence():
    engine = DeviceEngine(make("cube2"), "cpu")

    class Large(Elsewhere):
        def __call__(self, states):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB.\n")

    with pytest.raises(UserError, match="too little free memory for a beam of width 70,000") as told:
        solve(engine.puzzle, Large(None, engine, True), engine.puzzle.goal[None, ::-1], width=70_000)
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize("name", NAMES)
def test_every_puzzle_of_this_package_fulfils_the_contract(name):
    check(make(name))


def wrong_children(puzzle, states):
    children, legal = Cube2.expand(puzzle, states)
    return children[:, ::-1], legal


BROKEN = {
    "expand gives children": {"expand": lambda self, states: (Cube2.expand(self, states)[0].astype(int), None)},
    "legal and move say what expand says": {"expand": wrong_children},
    "the inverse is legal after it and undoes it": {"inverse": lambda self, action: action},
    "rank and unrank": {"rank": lambda self, states: 0 * Cube2.rank(self, states)},
    "A state is read back": {"parse_state": lambda self, text: self.goal},
    "Moves that are read back": {"format_moves": lambda self, moves: ""},
    "The moves that the rule declares": {"rule": Cube2().rule._replace(turns=Cube2().rule.turns[:, ::-1])},
}


@pytest.mark.parametrize("law", BROKEN)
def test_a_puzzle_that_breaks_a_law_is_told_which_one(law):
    with pytest.raises(UserError) as error:
        check(type("Broken", (Cube2,), BROKEN[law])())
    assert law in str(error.value) and is_one_sentence(str(error.value))
