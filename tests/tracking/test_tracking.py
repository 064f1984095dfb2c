"""What MLflow holds after stages are recorded: complete, once, and rebuilt from files alone."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import numpy as np
import pandas
import pytest
from synthetic_cards import (
    Sums,
    all_runs,
    cards_of,
    client_of,
    content,
    curve,
    files_below,
    local_path,
    training_fields,
    write_report,
    write_search,
    write_study,
    write_table,
    write_training,
)

from costtogo import tracking
from costtogo.files import read_csv, read_frame, read_json, write_frame, write_json
from costtogo.tables.finished import cards_of as cards_of_study
from costtogo.tracking import finished, record
from costtogo.types import UserError
from costtogo.workflow.graph import Graph

PROJECT = Path(__file__).parents[2]
CELL = ["heuristic", "set", "path_weight", "batch_size"]


def test_the_run_of_a_stage_holds_its_parameters_lineage_time_and_code(root):
    write_table(root)
    client, run_id = client_of(root), tracking.log_card(root / "results/tiny/tables/cube2.json", root)
    table = client.get_run(run_id)
    assert table.data.metrics == {"states": 24, "diameter": 3, "mean_distance": 1.5}
    assert (table.info.start_time, table.info.end_time) == (1_800_000_000_000, 1_800_000_002_500)
    assert table.data.tags["mlflow.source.git.commit"] == "abc"
    training = client.get_run(tracking.log_card(write_training(root), root))
    assert training.data.params["sampler.walk_max"] == "30"
    assert [item.dataset.name for item in training.inputs.dataset_inputs] == ["results/tiny/tables/cube2.npz"]
    assert training.data.tags["code"] == "c" * 64


def test_a_training_keeps_its_curve_thinned_with_its_last_numbers_and_the_files(root):
    client, run_id = client_of(root), tracking.log_card(write_training(root), root)
    losses = {point.step: point.value for point in client.get_metric_history(run_id, "loss")}
    assert list(losses) == [*range(1, 257), *range(258, 401, 2)]
    assert losses[400] == 1 / 400
    errors = {point.step: point.value for point in client.get_metric_history(run_id, "last_mean_absolute_error")}
    assert errors == {301: 3.0, 400: 1.5}
    validation = [point.step for point in client.get_metric_history(run_id, "validation_loss")]
    assert validation == [100, 200, 300, 400]
    files = {file.path for file in client.list_artifacts(run_id)}
    assert files == {"net.json", "curve.parquet", "errors.parquet", "checkpoints.parquet"}


@pytest.mark.parametrize("length", [100, 5_000, 2_000_000])
def test_a_curve_of_any_length_keeps_fewer_than_two_thousand_points(length):
    kept = record.thinned(pandas.DataFrame({"iteration": np.arange(length)}))
    assert min(length, 256) <= len(kept) < 2_000


def test_recording_again_adds_nothing(root):
    study = write_study(root)
    assert tracking.track([study], root) == 5
    first = content(root)
    assert first["runs"]
    assert tracking.track([study], root) == 5
    assert content(root) == first


def test_a_lost_store_is_rebuilt_from_the_files(root, recorded):
    tracking.track([write_study(root)], root)
    assert len(recorded["runs"]) == 5
    assert content(root) == recorded


def test_a_search_brings_its_settings_as_a_table_that_the_pages_show(root):
    write_training(root)
    client, run_id = client_of(root), tracking.log_card(write_search(root), root)
    table = read_csv(local_path(client.get_run(run_id).info.artifact_uri) / "grid.csv")
    assert list(table) == [*CELL, "instances", "optimal_percent", "nodes_expanded", "length", "excess"]
    assert table["path_weight"].tolist() == [0.2, 0.5, 0.2, 0.5]


def test_the_run_of_a_report_has_what_is_the_report_s_own(root):
    """Not the parameters, numbers and inputs of all stages, which have runs of their own."""
    run = client_of(root).get_run(tracking.log_card(write_report(root), root))
    assert run.data.params == {"study": "tiny", "seed": "2022", "threads": "2"}
    assert run.data.metrics == {"verdict better": 2, "verdict not run": 1}
    assert not run.inputs.dataset_inputs
    files = files_below(local_path(run.info.artifact_uri))
    assert files == {"report.json", "report.md", "figures/loss.png", "reported_vs_reproduced.csv"}


def test_every_stage_of_every_study_is_recorded(root, monkeypatch):
    """Whatever the table of stages names is found by its card; but pictures, which are in the run of the report."""
    monkeypatch.setenv("COSTTOGO_PUZZLES", str(PROJECT / "data/puzzles"))
    stages = Graph([PROJECT / "params.yaml"], PROJECT / "config").stages
    for stage in stages:
        write_json(Path(stage.card), {})
    found = [path for study in {stage.study for stage in stages} for path in cards_of_study(Path("results") / study)]
    assert {str(path) for path in found} == {stage.card for stage in stages if not stage.pictures}


def test_large_files_are_not_copied(root, monkeypatch):
    path = write_training(root)
    monkeypatch.setattr(record, "SMALL_FILE", 10)
    assert list(record.artifacts(record.read_stage(path, root))) == [(path, "")]


def test_a_changed_parameter_starts_a_new_run_and_is_the_current_one(root):
    client = client_of(root)
    old = tracking.log_card(write_training(root, 0.001), root)
    new = tracking.log_card(write_training(root, 0.01, weights="others"), root)
    assert new != old
    assert [client.get_run(run).data.tags["result"] for run in (old, new)] == ["former", "current"]
    assert tracking.log_card(write_training(root, 0.001), root) == old
    assert [client.get_run(run).data.tags["result"] for run in (old, new)] == ["current", "former"]


def test_a_search_that_is_current_again_names_the_best_checkpoint_again(root):
    write_training(root)
    path = write_search(root)
    first = read_json(path)
    tracking.log_card(path, root)
    best = client_of(root).get_model_version_by_alias("tiny.net", "best").version
    selection = path.with_suffix("") / "selection.parquet"
    rows = read_frame(selection)
    write_frame(selection, rows.assign(selected=~rows["selected"]))
    write_json(path, first | {"code": "d" * 64})
    tracking.log_card(path, root)
    assert client_of(root).get_model_version_by_alias("tiny.net", "best").version != best
    write_frame(selection, rows)
    write_json(path, first)
    tracking.log_card(path, root)
    assert client_of(root).get_model_version_by_alias("tiny.net", "best").version == best


def test_another_result_under_the_same_key_is_a_run_of_its_own(root):
    path = write_training(root)
    first = tracking.log_card(path, root)
    write_json(path, read_json(path) | {"metrics": {"iterations": 399}})
    second = tracking.log_card(path, root)
    assert second != first
    assert client_of(root).get_run(first).data.tags["result"] == "former"


def test_one_version_for_each_distinct_checkpoint_and_best_is_the_selected_one(root):
    tracking.log_card(write_training(root), root)
    tracking.log_card(write_search(root), root)
    client = client_of(root)
    versions = {version.tags["iteration"]: version for version in client.search_model_versions("name = 'tiny.net'")}
    assert set(versions) == {"301", "400"}
    best = client.get_model_version_by_alias("tiny.net", "best")
    assert best.version == versions["301"].version
    checkpoint = root / "results/tiny/models/net/checkpoints/000301.safetensors"
    assert (local_path(best.source) / "data" / checkpoint.name).read_bytes() == checkpoint.read_bytes()


def test_a_registered_network_loads_and_predicts_through_mlflow(root, monkeypatch):
    from costtogo.heuristics import network, pyfunc

    def load(path):
        assert Path(path).name == "000400.safetensors"
        return Sums()

    monkeypatch.setattr(network, "load", load)
    import mlflow

    tracking.log_card(write_training(root), root)
    version = client_of(root).get_model_version("tiny.net", "1")
    model = mlflow.pyfunc.load_model(version.source)
    states = np.array([[1, 2], [3, 4]])
    np.testing.assert_array_equal(model.predict(pandas.DataFrame(states)), [3, 7])
    np.testing.assert_array_equal(model.predict(states), [3, 7])
    for states in ([[5, 0]], [[-1, 0]], [[1]], [1, 2]):
        with pytest.raises(ValueError, match=r"States of pairs are a table \[N, 2\] of whole numbers from 0 to 4"):
            pyfunc._load_pyfunc(str(root / "000400.safetensors")).predict(states)


def test_short_stages_wait_until_mlflow_is_loaded_or_the_workflow_ends(root, recorded, monkeypatch):
    cards = cards_of(write_study(root), root)
    monkeypatch.setattr(finished, "sys", SimpleNamespace(modules={}))
    for card in cards:
        tracking.log_stage(card, root, seconds=1)
    assert len(list((root / finished.WAITING).iterdir())) == len(cards) and not all_runs(root)
    tracking.log_waiting(root)
    assert content(root) == recorded and not list((root / finished.WAITING).iterdir())


@pytest.mark.parametrize(("seconds", "modules"), [(100, {}), (1, {"mlflow": None})])
def test_a_long_stage_or_one_with_mlflow_at_hand_records_what_waits(root, recorded, monkeypatch, seconds, modules):
    *others, last = cards_of(write_study(root), root)
    monkeypatch.setattr(finished, "sys", SimpleNamespace(modules={}))
    for card in others:
        tracking.log_stage(card, root, seconds=1)
    finished.sys.modules.update(modules)
    tracking.log_stage(last, root, seconds)
    assert content(root) == recorded


def test_a_card_that_cannot_be_recorded_is_one_warning_and_holds_the_others_up_once(root, recorded, capfd, monkeypatch):
    study = write_study(root)
    curve_file = study / "models/net/curve.parquet"
    whole = curve_file.read_bytes()
    curve_file.unlink()
    (root / finished.WAITING).mkdir()
    for card in cards_of(study, root):
        (root / finished.WAITING / quote(str(card), safe="")).touch()
    tracking.log_waiting(root)
    assert len(capfd.readouterr().err.splitlines()) == 1
    curve_file.write_bytes(whole)
    monkeypatch.setenv("COSTTOGO_TRACKING", "on")
    tracking.log_waiting(root)
    assert not capfd.readouterr().err and not list((root / finished.WAITING).iterdir())
    tracking.track([study], root)
    assert content(root)["runs"].keys() == recorded["runs"].keys()


def test_a_live_run_is_replaced_by_that_of_the_finished_stage(root, recorded):
    study = write_study(root)
    rows = curve().astype({"loss": float}).to_dict("records")
    with tracking.LiveRun(root, training_fields()) as live:
        live.log(rows[:300])
        live.log(rows[300:350])
        client = client_of(root)
        assert client.get_run(live.run_id).info.status == "RUNNING"
        steps = [point.step for point in client.get_metric_history(live.run_id, "loss")]
    assert steps == [*range(1, 257), *range(258, 351, 2)]
    again = tracking.LiveRun(root, training_fields())
    again.log([{"iteration": 1, "convergence_points": 0, "loss": 99.0}])
    assert [run.info.run_id for run in all_runs(root)] == [again.run_id], "of a training that was interrupted"
    tracking.track([study], root)
    assert content(root) == recorded


def test_a_live_run_leaves_a_finished_record_alone(root):
    tracking.log_card(write_training(root), root)
    before = content(root)
    live = tracking.LiveRun(root, training_fields())
    live.log([{"iteration": 1, "convergence_points": 0, "loss": 99.0}])
    live.close()
    assert content(root) == before


def test_a_failed_training_is_shown_as_failed(root):
    with pytest.raises(RuntimeError), tracking.LiveRun(root, training_fields()) as live:
        run_id = live.run_id
        raise RuntimeError
    assert client_of(root).get_run(run_id).info.status == "FAILED"


@pytest.mark.parametrize(
    "step", ["log_artifact", "log_model_artifacts", "set_terminated", "create_model_version", "set_tag"]
)
def test_an_interrupted_record_is_completed_the_next_time(root, recorded, monkeypatch, step):
    from mlflow import MlflowClient

    study = write_study(root)
    for card in (study / "models/net.json", study / "searches/net.json"):
        original, calls = getattr(MlflowClient, step), []

        def interrupted(*arguments, original=original, calls=calls, **options):
            calls.append(arguments)
            if len(calls) == 2 or step != "log_artifact":
                raise KeyboardInterrupt
            return original(*arguments, **options)

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(MlflowClient, step, interrupted)
            tracking.log_card(card, root)
        tracking.log_card(card, root)
    tracking.track([study], root)
    assert content(root) == recorded


def test_a_folder_without_finished_stages_is_told(root):
    with pytest.raises(UserError, match="holds no finished stage"):
        tracking.track([root / "results/none"], root)


def test_tracking_that_is_off_touches_nothing(root, monkeypatch):
    monkeypatch.setenv("COSTTOGO_TRACKING", "off")
    (root / "mlflow.db").unlink()
    path = write_training(root)
    before = set(root.rglob("*"))
    tracking.begin_run(root)
    tracking.LiveRun(root, training_fields()).log([{"iteration": 1}])
    assert tracking.log_card(path, root) is None
    assert set(root.rglob("*")) == before


def test_nothing_is_written_outside_the_store_and_its_artifacts(root):
    tracking.track([write_study(root)], root)
    assert {path.name for path in root.iterdir()} <= {
        "results", "reports", "mlruns", "mlflow.db", "mlflow.db-wal", "mlflow.db-shm", "mlflow.db.lock",
        "mlflow.db.queue"
    }  # fmt: skip


def test_importing_tracking_does_not_import_mlflow():
    script = "import sys, costtogo.tracking; sys.exit('mlflow' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
