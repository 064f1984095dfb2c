"""One network over all states of the 2×2×2 cube: the values of 3,674,160 states by rank."""

from types import MethodType

import numpy as np
import torch
from torch import nn

from benchmarks.sides.measuring import run, seconds_of

ARCHITECTURE = {"first_layers": [1024, 256], "residual_blocks": 2}
SAMPLE = 10_000  # states on which both sides are compared with float32


def made(asked):
    """The puzzle, and a network with random weights whose batch normalisation has seen states."""
    from costtogo.heuristics.network import build
    from costtogo.params.training import architecture_of
    from costtogo.puzzles import make

    torch.set_num_threads(asked.threads)
    puzzle, generator = make("cube2"), np.random.default_rng(0)
    network = build(architecture_of(**ARCHITECTURE), puzzle, 0).train()
    for _ in range(20):
        network(network.encoded(puzzle.unrank(generator.integers(puzzle.state_count, size=500))))
    return puzzle, network.eval()


def ours(asked) -> dict[str, float]:
    """heuristics.network, frozen: batch norm folded, the first layer a sum of rows; in the requested precision."""
    from costtogo.heuristics.network import NetworkHeuristic
    from costtogo.heuristics.table import tabulate

    puzzle, network = made(asked)
    frozen = NetworkHeuristic(puzzle, network, asked.precision)
    frozen(puzzle.unrank(np.arange(1 << 12)))
    seconds, _ = seconds_of(lambda: tabulate(puzzle, frozen))
    states = puzzle.unrank(np.arange(SAMPLE) * 367)
    error = np.abs(frozen(states) - NetworkHeuristic(puzzle, network, "float32")(states)).max()
    return {"seconds": seconds, "largest_error": float(error)}


@torch.inference_mode()
def plain(asked) -> dict[str, float]:
    """Plain torch: one-hot states times the first layer, float32, batches of 10,000."""
    puzzle, network = made(asked)
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            layer.forward = MethodType(nn.Linear.forward, layer)  # torch's own product
    eye = torch.eye(puzzle.letters)

    def values() -> torch.Tensor:
        parts = []
        for first in range(0, puzzle.state_count, 10_000):
            ranks = np.arange(first, min(first + 10_000, puzzle.state_count))
            states = torch.from_numpy(puzzle.unrank(ranks)).long()
            parts.append(network(eye[states].flatten(1)))
        return torch.cat(parts)

    seconds, found = seconds_of(values)
    assert len(found) == puzzle.state_count
    return {"seconds": seconds, "largest_error": 0.0}


if __name__ == "__main__":
    run({"ours": ours, "plain": plain}, precision="float32")
