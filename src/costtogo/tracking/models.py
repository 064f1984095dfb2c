"""Networks in MLflow's model registry: one version per distinct checkpoint, loaded without pickle."""

import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from costtogo.puzzles import title
from costtogo.tracking.location import EXPERIMENT, is_lost, is_server
from costtogo.tracking.record import MODELS, Card, Stage, experiment_of, read_stage, selected_iteration

LOADER = "costtogo.heuristics.pyfunc"
REQUIRED = ("torch", "numpy", "safetensors")


def register(client, run, stage: Stage) -> None:
    """Register the last checkpoint of a training, or the one that a search selected, with the alias `best`.

    The alias belongs to the project: a temporary experiment registers its checkpoint without it.
    """
    if stage.card["group"] == MODELS:
        _version(client, run, stage)
    elif stage.table("selection") is not None:
        model = read_stage(stage.study_folder / "models" / stage.path.name, stage.root)
        version = _version(client, run, model, selected_iteration(stage))
        if EXPERIMENT not in stage.card:
            client.set_registered_model_alias(version.name, "best", version.version)


def description(card: Card) -> str:
    """What a registered network estimates, and how to load it; card: of its training."""
    study, name = card["study"], card["name"]
    return (
        f"Estimates the moves from a state of the {title(card['parameters']['puzzle'])} to its goal; trained as {name} "
        f'by the study {study}. `mlflow.pyfunc.load_model("models:/{study}.{name}@best")` loads it; `predict` takes '
        "states, whole numbers `[N, D]`, and returns moves, float32 `[N]`."
    )


def _version(client, run, model: Stage, iteration: int | None = None):
    """The registered version of a checkpoint, by default the last; registers it if it is absent."""
    from mlflow.entities import LoggedModelOutput

    index, run_id = model.table("checkpoints").set_index("iteration"), run.info.run_id
    checkpoint = index.loc[index.index.max() if iteration is None else iteration]
    name, sha256 = f"{model.card['study']}.{model.card['name']}", checkpoint["sha256"]
    if not client.search_registered_models(f"name = '{name}'"):
        client.create_registered_model(name, description=description(model.card))
    same = f"name = '{name}' and tags.sha256 = '{sha256}'"
    file = model.path.with_suffix("") / checkpoint["file"]
    if versions := client.search_model_versions(same):
        if is_lost(versions[0].source):
            _log_files(client, Path(urlsplit(versions[0].source).path).parent.name, model, file)
        return versions[0]
    tags = {"sha256": sha256, "iteration": str(checkpoint.name)} | experiment_of(model.card)
    logged = client.create_logged_model(run.info.experiment_id, model.card["name"].replace(".", "_"), run_id, tags)
    _log_files(client, logged.model_id, model, file)
    client.finalize_logged_model(logged.model_id, "READY")
    # A database store resolves models:/ through MLflow's global URI, which need not be this store.
    source = logged.model_uri if is_server(client.tracking_uri) else logged.artifact_location
    version = client.create_model_version(name, source, run_id, tags=tags, model_id=logged.model_id)
    client.log_outputs(run_id, [LoggedModelOutput(logged.model_id, int(checkpoint.name))])
    return version


def _log_files(client, model_id: str, model: Stage, checkpoint: Path) -> None:
    """Log the files of an MLflow model that holds the checkpoint."""
    import mlflow.pyfunc

    versions = model.card.get("versions", {})
    with tempfile.TemporaryDirectory() as folder:
        mlflow.pyfunc.save_model(
            f"{folder}/model",
            loader_module=LOADER,
            data_path=str(checkpoint),
            pip_requirements=[f"{name}=={versions[name]}" if name in versions else name for name in REQUIRED],
        )
        client.log_model_artifacts(model_id, f"{folder}/model")
