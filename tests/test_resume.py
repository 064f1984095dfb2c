"""A training killed at any moment, or whose resume point is damaged, ends in the same bytes as one that was not."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from messages import is_one_sentence
from stage_recipes import write_recipe

from costtogo.files import FileError, json_text, read_frame, read_json
from costtogo.learning import davi, resume
from costtogo.learning.training import DivergedError
from costtogo.params.trainers import training_of
from costtogo.puzzles import make
from costtogo.stages import tables, train

RECIPES = Path(".snakemake/costtogo/recipes/tiny/models")
TABLE = Path("results/tiny/tables/hanoi_4.npz")
OUT = Path("results/tiny/models/walker")
CARD = OUT.with_suffix(".json")
RESUME_POINT = Path("results/tiny/resume/walker/resume.safetensors")
TRAINING = {
    "puzzle": "hanoi_4",
    "seed": 3,
    "precision": "float32",
    "architecture": {"first_layers": [24, 12], "residual_blocks": 1, "batch_norm_momentum": 0.9},
    "sampler": {"kind": "adaptive_k", "walk_max": 16, "conv_point_offs": 2},
    "iterations": 120,
    "states_per_iteration": 60,
    "validation_states": 30,
    "minibatch": 30,
    "learning_rate": 0.005,
    "learning_rate_decay": 0.3,
    "adam_beta_1": 0.9,
    "adam_beta_2": 0.999,
    "adam_epsilon": 1e-7,
    "epsilon": 0.5,
    "check_every": 2,
    "checkpoint_every": 2,
}
KILLED_AT = """
import math, os, signal, sys
from pathlib import Path
from costtogo.stages import train

last = int(sys.argv[1])

class Killed(train.Recorder):
    \"\"\"Saves every 20 iterations, and is killed without warning some iterations after the last save.\"\"\"

    def record(self, progress, live):
        train.RESUME_SECONDS = 0 if progress.iteration % 20 == 0 else math.inf
        super().record(progress, live)
        if progress.iteration == last:
            os.kill(os.getpid(), signal.SIGKILL)

train.Recorder = Killed
train.run(*map(Path, sys.argv[2:]))
"""
KILLS = int(os.environ.get("COSTTOGO_KILLS", 3))  # at random moments of one training
ITERATIONS = 70  # a killed process is to do at most, of 100 that the training has for each kill
LAST = 100 * KILLS - 1  # at which a process waits for its end, so that it is killed, however late
TOLD = """
import signal, sys
from pathlib import Path
from costtogo.stages import train

last = int(sys.argv[1])
train.RESUME_SECONDS = 0.2

class Told(train.Recorder):
    def record(self, progress, live):
        super().record(progress, live)
        print(progress.iteration, flush=True)
        if progress.iteration == last:
            signal.pause()

train.Recorder = Told
train.run(*map(Path, sys.argv[2:]))
"""


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """Go to an empty folder with a training's parameters and table."""

    def go(name: str, **changes) -> Path:
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        prepare(**changes)
        return tmp_path / name

    return go


def prepare(table: dict | None = None, **changes) -> None:
    """Write the table and the parameters of a training into the working directory; table: its own parameters."""
    asked = {"study": "tiny", **(table or {"puzzle": "hanoi_4"})}
    tables.run(write_recipe("tables", TABLE.with_suffix(""), asked), TABLE)
    write_parameters(**changes)


def write_parameters(**changes) -> None:
    training = TRAINING | changes
    common = {"study": "tiny", "threads": 1, "model": "walker", "puzzle": training["puzzle"]}
    for older in RECIPES.glob("walker.*.json"):
        older.unlink()
    write_recipe("train", OUT, {**common, "training": training})


def params() -> Path:
    """The recipe of the training."""
    (recipe,) = RECIPES.glob("walker.*.json")
    return recipe


def timing_of(out: Path) -> dict:
    return read_json(out.parents[1] / "timings" / "models" / f"{out.name}.json")


def kill_at(iteration: int) -> None:
    command = [sys.executable, "-c", KILLED_AT, str(iteration), str(params()), str(TABLE), str(OUT)]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL


def results() -> dict[str, bytes]:
    """Every file of the model by its path, the card among them."""
    return {str(path): path.read_bytes() for path in OUT.parent.rglob("*") if path.is_file()}


def test_a_training_killed_twice_ends_in_the_same_bytes_as_one_left_alone(workplace, capsys):
    workplace("alone")
    train.run(params(), TABLE, OUT)
    alone = results()
    points = read_frame(OUT / "errors.parquet")["iteration"].unique()
    assert (points < 40).any() and ((points > 40) & (points < 100)).any(), "there is something to lose"
    assert "resumed" not in capsys.readouterr().err

    workplace("killed")
    for iteration in (50, 95):
        kill_at(iteration)
        assert RESUME_POINT.exists() and not OUT.exists()
    train.run(params(), TABLE, OUT)
    assert "walker: resumed after iteration 80" in capsys.readouterr().err
    assert results() == alone
    assert not RESUME_POINT.parent.exists()


def kill_after(iterations: int, seconds: float) -> str:
    """Train in a process that is killed some seconds after so many iterations; returns what there is to say of it."""
    with open("stdout.txt", "w") as stdout, open("stderr.txt", "w") as stderr:
        command = [sys.executable, "-c", TOLD, str(LAST), str(params()), str(TABLE), str(OUT)]
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr)
        while len(done := Path("stdout.txt").read_text().split()) < iterations and process.poll() is None:
            if done and int(done[-1]) >= LAST:
                break
            time.sleep(0.005)
        time.sleep(seconds)
        process.kill()
    begun = Path("stderr.txt").read_text().partition("\n")[0] or "begun"
    return f"{begun}, killed after iteration {done[-1]} and {1000 * seconds:.0f} ms with {process.wait()}"


def test_a_training_killed_at_random_moments_ends_in_the_same_bytes(workplace):
    """With COSTTOGO_KILLS=22 and pytest -s it is killed so often, and each kill is shown."""
    workplace("alone", iterations=100 * KILLS, checkpoint_every=8)
    train.run(params(), TABLE, OUT)
    alone = results()
    workplace("killed", iterations=100 * KILLS, checkpoint_every=8)
    generator = np.random.default_rng()
    for number in range(1, KILLS + 1):
        said = kill_after(generator.integers(1, ITERATIONS + 1), generator.uniform(0, 0.05))
        print(f"kill {number}: {said}")
        assert said.endswith("with -9") and not CARD.exists()
    train.run(params(), TABLE, OUT)
    found = results()
    differ = sum(alone[path] != found.get(path) for path in alone)
    print(f"{len(alone)} files alone, {len(found)} killed, {differ} differ")
    assert found == alone


def test_checkpoints_come_every_so_many_iterations_beside_those_of_convergence_points(workplace):
    workplace("looked")
    write_parameters(checkpoint_iterations=30, epsilon=1e-30, forced_update=50)
    train.run(params(), TABLE, OUT)
    found = read_frame(OUT / "checkpoints.parquet")
    assert found["iteration"].tolist() == [30, 50, 60, 90, 120]
    assert found["kind"].tolist() == ["iteration", "convergence_point", *["iteration"] * 3]
    assert found["convergence_point"].tolist() == [0, 1, 1, 1, 1]
    assert all((OUT / file).exists() for file in found["file"])
    write_parameters(checkpoints_at=[7, 95], epsilon=1e-30, forced_update=50)
    train.run(params(), TABLE, OUT)
    assert read_frame(OUT / "checkpoints.parquet")["iteration"].tolist() == [7, 50, 95, 120]


def interrupt_at(iteration: int, monkeypatch, lost: int = 0) -> None:
    """Train up to an interruption, so many iterations after a resume point."""

    class Interrupted(train.Recorder):
        def record(self, progress, live):
            train.RESUME_SECONDS = 0 if progress.iteration == iteration else math.inf
            super().record(progress, live)
            if progress.iteration == iteration + lost:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(train, "RESUME_SECONDS", train.RESUME_SECONDS)
        patch.setattr(train, "Recorder", Interrupted)
        train.run(params(), TABLE, OUT)
    assert RESUME_POINT.exists()


AUTOMATON = {
    "architecture": {"kind": "automaton", "states": 5},
    "sampler": {"kind": "growing_tower", "disks": 2, "residual": 1e-3, "patience": 12},
    "optimizer": "lbfgs",
    "lbfgs_steps": 10,
    "epsilon": 10.0,
    "check_every": 1,
}


@pytest.mark.parametrize("residual", [1e-3, 1.0])
def test_a_growing_tower_interrupted_ends_in_the_same_bytes_too(workplace, residual, monkeypatch):
    changes = AUTOMATON | {"sampler": AUTOMATON["sampler"] | {"residual": residual}}
    workplace("alone", **changes)
    train.run(params(), TABLE, OUT)
    alone = results()
    curve = read_frame(OUT / "curve.parquet")
    assert curve["effective_k"].nunique() > 1, "it must have grown"
    assert curve["updated"].iloc[-1] == (residual < 1), "it must have settled where that is easy"
    workplace("interrupted", **changes)
    interrupt_at(40, monkeypatch, lost=10)
    train.run(params(), TABLE, OUT)
    assert results() == alone
    assert timing_of(OUT)["earlier_seconds"] > 0


@pytest.mark.parametrize("outputs", ["state", "actions"])
def test_a_random_walk_regression_interrupted_ends_in_the_same_bytes_too(workplace, outputs, monkeypatch):
    changes = {
        "trainer": "random_walk",
        "architecture": TRAINING["architecture"] | {"outputs": outputs},
        "sampler": {"kind": "non_backtracking", "walk_max": 15},
        "check_every": 25,
        "checkpoint_every": 1,
    }
    workplace("alone", **changes)
    train.run(params(), TABLE, OUT)
    alone = results()
    index = read_frame(OUT / "checkpoints.parquet")
    assert index["iteration"].tolist() == [25, 50, 75, 100, 120] and index["validation_loss"].notna().all()
    workplace("interrupted", **changes)
    interrupt_at(60, monkeypatch, lost=10)
    train.run(params(), TABLE, OUT)
    assert results() == alone


def test_a_training_may_be_interrupted_before_its_first_convergence_point(workplace, monkeypatch, capsys):
    workplace("alone")
    train.run(params(), TABLE, OUT)
    alone = results()
    workplace("interrupted")
    interrupt_at(1, monkeypatch)
    train.run(params(), TABLE, OUT)
    assert results() == alone
    assert "walker: resumed after iteration 1" in capsys.readouterr().err


def test_a_resume_point_of_other_parameters_is_not_used(workplace, monkeypatch, capsys):
    workplace("alone", seed=4)
    train.run(params(), TABLE, OUT)
    alone = results()
    workplace("changed")
    interrupt_at(30, monkeypatch)
    write_parameters(seed=4)
    train.run(params(), TABLE, OUT)
    assert results() == alone
    told = capsys.readouterr().err
    assert f"walker begins anew: {RESUME_POINT} is of other parameters" in told and "resumed" not in told


def flip(path: Path, place: int = -1, bit: int = 0) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def header_of(path: Path) -> tuple[int, dict]:
    """Where the tensors of a file begin, and its header."""
    content = path.read_bytes()
    size = 8 + int.from_bytes(content[:8], "little")
    return size, json.loads(content[8:size])


def flip_tensor(path: Path, name: str) -> None:
    """Change the lowest bit of the first byte of a tensor."""
    begin, header = header_of(path)
    flip(path, begin + header[name]["data_offsets"][0])


def flip_digit(path: Path, word: bytes) -> None:
    """Change the lowest bit of the first digit after a word."""
    content = path.read_bytes()
    begin = content.index(word)
    flip(path, next(place for place in range(begin, len(content)) if content[place] in b"0123456789"))


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def put_another(path: Path) -> None:
    """Put another checkpoint of the same training in the place of one."""
    path.write_bytes(max(path.parent.iterdir()).read_bytes())


POINT, CHECKPOINT = "resume.safetensors", "checkpoints/*.safetensors"
DAMAGES = {
    "a bit of the network": (POINT, lambda path: flip_tensor(path, "network.blocks.0.layers.0.weight")),
    "a bit of the target network": (POINT, lambda path: flip_tensor(path, "target.output.weight")),
    "a bit of the optimiser": (POINT, lambda path: flip_tensor(path, "optimizer.0.exp_avg")),
    "a bit of the curve": (POINT, lambda path: flip_tensor(path, "extra.curve")),
    "a bit of the last tensor": (POINT, flip),
    "a bit of the iteration": (POINT, lambda path: flip_digit(path, b"iteration")),
    "a bit of the time": (POINT, lambda path: flip_digit(path, b"seconds")),
    "a point cut off": (POINT, lambda path: path.write_bytes(path.read_bytes()[:-50])),
    "a point cut off at its end": (POINT, lambda path: path.write_bytes(path.read_bytes()[:-1])),
    "an empty point": (POINT, lambda path: path.write_bytes(b"")),
    "a folder for a point": (POINT, put_folder),
    "a checkpoint for a point": (POINT, lambda path: shutil.copy(next(path.parent.glob(CHECKPOINT)), path)),
    "a bit of a checkpoint": (CHECKPOINT, flip),
    "a checkpoint cut off": (CHECKPOINT, lambda path: path.write_bytes(path.read_bytes()[:-50])),
    "an empty checkpoint": (CHECKPOINT, lambda path: path.write_bytes(b"")),
    "no checkpoint": (CHECKPOINT, Path.unlink),
    "a folder for a checkpoint": (CHECKPOINT, put_folder),
    "another checkpoint": (CHECKPOINT, put_another),
    "a table for a checkpoint": (CHECKPOINT, lambda path: shutil.copy(TABLE, path)),
}


@pytest.fixture(scope="module")
def halfway(tmp_path_factory):
    """A folder with a training interrupted after 30 of 40 iterations, and what one left alone ends in."""
    folder = tmp_path_factory.mktemp("halfway")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("alone", "interrupted"):
            (folder / name).mkdir()
            patch.chdir(folder / name)
            prepare(iterations=40, epsilon=2.0)
            if name == "alone":
                train.run(params(), TABLE, OUT)
                found = results()
        interrupt_at(30, patch)
        assert len(list(RESUME_POINT.parent.glob(CHECKPOINT))) > 1, "there is something to lose"
    return folder / "interrupted", found


@pytest.fixture
def interrupted(halfway, tmp_path, monkeypatch) -> dict[str, bytes]:
    """Go to a copy of the interrupted training; returns what it is to end in."""
    shutil.copytree(halfway[0], tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return halfway[1]


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_training_whose_resume_point_is_damaged_begins_anew_and_says_so(kind, interrupted, capsys):
    pattern, damage = DAMAGES[kind]
    path = min(RESUME_POINT.parent.glob(pattern))
    damage(path)
    train.run(params(), TABLE, OUT)
    assert results() == interrupted
    told = capsys.readouterr().err
    (begun,) = [line for line in told.splitlines() if "anew" in line]
    assert begun.startswith("walker begins anew: ") and str(path) in begun and is_one_sentence(begun)
    assert "resumed" not in told and not RESUME_POINT.parent.exists()


def test_files_that_a_resume_point_does_not_name_change_nothing(interrupted, capsys):
    for name in ("000031.safetensors", "000040.safetensors", "foreign.txt", ".000030.safetensors.abc"):
        (RESUME_POINT.parent / "checkpoints" / name).write_bytes(b"foreign")
    train.run(params(), TABLE, OUT)
    assert results() == interrupted
    assert "walker: resumed after iteration 30" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [kind for kind in DAMAGES if DAMAGES[kind][0] == CHECKPOINT])
def test_a_checkpoint_damaged_during_its_training_is_not_certified(kind, interrupted, monkeypatch):
    class Damaged(train.Recorder):
        def write_checkpoints(self, out):
            DAMAGES[kind][1](min(self.folder.glob(CHECKPOINT)))
            return super().write_checkpoints(out)

    with monkeypatch.context() as patch, pytest.raises(FileError, match="run again") as error:
        patch.setattr(train, "Recorder", Damaged)
        train.run(params(), TABLE, OUT)
    assert is_one_sentence(str(error.value)) and not CARD.exists()
    train.run(params(), TABLE, OUT)
    assert results() == interrupted


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A training of some iterations and its resume point."""
    training = davi.begin(make("hanoi_4"), training_of(**TRAINING), "float32")
    steps = davi.train(training)
    for _ in range(5):
        next(steps)
    path = tmp_path_factory.mktemp("saved") / "resume.safetensors"
    description = {"key": "mine", "checkpoints": [[3, 1, 1e-7, "iteration"], [5, 1, math.nan, "end"]], "seconds": 2e-5}
    resume.save(path, training, {"curve": torch.arange(3.0)}, description, {})
    return training, path


def refuse(path: Path, training) -> None:
    """A resume point must be refused in one sentence and leave the training as it is."""
    before = resume.digest_of(training.tensors(), "")
    with pytest.raises(FileError) as error:
        resume.load(path, training, "mine")
    assert is_one_sentence(str(error.value)) and training.iteration == 5
    assert resume.digest_of(training.tensors(), "") == before


@given(data=st.data())
def test_no_resume_point_with_a_flipped_bit_is_used(data, saved):
    training, path = saved
    place = data.draw(st.integers(0, path.stat().st_size - 1) | st.integers(0, header_of(path)[0] - 1))
    damaged = path.with_name("flipped.safetensors")
    shutil.copy(path, damaged)
    flip(damaged, place, data.draw(st.integers(0, 7)))
    refuse(damaged, training)


@given(share=st.floats(0, 1, exclude_max=True))
def test_no_resume_point_that_is_cut_off_is_used(share, saved):
    training, path = saved
    damaged = path.with_name("cut.safetensors")
    damaged.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    refuse(damaged, training)


PRESSES = {
    "puzzle": "lights_out_3",
    "trainer": "presses",
    "architecture": {"kind": "rows", "first_layers": [8, 8], "outputs": "actions"},
    "sampler": {"kind": "deepcubea", "walk_max": 12},
    "table": {"puzzle": "lights_out_3", "depth": 3},
}
WALKS = {"trainer": "random_walk", "sampler": {"kind": "non_backtracking", "walk_max": 15}}
IMITATION = {"trainer": "imitation", "sampler": {"kind": "deepcubea", "walk_max": 16}}
GREEDY = {"sampler": {"kind": "deepcubea", "walk_max": 16, "greedy_share": 0.5}}


@pytest.mark.parametrize(
    "changes",
    [{}, GREEDY, WALKS, IMITATION, PRESSES],
    ids=["davi", "greedy", "random_walk", "imitation", "presses"],
)
@pytest.mark.parametrize("minibatch", [30, 60])
def test_a_training_whose_loss_is_not_finite_fails_in_one_sentence_and_leaves_nothing(changes, minibatch, workplace):
    """Of two steps in the first iteration, the second has no finite loss; after a single one, validation has none."""
    workplace("wild", **changes, learning_rate=1e38, minibatch=minibatch, check_every=1)
    with pytest.raises(DivergedError) as error:
        train.run(params(), TABLE, OUT)
    kind = "validation loss" if minibatch == 60 else "loss"
    assert str(error.value).startswith(f"walker: the {kind} of iteration 1 is ") and is_one_sentence(str(error.value))
    assert "learning rate of 1e+38: lower" in str(error.value)
    assert not CARD.exists() and not RESUME_POINT.parent.exists()


def test_a_resume_point_whose_network_is_not_finite_is_not_kept(workplace, monkeypatch):
    workplace("wild", learning_rate=1e38, minibatch=60, check_every=50)
    interrupt_at(1, monkeypatch)
    with pytest.raises(DivergedError, match="the loss of iteration 2 is "):
        train.run(params(), TABLE, OUT)
    assert not RESUME_POINT.parent.exists()


def test_a_training_by_lbfgs_that_diverges_is_told_of_its_steps(workplace):
    workplace("wild", **AUTOMATON, states_per_iteration=2, validation_states=2)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(DivergedError, match="10 steps of L-BFGS .* lbfgs_steps"):
        patch.setattr(davi, "fit", lambda *_: math.inf)
        train.run(params(), TABLE, OUT)


def test_a_resume_point_brings_back_everything_the_next_iterations_depend_on(tmp_path):
    params, puzzle, path = training_of(**TRAINING), make("hanoi_4"), tmp_path / "resume.safetensors"
    whole = davi.begin(puzzle, params, "float32")
    steps = davi.train(whole)
    for _ in range(30):
        next(steps)
    resume.save(path, whole, {"curve": torch.arange(3.0)}, {"key": "mine", "note": 1}, {})

    again = davi.begin(puzzle, params.model_copy(update={"seed": params.seed}), "float32")
    untouched = json_text({name: tensor.tolist() for name, tensor in again.network.state_dict().items()})
    with pytest.raises(FileError, match="other parameters"):
        resume.load(path, again, "yours")
    assert resume.load(tmp_path / "none", again, "mine") is None
    assert again.iteration == again.convergence_points == 0
    assert json_text({name: tensor.tolist() for name, tensor in again.network.state_dict().items()}) == untouched

    extra, description = resume.load(path, again, "mine")
    assert extra["curve"].tolist() == [0, 1, 2] and description["note"] == 1
    assert (again.iteration, again.convergence_points) == (30, whole.convergence_points) and again.convergence_points
    states = puzzle.unrank(np.arange(81))
    np.testing.assert_array_equal(again.cost_to_go(states), whole.cost_to_go(states))
    assert list(davi.train(again)) == list(steps)
