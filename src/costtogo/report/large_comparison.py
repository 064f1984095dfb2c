"""Each number of the literature on a puzzle too large to list beside ours; a row for every one, covered or not."""

import math

import pandas as pd

from costtogo.report.answers import NAN, Row
from costtogo.report.comparison import AGREES, NOT_COVERED, QUANTITIES, TIMES, Quantity, judge
from costtogo.report.large_answers import (
    CONVOLUTIONS,
    LEARNED,
    OPTIMAL,
    OTHER_SETS,
    SETTINGS,
    Findings,
    answer,
)

LARGE_QUANTITIES = QUANTITIES | {
    "states": Quantity("states", 0, relative=0.05),
    "actions": Quantity("actions", 0),
    "actions_corner": Quantity("actions with the blank in a corner", 0),
    "actions_edge": Quantity("actions with the blank at an edge", 0),
    "stickers": Quantity("stickers", 0),
    "lights": Quantity("lights", 0),
    "cubelets": Quantity("cubelets", 0),
    "input_size": Quantity("inputs of the network", 0),
    "move_sequences": Quantity("move sequences", 0, relative=0.05),
    "length": Quantity("length, moves", -1),
    "length_most": Quantity("longest solution, moves", -1),
    "length_ratio": Quantity("length over the shortest, times", -1),
    "solved_percent": Quantity("solved, %", 1),
    "states_solved": Quantity("solved of 100", 1),
    "optimal_percent": Quantity("optimal, %", 1),
    "extra_moves": Quantity("moves too many on average", -1, absolute=0.05),
    "extra_moves_2_percent": Quantity("two moves too many, %", -1),
    "extra_moves_4_percent": Quantity("four moves too many, %", -1),
    "nodes_expanded_most": Quantity("most nodes expanded", -1),
    "nodes_generated": Quantity("nodes generated", -1, relative=0.1),
    "admissible_within_one_percent": Quantity("overestimated by at most 1, %", 1, absolute=5.0),
    "conjugate_triplet_percent": Quantity("triplets a b a⁻¹, %", 0, absolute=1.0),
    "aba_triplet_percent": Quantity("triplets a b a, %", 0, absolute=1.0),
    "aab_triplet_percent": Quantity("triplets a a b, %", 0, absolute=1.0),
    "abb_triplet_percent": Quantity("triplets a b b, %", 0, absolute=1.0),
    "symmetric_solution_percent": Quantity("mirrored solutions, %", 1),
    "same_length_percent": Quantity("other solutions of the same length, %", 1),
    "path_weight_feasible": Quantity("feasible λ", 1),
    "states_seen_percent": Quantity("states seen, % of all", -1, relative=0.2),
    "iteration_time": Quantity("time of an iteration", -1, relative=0.2),
    "nodes_per_second": Quantity("nodes generated a second", 1, relative=0.2),
    "seconds_ratio_pdb": Quantity("seconds of the PDB solver over those of the network, times", 1),
    "longest_time": Quantity("longest time of a search", -1, relative=0.2),
    "search_iterations": Quantity("batches expanded", -1, relative=0.2),
    "training_diverges": Quantity("training diverges", -1),
    "learning_rate_last_percent": Quantity("last learning rate, % of the first", 0),
}
BESIDE = ("reproduced", "interval_95", "verdict", "note", "results_file")  # columns that compare adds
LARGE_TIMES = (*TIMES, "iteration_time", "longest_time", "nodes_per_second", "seconds_ratio_pdb")
MACHINES = (
    "cpus",
    "cpu_cores",
    "cpu_clock",
    "cpu_cache",
    "memory",
    "gpu_memory",
    "gpus_training",
    "gpus_generating",
    "gpus_searching",
)
REASONS = {
    "diameter": "proved elsewhere; the space is too large to list",
    "diameter_half_turns": "proved elsewhere; the space is too large to list",
    "states_within_distance": "the exact table ends nearer to the goal",
    "states_within_distance_percent": "the exact table ends nearer to the goal",
    "goal_state_seconds": "time of a function of the thesis's program",
    "goal_state_seconds_ratio": "time of a function of the thesis's program",
    "state_bytes": "size of an object of the thesis's program",
    "input_size": "another representation of the state",
    "convergence_points": "the study's trainer has no convergence points: it looks at no target network",
    "convergence_point_iteration": "the study's trainer has no convergence points: it looks at no target network",
    "loss_threshold": "the study's trainer has no threshold: it looks at no target network",
    "walk_offset": "a setting of adaptive K, which the study does not use",
    "forced_update_iteration": "a rule for updating a target network that the study does not have",
    "generation_interval": "a setting of that program",
    "generation_time_ratio": "times of two processes of that program",
    "training_diverges": "told of that training, which the study does not repeat",
    "learning_rate_feasible": "advice on the learning rate; the study tries one",
    "learning_rate_last_percent": "advice on the learning rate; the study tries one",
    "residual_layers_added": "beside a network for another puzzle",
    "layers_left_out": "beside a network for another puzzle",
    **dict.fromkeys(CONVOLUTIONS, "of a convolutional network, which the study does not have"),
    "convergence_points_needed": "the author's reckoning, not a measurement",
    "iterations_needed": "the author's reckoning, not a measurement",
    "training_time_needed": "the author's reckoning, not a measurement",
    "distance_learned": "counted by convergence points, which the study's trainer does not have",
    "distance_seen": "counted by convergence points, which the study's trainer does not have",
    "shortcut_distance": "a step of that solver",
    "at_most_kociemba_percent": "needs the solutions of Kociemba's solver, which the study does not run",
    "median_length": "of less scrambled cubes that the slide does not name",
    "median_time": "of cubes that the slide does not name",
    "search_iterations": "the study counts nodes, not batches or layers",
    "search_iterations_limit": "a setting of that search; the study's searches end at a cap on nodes",
    "training_time_ratio": "a training that the study does not repeat",
    "accurate_from_scramble_moves": "a training that the study does not repeat",
    "greedy_worse_below_scramble_moves": "a training that the study does not repeat",
    "out_of_memory_path_weight": "a search over pattern databases, which the study does not have",
    "path_weight_tried": "not in the study's grid",
    "batch_size_tried": "not in the study's grid",
    "distance_solved": "not told what counts as solved well",
}
NEEDS_EXTERNAL = (
    "optimal_percent",
    "extra_moves",
    "extra_moves_2_percent",
    "extra_moves_4_percent",
    "length_ratio",
    "overestimation_mean",
    "admissible_within_one_percent",
    "length",
)


def compare(reported: pd.DataFrame, found: Findings) -> pd.DataFrame:
    """One row a reported number: adds reproduced, interval_95, verdict, note and results_file."""
    rows = []
    for row in reported.to_dict("records"):
        ours = answer(found, row)
        verdict, why = judge(row, ours, LARGE_QUANTITIES) if _judged(row) else _same(row, ours)
        parts = [ours.note, why] if ours else [_why_not(row, found)]
        erratum = row["erratum"] if isinstance(row["erratum"], str) else ""
        parts += [f"erratum: {erratum}"] if erratum else []
        beside = {
            "reproduced": ours.value if ours else NAN,
            "interval_95": f"[{ours.low:.6g}, {ours.high:.6g}]" if ours and not math.isnan(ours.low) else "",
            "verdict": verdict,
            "note": "; ".join(filter(None, parts)),
            "results_file": ours.file if ours else "",
        }
        rows.append(row | beside)
    return pd.DataFrame(rows, columns=[*reported.columns, *BESIDE]).rename(columns={"value": "reported"})


def _judged(row: Row) -> bool:
    """Whether a number is a result, or a bound on a setting; other settings are the same or not."""
    return row["quantity"] not in SETTINGS or row["quantity"] == "learning_rate_last_percent"


def _same(row: Row, ours) -> tuple[str, str]:
    """A setting agrees where it is the same; another one is told, not judged."""
    if ours is None:
        return NOT_COVERED, ""
    if math.isclose(ours.value, row["value"]):
        return AGREES, "the same setting"
    return NOT_COVERED, f"a setting, not a result; ours is {ours.value:.6g}"


def _why_not(row: Row, found: Findings) -> str:
    """Why a number has none of ours beside it."""
    quantity, model = row["quantity"], row["model"]
    if quantity in MACHINES:
        return "a machine, not a result; ours is named in timings.md"
    exactly = model in OPTIMAL or quantity == "seconds_ratio_pdb"
    if exactly and found.exact is not None and found.all_exact is None:
        solved = found.exact.rows["solved"]
        limit = found.results.asked.optima.max_generated
        return f"{found.exact.what}, solves {solved.sum()} of {len(solved)} within {limit:,} nodes each: no mean of all"
    timed_here = model in LEARNED or (model in OPTIMAL and found.results.asked.optima is not None)
    if quantity in LARGE_TIMES and timed_here and not found.results.timed:
        return "wall-clock times of this study differ from run to run and stand in timings.md"
    if quantity in REASONS and (not quantity.endswith("_tried") or model in LEARNED):
        return REASONS[quantity]
    if row["set"] in OTHER_SETS:
        return OTHER_SETS[row["set"]]
    waits = found.external is None and quantity in NEEDS_EXTERNAL and found.results.asked.external is not None
    if waits and model in (*LEARNED[:1], *OPTIMAL, "Report_DNN"):
        return f"not measured yet: snakemake {found.results.study}-external measures it"
    if quantity in NEEDS_EXTERNAL and found.external is not None and found.known is None:
        return "needs optima, which are not known"
    if isinstance(model, str) and model not in LEARNED:
        return "another solver or training, which the study does not run"
    if quantity == "optimal_percent" and model == "DeepCube":
        return "of less scrambled cubes that the slide does not name"
    return "the study has no counterpart, or has not run it"
