"""Our number for a number of the literature: which table answers, at which checkpoint and cell, and what has none."""

import math
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import kept_studies
import numpy as np
import pandas as pd
import pytest
from synthetic_answers import REPORTED, MadeUp

from costtogo.files import FileError, read_csv, write_frame, write_json
from costtogo.literature import answers
from costtogo.literature.answers.listed_searches import is_no_merit
from costtogo.literature.answers.pairs import PAIRS
from costtogo.literature.finding import look_up, quantities_looked_up
from costtogo.literature.quantities import OTHERS
from costtogo.literature.verdicts import judge
from costtogo.literature.words import CANNOT_TELL, NOT_COMPARABLE, NOT_REACHED, REPRODUCED, WORSE
from costtogo.tables.results import StudyResults

NAN = math.nan
MODELS = ["walker", "runner"]
ROW = {  # of the thesis, as costtogo.literature.counterparts hands it on
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
    "ours": "walker",
    "listed": True,
    "repeated": True,
    "kind": "result",
    "models": MODELS,
    "total": 2850.0,
    "states": 3_674_160,
}
FREE = {"iteration": NAN, "point": NAN}
TRAINING = {"puzzle": "cube2", "states_per_iteration": 1000, "iterations": 2000}


def ask(study: MadeUp, **changes):
    """The answer to ROW with some changes."""
    return look_up(study.results(), ROW | changes)


def searched(points, percents) -> pd.DataFrame:
    """The searches at one λ and N with the checkpoints of some convergence points."""
    cell = {"set": "test", "path_weight": 0.7, "batch_size": 5, "instances": 1000, "nodes_expanded": 100.0}
    places = {"iteration": [100 * point for point in points], "convergence_point": points}
    return pd.DataFrame({**places, "optimal_percent": percents}).assign(**cell)


@pytest.fixture
def study(tmp_path) -> MadeUp:
    found = MadeUp(tmp_path, *MODELS)
    iteration = np.arange(1, 2001)
    curve = {"iteration": iteration, "updated": iteration % 100 == 0, "convergence_points": iteration // 100}
    metrics = {"iterations": 2000, "convergence_points": 20, "parameters": 7}
    card = {"metrics": metrics, "parameters": {"training": TRAINING}}
    found.cards = {f"models/{model}": deepcopy(card) for model in MODELS} | {
        "timings/models/walker": {"seconds": 7200.0}
    }
    found.tables = {
        "searches/walker/checkpoints": searched([10, 11, 12], [99.0, 98.0, 97.0]),
        "searches/runner/checkpoints": searched([10, 11], [96.0, 99.9]),
        "models/walker/curve": pd.DataFrame(curve).assign(validation_loss=0.1),
    }
    return found


def test_every_quantity_of_the_literature_is_registered_and_answered_or_has_its_reason():
    quantities = set(pd.concat(read_csv(path) for path in sorted(REPORTED.glob("*/*.csv")))["quantity"])
    quantities |= set(read_csv(REPORTED / "thesis.csv")["quantity"])
    assert quantities == set(OTHERS), "each has a title and a tolerance, and no other is registered"
    assert quantities_looked_up() <= quantities
    silent = {name for name, each in OTHERS.items() if name not in quantities_looked_up() and not each.reason}
    assert silent == {"manhattan_distance"}, "of a solver not run"
    assert all(hasattr(answers, path.stem) for path in Path(answers.__file__).parent.glob("[a-z]*.py"))


# Checkpoints


def test_a_checkpoint_answers_for_its_convergence_point(study):
    found = ask(study)
    assert (found.value, found.note) == (98.0, "convergence point 11, iteration 1100")
    assert found.low < 98.0 < found.high and found.file == "results/made_up/searches/walker/checkpoints.parquet"


def test_a_point_that_was_not_reached_or_not_looked_at_has_no_other_checkpoint_in_its_place(study):
    skipped, beyond = ask(study, point=13.0), ask(study, point=21.0)
    assert skipped.missing == NOT_COMPARABLE and "point 13 was not looked at" in skipped.note
    shorter = "20 convergence points in all, not 21, in 2,000 iterations; the source has 2,850"
    assert beyond.missing == NOT_REACHED and beyond.note == shorter
    assert ask(study, point=13.0, iteration=2850.0).missing == NOT_COMPARABLE, "nor that of a training of other length"
    study.cards["models/walker"]["metrics"]["iterations"] = 2850
    assert ask(study, point=21.0).note == "20 convergence points in all, not 21", "after as many iterations"


def test_the_ends_of_trainings_of_one_length_stand_beside_each_other(study):
    study.cards["models/walker"]["metrics"]["iterations"] = 1200
    found = ask(study, point=13.0, iteration=1200.0, total=1200.0)
    assert found.value == 97.0 and "after as many iterations" in found.note
    assert ask(study, point=21.0, iteration=1200.0, total=1200.0).missing == NOT_REACHED


def test_an_iteration_of_a_training_as_long_is_answered_by_that_very_one(study):
    for model in MODELS:
        study.cards[f"models/{model}"]["metrics"]["iterations"] = 2850
    assert ask(study, point=NAN, iteration=1100.0).value == 98.0
    assert ask(study, point=NAN, iteration=1101.0).missing == NOT_COMPARABLE


def test_an_iteration_without_a_point_is_answered_at_the_nearest_share_of_the_training(study):
    half, end = (ask(study, point=NAN, iteration=iteration) for iteration in (1430.0, 2850.0))
    assert half.value == 99.0 and "50 % of the training (the thesis's 50 %)" in half.note
    assert end.value == 97.0 and "60 % of the training (the thesis's 100 %)" in end.note


@pytest.mark.parametrize(("relation", "value"), [(">", 96.0), ("<=", 99.9)])
def test_a_claim_on_all_models_is_answered_by_the_one_that_decides_it(study, relation, value):
    found = ask(study, model=NAN, ours=None, relation=relation, **FREE)
    assert (found.value, found.note) == (value, "over 2 models")


def test_a_share_that_no_heuristic_reaches_too_is_said_to_be_no_merit_whoever_trained(study):
    zero = {"heuristic": ["zero", "exact"], "set": "test", "path_weight": 0.7, "batch_size": 5}
    study.tables["searches/baseline_cube2/grid"] = pd.DataFrame(zero | {"optimal_percent": [97.9, 100.0]})
    results = study.results()
    assert is_no_merit(results, ROW, 97.9) and is_no_merit(results, ROW, 97.0)
    for change in (
        {},
        {"ours": None},
        {"distance": 3.0},
        {"set": "start"},
        {"quantity": "length"},
        {"quantity": "nodes_expanded"},
        {"repeated": False},
    ):
        assert not is_no_merit(results, ROW | change, 98.0 if not change else 97.0)
    study.tables["searches/baseline_cube2/grid"]["optimal_percent"] = 100.0
    for change in ({"distance": 3.0}, {"quantity": "length"}):
        assert is_no_merit(study.results(), ROW | change, 97.0), "where all of its solutions are optimal"


def test_a_claim_over_all_batch_sizes_is_answered_by_the_one_that_decides_it(study):
    frame = study.tables["searches/walker/checkpoints"]
    study.tables["searches/walker/checkpoints"] = pd.concat([frame, frame.assign(batch_size=3, nodes_expanded=80.0)])
    assert ask(study, quantity="nodes_expanded", batch_size=NAN, relation=">", value=90.0).value == 80.0


def test_a_search_that_found_nothing_has_no_length(study):
    study.tables["searches/walker/checkpoints"]["length"] = [127.0, NAN, 127.0]
    assert ask(study, quantity="length", value=127.0, **FREE).missing == NOT_REACHED


def test_the_interval_of_a_share_of_states_on_walks_is_the_audits_own(study):
    measures = {"iteration": 1100, "convergence_point": 11, "scope": ["sample", "all"], "states": [9990, 3_674_160]}
    measures |= {"mean_absolute_error": 2.0, "admissible_percent": [90.0, 91.0]}
    ends = {"admissible_low": [85.0, NAN], "admissible_high": [93.0, NAN]}
    study.tables["audits/walker/measures"] = pd.DataFrame(measures | ends)
    found = ask(study, quantity="admissible_percent", set="sample")
    assert (found.value, found.low, found.high) == (90.0, 85.0, 93.0)


def test_an_audit_answers_over_the_sample_and_over_all_states(study):
    measures = {"iteration": 1100, "convergence_point": 11, "scope": ["sample", "all"], "states": [9990, 3_674_160]}
    measures |= {"mean_absolute_error": 2.0}
    study.tables["audits/walker/measures"] = pd.DataFrame(measures | {"admissible_percent": [90.0, 91.0]})
    found = ask(study, quantity="admissible_percent", set="sample")
    assert (found.value, found.exhaustive) == (90.0, 91.0) and found.low < 90 < found.high
    whole = ask(study, quantity="admissible_percent", set="all")
    assert whole.value == 91.0 and math.isnan(whole.low), "all states are no sample"


# Trainings


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"quantity": "convergence_point_iteration"}, 1100),
        ({"quantity": "convergence_points", "point": NAN}, 7),
        ({"quantity": "convergence_points", **FREE}, 20),
        ({"quantity": "states_seen"}, 1_100_000),
        ({"quantity": "states_seen_percent"}, 100 * 1_100_000 / 3_674_160),
        ({"quantity": "times_seen"}, 1_100_000 / 3_674_160),
        ({"quantity": "training_time", "unit": "h", "iteration": 2850.0}, 2.0),
        ({"quantity": "training_time", "unit": "min", "iteration": 500.0}, 30.0),
        ({"quantity": "total_iterations", "value": 1900.0}, 2000),
        ({"quantity": "validation_loss"}, 0.1),
        ({"quantity": "parameters"}, 7),
    ],
)
def test_the_training_answers_from_its_curve_and_its_card(study, change, value):
    assert ask(study, **change).value == pytest.approx(value)


def test_training_time_counts_runs_before_a_resume_and_iterations_up_to_the_rows(study):
    study.cards["timings/models/walker"] = {"seconds": 3000.0, "earlier_seconds": 4200.0}
    assert ask(study, quantity="training_time", unit="h", iteration=1000.0).value == 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"model": "sitter", "ours": None},
        {"set": "grid"},
        {"path_weight": 0.9},
        {"quantity": "states"},
        {"quantity": "mean_absolute_error"},
    ],
)
def test_what_was_not_measured_has_no_answer(study, change):
    assert ask(study, **change) is None


@pytest.mark.parametrize(
    "quantity", ["states_seen", "states_seen_percent", "times_seen", "convergence_point_iteration"]
)
def test_what_was_not_reached_says_so(study, quantity):
    found = ask(study, quantity=quantity, point=21.0)
    assert found.missing == NOT_REACHED and found.note == "20 convergence points in 2,000 iterations"


def test_the_ratio_of_nodes_is_of_lambda_one_to_the_rows_and_the_extreme_over_batch_sizes(study):
    cells = {(1.0, 3): 60.0, (1.0, 7): 90.0, (0.2, 3): 20.0, (0.2, 7): 45.0}
    frame = pd.DataFrame([[weight, size, nodes] for (weight, size), nodes in cells.items()])
    frame = frame.set_axis(["path_weight", "batch_size", "nodes_expanded"], axis=1)
    study.tables["searches/walker/checkpoints"] = frame.assign(iteration=1100, convergence_point=11, set="test")
    asked = {"quantity": "nodes_expanded_ratio", "path_weight": 0.2, "batch_size": NAN}
    assert ask(study, **asked, relation=">").value == 2.0 and ask(study, **asked, relation="<").value == 3.0
    assert ask(study, **asked | {"path_weight": 0.5}) is None


def test_the_least_share_over_distances_and_the_most_below_another_training(study):
    def layers(shares: list[float]) -> pd.DataFrame:
        frame = pd.DataFrame({"distance": [8, 9, 10], "optimal_percent": shares, "instances": 200})
        return frame.assign(iteration=1100, convergence_point=11, set="test", path_weight=0.7, batch_size=5)

    study.tables["searches/walker/checkpoints_by_distance"] = layers([100.0, 95.0, 98.0])
    least = ask(study, quantity="optimal_percent_least", relation=">")
    assert least.value == 95.0 and least.note.endswith("distance 9") and least.low < 95.0 < least.high
    assert ask(study, quantity="optimal_percent_difference") is None, "the other has not been searched with"
    best = layers([99.0, 98.0, 99.5]).assign(convergence_point=10)
    study.tables["searches/DNN_reduced_0/checkpoints_by_distance"] = best
    study.cards["models/DNN_reduced_0"] = study.cards["models/walker"]
    assert ask(study, quantity="optimal_percent_difference").value == 3.0


@pytest.mark.parametrize("quantity", ["seconds", "seconds_ratio_batch_size", "seconds_ratio_path_weight"])
def test_seconds_of_a_grid_with_holes_have_no_answer_where_a_cell_is_missing(study, quantity):
    cells = {"engine": "network alone", "set": "test", "searches": 12}
    grid = pd.DataFrame({"path_weight": [0.2, 0.7], "batch_size": 3, "seconds": [1.0, 2.0], **cells})
    study.tables["timings/searches/walker"] = grid
    assert ask(study, quantity=quantity, path_weight=0.2) is None
    whole = [
        {"path_weight": weight, "batch_size": size, "seconds": (3.0 if weight == 1 else 1.0) * 12 / size}
        for weight in (0.2, 1.0)
        for size in (3, 6, 7)
    ]
    study.tables["timings/searches/walker"] = pd.DataFrame(whole).assign(**cells)
    expected = {"seconds": 4.0, "seconds_ratio_batch_size": 7 / 3, "seconds_ratio_path_weight": 3.0}
    assert ask(study, quantity=quantity, path_weight=0.2, batch_size=3.0).value == pytest.approx(expected[quantity])


# Facts of the puzzle


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"quantity": "states"}, 107),
        ({"quantity": "states_at_distance", "distance": 2.0}, 60),
        ({"quantity": "states_at_distance", "distance": 9.0}, 0),
        ({"quantity": "diameter"}, 3),
    ],
)
def test_an_exact_table_answers_for_its_puzzle_and_is_a_fact(study, change, value):
    study.layers = [1, 6, 60, 40]
    found = ask(study, **{"model": NAN, "ours": None, **change})
    assert found.value == found.exhaustive == value and found.fact and found.file.endswith("tables/cube2.npz")


def test_the_samplers_are_told_apart_by_their_difference(study):
    drawn = {"sampler": ["deepcube"] * 2 + ["deepcubea"] * 2, "walk_max": 17, "distance": [1, 2] * 2}
    counts = {"sampled": [600, 400, 630, 370], "expected_percent": [61.0, 39.0] * 2}
    study.tables["instances/cube2/distributions"] = pd.DataFrame(drawn | counts)
    row = {"model": NAN, "ours": None, "set": "deepcube_17", "distance": 1.0}
    percent = ask(study, **row, quantity="sampled_percent")
    assert percent.value == percent.exhaustive == 61.0 and "60.00 %" in percent.note
    assert ask(study, **row, quantity="sampled_states_difference").value == 30.0
    row["distance"] = NAN
    assert ask(study, **row, quantity="sampled_states_difference", relation=">=").value == -30.0
    assert ask(study, **row, quantity="sampled_percent_difference", relation="<").value == 6.0


# Results, own and kept


def test_times_are_seen_only_when_asked_for(study):
    study.tables["timings/searches/walker"] = pd.DataFrame({"seconds": [1.0]})
    hidden, seen = study.results(timed=False), study.results(timed=False).with_times()
    assert "timing" not in hidden.card("models/walker") and hidden.find_frame("timings/searches/walker") is None
    assert seen.card("models/walker")["timing"] == {"seconds": 7200.0}
    assert seen.find_frame("timings/searches/walker")["seconds"].tolist() == [1.0]


def test_results_are_read_by_the_same_address_whether_own_or_kept(tmp_path):
    own, kept = StudyResults(tmp_path / "a", params=SimpleNamespace(puzzles={})), StudyResults.of_kept(tmp_path / "b")
    frame, card = pd.DataFrame({"x": [1, 2]}), {"metrics": {"loss": 0.5}}
    files = {"searches/walker/grid": "searches", "timings/searches/walker": "timings"}
    kept_studies.keep(tmp_path, "b", {"searches/walker": card}, dict.fromkeys(files, frame))
    for address, file in files.items():
        write_frame(own.folder / f"{address}.parquet", frame)
        assert own.place(address) == f"results/a/{address}.parquet"
        assert kept.place(address) == f"data/measured/b/{file}.csv"
    write_json(own.folder / "searches/walker.json", card)
    for results in (own.with_times(), kept):
        for address in files:
            pd.testing.assert_frame_equal(results.find_frame(address), frame)
        assert results.card("searches/walker") == results.cards["searches/walker"] == card
        assert results.has("searches/walker") and not results.has("searches/runner")
        assert results.find_frame("searches/runner/grid") is None and results.find_card("searches/runner") == {}
        for missing in (results.card, results.frame):
            with pytest.raises(FileError, match="searches.runner"):
                missing("searches/runner")


# Two trainings that a document compares


def timed(solved: float, length: float, half: float = 0.5) -> pd.DataFrame:
    """A grid of searches under two clocks, of which the longer counts."""
    cell = {"set": "scrambled", "instances": 100, "solved_percent": solved, "length": length}
    ends = {"length_low": length - half, "length_high": length + half}
    return pd.DataFrame(
        [cell | ends | {"seconds_allowed": 9.0}, cell | ends | {"seconds_allowed": 1.0, "length": 99.0}]
    )


@pytest.mark.parametrize(
    ("quantity", "model", "other", "one", "value", "verdict"),
    [
        ("length_more", "Report_DNN_eps0085", timed(100, 30), timed(100, 28), 2, REPRODUCED),
        ("length_more", "Report_DNN_eps0085", timed(100, 28), timed(100, 30), -2, WORSE),
        ("length_more", "Report_DNN_eps0085", timed(100, 30), timed(100, 29.9), 0.1, CANNOT_TELL),
        ("length_more", "Report_DNN_eps0085", timed(99, 30), timed(100, 28), NAN, NOT_COMPARABLE),
        ("solved_points_less", "Report_MLP", timed(50, 30), timed(80, 30), 30, REPRODUCED),
        ("solved_points_less", "Report_MLP", timed(80, 30), timed(50, 30), -30, WORSE),
        ("solved_points_less", "Report_MLP", timed(50, 30), timed(52, 30), 2, CANNOT_TELL),
    ],
)
def test_a_training_that_is_called_worse_is_held_against_the_other(study, quantity, model, other, one, value, verdict):
    row = {"quantity": quantity, "model": model, "listed": False, "repeated": False, "ours": None, "relation": ">"}
    row |= {"value": 0.0, "kind": "claim"}
    assert ask(study, **row) is None
    study.tables |= {f"anytime/{name}/grid": grid for name, grid in zip(PAIRS[model], (other, one), strict=True)}
    found = ask(study, **row)
    assert found.value == pytest.approx(value, nan_ok=True) and judge(ROW | row, found)[0] == verdict


BATCHES = {"quantity": "search_iterations", "model": "Report_DNN", "listed": False, "repeated": False, "kind": "result"}
BATCHES |= {"relation": "=", "value": 56.71, "path_weight": 0.8, "batch_size": 64.0, "ours": "runner"}


@pytest.mark.parametrize(("nodes", "verdict"), [(3385.4, REPRODUCED), (5545.4, WORSE)])
def test_batches_of_a_search_are_its_nodes_over_n(study, nodes, verdict):
    cells = {"path_weight": [0.8, 1.0], "batch_size": 64, "solved_percent": 100.0, "nodes_expanded": [nodes, 1.0]}
    cells |= {"instances": 20, "set": "scrambled"}
    study.tables["searches/runner/grid"] = pd.DataFrame(cells)
    found = ask(study, **BATCHES)
    assert found.value == nodes / 64 and judge(ROW | BATCHES, found)[0] == verdict
    study.tables["searches/runner/grid"] = pd.DataFrame(cells | {"solved_percent": 90.0})
    found = ask(study, **BATCHES)
    assert found.missing == NOT_REACHED, "a search that ended at its limit has no number of batches"
    assert found.note == "90 % of 20 searches end at a solution"
    assert ask(study, **(BATCHES | {"path_weight": 0.5})) is None
    study.tables["searches/runner/grid"] = pd.DataFrame(cells | {"set": "nearer"})
    assert ask(study, **BATCHES) is None, "searches of boards that are nearer to the goal"


LARGE = {"listed": False, "repeated": False, "kind": "claim", "ours": "runner"}


@pytest.mark.parametrize(("quantity", "value"), [("distance_learned", 11.0), ("distance_seen", 13.0)])
def test_how_far_a_training_has_learned_is_read_at_the_rows_convergence_point(study, quantity, value):
    own = {"puzzle": "cube2", "trainer": "davi", "sampler": SimpleNamespace(kind="adaptive_k")}
    study.models = {"walker": SimpleNamespace(**own)}
    curve = study.tables["models/walker/curve"]
    study.tables["models/walker/curve"] = curve.assign(effective_k=curve["convergence_points"] + 2)
    row = LARGE | {"quantity": quantity, "model": "C3_DNN_0", "relation": "<=", "value": 11.0}
    assert ask(study, **row).value == value
    assert judge(ROW | row, ask(study, **row))[0] == (REPRODUCED if value == 11 else WORSE)
    assert ask(study, **(row | {"point": 21.0})).missing == NOT_REACHED


@pytest.mark.parametrize(("error", "verdict"), [(14.0, REPRODUCED), (16.0, NOT_REACHED), (31.0, WORSE)])
def test_a_training_that_errs_by_more_than_no_network_has_diverged(study, error, verdict):
    row = LARGE | {"quantity": "training_diverges", "model": "Report_Polyak", "relation": "=", "value": 0.0}
    assert ask(study, **row) is None
    known = {"states": [3.0, 1.0], "distance": [20.0, 60.0], "mean_absolute_error": [error, error]}
    study.tables["audits/compact_Polyak/known"] = pd.DataFrame(known)
    assert judge(ROW | row, ask(study, **row))[0] == verdict
    found = ask(study, **(row | {"value": 1.0}))
    assert found.value == 1 if error > 30 else found.missing == NOT_REACHED, "it may diverge later"


def test_a_training_for_a_threshold_answers_for_the_one_that_does_not_diverge(study):
    row = LARGE | {"quantity": "training_diverges", "model": "Report_DNN", "relation": "=", "value": 0.0}
    study.tables["audits/runner/known"] = pd.DataFrame({"states": [1], "distance": [20], "mean_absolute_error": [2]})
    for polyak, answered in ((0.1, False), (0, True)):
        study.models = {"runner": SimpleNamespace(polyak=polyak)}
        assert (ask(study, **row) is not None) == answered


@pytest.mark.parametrize(
    ("errors", "iteration"), [([9, 1, 9, 2], None), ([9, 1, 2, 9], 40), ([1, 9, 1, 9], 40), ([1, 9, 9, 9], 20)]
)
def test_a_training_diverges_where_it_errs_by_more_than_none_from_then_on(study, errors, iteration):
    row = LARGE | {"quantity": "divergence_iteration", "model": "Report_first_trial", "puzzle": "cube2"}
    assert ask(study, **row) is None
    study.models["compact_no_target"], study.layers = SimpleNamespace(puzzle="cube2"), [1, 0, 0, 0, 0, 0, 2]
    points = range(1, 5)
    rows = [
        (10 * point, point, at, error * (at > 0), 0.0)
        for point, error in zip(points, errors, strict=True)
        for at in (0, 6)
    ]
    columns = ["iteration", "convergence_point", "distance", "mean_absolute_error", "bias"]
    study.tables["models/compact_no_target/errors"] = pd.DataFrame(rows, columns=columns)
    found = ask(study, **row)
    assert found.missing == NOT_REACHED if iteration is None else found.value == iteration


def test_a_search_over_korfs_databases_ends_at_nodes_and_not_where_a_memory_does(study):
    row = {"quantity": "out_of_memory_path_weight", "model": "BWAS_Korf_PDB", "value": 0.3, "listed": False}
    row |= {"repeated": False, "ours": None, "kind": "result", "relation": "="}
    assert ask(study, **row) is None
    cells = {"path_weight": [0.0, 0.4, 0.4], "batch_size": [1000, 1000, 1], "out_of_memory_percent": [100.0, 95.0, 0.0]}
    study.tables["baselines/korf/grid"] = pd.DataFrame(cells)
    found = ask(study, **row)
    assert found.missing == NOT_COMPARABLE and "λ = 0.4" in found.note and "95 %" in found.note


def test_scrambles_that_manhattan_distance_solves_are_told_with_the_limit_that_decides(study):
    row = {"quantity": "scramble_moves_solved", "model": "Manhattan", "value": 20.0, "listed": False, "relation": "<="}
    row |= {"repeated": False, "ours": None, "kind": "claim"}
    cells = {"set": "scrambled", "path_weight": [0.4, 1.0], "instances": 20, "solved_percent": [100.0, 20.0]}
    study.tables["baselines/manhattan/grid"] = pd.DataFrame(cells)
    found = ask(study, **row)
    assert found.missing == NOT_COMPARABLE and "λ = 0.4 solves 100 % of 20 boards" in found.note
