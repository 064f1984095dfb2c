"""Small made-up studies of large puzzles in the schemas of the stages, to test their figures and reports.

The numbers mean nothing; only the moves are true, and the mirror images of solutions.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from synthetic_study import write_card, write_table

from costtogo.params.loading import load
from costtogo.params.study import PuzzleStudy, alone
from costtogo.puzzles import make
from costtogo.puzzles.base import Puzzle
from costtogo.stages.audit_samples import PROGRESS

CONFIG = Path(__file__).parents[1] / "config"
PARTS = (
    *("pattern_databases", "instances", "optima", "models", "audits", "searches", "baselines", "footprints"),
    *("beams", "anytime", "external"),
)


def study_of(name: str) -> PuzzleStudy:
    """The study of a file of config, which is about one puzzle."""
    return alone(load([CONFIG / f"{name}.yaml"]))


def write_results(study: PuzzleStudy, folder: Path, parts=PARTS) -> Path:
    """Write results/<study> below a folder, with these parts of it, and return the study's folder."""
    results, random = folder / study.study, np.random.default_rng(1)
    write_card(results, "tables", study.puzzle, {"depth": study.nearby_depth, "states": 983_926})
    writers = {
        "pattern_databases": _write_pattern_database,
        "instances": _write_instances,
        "optima": _write_optima,
        "baselines": _write_baseline,
        "footprints": _write_footprints,
        "models": _write_model,
        "audits": _write_audit,
        "searches": _write_searches,
        "beams": write_beams,
        "anytime": _write_anytime,
        "external": _write_external,
    }
    for part in parts:
        for name in names_of(study, part):
            writers[part](results, study, name, random)
    return results


def names_of(study: PuzzleStudy, part: str) -> list[str]:
    """The names in a part of the results that have a card."""
    names = {
        "pattern_databases": list(study.pattern_databases),
        "instances": [study.puzzle],
        "optima": [study.puzzle] if study.optima else [],
        "baselines": study.baselines,
        "footprints": [study.puzzle] if study.baselines else [],
        "anytime": list(study.models) if "anytime" in study.by_group else [],
        "external": list(study.models) if study.external else [],
    }
    return names.get(part, list(study.models))


def walk(puzzle: Puzzle, length: int, random) -> list[int]:
    """Actions of a walk from the goal that never turns straight back."""
    actions: list[int] = []
    state = puzzle.goal[None]
    while len(actions) < length:
        action = int(random.integers(len(puzzle.actions)))
        if puzzle.legal(state)[0, action] and (not actions or action != puzzle.inverse(actions[-1])):
            actions.append(action)
            state = puzzle.move(state, np.array([action]))
    return actions


def count_of(study: PuzzleStudy, name: str) -> int:
    """The number of instances in a set."""
    kind = study.instances[name]
    if kind.kind == "mirrored":
        return count_of(study, kind.of)
    return kind.states if kind.kind == "walks" else len(make(study.puzzle).parse_moves(kind.moves))


def _write_instances(results, study, name, random) -> None:
    counts = {name: count_of(study, name) for name in study.instances}
    rows = [
        (name, i, i + 1.0 if study.instances[name].kind == "prefixes" else np.nan)
        for name, count in counts.items()
        for i in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["set", "instance", "distance"]).assign(state=goal_text(study))
    write_table(results / "instances" / f"{name}.parquet", frame)
    write_card(results, "instances", name, counts)


def goal_text(study: PuzzleStudy) -> str:
    """A state of the study's puzzle."""
    puzzle = make(study.puzzle)
    return puzzle.format_state(puzzle.goal)


def _write_pattern_database(results, study, name, random) -> None:
    metrics = {"patterns": 2, "tables": 2, "largest_pattern": 8, "placings": 576_576_000, "most_moves": 71}
    partition = study.pattern_databases[name]
    write_card(results, "pattern_databases", name, metrics | {"bytes": 576_576_912}, partition=partition)
    path = results / "timings" / "pattern_databases" / f"{name}.json"
    timing = {"parts": {"backward search": 175.5}, "peak_memory_bytes": 3_000_000_000}
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | timing), encoding="utf-8")


def optimum(study: PuzzleStudy, instance: int) -> float:
    """The made-up distance of an instance of a scrambled set, if the study finds its optimum, else NaN."""
    return 20.0 + instance % 3 if study.optima else np.nan


def _write_optima(results, study, name, random) -> None:
    puzzle, rows = make(study.puzzle), []
    for set_name in study.instances:
        for i in range(count_of(study, set_name)):
            distance = optimum(study, i)
            rows.append({"set": set_name, "instance": i, "state": goal_text(study), "distance": distance,
                         "solved": True, "lower_bound": distance, "nodes_expanded": 4_000 + i,
                         "nodes_generated": 9_000 + i,
                         "solution": puzzle.format_moves(walk(puzzle, int(distance), random))})  # fmt: skip
    found = pd.DataFrame(rows)
    write_table(results / "optima" / f"{name}.parquet", found)
    clock = found[["set", "instance"]].assign(seconds=found["nodes_generated"] / 5e6)
    write_table(results / "timings" / "optima" / f"{name}.parquet", clock)
    write_card(results, "optima", name, {"scrambled_length": 21.0}, optima=study.optima.model_dump())


def _write_baseline(results, study, name, random) -> None:
    _write_searches(results, study, name, random, group="baselines")


def _write_footprints(results, study, name, random) -> None:
    names = [*study.models, *study.baselines]
    write_table(results / "footprints" / f"{name}.parquet", pd.DataFrame({"heuristic": names, "bytes": 7_000_000}))
    clock = [
        {"heuristic": each, "states_at_a_time": count, "seconds": 1e-4 / count} for each in names for count in (1, 1000)
    ]
    write_table(results / "timings" / "footprints" / f"{name}.parquet", pd.DataFrame(clock))
    write_card(results, "footprints", name, {f"{each}_bytes": 7_000_000 for each in names})


def _write_model(results, study, name, random) -> None:
    iterations = np.arange(1, 9001)
    curve = pd.DataFrame({"iteration": iterations, "convergence_points": iterations // 500, "effective_k": 26})
    curve["loss"] = (11 + 220 * np.exp(-iterations / 60)) * random.lognormal(0, 0.05, len(iterations))
    curve["updated"] = iterations % 500 == 0
    curve["validation_loss"] = curve["loss"].where(curve["updated"])
    write_table(results / "models" / name / "curve.parquet", curve)
    rows = [
        (i, i // 500, 11.0, "convergence_point", f"checkpoints/{i:06d}.safetensors", f"{i:064d}")
        for i in range(500, 9001, 500)
    ]
    columns = ["iteration", "convergence_point", "validation_loss", "kind", "file", "sha256"]
    write_table(results / "models" / name / "checkpoints.parquet", pd.DataFrame(rows, columns=columns))
    metrics = {"iterations": 9000, "loss": 11.5, "validation_loss": 11.6, "mean_absolute_error": 0.8}
    metrics |= {"parameters": 866_060, "states_seen": 93_600_000}
    write_card(results, "models", name, metrics, training=study.models[name].model_dump(exclude={"starts_from"}))


def _write_audit(results, study, name, random) -> None:
    folder, asked = results / "audits" / name, study.audit
    distance = np.arange(study.nearby_depth + 1)
    nearby = pd.DataFrame({"distance": distance, "states": np.minimum(9 ** distance.clip(0, 5), asked.nearby_states)})
    nearby = nearby.assign(
        mean_cost_to_go=distance * 1.1, mean_absolute_error=distance * 0.12, bias=distance * 0.1,
        admissible_percent=100 - 8.0 * distance, overestimation_mean=distance * 0.15, overestimation_max=distance * 0.6,
    )  # fmt: skip
    write_table(folder / "nearby.parquet", nearby)
    sets = [name for name in study.instances if study.optima] or ["distance_26"]
    known = pd.concat([nearby.assign(set=name) for name in sets if name in study.instances])
    write_table(folder / "known.parquet", known[["set", *nearby.columns]])
    iterations = np.arange(500, 9001, 500)
    share = 60 + 35 * (1 - np.exp(-iterations / 1500))
    consistency = pd.DataFrame({"iteration": iterations, "states": asked.consistency_states})
    write_table(folder / "consistency.parquet", consistency.assign(consistent_percent=share))
    depth = np.arange(1, asked.depths + 1)
    mean = 18.5 * np.tanh(depth / 17)
    scrambled = pd.DataFrame({"depth": depth, "states": asked.scrambled_states, "mean_cost_to_go": mean})
    scrambled = scrambled.assign(low=mean - 0.12 * mean, high=mean + 0.1 * mean, std=0.07 * mean)
    write_table(folder / "scrambled.parquet", scrambled)
    rows = [
        (i, d, asked.greedy_states, 100 / (1 + np.exp((d - 6 - i / 1200) / 1.5)), d * i / 9000)
        for i in iterations
        for d in asked.greedy_depths
    ]
    columns = ["iteration", "depth", "states", "solved_percent", "mean_cost_to_go"]
    write_table(folder / "greedy.parquet", pd.DataFrame(rows, columns=columns))
    progress = pd.DataFrame(columns=PROGRESS)
    if asked.progress is not None:
        wanted, few = asked.progress, iterations[-1::-4][::-1]
        known, optimum_of = count_of(study, wanted.set), optimum(study, 0)
        progress = pd.DataFrame(
            {
                "set": wanted.set, "path_weight": wanted.path_weight, "batch_size": wanted.batch_size, "iteration": few,
                "instances": known, "solved_percent": share[few // 500 - 1], "length": 60.0 - few / 1000,
                "length_low": 59.0 - few / 1000, "length_high": 61.0 - few / 1000,
                "known": known if np.isfinite(optimum_of) else 0, "optimal_length": optimum_of,
                "optimal_percent": few / 100, "excess": 9.0 - few / 1000,
                "nodes_expanded": 5e4, "nodes_generated": 1e5, "out_of_memory_percent": 0.0,
            }
        )  # fmt: skip
    write_table(folder / "progress.parquet", progress)
    metrics = {"consistent_percent": share[-1], "admissible_percent": 70.0}
    write_card(results, "audits", name, metrics, audit=asked.model_dump())


def _write_searches(results, study, name, random, group="searches") -> None:
    rows, puzzle = [], make(study.puzzle)
    for grid in study.grids:
        for weight in grid.path_weight:
            for size in grid.batch_size:
                for instance in range(count_of(study, grid.set)):
                    solved = random.random() < 1.6 - weight - 0.05 * (size == 10_000)
                    actions = walk(puzzle, int(38 - 15 * weight - 1.5 * np.log10(size) + random.integers(0, 4)), random)
                    nodes = int(min(2000 * 10 ** (2 * weight) + 24 * size, 80_000)) if solved else grid.max_nodes // 12
                    cell = {"set": grid.set, "path_weight": weight, "batch_size": size, "instance": instance}
                    ended = "solved" if solved else "memory"
                    rows.append(
                        cell
                        | {
                            "distance": optimum(study, instance),
                            **_found(puzzle, actions, solved, nodes),
                            "ended": ended,
                        }
                    )
    found = pd.DataFrame(rows)
    cells = found.groupby(["set", "path_weight", "batch_size"], sort=False)
    grid = pd.DataFrame([{**dict(zip(cells.keys, cell, strict=True)), **_cell(rows)} for cell, rows in cells])
    grid["out_of_memory_percent"] = 100 - grid["solved_percent"]
    write_table(results / group / name / "searches.parquet", found)
    write_table(results / group / name / "grid.parquet", grid)
    clock = found[["set", "path_weight", "batch_size", "instance"]].assign(seconds=found["nodes_generated"] * 2e-5)
    write_table(results / "timings" / group / f"{name}.parquet", clock)
    write_card(results, group, name, {"solved_percent": 80.0})


def write_beams(results, study, name, random) -> None:
    """Write the beam searches with a model."""
    rows, puzzle, state = [], make(study.puzzle), goal_text(study)
    for beams in study.beams:
        known = study.instances[beams.set].kind == "prefixes"
        for width in beams.widths:
            for instance in range(count_of(study, beams.set)):
                distance = instance + 1.0 if known else optimum(study, instance)
                length = (instance + 1 + 2 * (instance > 17)) if known else int(34 - 2.4 * np.log10(width))
                actions = walk(puzzle, int(length) + 2 * int(random.integers(2)) * (not known), random)
                if beams.set == "mirrored" and instance % 2:
                    twin = next(row for row in rows if row["width"] == width and row["instance"] == instance)
                    actions = puzzle.mirror.actions[puzzle.parse_moves(twin["solution"])].tolist()
                place = {"set": beams.set, "width": width, "instance": instance, "state": state, "distance": distance}
                rows.append(place | _found(puzzle, actions, True, width * len(actions)))
    found = pd.DataFrame(rows)
    cells = found.groupby(["set", "width"], sort=False)
    grid = pd.DataFrame([{**dict(zip(cells.keys, cell, strict=True)), **_cell(group)} for cell, group in cells])
    write_table(results / "beams" / name / "searches.parquet", found)
    write_table(results / "beams" / name / "grid.parquet", grid)
    clock = found[["set", "width", "instance"]].assign(seconds=found["nodes_expanded"] * 1.7e-5)
    write_table(results / "timings" / "beams" / f"{name}.parquet", clock)
    write_card(results, "beams", name, {"scrambled_10000_length": 24.2})


def _write_anytime(results, study, name, random) -> None:
    rows, puzzle = [], make(study.puzzle)
    for searches in study.by_group.get("anytime", []):
        for budget in searches.budgets:
            for instance in range(min(budget.states, count_of(study, searches.set))):
                place = {"set": searches.set, "seconds_allowed": budget.seconds, "instance": instance}
                place |= {"distance": optimum(study, instance)}
                rows.append(place | _found(puzzle, walk(puzzle, 24, random), True, 1000))
    found = pd.DataFrame(rows)
    cells = found.groupby(["set", "seconds_allowed"], sort=False)
    grid = pd.DataFrame([{**dict(zip(cells.keys, cell, strict=True)), **_cell(group)} for cell, group in cells])
    write_table(results / "anytime" / name / "searches.parquet", found)
    write_table(results / "anytime" / name / "grid.parquet", grid)
    clock = found[["set", "seconds_allowed", "instance"]].assign(seconds=0.5)
    write_table(results / "timings" / "anytime" / f"{name}.parquet", clock)
    write_card(results, "anytime", name, {"scrambled_5.0_length": 24.0})


def _write_external(results, study, name, random) -> None:
    parts = [_external(study, budget, random) for budget in study.external.budgets]
    found = pd.concat(parts, ignore_index=True)
    write_table(results / "external" / name / "searches.parquet", found)
    summary = []
    for part in [budget.iloc[:first] for budget in parts for first in sorted({30, len(budget)})]:
        cell, share = _cell(part), 100 * (part["cost"] == part["optimal"]).mean()
        lengths = {key: cell[key] for key in ("solved_percent", "length", "length_low", "length_high")}
        summary.append(
            {"seconds_allowed": part["seconds_allowed"].iloc[0], "first": len(part), **lengths,
             "optimal_length": part["optimal"].mean(), "optimal_percent": share, "optimal_percent_low": share - 9,
             "optimal_percent_high": share + 9, "admissible_percent": 60.0}
        )  # fmt: skip
    write_table(results / "external" / name / "summary.parquet", pd.DataFrame(summary))
    clock = found[["seconds_allowed", "instance"]].assign(seconds=found["seconds_allowed"] - 0.1)
    write_table(results / "timings" / "external" / f"{name}.parquet", clock)
    write_card(results, "external", name, {"solved_percent": 99.0}, external=study.external.model_dump())


def _external(study, budget, random) -> pd.DataFrame:
    """The searches of the external instances with one budget."""
    count, puzzle = budget.states, make(study.puzzle)
    text = "scramble" if study.puzzle == "cube3" else "tiles"
    optimal = random.choice([19, 20, 21, 22], count, p=[0.1, 0.35, 0.45, 0.1])
    costs = optimal + 2 * random.integers(0, 3, count)
    rows = [
        {"instance": i, text: goal_text(study), "optimal": float(optimal[i]),
         "cost_to_go": optimal[i] - 2 + 3 * random.random(),
         **_found(puzzle, walk(puzzle, int(costs[i]), random), i != 7, 150_000)}
        for i in range(count)
    ]  # fmt: skip
    frame = pd.DataFrame(rows).assign(length_htm=costs - 3.0, seconds_allowed=budget.seconds)
    return frame[["seconds_allowed", *frame.columns.drop("seconds_allowed")]]


def _found(puzzle, actions, solved, nodes) -> dict:
    """The columns of one search."""
    return {
        "solved": bool(solved),
        "cost": float(len(actions)) if solved else np.inf,
        "nodes_expanded": nodes,
        "nodes_generated": 12 * nodes,
        "solution": puzzle.format_moves(actions) if solved else "",
    }


def _cell(group: pd.DataFrame) -> dict:
    """The columns of a cell of a grid."""
    solved, known = group[group["solved"]], group[group["optimal" if "optimal" in group else "distance"].notna()]
    length = solved["cost"].mean()
    return {
        "instances": len(group),
        "solved_percent": 100 * group["solved"].mean(),
        "length": length,
        "length_low": length - 0.6,
        "length_high": length + 0.6,
        "known": len(known),
        "optimal_length": known["distance"].mean() if "distance" in known else np.nan,
        "excess": (known["cost"] - known["distance"])[known["solved"]].mean() if "distance" in known else np.nan,
        "optimal_percent": 100 * (known["cost"] == known["distance"]).mean() if "distance" in known else np.nan,
        "nodes_expanded": group["nodes_expanded"].mean(),
        "nodes_generated": group["nodes_generated"].mean(),
    }
