"""What MLflow shall hold about a finished stage, read from its files; nothing here needs MLflow."""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from costtogo.cards import Card, key_of
from costtogo.files import flatten, read_csv, read_frame, read_json
from costtogo.params.trainers import used_parameters
from costtogo.tracking.place import EXPERIMENT, temporary_experiment
from costtogo.types import UserError

Points: TypeAlias = dict[tuple[str, int], float]  # (metric, step) -> value

PARAMETER_LENGTH = 6_000  # characters, MLflow's limit
DENSE_ITERATIONS = 256  # every iteration is kept up to here, then half as many for each doubling
TRAINING = "training"  # the parameters of a training, in its card
SMALL_FILE = 5_000_000  # bytes; larger tables stay in results/
COPIED_KINDS = {".parquet", ".csv", ".json", ".md", ".png"}
COMPARISON = "reported_vs_reproduced.csv"


def thinned(curve):
    """The recorded rows of a training curve: all up to iteration 256, then 128 for each doubling.

    Fewer than 2,000 up to two million iterations.
    """
    iterations = curve["iteration"].to_numpy()
    doublings = np.floor(np.log2(np.maximum(iterations / DENSE_ITERATIONS, 0.5))).astype(np.int64)
    return curve[iterations % 2 ** (doublings + 1) == 0]


def by_checkpoint(errors):
    """The mean absolute error at each checkpoint, distances weighted by their number of states."""
    sums = errors.assign(total=errors["mean_absolute_error"] * errors["states"]).groupby("iteration").sum()
    return (sums["total"] / sums["states"]).rename("mean_absolute_error").reset_index()


class Series(NamedTuple):
    """Columns of a stage's table that are metrics by iteration.

    by: the column that tells several series apart; name: of a metric, by the value there and the column; rows: which
    rows of the table count.
    """

    columns: tuple[str, ...]
    by: str | None = None
    name: str = "{column}"
    rows: Callable = lambda table: table

    def points(self, table) -> Points:
        """The points of a data frame; missing values are left out."""
        found: Points = {}
        rows = self.rows(table)
        for by, part in rows.groupby(self.by) if self.by else [("", rows)]:
            steps = part["iteration"].astype(int).tolist()
            for column in (column for column in self.columns if column in part):
                name = self.name.format(by=by, column=column)
                pairs = zip(steps, part[column].astype(float), strict=True)
                found |= {(name, step): value for step, value in pairs if math.isfinite(value)}
        return found


AUDITED = ("admissible_percent", "consistent_percent", "overestimation_mean", "overestimation_max")
SELECTED = ("mean_absolute_error", "admissible_percent", "consistent_percent")  # of the audit, told by a search
SERIES = {  # by the table of a stage
    "curve": Series(("loss", "validation_loss", "effective_k", "convergence_points"), rows=thinned),
    "errors": Series(("mean_absolute_error",), rows=by_checkpoint),
    "measures": Series((*AUDITED, "mean_absolute_error", "bias"), "scope", "{by}_{column}"),
    "consistency": Series(("consistent_percent",)),
    "greedy": Series(("solved_percent",), "depth", "greedy_{by}_{column}"),
}


@dataclass(frozen=True)
class Stage:
    """A finished stage: its card and where the card and the project lie."""

    path: Path
    root: Path
    card: Card

    @property
    def study_folder(self) -> Path:
        """results/<study>"""
        return self.path.parents[1]

    @property
    def is_report(self) -> bool:
        """True for the report of a study, whose card has the parameters, inputs and numbers of all its stages."""
        return self.card["group"] == "report"

    def table(self, name: str):
        """The data frame <name>.parquet of the stage; None where it has none."""
        path = self.path.with_suffix("") / f"{name}.parquet"
        return read_frame(path) if path.exists() else None


def read_stage(path: Path, root: Path) -> Stage:
    """Read the card of a finished stage."""
    return Stage(path, root, placed(read_json(path), root))


def placed(card: Card, root: Path) -> Card:
    """The card, with the experiment's name where it lies in a temporary copy of the project."""
    name = temporary_experiment(root)
    return card | {EXPERIMENT: name} if name else card


def experiment_of(card: Card) -> dict[str, str]:
    """The field of a temporary experiment, where the card is of one: such runs are apart from the project's."""
    return {EXPERIMENT: card[EXPERIMENT]} if EXPERIMENT in card else {}


def run_key(card: Card) -> str:
    """The key of the card, and of its experiment."""
    return key_of(card, **experiment_of(card))


def parameters(stage: Stage) -> dict[str, str]:
    """The stage's parameters; of a report those that are its own."""
    given = stage.card["parameters"]
    if stage.is_report:
        given = {name: value for name, value in given.items() if not isinstance(value, dict | list)}
    return flat_parameters(given)


def flat_parameters(given: dict[str, Any]) -> dict[str, str]:
    """{"limits": {"states": 9}} -> {"limits.states": "9"}; lists become JSON.

    Those of a training come without its name before them, and without those that have no effect.
    """
    others = {name: value for name, value in given.items() if name != TRAINING}
    flat = flatten(others) | (used_parameters(given[TRAINING]) if TRAINING in given else {})
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in flat.items()}
    return {allowed_name(name): text[:PARAMETER_LENGTH] for name, text in texts.items()}


def allowed_name(name: str) -> str:
    """The name with characters that MLflow refuses replaced by an underscore."""
    return re.sub(r"[^/\w.\- :]", "_", name)


def timing(stage: Stage) -> dict[str, Any]:
    """The stage's wall-clock record, empty where there is none."""
    path = stage.study_folder / "timings" / stage.path.parent.name / stage.path.name
    return read_json(path) if path.exists() else {}


def tags(card: Card, timing: dict[str, Any]) -> dict[str, str]:
    """What tells the run apart: key, stage, code, commit and machine."""
    found = {field: card[field] for field in ("stage", "study", "group", "name", "code")} | experiment_of(card)
    found |= {"key": run_key(card), "mlflow.source.name": f"costtogo {card['stage']}", "mlflow.source.type": "LOCAL"}
    measured = {"processor": "processor", "threads": "threads", "commit": "mlflow.source.git.commit"}
    return found | {tag: str(timing[name]) for name, tag in measured.items() if timing.get(name)}


def points(stage: Stage) -> Points:
    """Every metric of the stage; the card's own numbers stand at the last step.

    One number has one name: a series is called by what the card calls its end, last_… of audits and of errors while
    training, so that it stands apart from selected_…. What the card says of single cells of a grid has runs of its own.
    """
    if stage.is_report:
        return verdicts(stage)
    found = {}
    for name, series in SERIES.items():
        found |= {} if (table := stage.table(name)) is None else series.points(table)
    last = max((step for _, step in found), default=0)
    numbers, of_cells = stage.card["metrics"] | audited(stage), cell_prefixes(stage)
    ends = {name: f"last_{name}" for name, _ in found if f"last_{name}" in numbers}
    found = {(ends.get(name, name), step): value for (name, step), value in found.items()}
    own = {name: float(value) for name, value in numbers.items() if math.isfinite(value)}
    left = [name for name in own if name not in ends.values() and not name.startswith(of_cells)]
    return found | {(allowed_name(name), last): own[name] for name in left}


def cell_prefixes(stage: Stage) -> tuple[str, ...]:
    """What the names of numbers of single cells begin with: the sets of instances of a stage's grid."""
    grid = stage.table("grid")
    return () if grid is None or "set" not in grid else tuple(f"{name}_" for name in grid["set"].unique())


def audited(stage: Stage) -> dict[str, float]:
    """What the audit found, over all states, of the checkpoint that a search has selected, as selected_….

    The audit was finished before the search; empty for another stage.
    """
    iteration = selected_iteration(stage)
    path = stage.study_folder / "audits" / stage.path.stem / "measures.parquet"
    if iteration is None or not path.exists():
        return {}
    measures = read_frame(path)
    rows = measures[(measures["iteration"] == iteration) & (measures["scope"] == "all")]
    columns = [name for name in SELECTED if name in rows]
    return rows[columns].add_prefix("selected_").iloc[0].to_dict() if len(rows) else {}


def selected_iteration(stage: Stage) -> int | None:
    """The iteration of the checkpoint that a search has selected; None for another stage."""
    selection = stage.table("selection")
    return None if selection is None else int(selection.loc[selection["selected"], "iteration"].iloc[0])


def verdicts(stage: Stage) -> Points:
    """How often a report gives each verdict on the literature.  -> {("verdict better", 0): 12.0}"""
    paths = [stage.root / output for output in stage.card["outputs"] if Path(output).name == COMPARISON]
    counts = read_csv(paths[0], usecols=["verdict"])["verdict"].value_counts() if paths else {}
    return {(allowed_name(f"verdict {verdict}"), 0): float(count) for verdict, count in counts.items()}


def artifacts(stage: Stage) -> Iterator[tuple[Path, str]]:
    """The files worth a copy, small tables and figures, and the folder of the run each goes to."""
    yield stage.path, ""
    for output in (Path(output) for output in stage.card["outputs"] if Path(output).suffix in COPIED_KINDS):
        path, reports = stage.root / output, Path("reports", stage.card["study"])
        if not path.exists():
            raise UserError(f"{output} is missing although {stage.path} names it; run the stage again.")
        if path.stat().st_size <= SMALL_FILE:
            yield path, str(output.parent.relative_to(reports)) if reports in output.parent.parents else ""
