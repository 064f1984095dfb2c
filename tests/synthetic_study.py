"""A small made-up study in the schemas of the stages, to test figures and report without training.

The numbers mean nothing; only the distances and the solutions of the Towers of Hanoi are true.
"""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from kept_studies import keep

from costtogo.files import write_csv
from costtogo.params.study import PuzzleParams, PuzzleStudy, Study

RECIPE = {  # of a training, but its puzzle, seed and epsilon
    "precision": "float32",
    "architecture": {"first_layers": [8]},
    "sampler": {"kind": "uniform"},
    "iterations": 10,
    "states_per_iteration": 20,
    "validation_states": 20,
    "minibatch": 10,
    "check_every": 5,
    "checkpoint_every": 1,
    "learning_rate": 1e-3,
    "learning_rate_decay": 0,
    "adam_beta_1": 0.9,
    "adam_beta_2": 0.999,
    "adam_epsilon": 1e-7,
}
CUBE_COUNTS = (1, 6, 20, 40, 30)  # states at each distance, in place of the cube's
GRIDS = {"cube2": ((0.2, 0.5, 0.7, 1.0), (3, 5, 7)), "hanoi": ((0.3, 0.5, 0.7, 1.0), (1, 7))}
HEADLINES = {
    "cube2": {"set": "test", "path_weight": 0.7, "batch_size": 5},
    "hanoi": {"set": "start", "path_weight": 0.7, "batch_size": 7},
}


def study_of(disks=(3,), name="tiny", cube_models=("DNN_final_2x2x2_nr", "DNN_reduced_0")) -> Study:
    """The parameters of the made-up study, as far as figures and report use them."""
    puzzles = ["cube2", *(f"hanoi_{count}" for count in disks)]
    towers = {f"{puzzle}_{kind}": puzzle for puzzle in puzzles[1:] for kind in ("adaptive", "uniform")}
    models = {
        name: SimpleNamespace(
            puzzle=puzzle,
            epsilon=0.05,
            loss="mean squared error, moves²",
            trainer="davi",
            sampler=SimpleNamespace(kind="adaptive_k", walk_max=5, greedy_share=0),
            checkpoint_iterations=12 if name.endswith("_adaptive") else None,
        )
        for name, puzzle in (dict.fromkeys(cube_models, "cube2") | towers).items()
    }
    drawn = {"cube2": {"distributions": SimpleNamespace(walk_max=[2, 3, 5], effective_k=[1, 2, 4])}}
    asked = {puzzle: PuzzleParams.model_construct(exact="all", **drawn.get(puzzle, {})) for puzzle in puzzles}
    beside = ["long", "repeated", "thesis"]  # write_kept writes two of them
    return Study.model_construct(study=name, seed=1, threads=1, puzzles=asked, models=models, beside=beside)


def whole(asked: PuzzleStudy) -> Study:
    """The study that does only the work for one puzzle."""
    common = {name: getattr(asked, name) for name in ("study", "seed", "threads", "device", "models")}
    return Study.model_construct(**common, puzzles={asked.puzzle: asked})


def write_kept(measured: Path, study="long", model="net", iterations=90) -> Path:
    """Write a training of the cube as kept from a longer study, and return the folder."""
    curve = _curve(np.array([8, 30]), iterations, np.random.default_rng(3))
    cards = {f"models/{model}": {"parameters": {"training": {"puzzle": "cube2", "epsilon": 0.07}}}, "tables/cube2": {}}
    keep(measured, study, cards, {f"models/{model}/curve": curve})
    write_repeated(measured)
    return measured


def write_repeated(measured: Path, study="repeated", seeds=3) -> None:
    """Write the kept rows of a study with repeated trainings: two variants of the cube, two of a tower."""
    variants, cards, random = [], {}, np.random.default_rng(4)
    for puzzle, names in {"cube2": ("base_cube2", "wide"), "hanoi_3": ("base_hanoi_3", "slow")}.items():
        for place, variant in enumerate(names):
            for seed in range(1, seeds + 1):
                training = RECIPE | {"puzzle": puzzle, "seed": seed, "epsilon": 0.05 + 0.02 * place}
                if place:
                    training |= {"trainer": "davi", "polyak": 0}  # written out since, and no change
                if puzzle == "hanoi_3":
                    training["checkpoint_iterations"] = 10
                    cards["tables/hanoi_3"] = {"parameters": {"puzzle": puzzle}, "metrics": {"mean_distance": 4.5}}
                cards[f"models/{variant}_seed{seed}"] = {"parameters": {"training": training}, "metrics": {}}
                cards[f"searches/{variant}_seed{seed}"] = {"parameters": {"puzzle": puzzle}, "metrics": {}}
                rows = repeated_rows(points=4, quality=place + random.uniform(0, 0.2))
                variants.append(rows.assign(puzzle=puzzle, variant=variant, seed=seed, states_seen=2000, reach=3))
    search = {"headline": {"set": "test", "path_weight": 0.7, "batch_size": 5}}
    facts = {"optimal_percent": 99.25, "mean_excess": 0.0151, "worst_excess": 2, "nodes_expanded": 81.5}
    metrics = {f"all_starts_{name}": value for name, value in facts.items()}
    cards["searches/base_cube2_seed1"] = {"parameters": {"puzzle": "cube2", "search": search}, "metrics": metrics}
    admissible = pd.DataFrame(
        {
            "puzzle": "cube2",
            "model": "base_cube2_seed1",
            "overestimation_max": 1.5,
            "heuristic": ["network", "shifted", "exact"],
            "instances": 20,
            "optimal_percent": [95.0, 100.0, 100.0],
            "nodes_expanded": [40.0, 400.0, 10.0],
        }
    )
    folder = keep(measured, study, cards, {})
    write_csv(folder / "variants.csv", pd.concat(variants))
    write_csv(folder / "admissible.csv", admissible)


def repeated_rows(points: int, quality: float) -> pd.DataFrame:
    """The checkpoints of a training: the last is no convergence point; quality changes every measure."""
    place = np.arange(points)
    return pd.DataFrame(
        {
            "iteration": 10 * (place + 1),
            "convergence_point": np.minimum(place + 1, points - 1),
            "kind": ["convergence_point"] * (points - 1) + ["end"],
            "selected": place == points - 2,
            "validation_loss": 0.05 + 0.01 * place,
            "states": 27,
            "mean_absolute_error": 2 - 0.3 * place - 0.1 * quality,
            "rank_correlation": 0.9 + 0.01 * place + 0.01 * quality,
            "admissible_percent": 99 - place - quality,
            "overestimation_mean": 0.1 + 0.02 * place,
            "consistent_percent": 98 - place,
            "descending_percent": 90 + place + quality,
            "bias": -1 + 0.2 * place,
            "set": "test",
            "path_weight": 0.7,
            "batch_size": 5,
            "optimal_percent": 99.9 - 0.2 * place,
            "nodes_expanded": 300 / (1 + place + quality),
        }
    )


def write_results(study, results: Path, cube_counts=CUBE_COUNTS, checkpoints=12, iterations=60, instances=40) -> Path:
    """Write the made-up results of a study below results/<study> and return that folder."""
    folder = results / study.study
    random = np.random.default_rng(7)
    for puzzle, entry in study.puzzles.items():
        distance = np.repeat(np.arange(len(cube_counts)), cube_counts) if puzzle == "cube2" else hanoi_distances(puzzle)
        _write_arrays(folder / "tables" / f"{puzzle}.npz", distance=distance.astype(np.uint16))
        write_card(
            folder,
            "tables",
            puzzle,
            {"states": distance.size, "diameter": int(distance.max()), "mean_distance": distance.mean()},
        )
        _write_distributions(folder, puzzle, entry.distributions, distance, random)
        sets = _write_instances(folder, puzzle, distance, instances, random)
        _write_searches(folder, f"baseline_{puzzle}", puzzle, sets, ("exact", "zero"), random, None)
        models = [model for model, training in study.models.items() if training.puzzle == puzzle]
        for number, model in enumerate(models):
            chosen = _write_model(folder, puzzle, model, distance, checkpoints, iterations, number, random)
            _write_searches(folder, model, puzzle, sets, ("network",), random, chosen)
    return folder


def hanoi_distances(puzzle: str) -> np.ndarray:
    """Moves from every state of hanoi_<disks> to all disks on peg 0."""
    disks = int(puzzle.removeprefix("hanoi_"))
    ranks = np.arange(3**disks)
    distance, target = np.zeros_like(ranks), np.zeros_like(ranks)
    for disk in reversed(range(disks)):
        peg = ranks // 3**disk % 3
        moves = peg != target
        distance += moves * 2**disk
        target = np.where(moves, 3 - peg - target, target)
    return distance


def hanoi_solution(disks: int, source: int = 2, target: int = 0) -> list[str]:
    """A shortest solution of a tower, each move as "from>to"."""
    if disks == 0:
        return []
    other = 3 - source - target
    return [*hanoi_solution(disks - 1, source, other), f"{source}>{target}", *hanoi_solution(disks - 1, other, target)]


def _write_instances(folder, puzzle, distance, count, random) -> dict[str, np.ndarray]:
    """Write the sets of a puzzle as distances of their instances."""
    if puzzle == "cube2":
        sets = {name: random.choice(distance, count) for name in ("test", "grid", "selection", "uniform")}
        sets["test"] = random.choice(distance, 2 * count)
        sets["farthest"] = distance[distance == distance.max()]
    else:
        sets = {"start": distance[-1:]} | {name: random.choice(distance, count) for name in ("uniform", "selection")}
    frames = [
        pd.DataFrame(
            {
                "set": name,
                "role": "selection" if name == "selection" else "test",
                "instance": np.arange(len(values)),
                "rank": values,
                "distance": values,
            }
        )
        for name, values in sets.items()
    ]
    write_table(folder / "instances" / f"{puzzle}.parquet", pd.concat(frames))
    write_card(folder, "instances", puzzle, {name: len(values) for name, values in sets.items()})
    return sets


def _write_distributions(folder, puzzle, asked, distance, random) -> None:
    rows, layers = [], np.bincount(distance)
    lengths = {"deepcube": asked.walk_max, "deepcubea": asked.walk_max, "adaptive_k": asked.effective_k}
    for sampler, walk_max in ((sampler, length) for sampler, several in lengths.items() for length in several):
        shares = np.maximum(walk_max + 1 - np.arange(layers.size), 0.0)
        shares /= shares.sum()
        sampled = random.multinomial(400 * walk_max, shares)
        rows += [
            (sampler, walk_max, *row) for row in zip(range(layers.size), layers, sampled, 100 * shares, strict=True)
        ]
    columns = ["sampler", "walk_max", "distance", "states", "sampled", "expected_percent"]
    write_table(folder / "instances" / puzzle / "distributions.parquet", pd.DataFrame(rows, columns=columns))


def _curve(at, iterations, random) -> pd.DataFrame:
    """The course of a training with convergence points at the given iterations."""
    curve = pd.DataFrame({"iteration": np.arange(1, iterations + 1)})
    curve["convergence_points"] = np.searchsorted(at, curve["iteration"], side="right")
    curve["effective_k"] = np.minimum(curve["convergence_points"] + 2, 20)
    curve["updated"] = curve["iteration"].isin(at)
    since = curve["iteration"] - np.append(0, at)[np.searchsorted(at, curve["iteration"])]
    curve["loss"] = (0.045 + 2 * np.exp(-since / 9)) * random.lognormal(0, 0.12, iterations)
    curve["validation_loss"] = (1.1 * curve["loss"]).where(curve["iteration"] % 5 == 0)
    return curve


def _write_model(folder, puzzle, model, distance, checkpoints, iterations, number, random) -> int:
    """Write training and audit of one model; returns the iteration of the selected checkpoint."""
    at = np.unique(np.geomspace(min(20, iterations / 4), iterations, checkpoints).astype(int))
    write_table(folder / "models" / model / "curve.parquet", _curve(at, iterations, random))
    values = np.stack([_value(distance, step, at.size, number, random) for step in range(at.size)])
    errors = pd.concat(
        [
            _errors(v, distance).assign(iteration=i, convergence_point=c + 1)
            for c, (i, v) in enumerate(zip(at, values, strict=True))
        ]
    )
    write_table(folder / "models" / model / "errors.parquet", errors.assign(sampled=False))
    rows = [
        {
            "iteration": i,
            "convergence_point": c + 1,
            "kind": "convergence_point",
            "file": f"{i:06d}.safetensors",
            "sha256": hashlib.sha256(f"{model}{i}".encode()).hexdigest(),
            "validation_loss": 0.05,
        }
        for c, i in enumerate(at)
    ]
    write_table(folder / "models" / model / "checkpoints.parquet", pd.DataFrame(rows))
    write_card(
        folder,
        "models",
        model,
        {
            "iterations": iterations,
            "convergence_points": at.size,
            "states_seen": 1000 * iterations,
            "parameters": 240000,
            "loss": 0.04,
            "validation_loss": 0.05,
            "mean_absolute_error": 0.2,
        },
        training={
            "puzzle": puzzle,
            "states_per_iteration": 1000,
            "seed": 1,
            "sampler": {"kind": "adaptive_k", "walk_max": 20},
        },
    )
    audited = slice(-4, None)
    _write_audit(folder, model, at[audited], at.size - 3, values[audited], distance, random)
    return int(at[-2])


def _value(distance, step, steps, number, random):
    reach = distance.max() * (step + 1) / steps + 1
    spread = 0.05 + 0.02 * distance * (1 + 0.5 * number) / np.sqrt(1 + step)
    return (np.minimum(distance, reach) + spread * random.normal(-0.3, 1, distance.size)).astype(np.float32)


def _errors(value, distance) -> pd.DataFrame:
    error = pd.DataFrame(
        {"distance": distance, "bias": value - distance, "mean_absolute_error": np.abs(value - distance)}
    )
    means = error.groupby("distance", as_index=False).mean()
    return means.assign(states=np.bincount(distance))


def _write_audit(folder, model, iterations, first_point, values, distance, random) -> None:
    _write_arrays(folder / "audits" / model / "values.npz", iteration=iterations, value=values)
    measures, layers = [], []
    for number, (iteration, value) in enumerate(zip(iterations, values, strict=True), first_point):
        for scope in ("all", "sample"):
            base = {"iteration": iteration, "convergence_point": number, "scope": scope}
            error = value - distance
            measures.append(
                base
                | {
                    "model": model,
                    "states": distance.size,
                    "admissible_percent": 100 * np.mean(error <= 0) + (scope == "sample") * 1.5,
                    "overestimation_mean": 0.2,
                    "overestimation_max": error.max(),
                    "consistent_percent": 60 + 5 * random.random(),
                    "mean_absolute_error": np.abs(error).mean(),
                    "bias": error.mean(),
                }
            )
            layers.append(
                _errors(value, distance).assign(
                    **base, admissible_percent=70.0, consistent_percent=60.0, overestimation_max=1.0
                )
            )
    write_table(folder / "audits" / model / "measures.parquet", pd.DataFrame(measures))
    write_table(folder / "audits" / model / "by_distance.parquet", pd.concat(layers))
    last = measures[-2]
    write_card(
        folder,
        "audits",
        model,
        {f"all_{name}": last[name] for name in ("admissible_percent", "consistent_percent")},
    )


def _write_searches(folder, name, puzzle, sets, heuristics, random, chosen) -> None:
    kind = puzzle.split("_")[0]
    weights, sizes = GRIDS[kind]
    cells, layers, times, searches = [], [], [], []
    for heuristic in heuristics:
        for weight in weights:
            for size in sizes:
                for set_name, distance in sets.items():
                    headline = HEADLINES[kind] | {"set": set_name}
                    base = {
                        "heuristic": heuristic,
                        "set": set_name,
                        "path_weight": weight,
                        "batch_size": size,
                    }
                    if set_name == "selection" or (
                        set_name in ("test",) and base != headline | {"heuristic": heuristic}
                    ):
                        continue
                    wrong = 0.0 if heuristic == "exact" else 0.35 * (1 - weight) ** 3
                    optimal = random.random(len(distance)) >= wrong
                    nodes = {
                        "exact": distance.mean() + size,
                        "zero": 900 * distance.mean(),
                        "network": (8 + 22 * weight) * distance.mean() + size,
                    }[heuristic]
                    cells.append(
                        base
                        | {
                            "instances": len(distance),
                            "solved_percent": 100.0,
                            "optimal_percent": 100 * optimal.mean(),
                            "optimal_low": 100 * optimal.mean() - 0.2,
                            "optimal_high": min(100, 100 * optimal.mean() + 0.2),
                            "length": distance.mean(),
                            "excess": wrong,
                            "nodes_expanded": nodes,
                            "nodes_generated": 6 * nodes,
                        }
                    )
                    layer = (
                        pd.DataFrame(
                            {
                                "distance": distance,
                                "optimal_percent": 100.0 * optimal,
                                "nodes_expanded": nodes,
                            }
                        )
                        .groupby("distance", as_index=False)
                        .agg(
                            optimal_percent=("optimal_percent", "mean"),
                            optimal_low=("optimal_percent", "min"),
                            optimal_high=("optimal_percent", "max"),
                            nodes_expanded=("nodes_expanded", "mean"),
                            instances=("distance", "size"),
                        )
                    )
                    layers.append(layer.assign(**base))
                    times += [
                        base
                        | {
                            "engine": engine,
                            "searches": len(distance),
                            "nodes_expanded": 12.5,
                            "seconds": nodes * factor,
                            "seconds_low": nodes * factor,
                            "seconds_high": nodes * factor,
                            "nodes_per_second": 1 / factor,
                            "precision": "float32",
                        }
                        for engine, factor in (
                            ("table", 3e-7),
                            ("network alone", 9e-4),
                            ("network in step", 4e-5),
                        )
                    ]
                    if set_name == "start":
                        moves = hanoi_solution(int(puzzle.split("_")[1]))
                        if weight == min(weights) and heuristic == "network":
                            moves = ["2>1", "1>2", *moves]
                        searches.append(
                            base
                            | {
                                "instance": 0,
                                "distance": int(distance[0]),
                                "solved": True,
                                "cost": float(len(moves)),
                                "optimal": len(moves) == distance[0],
                                "nodes_expanded": nodes,
                                "nodes_generated": nodes,
                                "lower_bound": 1.0,
                                "solution": " ".join(moves),
                            }
                        )
    if chosen is not None:
        rows = [
            {
                "iteration": chosen,
                "convergence_point": 11,
                "optimal_percent": 99.0,
                "nodes_expanded": 80.0,
                "selected": True,
            }
        ]
        write_table(folder / "searches" / name / "selection.parquet", pd.DataFrame(rows))
        place = {"iteration": chosen, "convergence_point": 11}
        for stem, frame in (("checkpoints", pd.DataFrame(cells)), ("checkpoints_by_distance", pd.concat(layers))):
            write_table(folder / "searches" / name / f"{stem}.parquet", frame.assign(**place))
    for stem, rows in (
        ("grid", pd.DataFrame(cells)),
        ("by_distance", pd.concat(layers)),
        ("searches", pd.DataFrame(searches)),
    ):
        write_table(folder / "searches" / name / f"{stem}.parquet", rows)
    write_table(folder / "timings" / "searches" / f"{name}.parquet", pd.DataFrame(times))
    write_card(folder, "searches", name, {"selected_iteration": chosen or 0}, search={"headline": HEADLINES[kind]})


def write_card(folder, group, name, metrics, **parameters) -> None:
    stage = {"tables": "table", "models": "train", "audits": "audit", "searches": "search"}.get(group, group)
    files = sorted(folder.glob(f"{group}/{name}*")) + sorted(folder.glob(f"{group}/{name}/**/*.parquet"))
    outputs = {
        str(path.relative_to(folder.parent.parent)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file()
    }
    card = {
        "stage": stage,
        "study": folder.name,
        "group": group,
        "name": name,
        "parameters": {"seed": 1} | parameters,
        "inputs": {},
        "outputs": outputs,
        "code": "0" * 64,
        "versions": {"python": "3.11.7", "numpy": "2.4.6"},
        "metrics": metrics,
    }
    _write(folder / group / f"{name}.json", json.dumps(card, default=float, sort_keys=True).encode())
    timing = {"started": 1.0, "seconds": 2.5, "commit": "", "threads": 1, "processor": "made up"}
    _write(folder / "timings" / group / f"{name}.json", json.dumps(timing).encode())


def write_table(path: Path, frame: pd.DataFrame) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(path, index=False)


def _write_arrays(path: Path, **arrays) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
