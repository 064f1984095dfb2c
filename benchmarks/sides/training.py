"""Value iteration on the 3×3×3 cube: states per second, each with the cost-to-go of its 12 children as target."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.sides.measuring import run, seconds_of

WALK = 30  # moves


def ours(asked) -> dict[str, float]:
    """learning.davi; the clock starts after a few iterations."""
    iterations = iterations_of(asked)
    for _ in range(asked.warm):
        next(iterations)
    begun = time.perf_counter()
    losses = [progress.loss for progress in iterations]
    return {"states_per_second": asked.batch * asked.iterations / (time.perf_counter() - begun), "loss": losses[-1]}


def several(asked) -> dict[str, float]:
    """The speed of several processes over that of one. Starting the processes is not timed."""
    from costtogo.parallel import together

    found = []
    for processes in (1, asked.processes):
        with together(processes, "cpu", ours, asked):
            found.append(ours(asked)["states_per_second"])
    return {"states_per_second": found[1], "ratio": found[1] / found[0]}


def iterations_of(asked) -> Iterator:
    """The iterations of the training, including those before the clock starts."""
    import torch

    from costtogo.learning.davi import begin, train
    from costtogo.params.trainers import training_of
    from costtogo.puzzles import make

    torch.set_num_threads(asked.threads)
    architecture = {"first_layers": [asked.width], "residual_blocks": asked.blocks}
    adam = {"adam_beta_1": 0.9, "adam_beta_2": 0.999, "adam_epsilon": 1e-8, "learning_rate": 1e-3}
    params = training_of(
        puzzle="cube3", seed=0, precision=asked.precision, architecture=architecture, **adam, learning_rate_decay=0,
        sampler={"kind": "non_backtracking", "walk_max": WALK, "stride": 1}, iterations=asked.warm + asked.iterations,
        states_per_iteration=asked.batch, minibatch=asked.batch, validation_states=100, epsilon=0.05,
        check_every=asked.iterations, checkpoint_every=asked.iterations,
    )  # fmt: skip
    return train(begin(make("cube3"), params, asked.precision))


def deepxube(asked) -> dict[str, float]:
    """DeepXube's command train: the difference of two updates and one, so that its start does not count."""
    states = asked.batch * asked.iterations
    one, two = (seconds_of(partial(_train, asked, updates))[0] for updates in (1, 2))
    return {"states_per_second": states / (two - one)}


def _train(asked, updates: int) -> None:
    tool = Path(sys.executable).with_name("deepxube")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            tool, "train", "--domain", "cube3", "--heur", f"resnet_fc.{asked.width}H_{asked.blocks}B_bn",
            "--heur_type", "V", "--pathfind", "graph_v.1B_1.0W", "--dir", folder, "--batch_size", asked.batch,
            "--max_itrs", asked.iterations * updates, "--up_itrs", asked.iterations, "--step_max", WALK,
            "--procs", asked.procs,
        ]  # fmt: skip
        subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=folder)


if __name__ == "__main__":
    run(
        {"ours": lambda asked: (several if asked.processes else ours)(asked), "deepxube": deepxube},
        width=256, blocks=2, batch=1000, iterations=30, warm=5, precision="float32", procs=2, processes=0,
    )  # fmt: skip
