"""Runs of stages in MLflow: find, create, fill, name and delete them."""

from collections.abc import Mapping
from pathlib import Path

from costtogo.tracking.location import CLONE, EXPERIMENT, PREFIX, artifact_location, clone
from costtogo.tracking.record import DESCRIPTION, Card, Points, experiment_of

PARENT = "mlflow.parentRunId"  # MLflow's tag of a child run
LOGGED = "logged"  # tag of a recorded run: the digest of the card
MOST_FOUND = 50_000  # runs of one search, MLflow's limit
RESULT = "result"  # tag: the state of the run among those of its stage
UNFINISHED, CURRENT, FORMER = "unfinished", "current", "former"
BASE_TIME = 1_577_836_800_000  # ms, 2020-01-01 UTC: the timestamp of step 0 of every metric
STEP_TIME = 1_000  # ms a step: MLflow's relative time in seconds is the iteration
METRICS_PER_BATCH, PARAMETERS_PER_BATCH = 1_000, 100  # MLflow's limits
MOST_NAMED = 3  # parameters in the name of a run
LONGEST_NAMED = 24  # characters of a parameter's value in a name


def experiment_id(client, study: str, root: Path) -> str:
    """The experiment of a study; created if it is absent, restored if it was deleted."""
    name = PREFIX + study
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        about = {DESCRIPTION: f"The study `{study}`. Its report is `reports/{study}/report.md`."}
        return client.create_experiment(name, artifact_location=artifact_location(root, study), tags=about)
    if experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    return experiment.experiment_id


def experiments(client) -> list:
    """The experiments of all studies."""
    return client.search_experiments(filter_string=f"name LIKE '{PREFIX}%'")


def stage_of(card: Card) -> dict[str, str]:
    """The tags that all runs of a stage share."""
    return {"group": card["group"], "name": card["name"]}


def find(client, experiment: str, card: Card, tags: dict[str, str]) -> list:
    """The runs with these tags, newest first; a temporary experiment sees only its own, and so does the project."""
    condition = " and ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
    runs = client.search_runs([experiment], condition)
    return [run for run in runs if experiment_of(run.data.tags) == experiment_of(card)]


def recorded(client, experiment: str, group: str | None = None) -> list:
    """All recorded runs of an experiment, the parents of seeds among them; of the stages, those of one group."""
    whole = f"tags.{LOGGED} LIKE '%'"
    parts = [f" and tags.`group` = '{group}'", f" and tags.seeds_of LIKE '{group}/%'"] if group else [""]
    return [run for part in parts for run in client.search_runs([experiment], whole + part, max_results=MOST_FOUND)]


def find_by_key(client, key: str):
    """The recorded run with a key, or with its first digits; the current one of several, None if there is none."""
    numbers = [experiment.experiment_id for experiment in experiments(client)]
    found = client.search_runs(numbers, f"tags.key LIKE '{key}%' and tags.logged LIKE '%'") if numbers else []
    return min(found, key=lambda run: run.data.tags.get(RESULT) != CURRENT, default=None)


def create_run(client, experiment: str, card: Card, tags: dict[str, str], start: int | None = None):
    """A new, unfinished run of a stage; start: in ms, None for now."""
    return client.create_run(experiment, start, tags | {RESULT: UNFINISHED}, _stage_name(card))


def log(client, run_id: str, points: Points, parameters: Mapping[str, str] | None = None) -> None:
    """Log metrics and parameters in batches; logging a point again changes nothing."""
    from mlflow.entities import Metric, Param

    metrics = [Metric(name, value, BASE_TIME + STEP_TIME * step, step) for (name, step), value in points.items()]
    params = [Param(name, value) for name, value in (parameters or {}).items()]
    for start in range(0, len(metrics), METRICS_PER_BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + METRICS_PER_BATCH])
    for start in range(0, len(params), PARAMETERS_PER_BATCH):
        client.log_batch(run_id, params=params[start : start + PARAMETERS_PER_BATCH])


def with_cells(client, run) -> list:
    """The cells of a search's run, then the run itself."""
    condition = f"tags.`{PARENT}` = '{run.info.run_id}'"
    return [*client.search_runs([run.info.experiment_id], condition, max_results=1_000), run]


def tag(client, run, name: str, value: str) -> None:
    """Set a tag of a run unless it has that value."""
    if run.data.tags.get(name) != value:
        client.set_tag(run.info.run_id, name, value)


def delete(client, runs: list) -> None:
    """Delete runs."""
    for run in runs:
        client.delete_run(run.info.run_id)


def mark(client, run, result: str) -> None:
    """Set the state of a run and its cells; of the run itself last, so that the next call completes an interruption."""
    for each in with_cells(client, run):
        tag(client, each, RESULT, result)


def delete_unfinished(client, runs: list, root: Path) -> None:
    """Delete runs that this clone left unfinished, with their cells; another clone's may be a running training."""
    own = clone(root).get(CLONE)
    for run in runs:
        if run.data.tags.get(RESULT) == UNFINISHED and run.data.tags.get(CLONE) == own:
            delete(client, with_cells(client, run))


def name_runs(client, experiment: str, card: Card, current: str = "") -> None:
    """Rename the runs of a stage so that each name says what is different about the run; current: about to be that.

    -> "train net" if there is one; "train net · epsilon=0.2" and "train net · epsilon=0.05 · former" of two.
    """
    runs = find(client, experiment, card, stage_of(card))
    parameters = [run.data.params for run in runs]
    keys = sorted({key for each in parameters for key in each})
    differing = [key for key in keys if len({each.get(key) for each in parameters}) > 1]
    short = [key for key in differing if all(len(each.get(key, "")) <= LONGEST_NAMED for each in parameters)]
    for run in runs:
        settings = ", ".join(f"{key}={run.data.params.get(key, 'none')}" for key in short[:MOST_NAMED])
        state = FORMER if run.data.tags.get(RESULT) == FORMER and run.info.run_id != current else ""
        name = " · ".join(filter(None, [_stage_name(card), settings, state]))
        if name != run.info.run_name:
            client.update_run(run.info.run_id, name=name)


def _stage_name(card: Card) -> str:
    """The name of the only run of a stage."""
    return f"{card['stage']} {card['name']}" + (f" ({card[EXPERIMENT]})" if EXPERIMENT in card else "")
