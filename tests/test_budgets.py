"""What a doubling of training buys: which trainings are compared, the slope through them, its picture."""

import numpy as np
import pandas as pd
import pytest
import synthetic_large
from synthetic_large import write_results
from synthetic_study import whole

from costtogo.figures.budgets import budget_lengths
from costtogo.figures.catalogue import PROGRAMS
from costtogo.files import read_csv, read_json, write_json
from costtogo.params.study import PuzzleStudy
from costtogo.report.sampled import Chapter
from costtogo.tables.budgets import LEAST, budgets, doublings, per_doubling
from costtogo.tables.results import StudyResults

STUDY = synthetic_large.study_of("cube3-budgets")
EACH = STUDY.models["states_1_seed1"]
WIDTHS = [searches.widths for searches in STUDY.beams][0]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> StudyResults:
    """Made-up searches: a doubling makes solutions two moves shorter.

    The narrowest beams leave one instance each, of every training another; the quickest searches leave most.
    """
    root = tmp_path_factory.mktemp("budgets")
    folder = write_results(STUDY, root, ("models", "instances", "beams", "anytime"))
    for number, (name, model) in enumerate(STUDY.models.items()):
        path, seen = folder / "models" / f"{name}.json", model.iterations * model.states_per_iteration
        card = read_json(path)
        write_json(path, card | {"metrics": card["metrics"] | {"states_seen": seen}})
        grid = pd.read_parquet(folder / "beams" / name / "grid.parquet")
        noise = 0.1 if name.endswith("1") else -0.1
        grid = grid.assign(length=60 - 2 * np.log2(seen / 1e6) - np.log10(grid["width"]) + noise)
        grid["solved_percent"] = np.where(grid["width"] == WIDTHS[0], 98.0, 100.0)
        grid.to_parquet(folder / "beams" / name / "grid.parquet")
        found = pd.read_parquet(folder / "beams" / name / "searches.parquet")
        left = (found["width"] == WIDTHS[0]) & (found["instance"] == number)
        found = found.assign(solved=~left, cost=np.where(left, np.inf, 70 - 2 * np.log2(seen / 1e6) + noise))
        found.to_parquet(folder / "beams" / name / "searches.parquet")
        quick = pd.read_parquet(folder / "anytime" / name / "searches.parquet")
        quick.assign(solved=quick["instance"] < LEAST - 1).to_parquet(folder / "anytime" / name / "searches.parquet")
        grid = pd.read_parquet(folder / "anytime" / name / "grid.parquet")
        grid.assign(solved_percent=90.0).to_parquet(folder / "anytime" / name / "grid.parquet")
    return StudyResults(folder, whole(STUDY)).of("cube3")


def study(**iterations: int) -> PuzzleStudy:
    """The same study with other models: their iterations by name."""
    models = {name: EACH.model_copy(update={"iterations": each}) for name, each in iterations.items()}
    return STUDY.model_copy(update={"models": models})


def test_trainings_of_three_or_more_numbers_of_iterations_are_compared_and_others_are_not():
    assert len(STUDY.alike_but_for_iterations) == 10
    assert (
        study(a=10, b=20, c=40).alike_but_for_iterations == ["a", "b", "c"]
        and not study(a=10, b=20, c=20).alike_but_for_iterations
    )
    other = EACH.model_copy(update={"iterations": 80, "learning_rate": 1.0})
    assert study(a=10, b=20, c=40).model_copy(
        update={"models": study(a=10, b=20, c=40).models | {"d": other}}
    ).alike_but_for_iterations == ["a", "b", "c"], "a training that differs in more than its iterations is left out"


def test_the_slope_is_that_of_the_line_and_its_interval_covers_it_as_often_as_it_says():
    amounts = np.array([1, 2, 4, 8, 16.0])
    exact = per_doubling(amounts, 30 - 2 * np.log2(amounts))
    assert exact.value == pytest.approx(-2) and exact.high - exact.low < 1e-9
    assert np.isnan(per_doubling([1, 2], [3, 4]).low) and per_doubling([1, 2], [3, 4]).value == 1
    random, held = np.random.default_rng(0), 0
    for _ in range(2000):
        found = per_doubling(amounts, 30 - 2 * np.log2(amounts) + random.normal(0, 0.5, 5))
        held += found.low <= -2 <= found.high
    assert 0.93 < held / 2000 < 0.97


def test_a_row_says_what_a_doubling_buys_over_the_instances_that_all_trainings_solve(results):
    found = doublings(results).set_index("searches")
    assert [*found.index] == [f"width {width:,}" for width in WIDTHS], "too few are solved within seconds"
    for width, compared in zip(WIDTHS, (40, 50, 50), strict=True):
        row = found.loc[f"width {width:,}"]
        assert row["fewer"] == pytest.approx(2) and row["low"] < 2 < row["high"] and row["trainings"] == 10
        assert row["compared"] == compared and (row["longest"] > 65) == (width == WIDTHS[0])
        assert row["most"] / row["least"] == pytest.approx(1750 / 109)
    assert len(budgets(results)) == 10 * (len(WIDTHS) + 2)


def test_trainings_that_solve_too_few_are_left_out_of_what_a_doubling_buys(results, monkeypatch):
    weak = budgets(results)
    weak.loc[weak["model"] == "states_1_seed2", "solved_percent"] = 75.0
    monkeypatch.setattr("costtogo.tables.budgets.budgets", lambda results: weak)
    row = doublings(results).set_index("searches").loc[f"width {WIDTHS[1]:,}"]
    assert row["trainings"] == 8 and row["most"] / row["least"] == pytest.approx(1750 / 219)
    weak.loc[weak["states"] < weak["states"].nlargest(1).iloc[0], "solved_percent"] = 75.0
    assert doublings(results).empty


def test_the_picture_has_a_line_a_setting_and_a_mark_for_each_program_on_the_puzzle(results):
    cards = {name: results.card(f"models/{name}") for name in STUDY.alike_but_for_iterations}
    grids = [{name: results.frame(f"{group}/{name}/grid") for name in cards} for group in ("beams", "anytime")]
    programs = read_csv(PROGRAMS)
    named = [*dict.fromkeys(programs.loc[programs["puzzle"] == "cube3", "program"])]
    for puzzle, others in (("cube3", named), ("puzzle15", ["DeepCubeA"]), ("puzzle48", [])):
        figure = budget_lengths(cards, *grids, "scrambled", puzzle, programs)
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert labels == [*(f"width {width:,}" for width in WIDTHS), "0.3 s each", "1.2 s each", *others]
        shares = figure.axes[2].lines
        assert len(shares) == len(WIDTHS) + 2 and {*shares[0].get_ydata()} == {98.0}
        full = {name: grid.assign(solved_percent=100.0) for name, grid in grids[0].items()}
        assert len(budget_lengths(cards, full, {}, "scrambled", puzzle, programs).axes) == 2, "where all is solved"


def test_the_chapter_says_what_a_doubling_buys_with_its_interval(results):
    tables = {"budgets": budgets(results), "doublings": doublings(results)}
    text = Chapter(results, tables, pd.DataFrame(), lambda *kinds: f"picture of {kinds[0]}").text(["budgets"])
    assert "10 trainings of one recipe" in text and "picture of budget_lengths" in text and "| 2.00 [1.9" in text
    assert not Chapter(results, {}, pd.DataFrame(), str).text(["budgets"]).strip()
