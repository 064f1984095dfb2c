"""Memory per node that a search keeps: the search runs until it has stored a given number of nodes."""

import numpy as np

from benchmarks.sides.measuring import memory_of, run, seconds_of

SCRAMBLE = (1000, 2000)  # moves


def of_states(asked):
    """BWAS with Manhattan distance on the 24-puzzle."""
    from costtogo.heuristics.manhattan import Manhattan
    from costtogo.learning.instances import draw_walk_ends
    from costtogo.puzzles import make
    from costtogo.search.bwas import Limits, solve

    puzzle = make("puzzle24")
    heuristic = Manhattan(puzzle)
    starts = draw_walk_ends(puzzle, 1, SCRAMBLE, np.random.default_rng(0))

    def search(nodes: int):
        return solve(puzzle, heuristic, starts, path_weight=1.0, batch_size=1000, limits=Limits(max_nodes=nodes))

    return search


class Blind:
    """A heuristic by action that only knows which actions are legal."""

    by_action = True

    def __init__(self, puzzle):
        self.puzzle = puzzle

    def __call__(self, states):
        """Zeros, float32 [N]."""
        return np.zeros(len(states), dtype=np.float32)

    def children(self, states):
        """0 if legal, else inf, float32 [N, A]."""
        return np.where(self.puzzle.legal(states), np.float32(0), np.float32(np.inf))


def of_children(asked):
    """BWAS with a heuristic by action on the 3×3×3 cube."""
    from costtogo.learning.instances import draw_walk_ends
    from costtogo.puzzles import make
    from costtogo.search.bwas import Limits, solve

    puzzle = make("cube3")
    starts = draw_walk_ends(puzzle, 1, SCRAMBLE, np.random.default_rng(0))

    def search(nodes: int):
        limits = Limits(max_nodes=nodes)
        return solve(puzzle, Blind(puzzle), starts, path_weight=1.0, batch_size=1000, limits=limits)

    return search


def beams(asked):
    """Beams of 10,000 with a heuristic that is 0 everywhere, on the 3×3×3 cube."""
    from costtogo.learning.instances import draw_walk_ends
    from costtogo.puzzles import make
    from costtogo.search.beam import BeamLimits, solve

    puzzle = make("cube3")
    starts = draw_walk_ends(puzzle, 1, SCRAMBLE, np.random.default_rng(0))

    def search(nodes: int):
        return solve(puzzle, Blind(puzzle), starts, width=10_000, limits=BeamLimits(max_nodes=nodes, max_moves=10**6))

    return search


SEARCHES = {"bwas": of_states, "bwas_by_action": of_children, "beam": beams}


def ours(asked) -> dict[str, float]:
    """Bytes per node; a small search before it loads the compiled code."""
    search = SEARCHES[asked.search](asked)
    search(1000)
    megabytes, (seconds, found) = memory_of(lambda: seconds_of(lambda: search(asked.nodes)))
    assert not found.solved[0]
    return {"megabytes": megabytes, "bytes_per_node": 1e6 * megabytes / asked.nodes, "seconds": seconds}


if __name__ == "__main__":
    run({"ours": ours}, search="bwas", nodes=1_000_000)
