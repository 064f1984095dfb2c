"""Trees in reports: which searches stand beside DeepCube's numbers, and all solvers of a network side by side."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_large
from synthetic_study import write_card, write_table

from costtogo.figures.solvers import solver_work
from costtogo.literature.comparison import compare_all
from costtogo.literature.words import NOT_JUDGED, NOT_REACHED, NOT_RUN
from costtogo.params.loading import load
from costtogo.params.study import alone
from costtogo.report.write import write
from costtogo.tables.results import References, StudyResults
from costtogo.tables.side_by_side import side_by_side

ROOT = Path(__file__).parents[1]
BESIDE = References(ROOT / "data/reported", ROOT / "data/none", ROOT / "workflow/captions.yaml")
STUDY = load([ROOT / "config/deepcube.yaml"])
MODEL, COUNT = "adi_cube3", 100
WHOLE = {"virtual_loss": 10.0, "leaves": 8, "prior": "policy", "values": "network", "untried": "parent"}


def tree_rows(asked, costs, nodes) -> pd.DataFrame:
    """The rows of the first setting of some trees: costs, inf where unsolved."""
    cell = dict(zip(asked.cell, asked.settings[0], strict=True))
    found = pd.DataFrame({"instance": np.arange(COUNT), "distance": np.nan, "cost": costs, "nodes_expanded": nodes})
    return found.assign(**cell, solved=np.isfinite(found["cost"]), nodes_generated=12 * found["nodes_expanded"])


def write_results(folder: Path, unsolved: int = 0, two_phase: bool = True, trees: bool = True) -> StudyResults:
    """Trees from scrambled cubes that need 20 … 39 moves, the first of them unsolved, and from those of 15 turns that
    need 13, one in four 15; the two-phase solver takes 30."""
    results = folder / "deepcube"
    for name in ("models", "audits"):
        write_card(results, name, MODEL, {}, training=STUDY.models[MODEL].model_dump())
    asked = [each for each in STUDY.puzzles["cube3"].searches if each.solver == "mcts"]
    scrambled, less = (next(each for each in asked if each.set == name) for name in ("scrambled", "turns_15"))
    costs = np.where(np.arange(COUNT) < unsolved, np.inf, 20.0 + np.arange(COUNT) % 20)
    far = tree_rows(scrambled, costs, 5000.0)
    near = tree_rows(less, 13.0 + 2 * (np.arange(COUNT) % 4 == 0), 60.0).assign(distance=13.0)
    rows = pd.concat([far, near, near.assign(shortening="none", cost=17.0)], ignore_index=True)
    if trees:
        write_table(results / "trees" / MODEL / "searches.parquet", rows)
        cell = [*asked[0].cell]
        counts = {"instances": ("cost", "size"), "solved_percent": ("solved", "mean"), "length": ("cost", "mean")}
        grid = rows.groupby(cell, sort=False).agg(**counts, nodes_expanded=("nodes_expanded", "mean")).reset_index()
        grid = grid.assign(
            length_low=grid["length"] - 1, length_high=grid["length"] + 1, known=0, optimal_percent=50.0, excess=1.0
        )
        write_table(results / "trees" / MODEL / "grid.parquet", grid.assign(nodes_generated=9.0))
        write_table(results / "timings/trees" / f"{MODEL}.parquet", rows[[*cell, "instance"]].assign(seconds=0.5))
        write_card(results, "trees", MODEL, {})
    if two_phase:
        own = far[["set", "instance", "distance"]].assign(cost=30.0, solved=True)
        write_table(results / "two_phase/cube3/searches.parquet", own)
        write_table(results / "timings/two_phase/cube3.parquet", own[["set", "instance"]].assign(seconds=0.03))
        write_card(results, "two_phase", "cube3", {})
    exact = near[["set", "instance"]].assign(distance=13.0, solved=True, nodes_generated=5)
    write_table(results / "optima/cube3.parquet", exact)
    write_card(results, "optima", "cube3", {})
    return StudyResults(results, STUDY, BESIDE)


def told(results: StudyResults, **terms) -> dict:
    """The one row of the comparison with these terms."""
    rows = compare_all(results)
    for name, value in terms.items():
        rows = rows[rows[name] == value]
    (row,) = rows.to_dict("records")
    return row


def test_trees_of_scrambled_cubes_stand_beside_the_table_and_those_of_fifteen_turns_beside_the_medians(tmp_path):
    results = write_results(tmp_path)
    assert told(results, quantity="length", model="DeepCube")["reproduced"] == pytest.approx(29.5)
    assert told(results, quantity="nodes_expanded", model="DeepCube")["reproduced"] == 5000
    assert told(results, quantity="median_length", model="DeepCube")["reproduced"] == 13
    assert told(results, quantity="median_length", model="Korf")["reproduced"] == 13
    assert told(results, quantity="optimal_percent", model="DeepCube")["reproduced"] == 75
    assert told(results, quantity="at_most_kociemba_percent")["reproduced"] == pytest.approx(55)
    assert told(results, quantity="length", model="Kociemba")["reproduced"] == 30
    clock = told(results, quantity="seconds", model="Kociemba", set="fully_scrambled")
    assert clock["verdict"] == NOT_JUDGED and "timings.md" in clock["reason"]
    assert set(compare_all(results)["source"]) == {"deepcube"}


def test_a_mean_of_what_was_solved_is_not_reached_where_many_were_not(tmp_path):
    few = write_results(tmp_path / "few", unsolved=6)
    for quantity in ("length", "nodes_expanded"):
        row = told(few, quantity=quantity, model="DeepCube")
        assert row["verdict"] == NOT_REACHED and "94 of 100 cubes" in row["reason"]
    nearly = write_results(tmp_path / "nearly", unsolved=5)
    assert told(nearly, quantity="length", model="DeepCube")["verdict"] != NOT_REACHED
    share = told(few, quantity="at_most_kociemba_percent")["reproduced"]
    assert share == pytest.approx(55 - 6), "an unsolved cube is not solved in as many moves"


def test_a_median_is_not_reached_where_half_are_not_solved(tmp_path):
    results = write_results(tmp_path)
    path = results.folder / "trees" / MODEL / "searches.parquet"
    rows = pd.read_parquet(path)
    lost = (rows["set"] == "turns_15") & (rows["instance"] < 51)
    write_table(path, rows.assign(cost=rows["cost"].mask(lost, np.inf), solved=rows["solved"] & ~lost))
    again = StudyResults(results.folder, STUDY, BESIDE)
    assert told(again, quantity="median_length", model="DeepCube")["verdict"] == NOT_REACHED


def test_what_has_not_run_says_what_runs_it(tmp_path):
    results = write_results(tmp_path, two_phase=False)
    for terms in ({"quantity": "length", "model": "Kociemba"}, {"quantity": "at_most_kociemba_percent"}):
        row = told(results, **terms)
        assert row["verdict"] == NOT_RUN and "snakemake deepcube-two_phase" in row["reason"]
    without = write_results(tmp_path / "without", trees=False)
    assert told(without, quantity="median_length", model="DeepCube")["verdict"] == NOT_RUN


def test_solvers_stand_side_by_side_with_what_the_network_was_asked_for(tmp_path):
    results = write_results(tmp_path)
    beams = pd.DataFrame({"set": ["scrambled"] * 2, "width": [1, 100], "instances": COUNT, "solved_percent": 40.0})
    beams = beams.assign(length=33.0, length_low=30.0, length_high=36.0, known=0, optimal_percent=np.nan)
    beams = beams.assign(nodes_expanded=70.0, nodes_generated=800.0)
    for group in ("beams", "policy_beams"):
        write_table(results.folder / group / MODEL / "grid.parquet", beams)
        write_table(
            results.folder / "timings" / group / f"{MODEL}.parquet",
            beams[["set", "width"]].assign(instance=0, seconds=[0.25, 2.0]),
        )
    found = side_by_side(results.with_times().of("cube3")).set_index("solver")
    assert found.loc["beams of width 100", "evaluated"] == 800  # a value of each child
    assert found.loc["beams by the policy, width 100", "evaluated"] == 70  # a policy of each parent
    assert found.loc["greedy walk by the policy", "seconds"] == 0.25
    far = found[found["set"] == "scrambled"].filter(like="trees", axis=0)
    assert far["evaluated"].tolist() == [5000] and far["seconds"].tolist() == [0.5]
    assert side_by_side(results.of("cube3"))["seconds"].isna().all()
    shortened = found.index[found["set"] == "turns_15"]
    assert [("not shortened" in name) for name in shortened] == [False, True]


def test_a_picture_shows_each_solver_by_what_the_network_was_asked_for():
    def of(evaluated, **more) -> pd.DataFrame:
        counts = {"nodes_expanded": evaluated, "nodes_generated": [12 * count for count in evaluated]}
        return pd.DataFrame({"set": "far", "solved_percent": 50.0, "length": 30.0, **counts, **more})

    names = {"values": "network", "untried": "parent", "shortening": ["shortcuts", "none"], "prior": "policy"}
    drawn = solver_work(of([10, 10], **names), of([20]), of([30]), of([40, 50]), ["far"])
    share = drawn.axes[0]
    places = {line.get_label(): line.get_xdata().tolist() for line in share.get_lines()}
    assert places == {
        "trees": [10],  # as short as can be, alone
        "trees, uniform prior": [],
        "beams by the policy": [20],
        "beams by the values": [360],
        "BWAS": [480, 600],
    }


@pytest.mark.parametrize("parts", [[], ["beams"], ["beams", "searches", "audits"]], ids=len)
@pytest.mark.parametrize("length", [(10, 20), (200, 300)], ids=["near", "far"])
def test_a_study_with_trees_has_its_report_whatever_its_walks_are(tmp_path, length, parts):
    cube = STUDY.puzzles["cube3"]
    walks = {name: each.model_copy(update={"length": length}) for name, each in cube.instances.items()}
    puzzles = {"cube3": cube.model_copy(update={"instances": walks})}
    study = STUDY.model_copy(update={"puzzles": puzzles, "models": {MODEL: STUDY.models[MODEL]}, "tables": []})
    folder = write_results(tmp_path).folder
    synthetic_large.write_results(alone(study), tmp_path, ["optima", "models", *parts])
    write(StudyResults(folder, study, BESIDE), tmp_path / "reports")
    key_numbers = (tmp_path / "reports/report.md").read_text(encoding="utf-8").partition("## Key numbers")[2]
    assert f"| `{MODEL}` |" in key_numbers and "| nan" not in key_numbers
