"""Weighted A* with a table of the cost-to-go of the 2×2×2 cube, its distances blurred: λ = 0.7, N = 1."""

import heapq
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from benchmarks.sides.measuring import run, seconds_of

BLUR = 0.5  # moves, standard deviation
LAMBDA = 0.7


def problem(starts: int):
    """The puzzle, the table and random starts, as ranks; with as many starts as states, all states."""
    from costtogo.exact.bfs import distances
    from costtogo.exact.graph import graph_of
    from costtogo.heuristics.table import TableHeuristic
    from costtogo.puzzles import make

    puzzle, generator = make("cube2"), np.random.default_rng(0)
    goal = int(puzzle.rank(puzzle.goal[None])[0])
    distance = distances(graph_of(puzzle), goal)
    values = np.maximum(distance + generator.normal(0, BLUR, len(distance)), 0).astype(np.float32)
    values[goal] = 0
    every = starts == puzzle.state_count
    ranks = np.arange(starts) if every else generator.integers(puzzle.state_count, size=starts)
    return puzzle, TableHeuristic(puzzle, values), ranks


def ours(asked) -> dict[str, float]:
    """search.bwas with the table, a part of the starts on each core."""
    from costtogo.search.bwas import solve

    puzzle, table, ranks = problem(asked.starts)
    starts = puzzle.unrank(ranks)
    search = partial(solve, puzzle, table, path_weight=LAMBDA, batch_size=1)
    search(starts[:2])
    with ThreadPoolExecutor(asked.threads) as pool:
        seconds, parts = seconds_of(lambda: list(pool.map(search, np.array_split(starts, asked.threads))))
    expanded, moves = (np.concatenate([getattr(part, name) for part in parts]) for name in ("nodes_expanded", "cost"))
    assert np.isfinite(moves).all()
    told = {"expanded_per_second": expanded.sum() / seconds, "seconds": seconds}
    return told | {"expanded": int(expanded.sum()), "moves": float(moves.mean())}


def plain(asked) -> dict[str, float]:
    """Python's heapq and dictionaries, with lists of neighbours made before."""
    from costtogo.exact.graph import neighbour_table

    puzzle, table, ranks = problem(asked.starts)
    neighbours, values = neighbour_table(puzzle), table.values.tolist()
    goal, expanded, moves = int(puzzle.rank(puzzle.goal[None])[0]), 0, 0

    def search(start: int) -> tuple[int, int]:
        g, heap, pushed, count = {start: 0}, [(values[start], 0, start, 0)], 1, 0
        while heap:
            _, _, state, path = heapq.heappop(heap)
            if path > g[state]:
                continue
            if state == goal:
                return path, count
            count += 1
            for child in neighbours[state].tolist():
                if path + 1 < g.get(child, 1 << 30):
                    g[child] = path + 1
                    heapq.heappush(heap, (LAMBDA * (path + 1) + values[child], pushed, child, path + 1))
                    pushed += 1
        raise AssertionError("every cube can be solved")

    seconds, found = seconds_of(lambda: [search(start) for start in ranks.tolist()])
    moves, expanded = sum(path for path, _ in found), sum(count for _, count in found)
    return {"expanded": expanded, "expanded_per_second": expanded / seconds, "moves": moves / len(found)}


if __name__ == "__main__":
    run({"ours": ours, "plain": plain}, starts=2000)
