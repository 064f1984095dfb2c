"""What a newcomer meets in MLflow's UI: its address, names that tell runs apart, cells of searches, descriptions."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from messages import is_one_sentence
from synthetic_cards import (
    OfCubes,
    all_runs,
    cards_of,
    client_of,
    training_fields,
    write_audit,
    write_card,
    write_report,
    write_search,
    write_study,
    write_training,
)

from costtogo import cards, tracking
from costtogo.commands import publish
from costtogo.files import read_frame, read_json, write_frame, write_json
from costtogo.params.base import TrainingName
from costtogo.puzzles import make
from costtogo.tracking import location, record
from costtogo.types import UserError

PAGE = Path(__file__).parents[2] / "docs/mlflow.md"
SEARCH = "results/tiny/searches/net.json"


def experiment_of(root):
    return client_of(root).get_experiment_by_name("costtogo/tiny")


def names_of(root, stage: str) -> list[str]:
    return sorted(run.info.run_name for run in all_runs(root, f"tags.stage = '{stage}'"))


def test_the_address_of_the_ui_is_that_of_the_tracking_server_where_there_is_one(root, monkeypatch):
    monkeypatch.setenv("MLFLOW_PORT", "5005")
    assert location.ui_address(root) == "http://127.0.0.1:5005"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://server:80/")
    assert location.ui_address(root) == "http://server:80"


def test_the_ui_has_an_address_for_each_study_and_one_for_the_networks(tracked):
    number = experiment_of(tracked).experiment_id
    assert tracking.ui_lines(tracked) == [
        f"tiny: http://127.0.0.1:5000/#/experiments/{number}/runs",
        "networks: http://127.0.0.1:5000/#/models",
    ]


def test_a_store_is_made_before_the_ui_opens_and_says_how_to_have_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("COSTTOGO_TRACKING", "on")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("MLFLOW_PORT", raising=False)
    told = subprocess.run([sys.executable, "-m", "costtogo.tracking"], cwd=tmp_path, capture_output=True, text=True)
    first, second = told.stdout.splitlines()
    assert first.startswith("There is no run yet") and second == "networks: http://127.0.0.1:5000/#/models"
    assert (tmp_path / "mlflow.db").exists()


CELLS = "tags.cell_of = 'searches/net' and tags.set = 'test' and tags.result != 'former'"  # as docs/mlflow.md says


def test_a_cell_is_a_child_run_whose_name_begins_with_it_and_a_filter_shows_the_cells_of_a_search_alone(tracked):
    shown = all_runs(tracked, CELLS)
    assert sorted(run.info.run_name for run in shown) == [
        f"λ={weight} N={size} test net" for weight in (0.2, 0.5) for size in (3, 5)
    ]
    (search,) = all_runs(tracked, "tags.stage = 'search'")
    assert {run.data.tags["mlflow.parentRunId"] for run in shown} == {search.info.run_id}
    assert shown[0].data.metrics.keys() == {"optimal_percent", "nodes_expanded", "length"}
    assert shown[0].data.params.keys() == {"path_weight", "batch_size"}


def test_the_page_on_mlflow_gives_the_filter_that_the_tests_use():
    assert CELLS.replace("/net", "/DNN_0") in PAGE.read_text(encoding="utf-8")


def test_cells_of_a_former_search_are_former_and_leave_the_filter(root):
    write_training(root)
    path = write_search(root)
    tracking.track([root / "results/tiny"], root)
    write_json(path, read_json(path) | {"code": "d" * 64})
    tracking.track([root / "results/tiny"], root)
    assert len(all_runs(root, "tags.stage = 'cell'")) == 8
    assert len(all_runs(root, CELLS)) == 4


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


def test_descriptions_say_study_stage_numbers_files_report_and_key(tracked):
    told = {run.data.tags["stage"]: run.data.tags[record.DESCRIPTION] for run in all_runs(tracked)}
    keys = {run.data.tags["stage"]: run.data.tags["key"][: cards.SHOWN] for run in all_runs(tracked)}
    assert len(told) == 5 and all(len(text) < 400 for text in told.values())
    assert told["search"] == (
        "Study `tiny`, search of `net`: optimal percent 90, nodes expanded 70.5, length 10.5, "
        "selected admissible percent 50. Files: "
        f"`results/tiny/searches/net*`; report: `reports/tiny/report.md`; key: `{keys['search']}`."
    )
    assert "loss 0.0025" in told["train"] and "states 24" in told["table"] and "verdict better 2" in told["report"]
    assert "reports/tiny/report.md" in experiment_of(tracked).tags[record.DESCRIPTION]


def test_a_registered_network_says_what_it_is_and_how_to_load_it(tracked):
    client = client_of(tracked)
    model = client.get_registered_model("tiny.net").description
    assert "2×2×2" in model and 'load_model("models:/tiny.net@best")' in model and "predict" in model
    assert {version.tags["iteration"] for version in client.search_model_versions()} == {"301", "400"}


def test_the_example_that_loads_a_network_runs(root, monkeypatch, capsys):
    import mlflow

    from costtogo.heuristics import network

    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(root)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "")  # which the example sets, so that it is put back
    monkeypatch.setattr(network, "load", lambda path: OfCubes())
    tracking.track([write_study(root)], root)  # of its own: MLflow writes into the folder of what it loads
    assert code.count("default.DNN_final_2x2x2") == 1
    try:
        exec(code.replace("default.DNN_final_2x2x2", "tiny.net"), {})
    finally:
        mlflow.set_tracking_uri("")
    assert f"[{make('cube2').goal.sum()}.]" in capsys.readouterr().out


def test_tracking_again_changes_no_description(root):
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
    assert address == f"http://127.0.0.1:5000/#/experiments/1/runs/{run.info.run_id}"
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


def write_seeds(root, losses: list[float]) -> list[Path]:
    """Trainings of one recipe, a seed for each loss, next to the training `net`, which they differ from."""
    write_training(root)
    paths = []
    for number, loss in enumerate(losses, start=1):
        fields = training_fields(0.01)
        fields["parameters"]["training"] |= {"seed": number}
        paths.append(write_card(root, fields | {"name": str(TrainingName("walk", number))}, {"loss": loss}, []))
        table = root / "results/tiny/models/net/checkpoints.parquet"
        write_frame(paths[-1].with_suffix("") / "checkpoints.parquet", read_frame(table))
        shutil.copytree(table.parent / "checkpoints", paths[-1].with_suffix("") / "checkpoints", dirs_exist_ok=True)
    return paths


def parents(root) -> list:
    return all_runs(root, "tags.stage = 'seeds'")


def test_the_seeds_of_a_recipe_are_below_a_parent_with_their_mean_spread_and_count(root):
    paths = write_seeds(root, [1.0, 2.0, 6.0])
    tracking.track([root / "results/tiny"], root)
    (parent,) = parents(root)
    link = tracking.ui_lines(root)[1]
    assert link.startswith("tiny, means over seeds: ") and link.endswith("tags.stage%20%3D%20%27seeds%27")
    assert parent.info.run_name == "train walk, 3 seeds" and parent.info.status == "FINISHED"
    assert {name: parent.data.metrics[name] for name in ("loss", "least/loss", "most/loss", "count/loss")} == {
        "loss": 3.0, "least/loss": 1.0, "most/loss": 6.0, "count/loss": 3.0,
    }  # fmt: skip
    assert parent.data.metrics["sd/loss"] == pytest.approx(7**0.5)
    assert parent.data.params["learning_rate"] == "0.01" and "seed" not in parent.data.params
    trainings = all_runs(root, "tags.stage = 'train'")
    below = {
        run.data.tags["name"] for run in trainings if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id
    }
    assert below == {path.stem for path in paths}
    tracking.track([root / "results/tiny"], root)
    assert [run.info.run_id for run in parents(root)] == [parent.info.run_id], "nothing was to be done"


def test_the_end_of_a_stage_makes_the_parent_of_its_seeds_anew_where_a_number_has_changed(root):
    paths = write_seeds(root, [1.0, 2.0])
    tracking.log_card(paths[0], root)
    assert not parents(root), "one seed has no spread"
    tracking.log_card(paths[1], root)
    assert [run.data.metrics["loss"] for run in parents(root)] == [1.5]
    write_json(paths[1], read_json(paths[1]) | {"metrics": {"loss": 0.5}})
    tracking.log_card(paths[1], root)
    assert [run.data.metrics["loss"] for run in parents(root)] == [0.75]


def test_a_training_tells_which_parameters_differ_and_every_run_the_command_that_makes_it(root):
    write_seeds(root, [1.0, 2.0])
    tracking.track([root / "results/tiny"], root)
    told = {run.data.tags["name"]: run.data.tags for run in all_runs(root, "tags.stage = 'train'")}
    assert told["net"]["differs"] == "from net: nothing"
    assert told["walk_seed1"]["differs"] == "from net: learning_rate=0.01" == told["walk_seed2"]["differs"]
    assert told["net"]["command"] == "snakemake --cores all results/tiny/models/net.json"
    assert told["net"]["report"] == "reports/tiny/report.md"


def test_a_training_has_its_least_error_beside_its_last(root):
    path = write_training(root)
    errors = path.with_suffix("") / "errors.parquet"
    write_frame(errors, read_frame(errors).assign(mean_absolute_error=[0.0, 1.0, 0.0, 2.0]))
    metrics = client_of(root).get_run(tracking.log_card(path, root)).data.metrics
    assert (metrics["best_mean_absolute_error"], metrics["last_mean_absolute_error"]) == (0.75, 1.5)
    assert metrics["best_validation_loss"] == metrics["validation_loss"] == pytest.approx(2 / 400)
