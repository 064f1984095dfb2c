"""Networks in MLflow's model registry: one version per distinct checkpoint, loaded without pickle."""

import tempfile
from pathlib import Path

from costtogo.files import digest, read_frame
from costtogo.tracking import record
from costtogo.tracking.client import runs_of_key
from costtogo.tracking.faults import TrackingError
from costtogo.tracking.place import EXPERIMENT
from costtogo.tracking.record import Card, Stage, read_stage

LOADER = "costtogo.heuristics.pyfunc"
REQUIRED = ("torch", "numpy", "safetensors")


def register_last(client, run, stage: Stage) -> None:
    """Register the last checkpoint of a training."""
    checkpoints = read_frame(stage.folder / "checkpoints.parquet")
    _register(client, run, stage, checkpoints.iloc[checkpoints["iteration"].argmax()])


def register_selected(client, run, stage: Stage) -> None:
    """Register the checkpoint that a search selected and give it the alias `best`; a baseline has none.

    The alias is the project's: a temporary experiment registers its checkpoint without it.
    """
    selection_path = stage.folder / "selection.parquet"
    if not selection_path.exists():
        return
    selection = read_frame(selection_path)
    iteration = selection.loc[selection["selected"], "iteration"].iloc[0]
    model = read_stage(stage.study_folder / "models" / stage.path.name, stage.root)
    checkpoints = read_frame(model.folder / "checkpoints.parquet")
    training = runs_of_key(client, run.info.experiment_id, model.card)
    chosen = checkpoints[checkpoints["iteration"] == iteration].iloc[0]
    version = _register(client, training[0] if training else run, model, chosen)
    if EXPERIMENT not in stage.card:
        client.set_registered_model_alias(registered_name(model.card), "best", version)


def registered_name(card: Card) -> str:
    """The registry refuses only / and : in a name."""
    return f"{card['study']}.{card['name']}"


def _register(client, run, stage: Stage, checkpoint) -> str:
    """The registered version of a checkpoint, made where it is absent."""
    card, path = stage.card, _checkpoint_path(stage, checkpoint["file"])
    sha256 = digest(path)
    name = registered_name(card)
    if not client.search_registered_models(f"name = '{name}'"):
        client.create_registered_model(name, tags={"study": card["study"]})
    versions = client.search_model_versions(f"name = '{name}' and tags.sha256 = '{sha256}'")
    if versions:
        return versions[0].version
    tags = {"sha256": sha256, "iteration": str(checkpoint["iteration"])} | record.experiment_of(card)
    model = _logged_model(client, run, card, path, tags)
    # A database store resolves models:/ through MLflow's global URI, which need not be this store.
    is_server = client.tracking_uri.startswith("http")
    source = model.model_uri if is_server else model.artifact_location
    version = client.create_model_version(name, source, run.info.run_id, tags=tags, model_id=model.model_id)
    return version.version


def _checkpoint_path(stage: Stage, file: str) -> Path:
    for path in (stage.folder / "checkpoints" / file, stage.folder / file, stage.root / file):
        if path.is_file():
            return path
    raise TrackingError(f"The checkpoint {file} of {stage.path} is missing; train the model again.")


def _logged_model(client, run, card: Card, path: Path, tags: dict[str, str]):
    """An MLflow model that holds the checkpoint; an interrupted upload is completed."""
    from mlflow.entities import LoggedModelOutput

    experiment = run.info.experiment_id
    name = card["name"].replace(".", "_")
    known = client.search_logged_models([experiment], f"name = '{name}' AND tags.sha256 = '{tags['sha256']}'")
    model = known[0] if known else client.create_logged_model(experiment, name, run.info.run_id, tags)
    if model.status != "READY":
        with tempfile.TemporaryDirectory() as folder:
            _save(Path(folder) / "model", path, model, run.info.run_id, card.get("versions", {}))
            client.log_model_artifacts(model.model_id, f"{folder}/model")
        client.finalize_logged_model(model.model_id, "READY")
    outputs = client.get_run(run.info.run_id).outputs
    if model.model_id not in [output.model_id for output in (outputs.model_outputs if outputs else [])]:
        client.log_outputs(run.info.run_id, [LoggedModelOutput(model.model_id, int(tags["iteration"]))])
    return model


def _save(folder: Path, checkpoint: Path, model, run_id: str, versions: dict[str, str]) -> None:
    import mlflow.pyfunc
    from mlflow.models import Model

    description = Model(
        artifact_path=model.artifact_location,
        model_uuid=model.model_id,
        run_id=run_id,
        model_id=model.model_id,
    )
    requirements = [f"{name}=={versions[name]}" if name in versions else name for name in REQUIRED]
    mlflow.pyfunc.save_model(
        folder,
        loader_module=LOADER,
        data_path=str(checkpoint),
        mlflow_model=description,
        pip_requirements=requirements,
    )
