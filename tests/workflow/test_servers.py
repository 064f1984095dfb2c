"""A whole study with real servers: recorded on MLflow's while it runs, pushed by DVC and pulled in another clone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from real_servers import MlflowServer, mlflow_on_postgres, real, s3_remote, ssh_remote
from workflow_runs import commit, contents, copy_project, jobs, run, snakemake

pytestmark = real
REMOTES = {"ssh": ssh_remote, "s3": s3_remote}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[MlflowServer]:
    """MLflow's server on PostgreSQL, running."""
    with mlflow_on_postgres(tmp_path_factory.mktemp("mlflow")) as server, server.running():
        yield server


@pytest.fixture(scope="module")
def project(server, tmp_path_factory) -> Path:
    """A copy of the project whose study has run with its records on the server, recorded by DVC and committed."""
    folder = copy_project(tmp_path_factory.mktemp("project"))
    told = snakemake(folder, COSTTOGO_TRACKING="on", MLFLOW_TRACKING_URI=server.uri)
    assert "Warning: The MLflow" not in told
    assert not jobs(run(folder, "dvc", "repro"))
    commit(folder)
    return folder


def test_every_stage_of_a_study_is_one_finished_run_on_the_server(project, server):
    from mlflow import MlflowClient

    client = MlflowClient(server.uri, registry_uri=server.uri)
    experiment = client.get_experiment_by_name("costtogo/default")
    runs = client.search_runs([experiment.experiment_id], "tags.stage != 'cell'", max_results=1_000)
    found = sorted((each.data.tags["group"], each.data.tags["name"]) for each in runs)
    cards = [path for path in project.glob("results/default/*/*.json") if path.parent.name not in ("timings", "done")]
    assert found == sorted((path.parent.name, path.stem) for path in cards if path.parent.name != "figures")
    assert {(each.info.status, each.data.tags["result"]) for each in runs} == {("FINISHED", "current")}
    assert not (project / "mlflow.db").exists() and not (project / "mlruns").exists()


@pytest.mark.parametrize("kind", REMOTES)
def test_what_one_clone_pushes_another_pulls_and_has_nothing_to_do(kind, project, tmp_path):
    (tmp_path / "remote").mkdir()
    with REMOTES[kind](tmp_path / "remote") as (url, settings, variables):
        for folder in (project, tmp_path / "clone"):
            if folder != project:
                run(tmp_path, "git", "clone", "--quiet", str(project), str(folder))
            run(folder, "dvc", "remote", "add", "--local", "--default", "--force", kind, url)
            for name, value in settings.items():
                run(folder, "dvc", "remote", "modify", "--local", kind, name, value)
        assert "pushed" in run(project, "dvc", "push", **variables)
        run(tmp_path / "clone", "dvc", "pull", "--allow-missing", **variables)
    pulled = contents(tmp_path / "clone")
    assert pulled == {name: content for name, content in contents(project).items() if name in pulled}
    assert any("/models/" in name for name in pulled) and any("/searches/" in name for name in pulled)
    assert "Nothing to be done" in snakemake(tmp_path / "clone", "--dry-run")
