"""Several processes that train as one: gradients, statistics of batches and whole trainings are those of one."""

import functools
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import test_resume as resumed
import torch
from messages import is_one_sentence
from stage_recipes import write_recipe

from costtogo import parallel
from costtogo.files import read_frame
from costtogo.heuristics.network import build, present
from costtogo.learning.training import squared_error
from costtogo.params.trainers import training_of
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.stages import train
from costtogo.types import UserError

# The training of a test is that of test_resume; workplace is its fixture.
workplace = resumed.workplace
ADAM = {name: value for name, value in resumed.TRAINING.items() if name.startswith("adam_")}
LEARNING = {name: resumed.TRAINING[name] for name in ("minibatch", "learning_rate", "learning_rate_decay")}
COMMON = {name: value for name, value in resumed.TRAINING.items() if name not in {*ADAM, *LEARNING, "epsilon"}}
COMMON |= {"iterations": 6, "states_per_iteration": 61}  # of two minibatches of 30, and one of a single state
PLAIN = {"first_layers": [24, 12], "residual_blocks": 1, "batch_norm": False}
NORMALISED = {"first_layers": [24, 12], "residual_blocks": 1, "batch_norm_momentum": 0.9}
CALM = {"adam_epsilon": 1e-3}  # a bias before a normalisation has no gradient but rounding, which Adam makes steps of
TRAININGS = {
    "davi": ADAM | LEARNING | {"architecture": PLAIN, "epsilon": 0.5},
    "davi with batch normalisation": ADAM | LEARNING | {"architecture": NORMALISED, "epsilon": 0.5} | CALM,
    "davi by action": ADAM | LEARNING | {"architecture": PLAIN | {"outputs": "actions"}, "epsilon": 0.5},
    "davi two moves ahead": ADAM | LEARNING | {"architecture": PLAIN, "epsilon": 0.5, "lookahead": 2, "polyak": 0.2},
    "davi by L-BFGS": resumed.AUTOMATON,
    "random_walk": ADAM
    | LEARNING
    | {"architecture": PLAIN, "trainer": "random_walk", "sampler": {"kind": "non_backtracking", "walk_max": 15}},
    "adi": LEARNING
    | {"architecture": PLAIN | {"outputs": "policy"}, "trainer": "adi", "sampler": {"kind": "deepcube", "walk_max": 9}},
    "imitation": ADAM
    | LEARNING
    | {"architecture": PLAIN, "trainer": "imitation", "sampler": {"kind": "deepcubea", "walk_max": 16}},
    "presses": ADAM | LEARNING | resumed.PRESSES,
}
ARCHITECTURES = {
    "plain": PLAIN,
    "normalised": NORMALISED,
    "normalised after ReLU": NORMALISED | {"norm_after_relu": True},
    "by action": PLAIN | {"outputs": "actions"},
    "convolutional": {"kind": "convolutional", "channels": [4], "first_layers": [8]},
    "gru": {"kind": "gru", "states": 4},
    "tuples": {"kind": "tuples", "block_reach": 1, "line_reach": 1},
}
BATCHES = (1, 2, 7)  # states of a minibatch; of a single one, a process of two has none


def trained(name: str) -> tuple[list, np.ndarray]:
    """The losses of each iteration of a training, and what its network says then."""
    values = COMMON | {key: value for key, value in TRAININGS[name].items() if key != "table"}
    params = training_of(**values)
    module, puzzle = import_module(f"costtogo.learning.{params.trainer}"), make(params.puzzle)
    training = module.begin(puzzle, params, "float32")
    losses = [(progress.loss, progress.validation_loss) for progress in module.train(training)]
    states = puzzle.walk(np.random.default_rng(1).random((20, 10)))[0].reshape(-1, puzzle.cells)
    return losses, training.heuristic.predicted(states)


def gradients(name: str, rows: int) -> tuple[float, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The loss of a minibatch, its gradients, and the network's averages afterwards."""
    puzzle = make("puzzle8")
    network = build(architecture_of(**ARCHITECTURES[name]), puzzle, 5).train()
    states = puzzle.walk(np.random.default_rng(rows).random((rows, 9)))[0][:, -1]
    shape = (rows, len(puzzle.actions)) if name == "by action" else rows
    targets = np.random.default_rng(2).uniform(1, 9, shape).astype(np.float32)
    if name == "by action":
        targets[~puzzle.legal(states)] = np.nan
    part = parallel.own(rows)
    outputs = network(network.encoded(states[part]))
    error = functools.partial(squared_error, outputs, torch.from_numpy(targets[part]))
    loss = parallel.backward(error, network.parameters())
    found = {key: parameter.grad.numpy() for key, parameter in network.named_parameters()}
    return loss.item(), found, {key: buffer.numpy() for key, buffer in network.named_buffers()}


def whole() -> dict:
    """All that is held against that of other numbers of processes."""
    torch.set_num_threads(1)
    return {
        "who": parallel.by_parts(lambda states: np.full((len(states), 2), rank()), np.zeros((7, 3), np.uint8)),
        "gradients": {(name, rows): gradients(name, rows) for name in ARCHITECTURES for rows in BATCHES},
        "trainings": {name: trained(name) for name in TRAININGS},
        "told": parallel.of_first({"rank": rank()}),
    }


def rank() -> int:
    """The number of this process, from 0 on."""
    return torch.distributed.get_rank() if parallel.processes() > 1 else 0


@pytest.fixture(scope="module")
def alone():
    """What one process finds."""
    threads = torch.get_num_threads()
    yield whole()
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def of_two():
    """What the first of two finds."""
    with parallel.together(2, "cpu", whole):
        return whole()


def test_each_process_evaluates_its_part_and_has_all(of_two, alone):
    assert of_two["who"].tolist() == [[0, 0]] * 3 + [[1, 1]] * 4 and alone["who"].sum() == 0
    assert of_two["told"] == {"rank": 0}


@pytest.mark.parametrize("rows", BATCHES)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_gradient_of_two_processes_is_that_of_one_on_the_whole_minibatch(name, rows, alone, of_two):
    loss, found, averages = alone["gradients"][name, rows]
    loss_of_two, found_by_two, averages_of_two = of_two["gradients"][name, rows]
    assert loss_of_two == pytest.approx(loss, rel=1e-5) and loss > 0
    largest = max(np.abs(each).max() for each in found.values())
    for key, gradient in found.items():
        np.testing.assert_allclose(found_by_two[key], gradient, rtol=1e-3, atol=1e-5 * largest, err_msg=key)
    for key, average in averages.items():
        if not (rows == 1 and "batches" in key):  # a batch of one is not counted
            np.testing.assert_allclose(averages_of_two[key], average, rtol=1e-4, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("name", TRAININGS)
def test_two_processes_train_as_one(name, alone, of_two):
    losses, predicted = alone["trainings"][name]
    losses_of_two, predicted_by_two = of_two["trainings"][name]
    np.testing.assert_allclose(losses_of_two, losses, rtol=1e-2)
    np.testing.assert_allclose(predicted_by_two, predicted, rtol=1e-2, atol=1e-2)
    first, last = losses[0][0], losses[-1][0]
    assert abs(last - first) > 0.01 * first, "it must have learned something"


def test_the_parts_of_a_batch_follow_one_another(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 3)
    for rows in (0, 1, 2, 3, 7, 1000):
        parts = []
        for each in range(3):
            monkeypatch.setattr(torch.distributed, "get_rank", lambda each=each: each)
            parts.append(np.arange(rows)[parallel.own(rows)])
        assert np.concatenate(parts).tolist() == list(range(rows))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


class Watched(train.Recorder):
    """Saves and stops where it is told to."""

    save_at = math.inf
    then = (math.inf, None)

    def record(self, progress, live):
        train.RESUME_SECONDS = 0 if progress.iteration == self.save_at else math.inf
        super().record(progress, live)
        if progress.iteration == self.then[0]:
            self.then[1]()


def interrupted(monkeypatch, save_at: int, iteration: int, act) -> None:
    """Train until something is done after an iteration; a resume point lies after save_at."""
    with monkeypatch.context() as patch:
        patch.setattr(train, "RESUME_SECONDS", train.RESUME_SECONDS)
        patch.setattr(Watched, "save_at", save_at)
        patch.setattr(Watched, "then", (iteration, act))
        patch.setattr(train, "Recorder", Watched)
        train.run(resumed.params(), resumed.TABLE, resumed.OUT)


def kill_the_other() -> None:
    (other,) = multiprocessing.active_children()
    os.kill(other.pid, signal.SIGKILL)


def stop() -> None:
    raise KeyboardInterrupt


SHORT = {"iterations": 16, "epsilon": 2.0}


@pytest.fixture(scope="module")
def of_stage(tmp_path_factory):
    """The results of a training in two processes that was left alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("alone"))
        resumed.prepare(**SHORT, processes=2)
        train.run(resumed.params(), resumed.TABLE, resumed.OUT)
        yield resumed.results(), read_frame(resumed.OUT / "curve.parquet").assign(updated=0).to_numpy(float)
    assert not multiprocessing.active_children()


def test_a_training_that_lost_a_process_says_so_and_goes_on_from_its_resume_point(
    of_stage, workplace, monkeypatch, capsys
):
    workplace("lost", **SHORT, processes=2)
    with pytest.raises(UserError) as told:
        interrupted(monkeypatch, 8, 11, kill_the_other)
    assert is_one_sentence(str(told.value))
    assert str(told.value).startswith("walker: Process 2 of 2 was ended by SIGKILL; run again")
    assert not multiprocessing.active_children() and not torch.distributed.is_initialized()
    train.run(resumed.params(), resumed.TABLE, resumed.OUT)
    assert "walker: resumed after iteration 8" in capsys.readouterr().err
    assert resumed.results() == of_stage[0], "the same bytes as one left alone"


def test_a_training_that_is_interrupted_ends_its_processes_and_goes_on_in_another_number(
    of_stage, workplace, monkeypatch, capsys
):
    workplace("stopped", **SHORT, processes=2)
    with pytest.raises(KeyboardInterrupt):
        interrupted(monkeypatch, 8, 9, stop)
    assert not multiprocessing.active_children() and not torch.distributed.is_initialized()
    resumed.write_parameters(**SHORT)
    train.run(resumed.params(), resumed.TABLE, resumed.OUT)
    assert "walker: resumed after iteration 8" in capsys.readouterr().err
    curve = read_frame(resumed.OUT / "curve.parquet").assign(updated=0).to_numpy(float)
    np.testing.assert_array_equal(curve[:8], of_stage[1][:8])
    np.testing.assert_allclose(curve[8:], of_stage[1][8:], rtol=0.05)


def test_a_group_whose_process_cannot_start_says_so():
    with pytest.raises(parallel.LostError, match=r"^Process 2 of 2 failed\.$"):
        with parallel.together(2, "cpu", print, Unreadable()):
            raise AssertionError("there is no group")


class Unreadable:
    """What a process cannot take in as it starts."""

    def __reduce__(self):
        return sys.exit, (3,)


KILLED = """
import multiprocessing, os, sys, time
sys.path.insert(0, sys.argv[1])
from costtogo import parallel
if __name__ == "__main__":
    with parallel.together(2, "cpu", time.sleep, 300):
        print(*[other.pid for other in multiprocessing.active_children()], flush=True)
        time.sleep(300)
"""


def test_no_process_outlives_the_first(tmp_path):
    (tmp_path / "killed.py").write_text(KILLED)
    command = [sys.executable, str(tmp_path / "killed.py"), str(Path(parallel.__file__).parents[1])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        other = int(first.stdout.readline())
        os.kill(other, 0)
        first.kill()
    until = time.monotonic() + 30
    while lives(other) and time.monotonic() < until:
        time.sleep(0.05)
    assert not lives(other)


def lives(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return " Z" not in Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2][:3]
    except OSError:
        return False


def test_as_many_devices_are_needed_as_processes(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert present("cuda", 2) == present("auto", 2) == "cuda"
    for device in ("cuda", "auto"):
        with pytest.raises(UserError, match="processes: 3.* torch finds 2;") as told:
            present(device, 3)
        assert is_one_sentence(str(told.value))
    assert present("cpu", 3) == "cpu"


def test_a_stage_without_the_devices_that_it_asks_for_ends_before_it_begins(workplace, monkeypatch):
    workplace("none")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    asked = {"study": "tiny", "threads": 1, "device": "cuda", "model": "walker", "puzzle": "hanoi_4"}
    recipe = write_recipe("train", resumed.OUT, {**asked, "training": resumed.TRAINING})
    with pytest.raises(UserError, match="torch finds no CUDA device"):
        train.run(recipe, resumed.TABLE, resumed.OUT)
    assert not resumed.RESUME_POINT.exists()
