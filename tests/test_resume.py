"""A training killed at any moment ends in the same bytes as one that was not."""

import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from costtogo.files import json_text, read_frame, read_json, write_json
from costtogo.learning import davi, resume
from costtogo.params import ModelParams
from costtogo.puzzles import make
from costtogo.stages import tables, train

PARAMS = Path("results/tiny/params/models/walker.json")
TABLE = Path("results/tiny/tables/hanoi_4.npz")
OUT = Path("results/tiny/models/walker")
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


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """Go to an empty folder with a training's parameters and table."""

    def go(name: str, **changes) -> Path:
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        write_json("results/tiny/params/tables/hanoi_4.json", {"study": "tiny", "puzzle": "hanoi_4"})
        tables.run(Path("results/tiny/params/tables/hanoi_4.json"), TABLE)
        write_parameters(**changes)
        return tmp_path / name

    return go


def write_parameters(**changes) -> None:
    training = TRAINING | changes
    common = {"study": "tiny", "threads": 1, "model": "walker", "puzzle": training["puzzle"]}
    write_json(PARAMS, {**common, "training": training})


def timing_of(out: Path) -> dict:
    return read_json(out.parents[1] / "timings" / "models" / f"{out.name}.json")


def kill_at(iteration: int) -> None:
    command = [sys.executable, "-c", KILLED_AT, str(iteration), str(PARAMS), str(TABLE), str(OUT)]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL


def results() -> dict[str, bytes]:
    """Every file of the model by its path, the card among them."""
    return {str(path): path.read_bytes() for path in OUT.parent.rglob("*") if path.is_file()}


def test_a_training_killed_twice_ends_in_the_same_bytes_as_one_left_alone(workplace, capsys):
    workplace("alone")
    train.run(PARAMS, TABLE, OUT)
    alone = results()
    points = read_frame(OUT / "errors.parquet")["iteration"].unique()
    assert (points < 40).any() and ((points > 40) & (points < 100)).any(), "there is something to lose"
    assert "resumed" not in capsys.readouterr().err

    workplace("killed")
    for iteration in (50, 95):
        kill_at(iteration)
        assert RESUME_POINT.exists() and not OUT.exists()
    train.run(PARAMS, TABLE, OUT)
    assert "walker: resumed after iteration 80" in capsys.readouterr().err
    assert results() == alone
    assert not RESUME_POINT.parent.exists()


def test_checkpoints_come_every_so_many_iterations_beside_those_of_convergence_points(workplace):
    workplace("looked")
    write_parameters(checkpoint_iterations=30, epsilon=1e-30, forced_update=50)
    train.run(PARAMS, TABLE, OUT)
    found = read_frame(OUT / "checkpoints.parquet")
    assert found["iteration"].tolist() == [30, 50, 60, 90, 120]
    assert found["kind"].tolist() == ["iteration", "convergence_point", *["iteration"] * 3]
    assert found["convergence_point"].tolist() == [0, 1, 1, 1, 1]
    assert all((OUT / file).exists() for file in found["file"])


AUTOMATON = {
    "architecture": {"kind": "automaton", "states": 5},
    "sampler": {"kind": "growing_tower", "disks": 2, "residual": 1e-3, "patience": 12},
    "optimizer": "lbfgs",
    "lbfgs_steps": 10,
    "epsilon": 10.0,
    "check_every": 1,
}


@pytest.mark.parametrize("residual", [1e-3, 1.0])
def test_a_growing_tower_killed_ends_in_the_same_bytes_too(workplace, residual):
    changes = AUTOMATON | {"sampler": AUTOMATON["sampler"] | {"residual": residual}}
    workplace("alone", **changes)
    train.run(PARAMS, TABLE, OUT)
    alone = results()
    curve = read_frame(OUT / "curve.parquet")
    assert curve["effective_k"].nunique() > 1, "it must have grown"
    assert curve["updated"].iloc[-1] == (residual < 1), "it must have settled where that is easy"
    workplace("killed", **changes)
    kill_at(50)
    train.run(PARAMS, TABLE, OUT)
    assert results() == alone
    assert timing_of(OUT)["earlier_seconds"] > 0


@pytest.mark.parametrize("outputs", ["state", "actions"])
def test_a_random_walk_regression_killed_ends_in_the_same_bytes_too(workplace, outputs):
    changes = {
        "trainer": "random_walk",
        "architecture": TRAINING["architecture"] | {"outputs": outputs},
        "sampler": {"kind": "non_backtracking", "walk_max": 15},
        "check_every": 25,
        "checkpoint_every": 1,
    }
    workplace("alone", **changes)
    train.run(PARAMS, TABLE, OUT)
    alone = results()
    index = read_frame(OUT / "checkpoints.parquet")
    assert index["iteration"].tolist() == [25, 50, 75, 100, 120] and index["validation_loss"].notna().all()
    workplace("killed", **changes)
    kill_at(70)
    train.run(PARAMS, TABLE, OUT)
    assert results() == alone


def interrupt_at(iteration: int, monkeypatch) -> None:
    """Train up to an interruption just after a resume point."""

    class Interrupted(train.Recorder):
        def record(self, progress, live):
            train.RESUME_SECONDS = 0 if progress.iteration == iteration else math.inf
            super().record(progress, live)
            if progress.iteration == iteration:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(train, "RESUME_SECONDS", train.RESUME_SECONDS)
        patch.setattr(train, "Recorder", Interrupted)
        train.run(PARAMS, TABLE, OUT)
    assert RESUME_POINT.exists()


def test_a_training_may_be_interrupted_before_its_first_convergence_point(workplace, monkeypatch, capsys):
    workplace("alone")
    train.run(PARAMS, TABLE, OUT)
    alone = results()
    workplace("interrupted")
    interrupt_at(1, monkeypatch)
    train.run(PARAMS, TABLE, OUT)
    assert results() == alone
    assert "walker: resumed after iteration 1" in capsys.readouterr().err


def test_a_resume_point_of_other_parameters_is_not_used(workplace, monkeypatch, capsys):
    workplace("alone", seed=4)
    train.run(PARAMS, TABLE, OUT)
    alone = results()
    workplace("changed")
    interrupt_at(30, monkeypatch)
    write_parameters(seed=4)
    train.run(PARAMS, TABLE, OUT)
    assert results() == alone
    assert "resumed" not in capsys.readouterr().err


def test_a_damaged_resume_point_is_not_used(workplace, monkeypatch, capsys):
    workplace("alone")
    train.run(PARAMS, TABLE, OUT)
    alone = results()
    workplace("damaged")
    interrupt_at(30, monkeypatch)
    RESUME_POINT.write_bytes(RESUME_POINT.read_bytes()[:-50])
    train.run(PARAMS, TABLE, OUT)
    assert results() == alone
    assert "resumed" not in capsys.readouterr().err


def test_a_resume_point_brings_back_everything_the_next_iterations_depend_on(tmp_path):
    params, puzzle, path = ModelParams(**TRAINING), make("hanoi_4"), tmp_path / "resume.safetensors"
    whole = davi.begin(puzzle, params, "float32")
    steps = davi.train(whole)
    for _ in range(30):
        next(steps)
    resume.save(path, whole, {"curve": torch.arange(3.0)}, {"key": "mine", "note": 1})

    again = davi.begin(puzzle, params.model_copy(update={"seed": params.seed}), "float32")
    untouched = json_text({name: tensor.tolist() for name, tensor in again.network.state_dict().items()})
    assert resume.load(path, again, "yours") is None
    assert resume.load(tmp_path / "none", again, "mine") is None
    assert again.iteration == again.convergence_points == 0
    assert json_text({name: tensor.tolist() for name, tensor in again.network.state_dict().items()}) == untouched

    extra, description = resume.load(path, again, "mine")
    assert extra["curve"].tolist() == [0, 1, 2] and description["note"] == 1
    assert (again.iteration, again.convergence_points) == (30, whole.convergence_points) and again.convergence_points
    states = puzzle.unrank(np.arange(81))
    np.testing.assert_array_equal(again.cost_to_go(states), whole.cost_to_go(states))
    assert list(davi.train(again)) == list(steps)
