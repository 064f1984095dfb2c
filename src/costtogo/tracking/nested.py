"""Runs below others: the cells of a search's grid, and the seeds of a recipe below a parent with their mean and spread.

A cell is a row of the stage's table `grid`: its settings, up to the column `instances`, then what the searches found.
"""

import hashlib
import math
from collections import defaultdict
from typing import Any

from costtogo.params.base import TrainingName
from costtogo.tracking import runs
from costtogo.tracking.location import EXPERIMENT
from costtogo.tracking.record import DESCRIPTION, MODELS, PARAMETER_LENGTH, Card, Points, Stage
from costtogo.tracking.runs import CURRENT, LOGGED, PARENT, RESULT

SEEDS, SEEDS_OF = "seeds", "seeds_of"  # the stage of a parent of seeds; tag: their group and variant
DIFFERS = "differs"  # tag of a training: its parameters that are not those of the study's base
SPREAD = {"sd": "std", "least": "min", "most": "max", "count": "count"}  # metrics of a parent besides the mean
CELL, CELL_OF, SET = "cell", "cell_of", "set"  # a cell's stage; tags: its search, its set of instances
HEURISTIC, INSTANCES = "heuristic", "instances"  # columns
LETTERS = {"path_weight": "λ", "batch_size": "N"}  # as the literature names them
FOUND = ("solved_percent", "optimal_percent", "length", "nodes_expanded")
NETWORK = "network"  # the heuristic that needs no mention in a name


def log_cells(client, run, stage: Stage, tags: dict[str, str], start: int) -> None:
    """Log a finished child run for each cell of a search; does nothing for a stage without a grid.

    tags: the tags that all cells share.  start: in ms.
    """
    from mlflow.entities import Metric, Param

    grid = stage.table("grid")
    cells = [] if grid is None or INSTANCES not in grid else grid.to_dict("records")
    for cell in cells:
        name, settings = _searched_by(stage.card, cell), _settings(cell)
        title = [f"{LETTERS.get(key, key)}={value}" for key, value in settings.items()]
        own = {PARENT: run.info.run_id, "stage": CELL, CELL_OF: f"{stage.card['group']}/{name}", SET: cell.get(SET, "")}
        child = client.create_run(
            run.info.experiment_id, start, tags | own, " ".join(filter(None, [*title, own[SET], name]))
        )
        numbers = {key: float(cell[key]) for key in FOUND if key in cell and math.isfinite(cell[key])}
        metrics = [Metric(key, value, start, 0) for key, value in numbers.items()]
        params = [Param(key, value) for key, value in settings.items()]
        client.log_batch(child.info.run_id, metrics, params)
        client.set_terminated(child.info.run_id, "FINISHED", start)


def gather(client, found: list) -> None:
    """Gather the current runs of one recipe's seeds, and tag trainings with what differs from the study's base.

    found: recorded runs of one experiment, all of a group if one of it.
    A parent has the mean of each metric under its name, `sd/<name>`, `least/`, `most/`, `count/`, and the parameters
    that all seeds share. One whose seeds have changed is made anew: MLflow keeps the largest of several last values.
    """
    from costtogo.analysis.several_seeds import BASE

    families, parents = defaultdict(list), defaultdict(list)
    for run in found:
        tags = run.data.tags
        if SEEDS_OF in tags:
            parents[tags[SEEDS_OF], tags.get(EXPERIMENT)].append(run)
        elif tags.get(RESULT) == CURRENT and (name := TrainingName.of(tags["name"])).seed:
            families[f"{tags['group']}/{name.variant}", tags.get(EXPERIMENT)].append(run)
    families = {key: seeds for key, seeds in families.items() if len(seeds) > 1}
    for key in [key for key in parents if key not in families]:
        runs.delete(client, parents[key])
    for key, seeds in families.items():
        content = hashlib.sha256("".join(sorted(run.data.tags[LOGGED] for run in seeds)).encode()).hexdigest()
        whole = [run for run in parents[key] if (run.data.tags[LOGGED], run.data.tags[RESULT]) == (content, CURRENT)]
        parent = whole[0].info.run_id if whole else _write_parent(client, key[0], seeds, content)
        runs.delete(client, [run for run in parents[key] if run.info.run_id != parent])
        for run in seeds:
            runs.tag(client, run, PARENT, parent)
    trainings = defaultdict(list)
    for run in found:
        if run.data.tags.get("group") == MODELS and run.data.tags.get(RESULT) == CURRENT:
            trainings[run.data.params.get("puzzle"), run.data.tags.get(EXPERIMENT)].append(run)
    for (puzzle, _), several in trainings.items():
        _tag_differing(client, several, f"{BASE}{puzzle}")


def _write_parent(client, seeds_of: str, seeds: list, content: str) -> str:
    """Write the parent of seeds; returns the run's id.  content: the digest of the seeds' cards, for its tag."""
    import pandas

    one, count = seeds[0], len(seeds)
    variant = seeds_of.partition("/")[2]
    kept = {name: one.data.tags[name] for name in ("study", EXPERIMENT, runs.CLONE) if name in one.data.tags}
    told = f"{count} seeds of `{seeds_of}`: means; `sd/`, `least/`, `most/` and `count/` before a name say the spread."
    own = {"stage": SEEDS, SEEDS_OF: seeds_of, DESCRIPTION: told, RESULT: runs.UNFINISHED}
    start, end = min(run.info.start_time for run in seeds), max(run.info.end_time for run in seeds)
    where = f" ({kept[EXPERIMENT]})" if EXPERIMENT in kept else ""
    title = f"{one.data.tags['stage']} {variant}, {count} seeds{where}"
    parent = client.create_run(one.info.experiment_id, start, kept | own | {LOGGED: content}, title)
    table = pandas.DataFrame([run.data.metrics for run in seeds]).agg(["mean", *SPREAD.values()])
    points: Points = {(name, 0): value for name, value in table.loc["mean"].items()}
    points |= {(f"{word}/{name}", 0): table.loc[row, name] for word, row in SPREAD.items() for name in table}
    shared = set.intersection(*(set(run.data.params.items()) for run in seeds))
    points = {key: value for key, value in points.items() if math.isfinite(value)}
    runs.log(client, parent.info.run_id, points, dict(shared))
    client.set_terminated(parent.info.run_id, "FINISHED", end)
    client.set_tag(parent.info.run_id, RESULT, CURRENT)
    return parent.info.run_id


def _tag_differing(client, trainings: list, base: str) -> None:
    """Tag trainings of a puzzle with the parameters that are not those of the base, if absent of the first by name."""
    named = [(TrainingName.of(run.data.tags["name"]), run) for run in trainings]
    name, other = min(named, key=lambda each: (each[0].variant != base, each[0]))
    for run in trainings:
        own, its = run.data.params, other.data.params
        keys = [key for key in sorted({*own, *its} - {"seed"}) if own.get(key) != its.get(key)]
        told = [f"{key}={own.get(key, 'none')}" for key in keys]
        runs.tag(client, run, DIFFERS, f"from {name.variant}: {', '.join(told) or 'nothing'}"[:PARAMETER_LENGTH])


def _settings(cell: dict[str, Any]) -> dict[str, str]:
    """The settings of a cell without its set and its heuristic.  -> {"path_weight": "0.7", "batch_size": "5"}"""
    names = list(cell)[: list(cell).index(INSTANCES)]
    values = {name: cell[name] for name in names if name not in (SET, HEURISTIC)}
    return {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in values.items()}


def _searched_by(card: Card, cell: dict[str, Any]) -> str:
    """The name of the network, or of the stage and the heuristic that guided the search.  -> "baseline_cube2 exact"."""
    heuristic = cell.get(HEURISTIC, NETWORK)
    return card["name"] if heuristic == NETWORK else f"{card['name']} {heuristic}"
