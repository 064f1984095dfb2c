"""Weighted A* over a table of the cost-to-go of the 2×2×2 cube, its distances blurred: λ = 0.7, N = 1, one core."""

import heapq

import numpy as np

from benchmarks.sides.measuring import run, seconds_of

BLUR = 0.5  # moves, standard deviation
LAMBDA = 0.7


def problem(starts: int):
    """The puzzle, the table and random starts, as ranks."""
    from costtogo.exact.bfs import distances
    from costtogo.exact.graph import graph_of
    from costtogo.heuristics.table import TableHeuristic
    from costtogo.puzzles import make

    puzzle, generator = make("cube2"), np.random.default_rng(0)
    goal = int(puzzle.rank(puzzle.goal[None])[0])
    distance = distances(graph_of(puzzle), goal)
    values = np.maximum(distance + generator.normal(0, BLUR, len(distance)), 0).astype(np.float32)
    values[goal] = 0
    return puzzle, TableHeuristic(puzzle, values), generator.integers(puzzle.state_count, size=starts)


def ours(asked) -> dict[str, float]:
    """search.bwas over the table."""
    from costtogo.search.bwas import solve

    puzzle, table, ranks = problem(asked.starts)
    starts = puzzle.unrank(ranks)
    solve(puzzle, table, starts[:2], path_weight=LAMBDA, batch_size=1)
    seconds, found = seconds_of(lambda: solve(puzzle, table, starts, path_weight=LAMBDA, batch_size=1))
    expanded = int(found.nodes_expanded.sum())
    return {"expanded": expanded, "expanded_per_second": expanded / seconds, "moves": float(found.cost.mean())}


def plain(asked) -> dict[str, float]:
    """Python's heapq and dictionaries, over lists of neighbours made before."""
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
