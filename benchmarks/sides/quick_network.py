"""A network of the 2×2×2 cube from nothing, and how well it solves: only the training is timed.

The network is that of the last convergence point.
"""

from pathlib import Path

import numpy as np
import torch

from benchmarks.sides.measuring import run, seconds_of

PROJECT = Path(__file__).parents[2]
STARTS, WALK = 9990, 30  # as many states as the default study's test set, drawn in the same way
LAMBDA, SIZE = 0.7, 5


def ours(asked) -> dict[str, float]:
    """The recipe of config/quick.yaml."""
    return trained(asked, overlays=("quick",), model="quick")


def default(asked) -> dict[str, float]:
    """The default study's DNN_final_2x2x2, with the same number of threads."""
    return trained(asked, model="DNN_final_2x2x2")


def trained(asked, *, overlays: tuple[str, ...] = (), model: str) -> dict[str, float]:
    """Train a model of params.yaml with overlays from config, then search from every start with its values."""
    from costtogo.exact.bfs import distances
    from costtogo.exact.graph import graph_of
    from costtogo.heuristics.network import NetworkHeuristic
    from costtogo.heuristics.table import tabulate
    from costtogo.learning.davi import begin, train
    from costtogo.learning.samplers import sample
    from costtogo.params.loading import load
    from costtogo.puzzles import make
    from costtogo.search.bwas import solve

    torch.set_num_threads(asked.threads)
    files = [PROJECT / "params.yaml", *(PROJECT / "config" / f"{name}.yaml" for name in overlays)]
    params, puzzle = load(files).models[model], make("cube2")
    training = begin(puzzle, params, asked.precision)
    seconds, _ = seconds_of(lambda: [progress.loss for progress in train(training)])
    ranks = sample(puzzle, "deepcube", STARTS, WALK, np.random.default_rng(0))[:STARTS]
    values = tabulate(puzzle, NetworkHeuristic(puzzle, training.target, asked.precision))
    found = solve(puzzle, values, puzzle.unrank(ranks), path_weight=LAMBDA, batch_size=SIZE)
    goal = int(puzzle.rank(puzzle.goal[None])[0])
    optimal = found.cost == distances(graph_of(puzzle), goal)[ranks]
    return {
        "seconds": seconds,
        "optimal_percent": 100 * float(optimal.mean()),
        "expanded": float(found.nodes_expanded.mean()),
    }


if __name__ == "__main__":
    run({"ours": ours, "default": default}, precision="float32")
