"""The content of a finished stage's run in MLflow, read from the stage's files; nothing here needs MLflow."""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from costtogo.cards import SHOWN, Card, key_of, made_by
from costtogo.files import flatten, read_csv, read_frame, read_json
from costtogo.params.trainers import used_parameters
from costtogo.tracking.location import EXPERIMENT, temporary_experiment
from costtogo.types import UserError

Points: TypeAlias = dict[tuple[str, int], float]  # (metric, step) -> value

PARAMETER_LENGTH = 6_000  # characters, MLflow's limit
DENSE_ITERATIONS = 256  # every iteration is kept up to here, then half as many for each doubling
TRAINING = "training"  # the parameters of a training, in its card
MODELS = "models"  # the group of trainings
LEAST = ("validation_loss", "mean_absolute_error")  # of a training: whose least is its best; a loss goes by its targets
SMALL_FILE = 5_000_000  # bytes; larger tables stay in results/
COPIED_KINDS = {".parquet", ".csv", ".json", ".md", ".png"}
COMPARISON = "reported_vs_reproduced.csv"
DESCRIPTION = "mlflow.note.content"  # MLflow's tag for a description in Markdown
HEADLINE = ("optimal_percent", "nodes_expanded", "length", "last_mean_absolute_error", "loss", "verdict reproduced")
MOST_FOUND = 4  # numbers in a description


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

    by: the column whose values separate several series.  name: the pattern of a metric's name, filled with that value
    and the column.  rows: selects the rows of the table to use.
    """

    columns: tuple[str, ...]
    by: str | None = None
    name: str = "{column}"
    rows: Callable = lambda table: table

    def points(self, table) -> Points:
        """The points of a data frame, without missing values."""
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
SELECTED = ("mean_absolute_error", "admissible_percent", "consistent_percent")  # of the audit, for the search
SERIES = {  # by the name of a stage's table
    "curve": Series(("loss", "validation_loss", "effective_k", "convergence_points"), rows=thinned),
    "errors": Series(("mean_absolute_error",), rows=by_checkpoint),
    "measures": Series((*AUDITED, "mean_absolute_error", "bias"), "scope", "{by}_{column}"),
    "consistency": Series(("consistent_percent",)),
    "greedy": Series(("solved_percent",), "depth", "greedy_{by}_{column}"),
}


@dataclass(frozen=True)
class Stage:
    """A finished stage: its card, the path of the card and the folder of the project."""

    path: Path
    root: Path
    card: Card

    @property
    def study_folder(self) -> Path:
        """results/<study>"""
        return self.path.parents[1]

    @property
    def is_report(self) -> bool:
        """True for the report of a study, whose card repeats the parameters, inputs and numbers of all its stages."""
        return self.card["group"] == "report"

    def table(self, name: str):
        """The data frame <name>.parquet of the stage; None if there is none."""
        path = self.path.with_suffix("") / f"{name}.parquet"
        return read_frame(path) if path.exists() else None


def read_stage(path: Path, root: Path) -> Stage:
    """Read the card of a finished stage."""
    return Stage(path, root, placed(read_json(path), root))


def placed(card: Card, root: Path) -> Card:
    """The card, with the name of the DVC experiment if root is a temporary copy of the project."""
    name = temporary_experiment(root)
    return card | {EXPERIMENT: name} if name else card


def experiment_of(card: Card) -> dict[str, str]:
    """The name of the card's temporary experiment as a tag, which keeps its runs apart; empty for the project's own."""
    return {EXPERIMENT: card[EXPERIMENT]} if EXPERIMENT in card else {}


def run_key(card: Card) -> str:
    """The key of the card and its experiment."""
    return key_of(card, **experiment_of(card))


def parameters(stage: Stage) -> dict[str, str]:
    """The stage's parameters; for a report only its own."""
    given = stage.card["parameters"]
    if stage.is_report:
        given = {name: value for name, value in given.items() if not isinstance(value, dict | list)}
    return flat_parameters(given)


def flat_parameters(given: dict[str, Any]) -> dict[str, str]:
    """{"limits": {"states": 9}} -> {"limits.states": "9"}; lists become JSON.

    Parameters of a training lose the prefix "training.", and those without an effect are left out.
    """
    others = {name: value for name, value in given.items() if name != TRAINING}
    flat = flatten(others) | (used_parameters(given[TRAINING]) if TRAINING in given else {})
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in flat.items()}
    return {allowed_name(name): text[:PARAMETER_LENGTH] for name, text in texts.items()}


def allowed_name(name: str) -> str:
    """The name, with an underscore for each character that MLflow refuses."""
    return re.sub(r"[^/\w.\- :]", "_", name)


def timing(stage: Stage) -> dict[str, Any]:
    """The stage's wall-clock record; empty if there is none."""
    path = stage.study_folder / "timings" / stage.path.parent.name / stage.path.name
    return read_json(path) if path.exists() else {}


def tags(card: Card, timing: dict[str, Any]) -> dict[str, str]:
    """The tags of the run: key, stage, code, commit, machine, the command that makes the stage and the report."""
    found = {field: card[field] for field in ("stage", "study", "group", "name", "code")} | experiment_of(card)
    found |= {"key": run_key(card), "mlflow.source.name": f"costtogo {card['stage']}", "mlflow.source.type": "LOCAL"}
    found["command"] = made_by(card["study"], f"{card['group']}/{card['name']}")
    found["report"] = f"reports/{card['study']}/report.md"
    measured = {"processor": "processor", "threads": "threads", "commit": "mlflow.source.git.commit"}
    return found | {tag: str(timing[name]) for name, tag in measured.items() if timing.get(name)}


def points(stage: Stage) -> Points:
    """Every metric of the stage; the numbers of the card itself are logged at the last step.

    A number has one name. Where the card names the end of a series last_…, the whole series has that name, which keeps
    it apart from selected_…. The card's numbers for single cells of a grid are left out: cells have their own runs.
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
    return found | {(allowed_name(name), last): own[name] for name in left} | best(stage)


def best(stage: Stage) -> Points:
    """The least validation loss and error of a training, as best_..., at the iteration that had it first."""
    found: Points = {}
    for table in ("curve", "errors") if stage.card["group"] == MODELS else ():
        rows = stage.table(table)
        rows = by_checkpoint(rows) if table == "errors" and rows is not None else rows
        for name in (name for name in LEAST if rows is not None and name in rows and rows[name].notna().any()):
            row = rows.loc[rows[name].idxmin()]
            found |= {(f"best_{name}", int(row["iteration"])): float(row[name])}
    return found


def cell_prefixes(stage: Stage) -> tuple[str, ...]:
    """The prefixes of the card's numbers for single cells: the sets of instances of the stage's grid."""
    grid = stage.table("grid")
    return () if grid is None or "set" not in grid else tuple(f"{name}_" for name in grid["set"].unique())


def audited(stage: Stage) -> dict[str, float]:
    """The audit of the checkpoint that a search selected, over all states, as selected_…; empty for another stage.

    The audit finishes before the search.
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
    """The iteration of the checkpoint that a search selected; None for another stage."""
    selection = stage.table("selection")
    return None if selection is None else int(selection.loc[selection["selected"], "iteration"].iloc[0])


def description(card: Card, points: Points) -> str:
    """Study, stage, headline numbers, files and key of a run, in Markdown.

    Headline numbers come first, then others by name, up to MOST_FOUND; of a curve, the last value.
    """
    last = {name: value for (name, _), value in sorted(points.items())}
    names = [*(name for name in HEADLINE if name in last), *(name for name in last if name not in HEADLINE)]
    numbers = ", ".join(f"{name.replace('_', ' ')} {last[name]:,.6g}" for name in names[:MOST_FOUND])
    study, stage, name, key = card["study"], card["stage"].replace("_", " "), card["name"], run_key(card)[:SHOWN]
    return (
        f"Study `{study}`, {stage} of `{name}`" + (f": {numbers}" if numbers else "") + ". "
        f"Files: `results/{study}/{card['group']}/{name}*`; report: `reports/{study}/report.md`; key: `{key}`."
    )


def verdicts(stage: Stage) -> Points:
    """How often a report gives each verdict on the literature.  -> {("verdict better", 0): 12.0}"""
    paths = [stage.root / output for output in stage.card["outputs"] if Path(output).name == COMPARISON]
    counts = read_csv(paths[0], usecols=["verdict"])["verdict"].value_counts() if paths else {}
    return {(allowed_name(f"verdict {verdict}"), 0): float(count) for verdict, count in counts.items()}


def artifacts(stage: Stage) -> Iterator[tuple[Path, str]]:
    """The files to copy, which are the card, small tables and figures, each with its folder in the run."""
    yield stage.path, ""
    for output in (Path(output) for output in stage.card["outputs"] if Path(output).suffix in COPIED_KINDS):
        path, reports = stage.root / output, Path("reports", stage.card["study"])
        if not path.exists():
            raise UserError(f"{output} is missing although {stage.path} names it; run the stage again.")
        if path.stat().st_size <= SMALL_FILE:
            yield path, str(output.parent.relative_to(reports)) if reports in output.parent.parents else ""
