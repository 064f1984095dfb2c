"""What a newcomer meets in MLflow's pages: pictures by address, names that tell runs apart, descriptions."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from messages import is_one_sentence
from synthetic_cards import (
    OfCubes,
    all_runs,
    cards_of,
    client_of,
    write_audit,
    write_report,
    write_search,
    write_study,
    write_training,
)

from costtogo import cards, tracking
from costtogo.commands import publish
from costtogo.files import read_json, write_json
from costtogo.puzzles import make
from costtogo.tracking import notes, views
from costtogo.types import UserError

SEARCH = "results/tiny/searches/net.json"


def experiment_of(root):
    return client_of(root).get_experiment_by_name("costtogo/tiny")


def state_of(root, key: str) -> dict:
    """A saved view as the pages read it."""
    envelope = json.loads(experiment_of(root).tags[f"mlflow.sharedViewState.{key}"])
    assert isinstance(envelope["name"], str) and isinstance(envelope["createdAt"], int)
    return json.loads(envelope["state"])


def names_of(root, stage: str) -> list[str]:
    return sorted(run.info.run_name for run in all_runs(root, f"tags.stage = '{stage}'"))


def test_every_printed_address_of_pictures_names_a_view_that_is_there(tracked):
    lines = list(tracking.links(tracked, "tiny"))
    queries = [parse_qs(urlsplit(line.strip()).fragment.partition("?")[2]) for line in lines if "#/" in line]
    keys = [query["viewStateShareKey"][0] for query in queries if "viewStateShareKey" in query]
    assert keys == ["losses", "networks", "searches-net-test"]
    assert all(state_of(tracked, key)["compareRunCharts"] for key in keys)
    assert all(query["workflowType"] == ["machine_learning"] for query in queries)
    assert any("/models/tiny.net?" in line for line in lines)


def test_of_a_study_without_runs_no_other_study_is_shown(tracked):
    with pytest.raises(UserError, match="no run of the study nothere; it has runs of: tiny"):
        list(tracking.links(tracked, "nothere"))
    assert any(line.startswith("Study tiny") for line in tracking.links(tracked))


def test_a_store_without_runs_says_how_to_have_some(root):
    (line,) = tracking.links(root)
    assert "There is no run yet" in line and "http://127.0.0.1:5000/#/experiments?" in line


def test_addresses_are_those_of_the_tracking_server_where_there_is_one(root, monkeypatch):
    from costtogo.tracking import addresses

    monkeypatch.setenv("MLFLOW_PORT", "5005")
    assert addresses.base(root) == "http://127.0.0.1:5005"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://server:80/")
    assert addresses.base(root) == "http://server:80"


def test_curves_are_drawn_on_a_logarithmic_axis_and_constants_are_not_drawn(tracked):
    charts = state_of(tracked, views.LOSSES)["compareRunCharts"]
    scales = {chart["metricKey"]: chart.get("scaleType") for chart in charts if not chart["deleted"]}
    assert scales["loss"] == scales["last_mean_absolute_error"] == "log"
    (training,) = all_runs(tracked, "tags.stage = 'train'")
    left_out = {chart["metricKey"] for chart in charts if chart["deleted"]}
    assert left_out == training.data.metrics.keys() - scales.keys() >= {"iterations", "convergence_points"}


def test_a_cell_is_a_run_whose_name_begins_with_it_and_the_view_of_the_grid_shows_the_cells_alone(tracked):
    state = state_of(tracked, "searches-net-test")
    shown = all_runs(tracked, state["searchFilter"])
    assert sorted(run.info.run_name for run in shown) == [
        f"λ={weight} N={size} test net" for weight in (0.2, 0.5) for size in (3, 5)
    ]
    assert shown[0].data.metrics.keys() == {"optimal_percent", "nodes_expanded", "length"}
    assert shown[0].data.params.keys() == {"path_weight", "batch_size"}
    assert state["orderByKey"] != "attributes.start_time", "by the date, the pages show cells below their search alone"
    axes = [(chart["xaxis"]["key"], chart["yaxis"]["key"]) for chart in state["compareRunCharts"][:2]]
    assert axes == [("path_weight", "batch_size")] * 2


def test_cells_of_a_former_search_are_former_and_leave_the_view(root):
    write_training(root)
    path = write_search(root)
    tracking.track([root / "results/tiny"], root)
    write_json(path, read_json(path) | {"code": "d" * 64})
    tracking.track([root / "results/tiny"], root)
    assert len(all_runs(root, "tags.stage = 'cell'")) == 8
    assert len(all_runs(root, state_of(root, "searches-net-test")["searchFilter"])) == 4


def test_runs_of_a_changed_parameter_have_names_that_say_it(root):
    tracking.log_card(write_training(root, 0.001), root)
    assert names_of(root, "train") == ["train net"]
    tracking.log_card(write_training(root, 0.01, weights="others"), root)
    assert names_of(root, "train") == ["train net · learning_rate=0.001 · former", "train net · learning_rate=0.01"]
    tracking.log_card(write_training(root, 0.001), root)
    assert names_of(root, "train") == ["train net · learning_rate=0.001", "train net · learning_rate=0.01 · former"]


def test_parameters_without_an_effect_and_copies_of_numbers_are_not_logged(root):
    tracking.track([write_study(root)], root)
    (training,) = all_runs(root, "tags.stage = 'train'")
    assert {"learning_rate", "epsilon", "sampler.walk_max", "puzzle"} <= training.data.params.keys()
    assert not {"lbfgs_steps", "sampler.disks", "training.epsilon"} & training.data.params.keys()
    write_json(path := root / SEARCH, read_json(path) | {"metrics": {"test_0.2_5_length": 10.5, "length": 10.5}})
    run = client_of(root).get_run(tracking.log_card(path, root))
    assert "test_0.2_5_length" not in run.data.metrics and run.data.metrics["length"] == 10.5


def test_a_search_tells_what_the_audit_found_of_the_checkpoint_that_it_selected(root):
    write_audit(root)
    write_training(root)
    run = client_of(root).get_run(tracking.log_card(write_search(root), root))
    assert run.data.metrics["selected_admissible_percent"] == 50.0, "of iteration 301"


def test_descriptions_say_the_numbers_the_files_the_report_and_the_key(tracked):
    for run in all_runs(tracked):
        note, key = run.data.tags[notes.NOTE], run.data.tags["key"][: cards.SHOWN]
        assert f"costtogo track --open {key}" in note and "reports/tiny/report.md" in note
    study = experiment_of(tracked).tags[notes.NOTE]
    assert "viewStateShareKey=searches-net-test" in study and "reports/tiny/report.md" in study
    model = client_of(tracked).get_registered_model("tiny.net").description
    assert "| nodes expanded | 70.5 |" in model and "predict" in model
    told = {version.tags["iteration"]: version.description for version in client_of(tracked).search_model_versions()}
    assert "chosen on instances" in told["301"] and "last of the training" in told["400"]


def test_the_example_in_the_description_of_a_network_runs(root, monkeypatch, capsys):
    import mlflow

    from costtogo.heuristics import network

    monkeypatch.setenv("MLFLOW_TRACKING_URI", "")  # which the example sets, so that it is put back
    monkeypatch.setattr(network, "load", lambda path: OfCubes())
    tracking.track([write_study(root)], root)  # of its own: MLflow writes into the folder of what it loads
    (code,) = re.findall(r"```python\n(.*?)```", client_of(root).get_registered_model("tiny.net").description, re.S)
    assert len(code.splitlines()) == 5
    try:
        exec(code, {})
    finally:
        mlflow.set_tracking_uri("")
    assert f"[{make('cube2').goal.sum()}.]" in capsys.readouterr().out


def test_tracking_again_changes_no_description_and_no_view(root):
    study = write_study(root)
    tracking.track([study], root)
    before = experiment_of(root).tags
    tracking.track([study], root)
    assert experiment_of(root).tags == before


def test_the_key_of_a_report_s_row_opens_its_run_which_is_recorded_first_if_need_be(root):
    study = write_study(root)
    key = cards.short_key(read_json(root / SEARCH))
    address = tracking.open_run(key, root / "results", root)
    (run,) = all_runs(root, "tags.stage = 'search'")
    assert address == f"http://127.0.0.1:5000/#/experiments/1/runs/{run.info.run_id}?workflowType=machine_learning"
    tracking.track([study], root)
    assert tracking.open_run(key, root / "results", root) == address
    assert len(cards_of(study, root)) == 5 == len(all_runs(root))


def test_the_key_of_what_is_kept_in_git_is_that_of_the_card(root):
    """Single networks are not kept, and instances from outside are named without their place."""
    networks = {"results/tiny/models/net/checkpoints/000400.safetensors": "1"}
    inputs = networks | {"/far/away/korf.csv": "2", "a.npz": "3"}
    card = read_json(write_report(root)) | {"inputs": inputs}
    kept = json.loads(json.dumps(publish._few(card, "inputs")))
    assert kept["inputs"] == {"$COSTTOGO_EXTERNAL/korf.csv": "2", "a.npz": "3"}
    assert cards.key_of(kept) == cards.key_of(card) != cards.key_of(card | {"inputs": {"a.npz": "4"}})


def test_a_key_that_cannot_be_opened_is_one_sentence(root):
    write_study(root)

    def told(key: str) -> str:
        with pytest.raises(UserError) as error:
            tracking.open_run(key, root / "results", root)
        assert is_one_sentence(str(error.value)), str(error.value)
        return str(error.value)

    assert "is no key of a run" in told("DNN_0") and "is no key of a run" in told("' or 1=1 --")
    assert "No finished stage in" in told("0123456789ab")
    card = read_json(root / SEARCH) | {"name": "lost", "timing": {"commit": "c0ffee"}}
    write_json(Path("data/measured/thesis.json"), {"searches/lost": card})
    sentence = told(cards.short_key(card))
    assert "is searches/lost of the study thesis, kept from commit c0ffee" in sentence
    assert "snakemake --cores all thesis" in sentence
