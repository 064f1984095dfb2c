"""The limits of the machine: products of large matrices in float32 and bfloat16, and copying of memory."""

import time
from functools import partial

import torch

from benchmarks.sides.measuring import run

SIDE, SECONDS = 2048, 2.0
COPIED = 1 << 28  # bytes


def per_second(work, amount: float) -> float:
    """The rate of the fastest call within SECONDS; amount: the work of one call."""
    work()
    fastest, begun = float("inf"), time.perf_counter()
    while time.perf_counter() - begun < SECONDS:
        before = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - before)
    return amount / fastest


def ours(asked) -> dict[str, float]:
    """GFLOP/s of products of 2048 × 2048 matrices; GB/s read and written by a copy of 256 MB."""
    from costtogo.heuristics.layers import multiplies_bfloat16, product

    torch.set_num_threads(asked.threads)
    left, right = torch.randn(2, SIDE, SIDE)
    works = {"float32": partial(torch.matmul, left, right), "float32_onednn": partial(product, left, right)}
    if multiplies_bfloat16():  # without oneDNN a product takes minutes
        works["bfloat16"] = partial(product, left.bfloat16(), right.bfloat16())
    found = {"bfloat16": float("nan")} | {name: per_second(work, 2 * SIDE**3) / 1e9 for name, work in works.items()}
    source, target = torch.zeros(COPIED, dtype=torch.uint8), torch.zeros(COPIED, dtype=torch.uint8)
    found["bandwidth"] = per_second(lambda: target.copy_(source), 2 * COPIED) / 1e9
    return found


if __name__ == "__main__":
    run({"ours": ours})
