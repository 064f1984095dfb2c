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
    CONVERGENCE_ITERATIONS,
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
from costtogo.files import read_frame, read_json, write_frame, write_json
from costtogo.tracking import record, runs, searches


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


def test_a_training_keeps_every_convergence_point_and_the_files_of_its_curve(root):
    client, run_id = client_of(root), tracking.log_card(write_training(root), root)
    steps = {point.step for point in client.get_metric_history(run_id, "loss")}
    assert steps >= {*range(1, 257), *range(256, 401, 2), *CONVERGENCE_ITERATIONS}
    assert 303 not in steps
    errors = {point.step: point.value for point in client.get_metric_history(run_id, "mean_absolute_error")}
    assert errors == {301: 3.0, 400: 1.5}
    validation = [point.step for point in client.get_metric_history(run_id, "validation_loss")]
    assert validation == [100, 200, 300, 400]
    epsilon = client.get_metric_history(run_id, "epsilon")
    assert {point.value for point in epsilon} == {0.25} and {point.step for point in epsilon} == steps
    files = {file.path for file in client.list_artifacts(run_id)}
    assert files == {"net.json", "curve.parquet", "errors.parquet", "checkpoints.parquet", "checkpoints"}


@pytest.mark.parametrize("length", [100, 5_000, 2_000_000])
def test_a_curve_of_any_length_keeps_fewer_than_two_thousand_points(length):
    kept = record.kept_iterations(np.arange(length), np.zeros(length, dtype=int))
    assert min(length, 256) <= kept.sum() < 2_000


def test_recording_again_adds_nothing(root):
    study = write_study(root)
    assert tracking.track([study], root) == 5
    first = content(root)
    assert first["runs"]
    assert tracking.track([study], root) == 5
    assert content(root) == first


def test_a_lost_store_is_rebuilt_from_the_files(root, recorded):
    tracking.track([write_study(root)], root)
    assert len(recorded["runs"]) == 9
    assert content(root) == recorded


def test_a_search_is_one_run_with_a_child_for_each_setting(root):
    parent = tracking.log_card(write_training(root), root) and tracking.log_card(write_search(root), root)
    children = [run for run in all_runs(root) if run.data.tags.get("mlflow.parentRunId") == parent]
    assert len(children) == 4
    cells = {child.data.params["path_weight"]: child for child in children}
    timed = cells["0.2"].data
    assert timed.params == {
        "heuristic": "network",
        "set": "test",
        "path_weight": "0.2",
        "batch_size": "5",
        "search": "net",
    }
    assert timed.metrics["seconds"] == 0.001
    assert timed.tags["engine"] == "table"
    assert cells["0.5"].data.metrics == {
        "optimal_percent": 90.0,
        "nodes_expanded": 70.5,
        "length": 10.5,
        "excess": 0.1,
    }


def test_a_search_of_very_many_settings_is_cut_with_a_warning(root, monkeypatch, capsys):
    monkeypatch.setattr(searches, "MAX_CHILDREN", 3)
    write_training(root)
    tracking.log_card(write_search(root), root)
    assert len(all_runs(root)) == 4
    assert "3 of the 4 settings" in capsys.readouterr().err


def test_the_report_brings_its_text_and_figures(root):
    run_id = tracking.log_card(write_report(root), root)
    files = files_below(local_path(client_of(root).get_run(run_id).info.artifact_uri))
    assert files == {"report.json", "report.md", "figures/loss.png"}


def test_large_files_are_not_copied(root, monkeypatch):
    path = write_training(root)
    monkeypatch.setattr(record, "CHECKPOINTS_TOTAL", 10)
    monkeypatch.setattr(record, "SMALL_FILE", 10)
    assert record.artifacts(record.read_stage(path, root)) == [(path, "")]


def test_a_changed_parameter_starts_a_new_run_and_marks_the_old_one_superseded(root):
    client = client_of(root)
    old = tracking.log_card(write_training(root, 0.001), root)
    new = tracking.log_card(write_training(root, 0.01, weights="others"), root)
    assert new != old
    assert client.get_run(old).data.tags["superseded"] == "true"
    assert "superseded" not in client.get_run(new).data.tags
    assert tracking.log_card(write_training(root, 0.001), root) == old
    assert client.get_run(new).data.tags["superseded"] == "true"
    assert "superseded" not in client.get_run(old).data.tags


def test_the_settings_of_an_older_search_are_superseded_with_it(root):
    write_training(root)
    tracking.log_card(write_search(root), root)
    path = write_search(root)
    write_json(path, read_json(path) | {"code": "d" * 64})
    tracking.log_card(path, root)
    assert sum("superseded" in run.data.tags for run in all_runs(root)) == 5
    assert len(all_runs(root)) == 10


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
    assert client_of(root).get_run(first).data.tags["superseded"] == "true"


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


class Sums:
    """A heuristic of pairs of numbers."""

    puzzle = SimpleNamespace(name="pairs", cells=2, letters=5)

    def __call__(self, states):
        return states.sum(axis=1, dtype=np.float32)


def test_short_stages_wait_until_mlflow_is_loaded_or_the_workflow_ends(root, recorded, monkeypatch):
    cards = cards_of(write_study(root), root)
    monkeypatch.setattr(runs, "sys", SimpleNamespace(modules={}))
    for card in cards:
        tracking.log_stage(card, root, seconds=1)
    assert len(list((root / runs.WAITING).iterdir())) == len(cards) and not all_runs(root)
    tracking.log_waiting(root)
    assert content(root) == recorded and not list((root / runs.WAITING).iterdir())


@pytest.mark.parametrize(("seconds", "modules"), [(100, {}), (1, {"mlflow": None})])
def test_a_long_stage_or_one_with_mlflow_at_hand_records_what_waits(root, recorded, monkeypatch, seconds, modules):
    *others, last = cards_of(write_study(root), root)
    monkeypatch.setattr(runs, "sys", SimpleNamespace(modules={}))
    for card in others:
        tracking.log_stage(card, root, seconds=1)
    runs.sys.modules.update(modules)
    tracking.log_stage(last, root, seconds)
    assert content(root) == recorded


def test_a_card_that_cannot_be_recorded_is_one_warning_and_holds_the_others_up_once(root, recorded, capfd):
    study = write_study(root)
    cards = cards_of(study, root)
    curve_file = study / "models/net/curve.parquet"
    whole = curve_file.read_bytes()
    curve_file.unlink()
    for card in cards:
        (root / runs.WAITING).mkdir(exist_ok=True)
        (root / runs.WAITING / quote(str(card), safe="")).touch()
    tracking.log_waiting(root)
    assert len(capfd.readouterr().err.splitlines()) == 1
    tracking.log_waiting(root)
    assert not capfd.readouterr().err
    logged = {run.data.tags["group"] for run in all_runs(root) if "logged" in run.data.tags}
    assert logged == {card.parent.name for card in cards} - {"models"}
    curve_file.write_bytes(whole)
    tracking.track([study], root)
    assert set(content(root)["runs"]) == set(recorded["runs"])


def test_a_live_run_is_the_one_that_the_card_completes(root, recorded):
    study = write_study(root)
    rows = curve().astype({"loss": float}).to_dict("records")
    with tracking.LiveRun(root, training_fields()) as live:
        live.log(rows[:300])
        live.log(rows[300:350])
        live_id = live.run_id
    steps = [point.step for point in client_of(root).get_metric_history(live_id, "loss")]
    assert steps == [*range(1, 257), *range(258, 301, 2), 301, *range(302, 351, 2)]
    resumed = tracking.LiveRun(root, training_fields())
    assert resumed.run_id == live_id
    resumed.log(rows[340:360])
    assert tracking.log_card(study / "models/net.json", root) == live_id
    tracking.track([study], root)
    assert content(root) == recorded


def test_a_live_run_leaves_a_finished_record_alone(root):
    tracking.log_card(write_training(root), root)
    before = content(root)
    live = tracking.LiveRun(root, training_fields())
    live.log([{"iteration": 1, "convergence_points": 0, "loss": 99.0}])
    live.close()
    assert content(root) == before


def test_live_points_of_another_result_do_not_mix_with_the_card(root):
    live = tracking.LiveRun(root, training_fields())
    live.log([{"iteration": 1, "convergence_points": 0, "loss": 99.0}])
    run_id = tracking.log_card(write_training(root), root)
    assert run_id != live.run_id
    interrupted = client_of(root).get_run(live.run_id)
    assert interrupted.data.tags["superseded"] == "true"
    assert interrupted.info.status == "KILLED"


def test_a_failed_training_is_shown_as_failed(root):
    with pytest.raises(RuntimeError), tracking.LiveRun(root, training_fields()) as live:
        run_id = live.run_id
        raise RuntimeError
    assert client_of(root).get_run(run_id).info.status == "FAILED"


@pytest.mark.parametrize("step", ["log_artifact", "log_model_artifacts", "set_terminated", "create_model_version"])
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


def test_an_interrupted_setting_of_a_search_is_completed_the_next_time(root, recorded, monkeypatch):
    from mlflow import MlflowClient

    def interrupted(client, run_id, metrics=(), params=(), tags=(), original=MlflowClient.log_batch):
        if any(tag.key == "logged" for tag in tags):
            raise KeyboardInterrupt
        return original(client, run_id, metrics, params, tags)

    study = write_study(root)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(MlflowClient, "log_batch", interrupted)
        tracking.log_card(study / "searches/net.json", root)
    tracking.track([study], root)
    assert content(root) == recorded


def test_a_folder_without_finished_stages_is_told(root):
    with pytest.raises(tracking.TrackingError, match="holds no finished stage"):
        tracking.track([root / "results/none"], root)


def test_tracking_that_is_off_touches_nothing(root, monkeypatch):
    monkeypatch.setenv("COSTTOGO_TRACKING", "off")
    (root / "mlflow.db").unlink()
    path = write_training(root)
    before = set(root.rglob("*"))
    tracking.prepare_store(root)
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
