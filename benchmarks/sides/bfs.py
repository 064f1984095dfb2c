"""All distances of the 2×2×2 cube in quarter turns of R, U and B or of all faces: 3,674,160 states.

For benchmarks.scaling, our side also lists other puzzles.
"""

from benchmarks.sides.measuring import memory_of, run, seconds_of

STATES = 3_674_160


def ours(asked) -> dict[str, float]:
    """Breadth-first search over ranks; compiled code is loaded before."""
    import numpy as np

    from costtogo.exact.bfs import distances
    from costtogo.exact.graph import graph_of, one_table
    from costtogo.puzzles import make

    distances(one_table(np.zeros((1, 1), dtype=np.int32)), 0)
    puzzle = make(asked.puzzle)
    goal = int(puzzle.rank(puzzle.goal[None])[0])
    memory, (seconds, distance) = memory_of(lambda: seconds_of(lambda: distances(graph_of(puzzle), goal)))
    assert asked.puzzle != "cube2" or (len(distance) == STATES and distance.max() == 14)
    return {"seconds": seconds, "megabytes": memory}


def cayleypy(asked) -> dict[str, float]:
    """CayleyPy's breadth-first search over layers of states, with all layers kept; the graph is made before."""
    import torch
    from cayleypy import CayleyGraph, prepare_graph

    torch.set_num_threads(asked.threads)
    CayleyGraph(prepare_graph("lrx", n=5), device="cpu").bfs()
    graph = CayleyGraph(prepare_graph("cube_2/2/2_6gensQTM"), device="cpu")
    memory, (seconds, found) = memory_of(lambda: seconds_of(lambda: graph.bfs(max_diameter=100)))
    assert sum(found.layer_sizes) == STATES and len(found.layer_sizes) == 15
    return {"seconds": seconds, "megabytes": memory}


if __name__ == "__main__":
    run({"ours": ours, "cayleypy": cayleypy}, puzzle="cube2")
