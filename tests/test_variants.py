"""Trainings repeated with several seeds: intervals, what differs, what predicts, what is kept and told of them."""

import re

import numpy as np
import pandas as pd
import pytest
from synthetic_study import repeated_rows, write_repeated

from costtogo.analysis.intervals import mean_interval
from costtogo.analysis.several_seeds import compare, divergence, last_checkpoints, predictions
from costtogo.commands import publish, variants
from costtogo.files import FileError, read_json, write_frame, write_json
from costtogo.report.variants import _points, variants_text
from costtogo.tables.results import StudyResults

PUZZLES, ERROR = ["cube2", "hanoi_3"], "mean_absolute_error"


def test_the_interval_of_a_mean_is_student_s():
    mean, low, high = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == 3 and high - mean == pytest.approx(2.7764451 * np.sqrt(2.5 / 5))
    assert mean - low == pytest.approx(high - mean)
    alone = mean_interval([2.0])
    assert alone[0] == 2 and np.isnan(alone[1:]).all()


def test_intervals_of_means_cover_the_truth_as_often_as_they_say():
    generator = np.random.default_rng(1)
    found = [mean_interval(generator.normal(3, 2, size=5)) for _ in range(2000)]
    assert 0.94 < np.mean([low <= 3 <= high for _, low, high in found]) < 0.96


def trainings(shift: float) -> pd.DataFrame:
    """Five seeds that differ much among themselves; the variant is above the base by nearly the same each time."""
    seeds = np.arange(1, 6)
    base = pd.DataFrame({"variant": "base", "seed": seeds, "error": 10.0 * seeds})
    return pd.concat([base, base.assign(variant="other", error=base["error"] + shift + 0.01 * seeds)])


def test_differences_are_paired_by_seed():
    found = compare(trainings(shift=1), "variant", ["error"], "base").set_index("variant")
    assert found.loc["other", "low"] < found.loc["base", "mean"] < found.loc["other", "high"]
    assert 1 < found.loc["other", "difference_low"] < 1.03 < found.loc["other", "difference_high"] < 1.06
    assert np.isnan(found.loc["base", ["difference_low", "difference_high"]].astype(float)).all()


def test_a_seed_that_one_variant_lacks_is_left_out_of_the_difference():
    frame = trainings(shift=1)
    frame = frame[(frame["variant"] == "base") | (frame["seed"] > 1)]
    found = compare(frame, "variant", ["error"], "base").set_index("variant")
    assert found["seeds"].to_dict() == {"base": 5, "other": 4}
    assert 1 < found.loc["other", "difference_low"] < found.loc["other", "difference_high"] < 1.07


def test_the_end_of_each_training_is_its_last_checkpoint():
    frame = pd.concat([repeated_rows(4, 0.0).assign(variant="a", seed=k) for k in (1, 2)], ignore_index=True)
    assert last_checkpoints(frame)["iteration"].tolist() == [40, 40]
    points = compare(frame.query("variant == 'a' and kind == 'convergence_point'"), "convergence_point", [ERROR])
    assert points["convergence_point"].tolist() == [1, 2, 3] and points["seeds"].tolist() == [2, 2, 2]


def checkpoints() -> pd.DataFrame:
    """Checkpoints in which age follows the point alone, and skill alone decides among those of a point."""
    generator = np.random.default_rng(2)
    rows = [
        {"variant": "a", "seed": seed, "convergence_point": point, "age": float(point), "skill": generator.normal()}
        for seed in range(20)
        for point in range(1, 7)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(nodes=100 * frame["age"] - frame["skill"], flat=1.0)


def test_what_merely_grows_with_training_predicts_nothing_within_a_point():
    found = predictions(checkpoints(), ["age", "skill", "flat"], ["nodes"]).set_index(["measure", "within"])
    correlation = found["correlation"]
    assert correlation["age", False] > 0.98 and abs(correlation["skill", False]) < 0.3
    assert np.isnan(correlation["age", True]) and correlation["skill", True] == pytest.approx(-1)
    assert np.isnan(correlation["flat", False])
    by_chance = found.loc[("skill", False)]
    assert by_chance["low"] < 0 < by_chance["high"]


@pytest.fixture
def text(tmp_path) -> str:
    write_repeated(tmp_path)

    def drawn(puzzle: str):
        return lambda *kinds: "\n".join(f"[{kind} of {puzzle}]" for kind in kinds)

    return variants_text([StudyResults.of_kept(tmp_path / "repeated")], PUZZLES, drawn)


def test_a_training_has_diverged_that_ends_worse_than_no_heuristic():
    errors = {("base_x", 1): [5.0, 0.8, 0.9], ("wild", 1): [5.0, 2.0, 30.0], ("wild", 2): [5.0, 4.0, 6.0]}
    rows = [
        {"variant": variant, "seed": seed, "iteration": 10 * place, "mean_absolute_error": error}
        for (variant, seed), course in errors.items()
        for place, error in enumerate(course, start=1)
    ]
    found = divergence(pd.DataFrame(rows[::-1]), mean_distance=7.0).set_index(["variant", "seed"])
    assert found["diverged"].to_dict() == {("base_x", 1): False, ("wild", 1): True, ("wild", 2): False}
    measured = found.loc[("base_x", 1), ["least_error", "least_at", "last_error", "within_one"]]
    assert measured.tolist() == [0.8, 20, 0.9, 20]
    assert found["within_one"].isna().tolist() == [False, True, True]


def test_the_section_tells_what_diverged_where_trainings_were_looked_at(text):
    assert "[variant_errors of hanoi_3]" in text and "[variant_errors of cube2]" not in text
    assert "than 4.50 moves, which is the error of no heuristic" in text
    assert re.search(r"\| `slow` \| 0 of 3 \|", text)


def test_nothing_is_told_where_nothing_was_kept(tmp_path):
    assert variants_text([], PUZZLES, None) == ""
    write_repeated(tmp_path)
    assert variants_text([StudyResults.of_kept(tmp_path / "repeated")], ["puzzle8"], None) == ""


def test_a_report_tells_of_its_own_puzzles_alone(tmp_path):
    write_repeated(tmp_path)
    text = variants_text([StudyResults.of_kept(tmp_path / "repeated")], ["cube2"], lambda puzzle: lambda *kinds: "")
    assert "## cube2" in text and "hanoi_3" not in text


def test_checkpoints_are_followed_only_where_trainings_have_several(tmp_path):
    write_repeated(tmp_path)
    table = tmp_path / "repeated" / "variants.csv"
    frame = pd.read_csv(table)
    last = frame[frame["iteration"] == frame.groupby(["variant", "seed"])["iteration"].transform("max")]
    last.assign(selected=True).to_csv(table, index=False)
    text = variants_text([StudyResults.of_kept(tmp_path / "repeated")], ["cube2"], lambda puzzle: lambda *kinds: "")
    assert "thesis 5.6" not in text and "What makes a good search heuristic" not in text
    assert "at the end of the budget" in text and "of the chosen checkpoint" not in text


def test_each_puzzle_has_its_tables_and_figures(text):
    shown = re.findall(r"\[(\w+ of \w+)\]", text)
    assert shown == [
        *("variants of cube2", "measures_by_point of cube2", "predictors of cube2"),
        *("variants of hanoi_3", "variant_errors of hanoi_3", "variant_losses of hanoi_3", "variant_costs of hanoi_3"),
    ]
    assert "| `wide` | epsilon 0.07 |" in text and "| `slow` | epsilon 0.07 |" in text


def test_a_difference_beyond_chance_is_bold_and_the_base_never_is(text):
    rows = [line for line in text.splitlines() if line.startswith(("| `wide` |", "| `base_cube2` |"))]
    assert any("**" in line for line in rows if "wide" in line)
    assert not any("**" in line for line in rows if "base" in line)


def test_what_moves_the_convergence_points_is_told_each_way():
    base = pd.DataFrame({"variant": "base", "seed": [1, 2, 3], "convergence_point": [10, 11, 10]})
    of = {"quick": [13, 14, 14], "slow": [8, 8, 7], "much_alike": [10, 10, 11]}
    others = [base.assign(variant=variant, convergence_point=points) for variant, points in of.items()]
    found = compare(pd.concat([base, *others]), "variant", ["convergence_point"], "base")
    assert _points(found) == {"more": "quick", "fewer": "slow", "others": "much_alike"}
    assert set(_points(found.iloc[:1]).values()) == {"none"}


def test_the_price_of_admissibility_and_the_facts_over_all_states_are_told(text):
    assert "| `base_cube2_seed1` | cube2 | 20 | 1.500 | 95.00 | 100 | 40 | 400 | 10 | 10 |" in text
    assert "| `base_cube2_seed1` | λ = 0.7, N = 5 | 99.25 | 0.01510 | 2 | 81.50 |" in text


def write_finished(results, model: str) -> None:
    """The results of one training, as far as they are gathered."""
    training = {"training": {"puzzle": "cube2"}}
    write_json(
        results / "models" / f"{model}.json",
        {"parameters": training, "metrics": {"states_seen": 500, "effective_k": 20}},
    )
    search = {"parameters": {"puzzle": "cube2"}, "metrics": {"overestimation_max": 0.5}}
    write_json(results / "searches" / f"{model}.json", search)
    iterations = pd.DataFrame({"iteration": [10, 20]})
    measures = [iterations.assign(model=model, scope=scope, bias=bias) for scope, bias in (("all", 1), ("sample", 2))]
    write_frame(results / "audits" / model / "measures.parquet", pd.concat(measures))
    write_json(results / "audits" / f"{model}.json", {})
    points = iterations.assign(kind=["convergence_point", "end"], validation_loss=0.1)
    write_frame(results / "models" / model / "checkpoints.parquet", points)
    write_frame(results / "searches" / model / "selection.parquet", iterations.assign(selected=[True, False]))
    found = iterations.assign(set="test", path_weight=0.7, batch_size=5, **dict.fromkeys(variants.FOUND, 1.0))
    write_frame(results / "searches" / model / "checkpoints.parquet", found)
    write_frame(results / "searches" / model / "admissible.parquet", pd.DataFrame({"heuristic": ["network"]}))


def test_the_checkpoints_of_every_seed_are_gathered_and_those_of_a_single_training_are_not(tmp_path):
    for model in ("base_cube2_seed1", "base_cube2_seed2", "alone"):
        write_finished(tmp_path, model)
    frames = variants.gather(StudyResults(tmp_path))
    rows = frames["variants"]
    assert rows[["variant", "seed", "iteration"]].to_numpy().tolist() == [
        ["base_cube2", 1, 10],
        ["base_cube2", 1, 20],
        ["base_cube2", 2, 10],
        ["base_cube2", 2, 20],
    ]
    assert set(rows["bias"]) == {1} and rows["selected"].tolist() == [True, False] * 2
    assert frames["admissible"]["model"].tolist() == ["alone", "base_cube2_seed1", "base_cube2_seed2"]


def test_a_training_that_was_only_audited_has_its_measures_and_no_finding(tmp_path):
    for model in ("base_cube2_seed1", "base_cube2_seed2"):
        write_finished(tmp_path, model)
    (tmp_path / "searches" / "base_cube2_seed2.json").unlink()
    grid = {"set": "test", "path_weight": [0.7], "batch_size": [1, 5], "every_checkpoint": True}
    searches = [grid, grid | {"every_checkpoint": False}]
    card = read_json(tmp_path / "searches" / "base_cube2_seed1.json")
    puzzle = read_json(tmp_path / "models" / "base_cube2_seed2.json")["parameters"]["training"]["puzzle"]
    write_json(tmp_path / "searches" / f"baseline_{puzzle}.json", card | {"parameters": {"searches": searches}})
    rows = variants.gather(StudyResults(tmp_path))["variants"].set_index("seed")
    assert rows.loc[2, ["iteration", "batch_size"]].to_numpy().tolist() == [[10, 1], [10, 5], [20, 1], [20, 5]]
    assert rows.loc[2, "nodes_expanded"].isna().all() and not rows.loc[2, "selected"].any()
    assert rows.loc[2, "bias"].eq(1).all() and rows.loc[1, "nodes_expanded"].notna().all()


def test_measures_without_searches_are_told_as_such(tmp_path):
    write_repeated(tmp_path)
    table = tmp_path / "repeated" / "variants.csv"
    frame = pd.read_csv(table)
    frame.loc[frame["variant"] == "wide", ["nodes_expanded", "optimal_percent"]] = np.nan
    frame.loc[frame["variant"] == "wide", "selected"] = False
    frame.to_csv(table, index=False)
    text = variants_text([StudyResults.of_kept(tmp_path / "repeated")], PUZZLES, lambda puzzle: lambda *kinds: "")
    wide = [line for line in text.splitlines() if line.startswith("| `wide` | 3 |")]
    assert len(wide) == 1 and wide[0].endswith("| – | – |")
    assert "not searched" in text and not re.search(r"\bnan\b", text)


def test_what_was_kept_of_other_seeds_stays_and_a_seed_kept_again_is_replaced(tmp_path):
    first, second = tmp_path / "first" / "study", tmp_path / "second" / "study"
    for results, models in {
        first: ("base_cube2_seed1", "base_cube2_seed2"),
        second: ("base_cube2_seed2", "base_cube2_seed3"),
    }.items():
        for model in models:
            write_finished(results, model)
    publish.keep(first, tmp_path / "kept")
    before = (tmp_path / "kept" / "study" / "variants.csv").read_text()
    publish.keep(second, tmp_path / "kept")
    rows = pd.read_csv(tmp_path / "kept" / "study" / "variants.csv")
    assert rows[["seed", "iteration"]].to_numpy().tolist() == [[k, i] for k in (1, 2, 3) for i in (10, 20)]
    publish.keep(first, tmp_path / "again")
    assert (tmp_path / "again" / "study" / "variants.csv").read_text() == before


def test_a_variant_that_is_kept_after_its_base_stands_in_the_same_table(tmp_path):
    first, second = tmp_path / "first" / "study", tmp_path / "second" / "study"
    write_finished(first, "base_cube2_seed1")
    write_finished(second, "wide_seed1")
    for results in (first, second):
        publish.keep(results, tmp_path / "kept")
    rows = pd.read_csv(tmp_path / "kept" / "study" / "variants.csv")
    assert rows["variant"].tolist() == ["base_cube2"] * 2 + ["wide"] * 2
    assert not (tmp_path / "kept" / "study" / "repeats.csv").exists()


def test_a_search_that_lacks_a_table_is_told_before_anything_is_written(tmp_path):
    write_finished(tmp_path / "study", "alone")
    (tmp_path / "study" / "searches" / "alone" / "admissible.parquet").unlink()
    with pytest.raises(FileError, match="admissible"):
        publish.keep(tmp_path / "study", tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_study_without_repeated_trainings_gathers_no_table_of_them(tmp_path):
    write_finished(tmp_path, "alone")
    assert set(variants.gather(StudyResults(tmp_path))) == {"admissible"}


def test_trainings_without_a_base_are_repetitions_and_have_a_table_of_their_own(tmp_path):
    for model in ("wide_seed1", "wide_seed2"):
        write_finished(tmp_path, model)
    frames = variants.gather(StudyResults(tmp_path))
    assert set(frames) == {"repeats"} and frames["repeats"]["variant"].tolist() == ["wide"] * 8
    assert frames["repeats"]["scope"].value_counts().to_dict() == {"all": 4, "sample": 4}
