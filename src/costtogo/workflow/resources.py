"""The resources that a stage asks of a cluster: memory, minutes and a GPU; its study sets the threads.

They are bounds, not forecasts, from the data that a stage holds and the time that kept studies took
(tests/test_slurm.py compares the two). A job that reaches its bound is submitted again with a multiple of it, and a
training continues from its resume point.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

from costtogo.memory import OF_AUDIT
from costtogo.puzzles import make, partition_of
from costtogo.puzzles.base import Puzzle, is_listed
from costtogo.workflow.stages import Stage

MEGABYTE = 2**20
PROGRAM = 2_000  # MB: Python, torch, Numba, tables and networks of the default study, measured at 200 to 700
FRONT = 1_000  # MB: states by distance around the goal, up to 10 million
IN_STEP = 4_096  # MB: the limit for searches in step, and trees, together
EXACT = 8_192  # MB: an exact search that keeps its states, from both ends or from a level's solved states
OF_NODE = 60  # bytes: a state that a beam keeps, its place in the hash table and the move to it
OF_ENTRY = 9  # bytes: an entry of a pattern database, and the blanks' sets while it is built
OF_WEIGHT = 20  # bytes: a weight, its gradient, two moments of Adam, and the weight of a target network
OF_UNIT = 16  # bytes: a unit's output for one state, kept for the backward pass

SHORT = 30  # minutes: stages that list, draw and write; kept studies took up to 20 seconds
LONG = 240  # minutes: audits, searches, exact solvers; kept studies took up to 40 minutes
TRAINING = (60, 2_880)  # minutes: for the shortest training, and the longest job
SPEED = {"cpu": 2.5e9, "cuda": 1e12}  # multiplications per second that a training makes at least: on a thread, on a GPU
SHORT_GROUPS = {"tables", "instances", "footprints", "figures", "report"}


@dataclass(frozen=True)
class Resources:
    """The resources of a stage's job.  mem_mb: memory.  runtime: minutes.  gpu: the number of GPUs."""

    mem_mb: int
    runtime: int
    gpu: int


def resources_of(stage: Stage) -> Resources:
    """The resources that a stage asks for at its first attempt.

    One GPU for each process if its study says `device: cuda`; with `device: auto` it uses the processor.
    """
    asked = stage.parameters
    on_gpu = "puzzle" in asked and asked.get("device") == "cuda"  # a report only has the device of its study
    gpu = asked.get("training", {}).get("processes", 1) if on_gpu else 0
    return Resources(ceil(_megabytes(stage)), ceil(_minutes(stage, gpu)), gpu)


def _megabytes(stage: Stage) -> float:
    """The most that its program, its puzzle's states, its search and its network need."""
    asked = stage.parameters
    if "puzzle" not in asked:  # figures and reports read tables of results
        return PROGRAM
    puzzle = make(asked["puzzle"])
    filled = PROGRAM + _states(puzzle, stage) + _databases(puzzle, stage)
    if stage.module.startswith("search.") and "optima" not in asked or stage.group == "audits":
        filled += IN_STEP * (not _is_exhaustive(stage)) + asked.get("max_nodes", 0) * OF_NODE / MEGABYTE
    if "optima" in asked:
        filled += EXACT * (asked["optima"]["pattern_database"] is None)
    if "training" in asked:
        filled += _network(puzzle, asked["training"])
    return filled


def _states(puzzle: Puzzle, stage: Stage) -> float:
    """Megabytes of a puzzle's exact table and of the other arrays over its states."""
    if "depth" in stage.parameters or not is_listed(puzzle) or not _is_exhaustive(stage):
        return FRONT
    return puzzle.state_count * (4 * len(puzzle.actions) + OF_AUDIT) / MEGABYTE


def _is_exhaustive(stage: Stage) -> bool:
    """True if a stage works on all states of its puzzle."""
    tables = [each for each in (stage, *stage.needs) if each.group == "tables"]
    return bool(tables) and "depth" not in tables[0].parameters and "levels" not in tables[0].parameters


def _databases(puzzle: Puzzle, stage: Stage) -> float:
    """Megabytes of the pattern databases that a stage makes or reads."""
    partitions = [each.parameters["partition"] for each in (stage, *stage.needs) if "partition" in each.parameters]
    return sum(partition_of(puzzle.name).entries(puzzle, text) for text in partitions) * OF_ENTRY / MEGABYTE


def _network(puzzle: Puzzle, training: dict[str, Any]) -> float:
    """Megabytes of a network and of its states in one iteration."""
    layers = _layers(puzzle, training)
    return (_weights(layers) * OF_WEIGHT + training["states_per_iteration"] * sum(layers) * OF_UNIT) / MEGABYTE


def _layers(puzzle: Puzzle, training: dict[str, Any]) -> list[int]:
    """The number of units in each layer of a network, the one-hot cells of a state first."""
    network = training["architecture"]
    inner = network.get("first_layers") or [network["states"] ** 2]
    channels = [puzzle.cells * width for width in network.get("channels", ())]
    blocks = network.get("residual_blocks", 0) * network.get("layers_per_block", 2)
    return [puzzle.cells * puzzle.letters, *channels, *inner, *[inner[-1]] * blocks]


def _weights(layers: list[int]) -> int:
    return sum(before * after for before, after in pairwise(layers))


def _minutes(stage: Stage, gpu: int) -> float:
    """The minutes that a stage may run."""
    asked = stage.parameters
    if "training" in asked:
        return min(max(_minutes_of_training(stage, gpu), TRAINING[0]), TRAINING[1])
    searches = [asked["external"]] if "external" in asked else asked.get("anytime", [])
    budgets = [budget for search in searches for budget in search["budgets"]]
    seconds = sum(budget["states"] * budget["seconds"] for budget in budgets)
    return SHORT if stage.group in SHORT_GROUPS else max(LONG, 2 * seconds / 60)


def _minutes_of_training(stage: Stage, gpu: int) -> float:
    """From the multiplications of all iterations: a state, its children, and three times that for the backward pass."""
    training, puzzle = stage.parameters["training"], make(stage.parameters["puzzle"])
    children = 0 if training["trainer"] in ("random_walk", "imitation", "presses") else len(puzzle.actions)
    passes = training["iterations"] * training["states_per_iteration"] * (3 + children)
    speed = SPEED["cuda"] * gpu if gpu else SPEED["cpu"] * stage.threads
    return passes * _weights(_layers(puzzle, training)) / speed / 60
