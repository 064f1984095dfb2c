"""The literature's numbers beside ours: which number of ours answers, and how the two are judged."""

import math

import pandas as pd
import pytest

from costtogo.files import FileError, write_json
from costtogo.report.answer import Answer, answer
from costtogo.report.results import StudyResults
from costtogo.report.verdicts import AGREES, BEATS, NOT_COVERED, SHORT, judge

NAN = math.nan
ROW = {
    "source": "thesis",
    "section": "5.7",
    "quantity": "optimal_percent",
    "puzzle": "cube2",
    "model": "walker",
    "iteration": 795.0,
    "point": 11.0,
    "path_weight": 0.7,
    "batch_size": 5.0,
    "distance": NAN,
    "set": "test",
    "relation": "=",
    "value": 99.04,
    "unit": "%",
    "erratum": NAN,
    "total": 2850.0,
    "models": ["walker", "runner"],
    "states": 3674160,
    "ours": "walker",
    "repeated": True,
    "listed": True,
}


LONGER = {"quantity": "total_iterations", "value": 2850.0}  # than our training


class MadeUp:
    """A study of made-up tables and cards, by address."""

    def __init__(self, frames, cards):
        self.frames, self.cards = frames, cards

    def find(self, address):
        return self.frames.get(address)

    def find_card(self, address):
        return self.cards.get(address, {})

    card = has = find_card

    timed = False

    def place(self, address, suffix=None):
        return address

    def training(self, model):
        return self.find_card(f"models/{model}").get("parameters", {}).get("training", {})


def searched(points, percents):
    cell = {"set": "test", "path_weight": 0.7, "batch_size": 5, "instances": 1000, "nodes_expanded": 100.0}
    rows = [
        cell | {"iteration": 100 * point, "convergence_point": point, "optimal_percent": percent}
        for point, percent in zip(points, percents, strict=True)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def study():
    training = {"puzzle": "cube2", "states_per_iteration": 1000}
    card = {"metrics": {"iterations": 2000}, "parameters": {"training": training}, "timing": {"seconds": 7200.0}}
    curve = pd.DataFrame({"iteration": range(1, 2001)})
    curve["updated"] = curve["iteration"] % 100 == 0
    curve["convergence_points"] = curve["iteration"] // 100
    curve["validation_loss"] = 0.1
    frames = {
        "searches/walker/checkpoints": searched([10, 11, 12], [99.0, 98.0, 97.0]),
        "searches/runner/checkpoints": searched([10, 11], [96.0, 99.9]),
        "models/walker/curve": curve,
    }
    return MadeUp(frames, {"models/walker": card, "models/runner": card})


@pytest.mark.parametrize(
    ("change", "value", "verdict"),
    [
        ({}, 99.04, AGREES),
        ({}, 98.6, AGREES),
        ({}, 98.4, SHORT),
        ({}, 99.8, BEATS),
        ({"quantity": "nodes_expanded", "value": 100.0}, 109.0, AGREES),
        ({"quantity": "nodes_expanded", "value": 100.0}, 89.0, BEATS),
        ({"quantity": "nodes_expanded", "value": 100.0}, 111.0, SHORT),
        ({"quantity": "states_at_distance", "value": 276.0}, 276.0, AGREES),
        ({"quantity": "states_at_distance", "value": 276.0}, 277.0, SHORT),
        ({"quantity": "nodes_expanded", "value": 73.0, "relation": ">="}, 60.0, BEATS),
        ({"quantity": "nodes_expanded", "value": 76.0, "relation": "<="}, 80.0, SHORT),
        ({"quantity": "nodes_expanded", "value": 76.0, "relation": "<="}, 76.0, AGREES),
        ({"quantity": "nodes_expanded", "value": 76.0, "relation": "<"}, 76.0, SHORT),
        ({"value": 96.4, "relation": ">"}, 96.4, SHORT),
    ],
)
def test_a_number_is_judged_by_its_tolerance_and_by_which_way_is_better(change, value, verdict):
    assert judge(ROW | change, Answer(value))[0] == verdict


def test_a_number_within_our_interval_agrees_however_far_it_is():
    assert judge(ROW, Answer(97.0, low=95.0, high=99.1))[0] == AGREES
    assert judge(ROW, Answer(97.0, low=95.0, high=98.9))[0] == SHORT
    assert judge(ROW, None)[0] == NOT_COVERED


def test_a_bound_that_our_interval_reaches_is_not_broken():
    row = ROW | {"quantity": "sampled_percent", "value": 6.0, "relation": "<"}
    assert judge(row, Answer(6.03, low=5.85, high=6.21)) == (AGREES, "within the interval")
    assert judge(row, Answer(6.3, low=6.1, high=6.5))[0] == SHORT


def test_a_checkpoint_answers_for_its_convergence_point(study):
    found = answer(study, ROW)
    assert found.value == 98.0
    assert found.note == "convergence point 11, iteration 1100"
    assert found.low < 98.0 < found.high


def test_the_nearest_checkpoint_answers_where_the_point_was_not_reached(study):
    found = answer(study, ROW | {"point": 13.0})
    assert found.value == 97.0
    assert "13 is not among ours" in found.note


def test_an_iteration_without_a_point_is_answered_at_the_nearest_share_of_the_training(study):
    half, end = (answer(study, ROW | {"point": NAN, "iteration": iteration}) for iteration in (1430.0, 2850.0))
    assert half.value == 99.0 and "50 % of the training (the thesis's 50 %)" in half.note
    assert end.value == 97.0 and "60 % of the training (the thesis's 100 %)" in end.note


@pytest.mark.parametrize(("relation", "value"), [(">", 96.0), ("<=", 99.9)])
def test_a_claim_on_all_models_is_answered_by_the_one_that_decides_it(study, relation, value):
    found = answer(study, ROW | {"model": NAN, "ours": None, "iteration": NAN, "point": NAN, "relation": relation})
    assert found.value == value
    assert found.note == "over 2 models"


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"quantity": "convergence_point_iteration"}, 1100),
        ({"quantity": "convergence_points", "point": NAN}, 7),
        ({"quantity": "convergence_points", "iteration": NAN, "point": NAN}, 20),
        ({"quantity": "states_seen"}, 1_100_000),
        ({"quantity": "states_seen_percent"}, 100 * 1_100_000 / 3_674_160),
        ({"quantity": "training_time", "unit": "h", "iteration": 2850.0}, 2.0),
        ({"quantity": "training_time", "unit": "min", "iteration": 500.0}, 30.0),
        ({"quantity": "total_iterations", "value": 1900.0}, 1900),
        ({"quantity": "validation_loss"}, 0.1),
    ],
)
def test_the_training_answers_from_its_curve(study, change, value):
    assert answer(study, ROW | change).value == pytest.approx(value)


@pytest.mark.parametrize("change", [{"ours": "sitter"}, {"set": "grid"}, {"path_weight": 0.9}, LONGER])
def test_what_was_not_measured_has_no_answer(study, change):
    assert answer(study, ROW | change) is None


@pytest.mark.parametrize("quantity", ["states_seen", "states_seen_percent", "times_seen"])
def test_states_seen_up_to_a_point_never_reached_are_no_saving(study, quantity):
    assert answer(study, ROW | {"quantity": quantity, "point": 21.0}) is None


def test_a_claim_over_all_batch_sizes_is_answered_by_the_one_that_decides_it(study):
    frame = study.frames["searches/walker/checkpoints"]
    study.frames["searches/walker/checkpoints"] = pd.concat([frame, frame.assign(batch_size=3, nodes_expanded=80.0)])
    row = ROW | {"quantity": "nodes_expanded", "batch_size": NAN, "relation": ">", "value": 90.0}
    assert answer(study, row).value == 80.0


@pytest.mark.parametrize("quantity", ["seconds", "seconds_ratio_batch_size", "seconds_ratio_path_weight"])
def test_seconds_of_a_grid_with_holes_have_no_answer_where_a_cell_is_missing(study, quantity):
    cells = {
        "engine": "network alone",
        "set": "test",
        "path_weight": [0.2, 0.7],
        "batch_size": 3,
        "seconds": [1.0, 2.0],
    }
    study.frames["timings/searches/walker"] = pd.DataFrame(cells | {"searches": 12})
    assert answer(study, ROW | {"quantity": quantity, "path_weight": 0.2}) is None
    whole = [{**cells, "path_weight": weight, "batch_size": size} for weight in (0.2, 1.0) for size in (3, 5, 7)]
    study.frames["timings/searches/walker"] = pd.DataFrame([{**row, "seconds": 1.5, "searches": 12} for row in whole])
    assert answer(study, ROW | {"quantity": quantity, "path_weight": 0.2}).value in (1.0, 1.5)


def test_training_time_counts_runs_before_a_resume_and_iterations_up_to_the_rows(study):
    study.cards["models/walker"]["timing"] = {"seconds": 3000.0, "earlier_seconds": 4200.0}
    assert answer(study, ROW | {"quantity": "training_time", "unit": "h", "iteration": 1000.0}).value == 1.0


def test_results_are_read_by_the_same_address_whether_own_or_kept(tmp_path):
    own, kept = StudyResults(tmp_path / "a"), StudyResults.of_kept(tmp_path / "b")
    frame, card = pd.DataFrame({"x": [1, 2]}), {"metrics": {"loss": 0.5}}
    places = {"searches/walker/grid": "searches_walker_grid", "timings/searches/walker": "timings_walker_searches"}
    kept.folder.mkdir()
    for address, name in places.items():
        (own.folder / address).parent.mkdir(parents=True)
        frame.to_parquet(own.folder / f"{address}.parquet")
        frame.to_csv(kept.folder / f"{name}.csv", index=False)
        assert (
            own.place(address) == f"results/a/{address}.parquet"
            and kept.place(address) == f"data/measured/b/{name}.csv"
        )
    write_json(own.folder / "searches/walker.json", card)
    write_json(tmp_path / "b.json", {"searches/walker": card})
    for results in (own.with_times(), kept):
        for address in places:
            pd.testing.assert_frame_equal(results.find(address), frame)
        assert results.card("searches/walker") == results.cards["searches/walker"] == card
        assert results.has("searches/walker") and not results.has("searches/runner")
        assert results.find("searches/runner/grid") is None and results.find_card("searches/runner") == {}
        for missing in (results.card, results.frame):
            with pytest.raises(FileError, match="searches.runner"):
                missing("searches/runner")
