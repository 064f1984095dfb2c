"""The literature's numbers beside ours: which training stands beside a number, how the two are judged, and why not."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_local_vi
from synthetic_answers import REPORTED, MadeUp
from synthetic_study import whole

from costtogo.figures.catalogue import PROGRAMS
from costtogo.files import write_frame
from costtogo.literature import comparison
from costtogo.literature.claims import MARKS, NUMBER, claims, once, scoreboard
from costtogo.literature.comparison import TERMS, compare, compare_local_vi, weigh_together
from costtogo.literature.counterparts import COMPACT, EXACT, OURS, Counterpart
from costtogo.literature.finding import Finding, pooled, share
from costtogo.literature.power import power
from costtogo.literature.quantities import OTHERS, THESIS, TIMES, quantity_of
from costtogo.literature.reported import COLUMNS, read_reported
from costtogo.literature.verdicts import judge
from costtogo.literature.words import (
    BETTER,
    CANNOT_TELL,
    KINDS,
    NOT_COMPARABLE,
    NOT_JUDGED,
    NOT_REACHED,
    NOT_RUN,
    REPRODUCED,
    SOURCE_ERRS,
    VERDICTS,
    WORSE,
)
from costtogo.params.loading import load
from costtogo.report.beside import claims_in_short, numbers_table, rules_text, unmet
from costtogo.tables.results import StudyResults
from costtogo.tables.searches import RELEASED

ROOT = Path(__file__).parents[1]
NAN = math.nan
ROW = dict.fromkeys(COLUMNS, NAN) | {
    **{"source": "thesis", "section": "5.7", "quantity": "optimal_percent", "puzzle": "cube2", "model": "walker"},
    **{"iteration": 795.0, "point": 11.0, "path_weight": 0.7, "batch_size": 5.0, "set": "test", "relation": "="},
    **{"value": 99.04, "unit": "%", "kind": "result"},
}
JUDGED = ROW | {"repeated": True}
TRAINED = {"metrics": {"iterations": 2000}, "parameters": {"training": {"puzzle": "cube2"}}}
EXPANDED = {"quantity": "nodes_expanded", "value": 100.0}


STATES = {"quantity": "states_at_distance", "value": 276.0, "kind": "fact"}


@pytest.mark.parametrize(
    ("change", "value", "verdict"),
    [
        ({}, 99.04, REPRODUCED),
        ({}, 98.6, REPRODUCED),
        ({}, 98.4, WORSE),
        ({}, 99.8, BETTER),
        (EXPANDED, 109.0, REPRODUCED),
        (EXPANDED, 89.0, BETTER),
        (EXPANDED, 111.0, WORSE),
        ({"quantity": "length", "value": 127.0}, 131.0, WORSE),
        ({"contradicted": "yes"}, 99.04, SOURCE_ERRS),
    ],
)
def test_a_result_is_judged_by_its_tolerance_and_by_which_way_is_better(change, value, verdict):
    assert judge(JUDGED | change, Finding(value))[0] == verdict


@pytest.mark.parametrize(
    ("bound", "relation", "value", "verdict"),
    [
        (73.0, ">=", 66.0, REPRODUCED),  # within the tolerance of 10 %, as an equality is
        (73.0, ">=", 60.0, BETTER),
        (76.0, "<=", 83.0, REPRODUCED),
        (76.0, "<=", 84.0, WORSE),
        (76.0, "<", 76.0, REPRODUCED),
    ],
)
def test_a_bound_has_the_tolerance_of_an_equality(bound, relation, value, verdict):
    row = JUDGED | {"quantity": "nodes_expanded", "value": bound, "relation": relation, "kind": "claim"}
    assert judge(row, Finding(value))[0] == verdict


def test_a_strict_bound_without_a_tolerance_is_not_met_by_the_bound_itself():
    row = JUDGED | {"quantity": "sampled_percent", "value": 6.0, "relation": "<", "kind": "fact"}
    assert judge(row, Finding(5.99, fact=True))[0] == REPRODUCED
    assert judge(row, Finding(6.0, fact=True))[0] == SOURCE_ERRS


@pytest.mark.parametrize("kind", ["cost", "setting"])
def test_a_cost_or_a_setting_is_neither_better_nor_worse(kind):
    for value in (1.0, 99.04, 1e9):
        assert judge(JUDGED | {"kind": kind}, Finding(value))[0] == NOT_JUDGED


def test_a_cost_that_was_run_and_not_reached_is_a_failure_and_one_that_was_not_run_is_none():
    assert judge(JUDGED | {"kind": "cost"}, Finding(NAN, missing=NOT_REACHED))[0] == NOT_REACHED
    assert judge(JUDGED | {"kind": "cost"}, None)[0] == NOT_RUN


def test_a_fact_that_differs_shows_that_the_source_errs_and_is_never_better():
    assert judge(JUDGED | STATES, Finding(276.0, fact=True))[0] == REPRODUCED
    assert judge(JUDGED | STATES, Finding(277.0, fact=True))[0] == SOURCE_ERRS
    assert judge(JUDGED | STATES, Finding(277.0))[0] == NOT_COMPARABLE, "a mean of other instances"


def test_what_only_an_interval_holds_is_marked(study):
    wide = {"optimal_low": 97.0, "optimal_high": 99.5}
    cells = study.tables["searches/walker/checkpoints"]
    for percent, mark in ((98.0, "yes"), (98.8, ""), (99.04, "")):
        study.tables["searches/walker/checkpoints"] = cells.assign(optimal_percent=percent, **wide)
        row = compared(study)
        assert (row["verdict"], row["by_interval"]) == (REPRODUCED, mark), percent
    study.tables["searches/walker/checkpoints"] = cells.assign(optimal_percent=96.0)
    assert compared(study)["by_interval"] == ""


def test_a_count_of_each_hundred_is_a_share():
    row = JUDGED | {"repeated": False, "quantity": "states_solved", "value": 98.0}
    assert judge(row, share(95.0, 20))[0] == CANNOT_TELL and judge(row, share(98.0, 400))[0] == REPRODUCED


def test_what_the_source_told_us_is_not_judged():
    assert judge(JUDGED, Finding(99.04, told=True))[0] == NOT_JUDGED


def test_a_range_that_comes_within_the_tolerance_is_reproduced_and_one_that_does_not_is_not():
    assert judge(JUDGED, Finding(97.0, low=95.0, high=98.6))[0] == REPRODUCED
    assert judge(JUDGED, Finding(97.0, low=95.0, high=98.5))[0] == WORSE
    assert judge(JUDGED, None)[0] == NOT_RUN


NODES = {"quantity": "nodes_expanded", "value": 358.0}


@pytest.mark.parametrize(
    ("change", "found", "verdict"),
    [
        ({"value": 60.3}, Finding(33.0, low=25.0, high=43.0), WORSE),  # however wide, all of it is worse
        ({"value": 12.0}, Finding(54.0, low=44.0, high=63.0), BETTER),
        ({"value": 60.3}, Finding(52.0, low=44.0, high=60.0), CANNOT_TELL),
        ({"value": 60.3}, Finding(60.3, low=55.4, high=65.2), REPRODUCED),
        ({"value": 60.3}, Finding(60.3, low=55.2, high=65.4), CANNOT_TELL),  # within, and too wide
        (NODES, Finding(269.7, low=29.0, high=510.0), CANNOT_TELL),  # half of the number would fit as well
        (NODES, Finding(340.0, low=270.0, high=410.0), REPRODUCED),
        (NODES, Finding(600.0, low=400.0, high=800.0), WORSE),
        (NODES, Finding(100.0, low=10.0, high=190.0), BETTER),
        ({"quantity": "length", "value": 21.5}, Finding(21.5, low=20.0, high=23.0), CANNOT_TELL),
        ({"quantity": "length", "value": 21.5}, Finding(21.5, low=20.9, high=22.1), REPRODUCED),
        ({"quantity": "overestimation_mean", "value": 0.0}, Finding(0.04, low=0.0, high=0.08), REPRODUCED),
        (
            {"relation": ">=", "value": 50.0},
            Finding(75.0, low=55.0, high=95.0),
            REPRODUCED,
        ),  # all of it meets the bound
        ({"relation": ">=", "value": 50.0}, Finding(60.0, low=45.0, high=75.0), CANNOT_TELL),
        ({"relation": ">=", "value": 50.0}, Finding(30.0, low=15.0, high=45.0), WORSE),
    ],
)
def test_the_direction_is_asked_before_the_width_and_the_width_of_every_quantity(change, found, verdict):
    assert judge(JUDGED | change, found)[0] == verdict


def test_the_chance_in_a_sample_of_the_source_is_never_too_wide():
    row = JUDGED | {"quantity": "sampled_states_difference", "value": -150.0, "kind": "fact"}
    assert judge(row, Finding(17.0, low=-214.0, high=248.0, fact=True))[0] == REPRODUCED


@pytest.mark.parametrize(
    ("seeds", "spread", "verdict", "why"),
    [
        (3, 4.0, CANNOT_TELL, "5 would matter"),
        (5, 4.0, NOT_COMPARABLE, "trainings of one recipe differ as much"),
        (5, 2.0, CANNOT_TELL, "more seeds would decide it"),
    ],
)
def test_trainings_that_differ_too_much_among_themselves_are_not_comparable_with_one(seeds, spread, verdict, why):
    found = Finding(60.0, low=48.0, high=72.0, seeds=seeds, spread=spread)
    told = judge(JUDGED | {"value": 61.0}, found)
    assert told[0] == verdict and told[1].endswith(why) or why in told[1]
    assert judge(JUDGED | {"value": 80.0}, found)[0] == WORSE, "what lies outside is told, whatever the spread"


def test_the_rules_err_as_seldom_as_they_say_and_find_what_matters():
    for row in power():
        assert row.worse[0] <= 5, "as good, and called worse"
        assert row.worse == sorted(row.worse) and row.reproduced[2] <= 2
    by = {(row.seeds, row.spread): row for row in power()}
    assert by[10, 1.0].reproduced[0] > 90 and by[10, 1.0].worse[1] > 90
    assert by[3, 4.0].reproduced[0] < 20, "three trainings that lie far apart tell little"


def test_a_bound_that_our_interval_straddles_can_not_be_told():
    row = JUDGED | {"quantity": "sampled_percent", "value": 6.0, "relation": "<", "kind": "fact"}
    assert judge(row, Finding(6.03, low=5.85, high=6.21))[0] == CANNOT_TELL
    assert judge(row, Finding(6.03, low=5.85, high=6.21, fact=True))[0] == NOT_COMPARABLE, "no run of ours decides it"
    assert judge(row, Finding(6.3, low=6.1, high=6.5, fact=True))[0] == SOURCE_ERRS
    assert judge(row, Finding(5.97, low=5.8, high=6.1, fact=True))[0] == REPRODUCED


def test_instances_too_few_to_tell_are_not_comparable_where_the_source_drew_no_more():
    row = JUDGED | {"quantity": "optimal_percent", "value": 100.0}
    for as_many, verdict in ((False, CANNOT_TELL), (True, NOT_COMPARABLE)):
        assert judge(row | {"as_many": as_many}, share(100.0, 2))[0] == verdict
        assert judge(row | {"as_many": as_many}, share(20.0, 20))[0] == WORSE, "what lies outside is told"
        assert judge(row | {"as_many": as_many}, share(99.0, 400))[0] == REPRODUCED
    of_seeds = pooled([Finding(value, low=value - 2, high=value + 2) for value in (90.0, 96.0, 99.0)])
    assert judge(row | {"as_many": True}, of_seeds)[0] == CANNOT_TELL, "by its trainings, not by its instances"


@pytest.mark.parametrize(("source_drew", "as_many"), [(10_000, True), (20_000, False)])
def test_a_set_of_ours_is_held_against_the_size_that_the_source_says(study, monkeypatch, source_drew, as_many):
    seen = []
    monkeypatch.setattr(comparison, "judge", lambda row, found: seen.append(row["as_many"]) or ("", ""))
    monkeypatch.setattr(comparison, "counterpart_of", lambda own, row: Counterpart(Finding(9990.0), "exact"))
    rows = [ROW, ROW | {"quantity": "states_sampled", "value": source_drew, "kind": "setting"}]
    compare(pd.DataFrame(rows, columns=COLUMNS), study.results())
    assert seen == [as_many, as_many]


def test_thirty_instances_can_not_tell_a_share_and_three_hundred_can():
    row = JUDGED | {"repeated": False, "quantity": "optimal_percent", "value": 60.3}
    assert judge(row, share(60.0, 30))[0] == CANNOT_TELL
    assert judge(row, share(60.0, 400))[0] == REPRODUCED
    assert [judge(row, share(value, 30))[0] for value in (30.0, 90.0)] == [WORSE, BETTER], "all of the range is"


@pytest.mark.parametrize("quantity", ["admissible_percent", "consistent_percent"])
@pytest.mark.parametrize(("error", "verdict"), [(0.1, BETTER), (0.7, CANNOT_TELL), (0.99, NOT_REACHED)])
def test_a_network_that_learned_nothing_is_not_better_for_what_it_does_not_overestimate(quantity, error, verdict):
    assert judge(JUDGED | {"quantity": quantity, "value": 90.0}, Finding(100.0, error_share=error))[0] == verdict


@pytest.mark.parametrize(
    ("theirs", "kind", "found", "verdict"),
    [
        (Fraction(7, 8), "fact", Finding(Fraction(7, 8), fact=True), REPRODUCED),
        (Fraction(7, 8), "fact", Finding(Fraction(7, 8) + Fraction(1, 10**12), fact=True), SOURCE_ERRS),
        (Fraction("83.3"), "fact", Finding(83.35, low=83.25, high=83.45, fact=True), REPRODUCED),
        (Fraction("83.3"), "fact", Finding(83.45, low=83.35, high=83.55, fact=True), SOURCE_ERRS),
        (Fraction(90), "result", Finding(80.0, low=70.0, high=95.0), REPRODUCED),
        (Fraction(90), "result", Finding(80.0, low=50.0, high=110.0), CANNOT_TELL),
        (Fraction(96), "result", Finding(80.0, low=70.0, high=95.0), WORSE),
        (Fraction(96), "cost", Finding(8.0), NOT_JUDGED),
    ],
)
def test_a_fraction_is_judged_exactly_and_a_number_with_bounds_by_these(theirs, kind, found, verdict):
    row = {"value": theirs, "relation": "=", "quantity": "class_share", "kind": kind, "repeated": False}
    assert judge(row, found)[0] == verdict


def test_every_number_says_what_kind_it_is_and_an_error_of_the_source_says_why():
    for path in sorted(REPORTED.rglob("*.csv")):
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        if "lambda" in path.name or path.name in (RELEASED, PROGRAMS.name):
            continue
        assert set(rows["kind"]) <= set(KINDS) and set(rows["contradicted"]) <= {"", "yes"}
        assert (rows.loc[rows["contradicted"] == "yes", "erratum"] != "").all()
        for _, claim in rows[rows["claim"] != ""].groupby("claim"):
            assert claim["section"].nunique() == 1 and claim["kind"].nunique() == 1


# Claims


def counted(*rows: tuple[str | float, str, str, str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["claim", "kind", "recipe", "verdict"])
    return frame.assign(source="thesis", quantity="length", seeds=NAN, **dict.fromkeys(MARKS, ""))


def test_a_sentence_counts_once_and_has_the_least_favourable_verdict_of_its_rows():
    rows = counted(("all solved", "claim", EXACT, REPRODUCED), ("all solved", "claim", COMPACT, WORSE))
    rows = pd.concat([rows, counted((NAN, "result", EXACT, BETTER), (NAN, "result", EXACT, BETTER))])
    found = claims(rows.reset_index(drop=True))
    assert found["verdict"].tolist() == [WORSE, BETTER, BETTER] and found["numbers"].tolist() == [2, 1, 1]
    assert found["recipe"].tolist() == [COMPACT, EXACT, EXACT]


def test_a_number_that_several_studies_answer_counts_once_for_each_recipe_and_one_that_none_does_once():
    """What was not run counts only where no study has another answer, whatever the recipe."""
    place = dict.fromkeys(NUMBER, "") | {"source": "thesis", "quantity": "length"}
    rows = [("a", "", NOT_RUN), ("a", OURS, NOT_COMPARABLE), ("a", OURS, WORSE), ("a", EXACT, CANNOT_TELL)]
    rows += [("b", OURS, NOT_RUN), ("b", OURS, NOT_COMPARABLE), ("c", "", NOT_RUN), ("c", OURS, NOT_RUN)]
    frame = pd.DataFrame([place | {"model": model, "recipe": recipe, "verdict": each} for model, recipe, each in rows])
    kept = once(frame)[["model", "recipe", "verdict"]].to_numpy().tolist()
    assert kept == [["a", OURS, WORSE], ["a", EXACT, CANNOT_TELL], ["b", OURS, NOT_COMPARABLE], ["c", "", NOT_RUN]]


def test_the_scoreboard_counts_results_apart_from_facts_and_no_setting():
    rows = [(NAN, "fact", "", REPRODUCED), (NAN, "result", EXACT, REPRODUCED), (NAN, "setting", "", NOT_JUDGED)]
    found = scoreboard(counted(*rows)).set_index("of")
    assert found["claims"].to_dict() == {"facts": 1, "results": 1}
    assert NOT_JUDGED not in found.columns and found[REPRODUCED].tolist() == [1, 1]


def test_a_network_that_learned_nothing_is_held_against_numbers_that_zero_everywhere_would_not_meet():
    row, found = JUDGED | {"quantity": "admissible_percent", "value": 92.2}, Finding(91.0, error_share=0.98)
    assert judge(row, found)[0] == REPRODUCED
    assert judge(row, Finding(99.0, error_share=0.98))[0] == NOT_REACHED, "better than reported, as zero is"
    assert judge(row | {"value": 97.0}, found)[0] == NOT_REACHED, "zero everywhere is within the tolerance"
    assert judge(row, Finding(80.0, error_share=0.98))[0] == WORSE


def test_the_first_screen_counts_what_holds_without_a_heuristic():
    rows = counted(*[("both", "claim", EXACT, REPRODUCED)] * 2, *[(NAN, "result", EXACT, BETTER)] * 2)
    rows = pd.concat([rows, counted(*[(NAN, "result", EXACT, CANNOT_TELL)] * 3)], ignore_index=True)
    rows["no_merit"] = ["yes", "yes", "yes", "", "", "", "yes"]
    told = claims_in_short(rows)
    assert (told["held"], told["judged"], told["without"], told["alone"]) == (3, 3, 2, 0)
    assert told["by_interval"] == 0
    rows.loc[[0, 4], "by_interval"] = "yes"
    assert claims_in_short(rows)["by_interval"] == 1, "one row of a claim is enough"
    rows.loc[0, ["no_merit", "seeds"]] = "", 1
    told = claims_in_short(rows)
    assert told["without"] == 1, "only where no heuristic does as well in every row of a claim"
    assert told["alone"] == 1, "where one row of a claim rests on a single training"


def test_the_claims_that_are_not_met_are_counted_once_each_by_what_they_are_about():
    rows = counted(("all", "claim", EXACT, WORSE), ("all", "claim", EXACT, REPRODUCED), (NAN, "fact", "", WORSE))
    assert unmet(rows).startswith("- Beside the literature, 1 claim about results is worse or not reached: length 1. [")
    names = ["optimal_percent", "nodes_expanded", "consistent_percent", "admissible_percent", "solved_percent"]
    many = counted(*[(NAN, "result", EXACT, NOT_REACHED)] * 7).assign(quantity=[*names, "solved_percent", "length"])
    assert "7 claims about results are worse or not reached: solved 2, optimal 1," in unmet(many)
    assert "admissible" not in unmet(many) and ", others 2. [" in unmet(many)
    assert unmet(counted((NAN, "result", EXACT, BETTER), (NAN, "cost", EXACT, WORSE))) == ""


@pytest.mark.parametrize(("value", "verdict"), [(99.9, BETTER), (99.0, REPRODUCED), (97.0, WORSE)])
def test_a_share_that_no_heuristic_reaches_too_is_not_better_and_else_judged_as_any(value, verdict):
    assert judge(JUDGED, Finding(value))[0] == verdict
    assert judge(JUDGED, Finding(value, no_merit=True))[0] == (NOT_COMPARABLE if verdict == BETTER else verdict)


def test_the_rules_are_printed_with_their_numbers():
    rows = pd.DataFrame([ROW, ROW | EXPANDED])
    text = rules_text(rows)
    assert all(f"*{verdict}*" in text for verdict in VERDICTS) and "5 points of a share" in text
    assert "optimal, % ± 0.5; nodes expanded ± 10 %." in text and "local value iteration" not in text
    text = rules_text(rows.assign(source="local_value_iteration"))
    assert "lie 3 standard deviations off" in text and "sample in 1,000 stays" in text


def test_the_thesis_is_judged_by_its_own_tolerances_and_named_as_its_own():
    assert set(THESIS) == set(read_reported([REPORTED / "thesis.csv"])["quantity"])
    assert quantity_of("optimal_percent", thesis=True).tolerance == "0.5"
    assert quantity_of("extra_moves").tolerance == "0.05" and quantity_of("extra_moves", thesis=True).tolerance == ""
    assert set(THESIS) < set(OTHERS)


# Which training stands


def searched(point: int, percent: float) -> dict[str, pd.DataFrame]:
    cell = {"set": "test", "path_weight": 0.7, "batch_size": 5, "instances": 1000, "nodes_expanded": 100.0}
    place = {"iteration": 100 * point, "convergence_point": point, "optimal_percent": percent}
    return {"searches/walker/checkpoints": pd.DataFrame([cell | place])}


@pytest.fixture
def study(tmp_path) -> MadeUp:
    found = MadeUp(tmp_path, "walker")
    found.cards, found.tables = {"models/walker": TRAINED}, searched(11, 98.0)
    return found


def compared(study: MadeUp, timed: bool = False, **changes) -> pd.Series:
    return compare(pd.DataFrame([ROW | changes]), study.results(timed)).iloc[0]


def keep(study: MadeUp, tables: dict[str, pd.DataFrame], *models: str) -> None:
    """Keep exact recipes of the study thesis, walker or some seeds of it."""
    exact = MadeUp(study.folder.parents[1], "walker", name="exact")
    exact.cards, exact.tables = {f"models/{name}": TRAINED for name in models or ["walker"]}, tables
    exact.keep("thesis")


def test_the_verdict_is_on_the_exact_recipe_where_it_was_run(study):
    keep(study, searched(11, 99.9))
    row = compared(study, value=98.0)
    assert (row["reproduced"], row["compact"], row["recipe"]) == (99.9, 98.0, EXACT)
    assert row["verdict"] == BETTER and row["seeds"] == 1
    assert "exact recipe; convergence point 11" in row["reason"] and "data/measured/thesis" in row["results_file"]


def test_the_compact_network_stands_alone_where_the_exact_recipe_was_not_run(study):
    row = compared(study, erratum="A slip.", value=99.9)
    assert (row["reproduced"], row["recipe"], row["verdict"]) == (98.0, COMPACT, WORSE)
    assert "has not been run" in row["reason"] and row["reason"].endswith("erratum: A slip.")
    study.cards, study.tables, study.folder = {}, {}, study.folder.with_name("nothing")
    nothing = compared(study)
    assert nothing["verdict"] == NOT_RUN and "no counterpart" in nothing["reason"]


def test_several_seeds_are_judged_by_their_mean_and_where_one_more_would_lie(study):
    seeds = {f"walker_seed{k}": percent for k, percent in enumerate((98.0, 99.0, 99.9), start=1)}
    tables = {
        address.replace("walker", name): frame
        for name, percent in seeds.items()
        for address, frame in searched(11, percent).items()
    }
    keep(study, tables, *seeds)
    row = compared(study)
    assert row["reproduced"] == pytest.approx(98.967, abs=1e-3) and row["seeds"] == 3
    assert row["verdict"] == REPRODUCED and "mean of 3 seeds" in row["reason"], "within the spread"
    assert compared(study, value=90.0)["verdict"] == BETTER


def test_what_most_seeds_did_not_reach_was_not_reached(study):
    curve = pd.DataFrame({"iteration": range(100, 2001, 100), "updated": True, "validation_loss": 1.0})
    reached = {"walker_seed1": 12, "walker_seed2": 14, "walker_seed3": 11}
    keep(study, {f"models/{name}/curve": curve[:points] for name, points in reached.items()}, *reached)
    terms = {"quantity": "convergence_point_iteration", "value": 1300.0, "kind": "cost"}
    thirteenth, twelfth = compared(study, point=13.0, **terms), compared(study, point=12.0, **terms)
    assert thirteenth["verdict"] == NOT_REACHED and "2 of 3 seeds have none" in thirteenth["reason"]
    assert twelfth["reproduced"] == 1200 and "mean of 2 seeds, 1 more have none" in twelfth["reason"]


def test_an_exact_training_that_stopped_short_is_not_answered_by_the_compact_one(study):
    curve = pd.DataFrame({"iteration": range(100, 2001, 100), "updated": True, "validation_loss": 1.0})
    study.tables["models/walker/curve"] = curve
    keep(study, {"models/walker/curve": curve[:12]})
    terms = {"quantity": "convergence_point_iteration", "value": 9900.0, "point": 13.0, "kind": "cost"}
    row = compared(study, **terms)
    assert row["verdict"] == NOT_REACHED and row["compact"] == 1300 and row["recipe"] == EXACT
    assert "exact recipe; 12 convergence points in 1,200 iterations" in row["reason"]


def test_a_time_of_the_study_itself_is_told_among_the_times_alone(study):
    study.cards["timings/models/walker"] = {"seconds": 3600.0}
    terms = {"quantity": "training_time", "unit": "h", "value": 1.0, "iteration": 2000.0, "kind": "cost"}
    assert "timings.md" in compared(study, **terms)["reason"]
    shown = compared(study, timed=True, **terms)
    assert (shown["reproduced"], shown["verdict"]) == (1.0, NOT_JUDGED)


def test_fewer_nodes_for_worse_solutions_are_another_trade(study):
    cell = searched(11, 95.0)["searches/walker/checkpoints"].assign(nodes_expanded=50.0)
    study.tables["searches/walker/checkpoints"] = cell
    reported = pd.DataFrame([ROW, ROW | EXPANDED])
    rows = compare(reported, study.results()).set_index("quantity")["verdict"]
    assert rows.to_dict() == {"optimal_percent": WORSE, "nodes_expanded": NOT_COMPARABLE}
    study.tables["searches/walker/checkpoints"] = cell.assign(optimal_percent=99.0)
    rows = compare(reported, study.results()).set_index("quantity")["verdict"]
    assert rows["nodes_expanded"] == BETTER


def test_a_search_that_another_document_quotes_is_the_same_search():
    search = {"puzzle": "cube3", "model": "DeepCube", **dict.fromkeys(TERMS, NAN)}
    rows = pd.DataFrame(
        [
            search | {"source": "deepcube", "section": "2", "quantity": "nodes_expanded", "verdict": WORSE},
            search | {"source": "another", "section": "4", "quantity": "length_ratio", "verdict": BETTER},
            search | {"source": "another", "section": "4", "quantity": "length", "verdict": BETTER, "model": "another"},
        ]
    ).assign(reason="", reproduced=1.0, reported=1.0, interval_95="", solver="")
    assert weigh_together(rows)["verdict"].tolist() == [WORSE, NOT_COMPARABLE, BETTER]


def test_fewer_nodes_are_not_better_where_too_few_searches_tell_whether_the_solutions_are_worse(study):
    wide = dict.fromkeys(["optimal_low", "optimal_high"], 0.0) | {"nodes_expanded": 50.0}
    cells = searched(11, 90.0)["searches/walker/checkpoints"].assign(
        **wide | {"optimal_low": 80.0, "optimal_high": 99.0}
    )
    study.tables["searches/walker/checkpoints"] = cells
    rows = compare(pd.DataFrame([ROW, ROW | EXPANDED]), study.results()).set_index("quantity")
    assert set(rows["verdict"]) == {CANNOT_TELL} and "perhaps" in rows.loc["nodes_expanded", "reason"]
    study.tables["searches/walker/checkpoints"] = cells.assign(optimal_percent=99.9, optimal_high=100.0)
    rows = compare(pd.DataFrame([ROW, ROW | EXPANDED]), study.results()).set_index("quantity")
    assert set(rows["verdict"]) == {CANNOT_TELL}, "the mean is better, the interval goes below"
    rows = compare(pd.DataFrame([ROW | {"value": 80.0}, ROW | EXPANDED]), study.results()).set_index("quantity")
    assert rows["verdict"].to_dict() == {"optimal_percent": CANNOT_TELL, "nodes_expanded": BETTER}


def test_a_network_is_not_better_for_one_measure_where_another_is_worse():
    network = {"puzzle": "cube2", "model": "walker", **dict.fromkeys(TERMS, NAN), "reason": "why", "interval_95": ""}
    network |= {"solver": ""}
    consistent = network | {"quantity": "consistent_percent", "reported": 60.0, "reproduced": 80.0, "verdict": BETTER}
    admissible = network | {"quantity": "admissible_percent", "reported": 90.0, "reproduced": 80.0}
    later = admissible | {"verdict": WORSE, "iteration": 500.0}

    def weighed(*others) -> list[str]:
        rows = weigh_together(pd.DataFrame([consistent | {"iteration": 400.0}, *others]))
        return rows.iloc[0][["verdict", "reason"]].tolist()

    assert weighed(later)[0] == BETTER, "of another checkpoint"
    at = {"iteration": 400.0}
    assert weighed(admissible | at | {"verdict": WORSE}) == [NOT_COMPARABLE, "why; another trade: worse in admissible"]
    unsure = admissible | at | {"verdict": CANNOT_TELL}
    assert weighed(unsure) == [CANNOT_TELL, "why; perhaps another trade: it may be worse in admissible"]
    assert weighed(unsure | {"reproduced": 95.0, "interval_95": "[91, 99]"})[0] == BETTER
    assert weighed(unsure | {"reproduced": 95.0, "interval_95": "[89, 100]"})[0] == CANNOT_TELL
    assert weighed(admissible | at | {"verdict": REPRODUCED})[0] == BETTER


def test_fewer_nodes_of_a_beam_are_not_better():
    beam = {"puzzle": "cube3", "model": "walker", **dict.fromkeys(TERMS, NAN), "quantity": "nodes_expanded"}
    beam |= {"reported": 10895.0, "reproduced": 5127.0, "interval_95": "", "reason": "why", "verdict": BETTER}
    rows = [beam | {"solver": group} for group in ("beams", "anytime")]
    rows.append(rows[0] | {"verdict": WORSE})
    weighed = weigh_together(pd.DataFrame(rows))
    assert weighed["verdict"].tolist() == [NOT_COMPARABLE, BETTER, WORSE]
    assert "whatever the network" in weighed["reason"].iloc[0] and weighed["reason"].iloc[1] == "why"


def test_a_claim_on_all_models_takes_in_the_seeds_that_other_studies_kept(study, monkeypatch):
    terms = {"model": NAN, "relation": ">", "value": 96.4, "kind": "claim", "iteration": NAN, "point": NAN}
    reported = pd.DataFrame([ROW, ROW | terms])
    alone = compare(reported, study.results()).iloc[1]
    assert (alone["reproduced"], alone["seeds"], alone["verdict"]) == (98.0, 1, REPRODUCED)
    others = [Finding(95.0, low=94.0, high=96.0), Finding(96.0, low=95.0, high=97.0)]
    monkeypatch.setattr(comparison, "with_other_seeds", lambda own, row: others)
    pooled = compare(reported, study.results()).iloc[1]
    assert pooled["reproduced"] == pytest.approx(289 / 3) and pooled["seeds"] == 3 and pooled["verdict"] == CANNOT_TELL


# The final-year report's numbers on the 2×2×2

OTHER = read_reported([REPORTED / "cube2" / "final_year_report.csv"], "cube2")
HEADLINE = {"set": "scrambled_1000", "path_weight": 0.8, "batch_size": 64}
TRAININGS = {
    name: model.model_dump()
    for name, model in load([ROOT / "params.yaml", ROOT / "config" / "final_year_report.yaml"]).models.items()
}


@pytest.fixture
def final_year(tmp_path) -> MadeUp:
    """A finished study of the report's trainings."""
    found = MadeUp(tmp_path, *TRAININGS, name="final_year_report")
    found.layers = [1, 6, 100, 20]
    search = {"headline": HEADLINE, "max_expansions": 51200}
    found.cards = {f"models/{name}": {"parameters": {"training": each}} for name, each in TRAININGS.items()}
    found.cards |= {f"timings/models/{name}": {"seconds": 1800.0} for name in TRAININGS}
    found.cards |= {"searches/Report_DNN": {"parameters": {"search": search}}}
    found.cards |= {"tables/cube2": {"metrics": {"mean_distance": 2.1}}}
    cell = HEADLINE | {"instances": 100, "solved_percent": 100.0, "optimal_percent": 97.0, "length": 10.78}
    cell |= {"excess": 0.06, "nodes_expanded": 1088.0, "nodes_generated": 3000.0}
    clock = {"engine": "network alone", "searches": 12, "seconds": 0.05, "precision": "float32"}
    errors = {"scope": "all", "iteration": [500, 5000], "mean_absolute_error": [3.0, 0.2]}
    found.tables = {
        "searches/Report_DNN/grid": pd.DataFrame([cell, cell | {"path_weight": 1.0}]),
        "timings/searches/Report_DNN": pd.DataFrame([clock | HEADLINE]),
        "audits/Report_Polyak/measures": pd.DataFrame(errors),
    }
    return found


def answered(study: MadeUp, timed: bool = False) -> pd.DataFrame:
    return compare(OTHER, study.results(timed))


def one(rows: pd.DataFrame, quantity: str, model: str | None = "Report_DNN", relation: str = "=") -> dict:
    alike = (rows["quantity"] == quantity) & (rows["relation"] == relation)
    alike &= rows["model"].isna() if model is None else rows["model"] == model
    (found,) = rows[alike].to_dict("records")
    return found


@pytest.mark.parametrize("kind", ["run", "timed", "kept", "not run"])
def test_every_number_has_a_verdict_and_a_note_and_an_erratum_stays(kind, final_year, tmp_path):
    if kind == "kept":
        final_year.keep("final_year_report")
    if kind in ("kept", "not run"):
        final_year = MadeUp(tmp_path, name="another")
        final_year.layers = [1, 6]
    rows = answered(final_year, timed=kind == "timed")
    assert len(rows) == len(OTHER) == 43
    assert set(rows["verdict"]) <= set(VERDICTS) and (rows["reason"] != "").all()
    doubted = rows[rows["erratum"].notna()]
    assert len(doubted) == 6 and doubted["reason"].str.contains("erratum: ").all()
    assert one(rows, "states", None)["reproduced"] == sum(final_year.layers), "which every study knows"
    told = one(rows, "length")["reason"]
    assert (told == "the training has not been run: config/final_year_report.yaml") == (kind == "not run")
    if kind == "not run":
        assert set(rows.loc[rows["reproduced"].notna(), "quantity"]) == {"states", "diameter"}


def test_lengths_have_an_interval_over_other_scrambled_states_and_extra_moves_over_other_searches(final_year):
    grid = final_year.tables["searches/Report_DNN/grid"]
    final_year.tables["searches/Report_DNN/grid"] = grid.assign(optimal_low=91.0, optimal_high=99.0)
    layers = {"iteration": 5000, "scope": "all", "distance": range(4), "states": final_year.layers}
    layers |= dict.fromkeys(["convergence_point", "mean_absolute_error"], 0.0)
    final_year.tables["audits/Report_DNN/by_distance"] = pd.DataFrame(layers)
    asked = {"instances": {"scrambled_1000": {"kind": "scrambled", "walk_max": 1000}}}
    final_year.cards["instances/cube2"] = {"parameters": asked}
    rows = answered(final_year)
    extra, length = one(rows, "extra_moves"), one(rows, "length")
    assert extra["interval_95"] == "[0.02, 0.18]", "of 1 and 9 % of the solutions, 2 moves longer each"
    spread = np.std(np.repeat(range(4), final_year.layers), ddof=1) / 10
    ends = 10.78 - np.hypot(1.96 * spread, 0.04), 10.78 + np.hypot(1.96 * spread, 0.12)
    assert length["interval_95"] == f"[{ends[0]:.6g}, {ends[1]:.6g}]" and length["verdict"] == REPRODUCED
    asked["instances"]["scrambled_1000"]["walk_max"] = 12
    assert one(answered(final_year), "length")["interval_95"] == "", "states that are near the goal lie otherwise"
    final_year.tables["searches/Report_DNN/grid"] = grid
    assert one(answered(final_year), "extra_moves")["interval_95"] == "", "which older grids do not have"


def test_the_searches_answer_tables_1_and_2(final_year):
    rows = answered(final_year)
    assert one(rows, "length")["reproduced"] == 10.78
    assert one(rows, "length", "PDB_solver")["reproduced"] == pytest.approx(10.72)
    assert one(rows, "extra_moves")["verdict"] == REPRODUCED  # 0.06 against 0.1
    assert one(rows, "states_solved")["verdict"] == REPRODUCED
    batches, generated = one(rows, "search_iterations"), one(rows, "nodes_generated")
    for row in (batches, generated):
        assert row["verdict"] == NOT_COMPARABLE and "12 actions" in row["reason"], "ours have six"
    assert one(rows, "optimal_percent", relation=">")["verdict"] == REPRODUCED
    assert one(rows, "search_iterations_limit")["reproduced"] == 800
    assert one(rows, "path_weight_feasible")["reproduced"] == 1.0


def test_table_4_is_the_recipe_that_ran(final_year):
    rows = answered(final_year)
    same = ["total_iterations", "training_batch_size", "states_per_iteration", "learning_rate", "learning_rate_decay"]
    same += ["check_interval", "loss_threshold", "scramble_moves_max", "residual_blocks", "forced_update_iteration"]
    assert {one(rows, quantity)["verdict"] for quantity in same} == {NOT_JUDGED}
    assert all("the same setting" in one(rows, quantity)["reason"] for quantity in same)
    last = rows[rows["quantity"] == "learning_rate_last_percent"]
    assert last["reproduced"].tolist() == pytest.approx([100 * 0.9995**5000] * 2)
    assert set(last["verdict"]) == {NOT_JUDGED}


@pytest.mark.parametrize(("error", "verdict"), [(0.2, REPRODUCED), (900.0, WORSE)])
def test_averaging_has_diverged_where_the_last_network_is_worse_than_none(error, verdict, final_year):
    final_year.tables["audits/Report_Polyak/measures"].loc[1, "mean_absolute_error"] = error
    rows = answered(final_year)
    row = one(rows, "training_diverges", "Report_Polyak")
    assert (row["reproduced"], row["verdict"]) == (float(error > 2.1), verdict)
    assert one(rows, "averaging_rate", "Report_Polyak")["reason"] == "the same setting"


def test_every_time_of_the_document_stands_in_the_table_of_times(final_year):
    apart, asked = answered(final_year), answered(final_year, timed=True)
    for quantity, value in (("seconds", 0.05), ("training_time", 0.5)):
        assert math.isnan(one(apart, quantity)["reproduced"]) and "timings.md" in one(apart, quantity)["reason"]
        assert one(asked, quantity)["reproduced"] == value
    times = OTHER[OTHER["quantity"].isin(TIMES)]
    shown = numbers_table(compare(times, final_year.results()), repeated=True)
    assert shown.count("\n") == len(times) + 2 and "nodes generated a second" in shown


@pytest.mark.parametrize("timed", [False, True])
def test_the_document_on_local_value_iteration_is_held_against_studies_of_its_own_puzzle_alone(tmp_path, timed):
    for puzzle in ("puzzle15", "puzzle8"):
        asked = synthetic_local_vi.study_of().model_copy(update={"puzzle": puzzle})
        synthetic_local_vi.write_results(asked, tmp_path / puzzle)
        own = StudyResults(tmp_path / puzzle / "local_vi", whole(asked), timed=timed)
        rows = compare_local_vi(own)
        assert (len(rows) > 0) == (puzzle == "puzzle15") and "verdict" in rows


def test_a_class_of_which_no_board_was_drawn_has_no_answer(tmp_path):
    asked = synthetic_local_vi.study_of()
    path = synthetic_local_vi.write_results(asked, tmp_path) / "local_vi/puzzle15/boards.parquet"
    boards = pd.read_parquet(path)
    write_frame(path, boards[boards["considered"] != 5])
    rows = compare_local_vi(StudyResults(tmp_path / "local_vi", whole(asked)))
    missing = rows[(rows["quantity"] == "maximum_moves") & (rows["initial_size"] == 1) & (rows["considered"] == 5)]
    assert missing[["reproduced", "verdict"]].to_numpy().tolist() == [["–", NOT_RUN]]
    assert (rows["verdict"] != NOT_RUN).any()
