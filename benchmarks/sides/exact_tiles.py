"""Shortest solutions of random 15-puzzles by IDA* over a pattern database, on one core."""

import numpy as np

from benchmarks.sides.measuring import run, seconds_of


def ours(asked) -> dict[str, float]:
    """search.ida_star with an additive pattern database, which is built before."""
    from costtogo.exact.pattern_database import build
    from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
    from costtogo.learning.instances import draw_walk_ends
    from costtogo.puzzles import make
    from costtogo.search.ida_star import solve

    puzzle = make("puzzle15")
    seconds_building, database = seconds_of(lambda: build(puzzle.side, asked.partition))
    heuristic = PatternDatabaseHeuristic(puzzle, database)
    starts = draw_walk_ends(puzzle, asked.boards, (1000, 10000), np.random.default_rng(0))
    solve(puzzle, heuristic, starts[:1])
    seconds, found = seconds_of(lambda: solve(puzzle, heuristic, starts, threads=1))
    return {
        "generated": int(found.nodes_generated.sum()),
        "generated_per_second": int(found.nodes_generated.sum()) / seconds,
        "milliseconds": 1000 * seconds / len(starts),
        "moves": float(found.cost.mean()),
        "seconds_building": seconds_building,
    }


if __name__ == "__main__":
    run({"ours": ours}, boards=100, partition="5-5-5")
