"""A server that several machines share: what compose.yaml starts, and what jobs and clones record there at once."""

import multiprocessing
import os
import re
import shutil
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from messages import is_one_sentence
from real_servers import COMPOSE, ROOT, MlflowServer, mlflow_on_postgres, real
from synthetic_cards import OfCubes, client_of, content, local_path, training_fields, write_study, write_training

from costtogo import tracking
from costtogo.files import read_json, write_json
from costtogo.puzzles import make
from costtogo.tracking import finished, location, store
from costtogo.tracking.faults import StoreError

SERVICES = COMPOSE["services"]
PINNED = re.compile(r"[\w./-]+:\S*\d[\w.-]*")  # an image with a version
CLONES, JOBS, ROWS = 3, 8, 200
AGAIN = {"iteration": ROWS + 1, "convergence_points": 0, "loss": 0.5}


def images() -> list[str]:
    """What compose.yaml starts from."""
    built = [service["build"]["dockerfile_inline"] for service in SERVICES.values() if "build" in service]
    return [each["image"] for each in SERVICES.values() if "image" in each] + re.findall(r"FROM (\S+)", "".join(built))


def test_compose_names_images_and_packages_with_their_versions():
    assert len(images()) == len(SERVICES) and all(PINNED.fullmatch(image) for image in images())
    installed = re.search(r"pip install --no-cache-dir (.*)", SERVICES["mlflow"]["build"]["dockerfile_inline"])[1]
    assert all("==" in package for package in installed.split())
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert set(installed.split()) & set(locked) == {next(line for line in locked if line.startswith("mlflow=="))}


def test_compose_has_no_password_and_its_page_names_every_variable():
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    page = (ROOT / "docs/server.md").read_text(encoding="utf-8")
    variables = set(re.findall(r"\$\{(\w+)", text))
    assert variables and not [name for name in variables if f"`{name}`" not in page]
    told = {name: value for service in SERVICES.values() for name, value in service["environment"].items()}
    secret = {name: value for name, value in told.items() if re.search("PASSWORD|SECRET", name)}
    assert secret and all(re.fullmatch(r"\$\{\w+:(\?[^}]+|-)\}", value) for value in secret.values())
    assert "@" not in re.sub(r"//\w+@", "", text), "no password in an address"


def test_an_address_with_a_password_is_printed_without_it(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:secret@server:80/team/")
    assert location.ui_address(Path()) == "https://server:80/team"


class Registry:
    """Of a server the registered models, by their names."""

    tracking_uri = "http://127.0.0.1:9"

    def __init__(self, held: str) -> None:
        self.models = {store.TURN: {location.CLONE: held}}
        self.asked = 0

    def create_registered_model(self, name, tags):
        self.asked += 1
        if name in self.models:
            self.refuse("RESOURCE_ALREADY_EXISTS")
        self.models[name] = tags

    def search_registered_models(self, condition):
        assert condition == f"name = '{store.TURN}'"
        return [SimpleNamespace(tags=tags) for tags in self.models.values()]

    def delete_registered_model(self, name):
        self.models.pop(name)

    def refuse(self, code: str):
        from mlflow.exceptions import RestException

        raise RestException({"error_code": code})


OURS = {location.CLONE: "ours"}


@pytest.fixture
def at_once(monkeypatch):
    """A clone that waits asks again at once."""
    monkeypatch.setattr(store, "PAUSE", (0, 0))


def test_a_clone_waits_until_the_turn_of_another_has_ended(at_once):
    class Ending(Registry):
        def search_registered_models(self, condition):
            found = super().search_registered_models(condition)
            if self.asked == 3:
                del self.models[store.TURN]
            return found

    registry = Ending(held="theirs")
    with store._turn_of_clone(registry, OURS):
        assert registry.models == {store.TURN: OURS} and registry.asked == 4
    assert registry.models == {}


def test_a_turn_that_ends_while_a_clone_asks_for_its_own_is_no_error(at_once):
    class Between(Registry):
        def create_registered_model(self, name, tags):
            if self.models.pop(name, None):
                self.refuse(store.ENDED)  # MLflow's, which looks for what hinders it
            super().create_registered_model(name, tags)

    registry = Between(held="theirs")
    with store._turn_of_clone(registry, OURS):
        assert registry.models == {store.TURN: OURS}


def test_a_turn_that_a_killed_process_of_this_clone_has_left_is_its_own():
    registry = Registry(held="ours")
    with pytest.raises(KeyError), store._turn_of_clone(registry, OURS):
        assert registry.asked == 1
        raise KeyError
    assert registry.models == {}, "an error ends it too"


def test_a_turn_that_another_clone_holds_unchanged_for_long_is_taken_away(at_once, monkeypatch):
    monkeypatch.setattr(store, "HELD_SECONDS", 0.1)
    registry = Registry(held="theirs")
    with store._turn_of_clone(registry, OURS):
        assert registry.models == {store.TURN: OURS} and registry.asked > 2


def test_a_server_whose_turn_never_comes_is_told_as_busy(at_once, monkeypatch):
    monkeypatch.setattr(store, "QUEUE_SECONDS", 0.1)
    with (
        pytest.raises(StoreError, match="held by another process"),
        store._turn_of_clone(Registry(held="theirs"), OURS),
    ):
        pass


def test_a_clone_is_told_from_others_on_a_server_alone(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert location.clone(tmp_path) == {} and not list(tmp_path.iterdir())
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    own = location.clone(tmp_path)
    (tmp_path / "other").mkdir()
    assert own == location.clone(tmp_path) != location.clone(tmp_path / "other")


def test_what_is_finished_while_the_store_is_away_is_recorded_by_the_next_run(root, recorded, monkeypatch, capfd):
    """Of the workflow, which records at its end what waits; the run itself says one sentence."""
    study = write_study(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
        patch.setenv(location.SWITCH, "on")
        with tracking.LiveRun(root, training_fields()):
            for card in sorted(study.glob("*/*.json")):
                if card.parent.name != "figures":
                    tracking.log_stage(card, root, seconds=100)
        os.environ[location.SWITCH] = "on"  # as it is in the process of the workflow
        capfd.readouterr()
        tracking.log_waiting(root)
        (told,) = capfd.readouterr().err.splitlines()
        assert "does not answer" in told and is_one_sentence(told)
        assert len(list((root / finished.WAITING).iterdir())) == 5
    tracking.log_waiting(root)
    assert content(root) == recorded and not list((root / finished.WAITING).iterdir())


def test_no_description_is_longer_than_a_server_takes(tracked):
    for model in client_of(tracked).search_registered_models():
        assert len(model.description) < 5_000, "of the column in MLflow's database"


@pytest.fixture(scope="module")
def mlflow_server(tmp_path_factory) -> Iterator[MlflowServer]:
    """MLflow's server on PostgreSQL, for a test to start."""
    with mlflow_on_postgres(tmp_path_factory.mktemp("mlflow")) as server:
        yield server


@pytest.fixture
def at_server(tmp_path, mlflow_server, monkeypatch) -> MlflowServer:
    """The same, with the environment of a clone that records there."""
    monkeypatch.setenv("COSTTOGO_TRACKING", "on")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow_server.uri)
    monkeypatch.chdir(tmp_path)
    return mlflow_server


def together(calls: list[Callable[[], object]]) -> None:
    """Call all at once, each in a process of its own, in which MLflow is loaded already; none may fail."""
    import mlflow.pyfunc  # noqa: F401

    context = multiprocessing.get_context("fork")
    faults = context.SimpleQueue()

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException:
            faults.put(traceback.format_exc())

    started = [context.Process(target=run, args=(call,)) for call in calls]
    for process in started:
        process.start()
    for process in started:
        process.join()
    assert faults.empty(), faults.get()
    assert [process.exitcode for process in started] == [0] * len(calls)


def in_folder(folder: Path, call: Callable[[], object]) -> Callable[[], object]:
    """The call from a folder; it must say no warning, which would mean that something was not recorded."""

    def called():
        os.chdir(folder)
        call()
        assert location.enabled()

    return called


@real
def test_clones_that_record_a_study_at_once_share_one_record_that_another_can_use(
    at_server, recorded, tmp_path, monkeypatch, capsys
):
    import mlflow

    from costtogo.heuristics import network

    clones = [tmp_path / f"clone_{number}" for number in range(CLONES)]
    studies = [write_study(clone) for clone in clones]

    def folder_of(uri: str) -> Path:
        """Where the server has files: below its own folder, whatever the client's."""
        if uri.startswith("models:/"):
            uri = client_of(tmp_path).get_logged_model(uri.removeprefix("models:/")).artifact_location
        return at_server.artifacts / local_path(uri.removeprefix("mlflow-artifacts:/"))

    with at_server.running():
        record = [lambda clone=clone, study=study: tracking.track([study], clone)
                  for clone, study in zip(clones, studies, strict=True)]  # fmt: skip
        together([in_folder(clone, call) for clone, call in zip(clones, record, strict=True)])
        assert content(tmp_path, folder_of) == recorded
        tracking.track([studies[0]], clones[0])
        assert content(tmp_path, folder_of) == recorded
        assert {path.name for path in clones[0].iterdir()} <= {
            "results", "reports", "mlflow.db.lock", "mlflow.db.queue", location.CLONE_FILE
        }  # fmt: skip
        assert all(at_server.uri in line for line in tracking.ui_lines(tmp_path))
        monkeypatch.setattr(network, "load", lambda path: OfCubes())
        mlflow.set_tracking_uri(at_server.uri)
        loaded = mlflow.pyfunc.load_model("models:/tiny.net@best")
        print(loaded.predict(make("cube2").goal[None]))
        mlflow.set_tracking_uri("")
    assert re.search(r"\[\d+\.\]", capsys.readouterr().out)


def write_job(root: Path, study: str, name: str) -> tuple[dict, Path]:
    """A training of a study: what is known of it before it begins, and its card once it is finished."""
    if not (root / "results/tiny/models/net.json").exists():
        write_training(root)
    path = root / "results" / study / "models" / f"{name}.json"
    shutil.copytree(root / "results/tiny/models/net", path.with_suffix(""))
    own = {"study": study, "name": name}
    write_json(path, read_json(root / "results/tiny/models/net.json") | own)
    return training_fields() | own, path


def train(root: Path, fields: dict, card: Path) -> None:
    """Log a training as it goes, then its finished stage."""
    with tracking.LiveRun(root, fields) as live:
        for first in range(1, ROWS + 1, 20):
            rows = [{"iteration": step, "convergence_points": 0, "loss": 1 / step} for step in range(first, first + 20)]
            live.log(rows)
        assert live.run_id
        assert len(client_of(root).get_metric_history(live.run_id, "loss")) == ROWS, "live, before the end"
    tracking.log_stage(card, root, seconds=100)


@real
def test_eight_jobs_that_train_at_once_log_live_and_lose_nothing(at_server, tmp_path):
    jobs = [write_job(tmp_path, "eight", f"net_{number}") for number in range(JOBS)]
    with at_server.running():
        together([in_folder(tmp_path, lambda job=job: train(tmp_path, *job)) for job in jobs])
        client = client_of(tmp_path)
        experiment = client.get_experiment_by_name("costtogo/eight")
        found = client.search_runs([experiment.experiment_id])
        assert sorted(run.data.tags["name"] for run in found) == sorted(fields["name"] for fields, _ in jobs)
        assert {(run.info.status, run.data.tags["result"]) for run in found} == {("FINISHED", "current")}
        losses = [client.get_metric_history(run.info.run_id, "loss") for run in found]
        assert {len({point.step for point in points}) for points in losses} == {len(points) for points in losses}
        assert len({tuple((point.step, point.value) for point in points) for points in losses}) == 1
        assert len(client.search_registered_models("name LIKE 'eight.%'")) == JOBS


@real
def test_a_training_outlives_its_server_with_one_sentence_and_is_recorded_when_it_is_back(at_server, tmp_path, capfd):
    fields, card = write_job(tmp_path, "away", "net")
    with at_server.running():
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        tracking.LiveRun(elsewhere, fields | {"code": "d" * 64})  # of another clone: it stays
        live = tracking.LiveRun(tmp_path, fields)
        live.log([AGAIN])
        capfd.readouterr()
    for number in range(3):
        live.log([AGAIN | {"iteration": number}])
    live.close()
    tracking.log_stage(card, tmp_path, seconds=100)
    (told,) = capfd.readouterr().err.splitlines()
    assert is_one_sentence(told) and f"The MLflow server {at_server.uri} does not answer" in told
    assert os.environ[location.SWITCH] == location.AWAY
    os.environ[location.SWITCH] = "on"  # as it is in the process of the workflow
    with at_server.running():
        tracking.log_waiting(tmp_path)
        client = client_of(tmp_path)
        found = client.search_runs([client.get_experiment_by_name("costtogo/away").experiment_id])
        states = sorted((run.data.tags["result"], run.data.tags["code"][0]) for run in found)
        assert states == [("current", "c"), ("unfinished", "d")]
    assert not capfd.readouterr().err and not list((tmp_path / finished.WAITING).iterdir())
