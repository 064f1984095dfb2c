"""Nodes per second of a search with a network of random weights, which does not lead to the goal.

It starts from one scrambled 3×3×3 cube or 15-puzzle. Generated nodes are the legal children of expanded nodes before
duplicates are removed: 12 for a cube; for a board the legal ones, where the peer counts four.
"""

import numpy as np
import torch

from benchmarks.sides.measuring import run, seconds_of

LAMBDA = 0.6
SCRAMBLE = 1000  # moves


def ours(asked) -> dict[str, float]:
    """search.bwas, or beam search; the network evaluates each child of the expanded nodes."""
    from costtogo.heuristics.network import NetworkHeuristic, build
    from costtogo.learning.instances import draw_walk_ends
    from costtogo.params.training import architecture_of
    from costtogo.puzzles import make
    from costtogo.search import beam, bwas

    torch.set_num_threads(asked.threads)
    puzzle = make("cube3" if asked.puzzle == "cube3" else "puzzle15")
    network = build(architecture_of(first_layers=[asked.width], residual_blocks=asked.blocks), puzzle, 0).eval()
    heuristic = NetworkHeuristic(puzzle, network, asked.precision)
    start = draw_walk_ends(puzzle, 1, (SCRAMBLE, SCRAMBLE), np.random.default_rng(0))

    def search(steps: int):
        if asked.kind == "beam":
            return beam.solve(puzzle, heuristic, start, width=asked.size, limits=beam.BeamLimits(max_moves=steps))
        limits = bwas.Limits(max_expansions=steps * asked.size)
        return bwas.solve(puzzle, heuristic, start, path_weight=LAMBDA, batch_size=asked.size, limits=limits)

    search(5)
    seconds, found = seconds_of(lambda: search(asked.steps))
    generated, expanded = int(found.nodes_generated[0]), int(found.nodes_expanded[0])
    if asked.kind == "beam":
        # A beam also looks up the children of states near the goal, and to random weights every state seems near it.
        # Those are not counted here.
        generated = expanded * len(puzzle.actions)
    return {"generated_per_second": generated / seconds, "generated": generated, "expanded": expanded}


def deepxube(asked) -> dict[str, float]:
    """DeepXube's graph_v, or beam_v, step by step."""
    from deepxube.factories.pathfinding_factory import get_pathfind_functions
    from deepxube.utils.command_line_utils import (
        get_domain_from_arg,
        get_heur_nnet_par_from_arg,
        get_pathfind_from_arg,
    )

    torch.set_num_threads(asked.threads)
    domain, name = get_domain_from_arg(asked.puzzle)
    par, _ = get_heur_nnet_par_from_arg(domain, name, f"resnet_fc.{asked.width}H_{asked.blocks}B_bn", "V")
    cost_to_go = par.get_nnet_fn(par.get_nnet(), None, torch.device("cpu"), None)
    kind = f"graph_v.{asked.size}B_{LAMBDA}W" if asked.kind == "bwas" else f"beam_v.{asked.size}B"
    functions = get_pathfind_functions(kind.split(".")[0], cost_to_go, None)
    np.random.seed(0)
    states, goals = domain.sample_problem_instances([SCRAMBLE])

    def search(steps: int):
        found, _ = get_pathfind_from_arg(domain, functions, kind)
        found.add_instances(found.make_instances(states, goals, None, True))
        for _ in range(steps):
            found.step()
        return found.instances[0]

    search(2)
    seconds, found = seconds_of(lambda: search(asked.steps))
    return {"generated_per_second": found.num_nodes_generated / seconds, "generated": found.num_nodes_generated}


if __name__ == "__main__":
    run(
        {"ours": ours, "deepxube": deepxube},
        puzzle="cube3", kind="bwas", size=1000, steps=40, width=256, blocks=2, precision="float32",
    )  # fmt: skip
