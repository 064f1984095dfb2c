"""The numbers typed from each document on each puzzle: explained, in agreement, and doubted where they are not."""

import math
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messages import is_one_sentence
from test_reported import COLUMNS, FOLDER, RELATIONS

from costtogo.files import FileError, read_csv
from costtogo.literature.documents import documents
from costtogo.puzzles import make

FILES = sorted(FOLDER.glob("*/*.csv"))
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
TILES = ("puzzle15", "puzzle24", "puzzle35", "puzzle48")
TIMES = {"s", "min", "h", "d"}
MEMORIES = {"MB", "GB"}
SETTINGS = ["first_layer_neurons", "second_layer_neurons", "residual_layers", "residual_layer_neurons"] + [
    "training_batch_size",
    "loss_threshold",
    "check_interval",
    "total_iterations",
    "states_seen",
]


def typed(path: Path) -> pd.DataFrame:
    """The rows of a file as they are typed."""
    return read_csv(path, dtype=str, keep_default_na=False)


def numbers(name: str, **values) -> pd.DataFrame:
    """The rows of folder/document that hold each of the values, with their numbers."""
    rows = typed(FOLDER / f"{name}.csv")
    rows["number"] = rows["value"].astype(float)
    for column, value in values.items():
        rows = rows[rows[column] == value]
    assert len(rows), f"no row of {name} has {values}"
    return rows


def number(name: str, **values) -> float:
    """The number of the one row that holds each of the values."""
    (found,) = numbers(name, **values)["number"]
    return found


def digits(value: str) -> int:
    """How many digits are printed after the point."""
    return len(value.partition(".")[2])


def readme_of(folder: Path) -> Path:
    """A folder's README, or that of all where it has none of its own."""
    return next(path for path in (folder / "README.md", folder.parent / "README.md") if path.exists())


def explained(folder: Path) -> str:
    """The text of a folder's README and of those that it refers to."""
    own = readme_of(folder).read_text()
    folder = readme_of(folder).parent
    return own + "".join((folder / link).read_text() for link in set(re.findall(r"\]\(([./\w]*README\.md)\)", own)))


@each_file
def test_the_numbers_of_a_document_are_whole_rows_and_explained(path):
    rows = typed(path)
    assert ",".join(rows.columns) == COLUMNS and not rows.duplicated().any()
    assert set(rows["source"]) == {path.stem}
    assert pd.to_numeric(rows["value"]).notna().all() and set(rows["relation"]) <= RELATIONS
    assert (rows[["section", "unit"]] != "").all(axis=None)
    for column in ("puzzle", "quantity", "set", "model"):
        assert [name for name in set(rows[column]) - {""} if f"`{name}`" not in explained(path.parent)] == []


@each_file
def test_the_readme_counts_the_rows_and_the_errata(path):
    readme = readme_of(path.parent)
    name = path.relative_to(readme.parent).as_posix()
    (line,) = re.findall(rf"^\| `{name}` \|.*$", readme.read_text(), flags=re.MULTILINE)
    rows = typed(path)
    assert [int(cell) for cell in line.strip("| ").split(" | ")[-2:]] == [len(rows), rows["erratum"].ne("").sum()]


@each_file
def test_numbers_of_a_document_that_contradict_each_other_are_doubted(path):
    rows = typed(path)
    equal = rows[rows["relation"] == "="]
    same = equal.groupby(equal.columns.difference(["section", "value", "unit", "erratum"]).tolist())
    for _, group in same:
        assert group["value"].nunique() == 1 or group["erratum"].ne("").any(), group


@each_file
def test_percentages_of_a_document_lie_between_0_and_100(path):
    rows = typed(path)
    assert rows.loc[rows["unit"] == "%", "value"].astype(float).between(0, 100).all()


def test_a_quantity_has_one_unit_in_all_documents_but_of_time_and_memory():
    units = defaultdict(set)
    for path in [FOLDER / "thesis.csv", *FILES]:
        for quantity, group in typed(path).groupby("quantity")["unit"]:
            units[quantity] |= set(group)
    assert all(len(found) == 1 or found <= TIMES or found <= MEMORIES for found in units.values()), units


# DeepCubeA


def test_shares_of_solutions_by_their_length_sum_to_all():
    own = numbers("cube3/deepcubea", model="DeepCubeA", set="scrambled_1000_10000").set_index("quantity")["number"]
    assert own[["optimal_percent", "extra_moves_2_percent", "extra_moves_4_percent"]].sum() == pytest.approx(100)


@pytest.mark.parametrize("puzzle", [*TILES, "lights_out_7"])
def test_the_networks_for_other_puzzles_are_trained_as_the_one_for_the_cube(puzzle):
    cube = numbers("cube3/deepcubea", model="DeepCubeA").set_index("quantity")["number"]
    own = numbers(f"{'sliding' if puzzle in TILES else 'lights_out'}/deepcubea", model="DeepCubeA", puzzle=puzzle)
    own = own.set_index("quantity")["number"]
    assert own[SETTINGS].to_dict() == cube[SETTINGS].to_dict()
    assert own["total_iterations"] * own["training_batch_size"] == own["states_seen"]
    assert (own["residual_blocks"] > cube["residual_blocks"]) == (puzzle == "puzzle24")


@pytest.mark.parametrize("puzzle", TILES)
def test_the_states_of_sliding_tiles_are_half_the_permutations_and_doubted_where_they_are_cut_off(puzzle):
    (row,) = numbers("sliding/deepcubea", quantity="states", puzzle=puzzle).to_dict("records")
    states = math.factorial(int(puzzle.removeprefix("puzzle")) + 1) // 2
    unit = 10 ** (len(str(states)) - 2)
    assert round(row["number"] / unit) in (states // unit, round(states / unit))
    assert bool(row["erratum"]) == (round(row["number"] / unit) != round(states / unit))


def test_a_share_of_optimal_solutions_is_a_share_of_the_states_or_doubted():
    rows = numbers("sliding/deepcubea", quantity="optimal_percent").to_dict("records")
    assert len(rows) == 3
    for row in rows:
        states = number("sliding/deepcubea", quantity="states_sampled", puzzle=row["puzzle"], set=row["set"])
        shares = {f"{100 * count / states:.{digits(row['value'])}f}" for count in range(int(states) + 1)}
        assert (row["value"] in shares) != bool(row["erratum"])


@pytest.mark.parametrize("puzzle", TILES)
def test_the_chosen_weight_and_batch_are_those_of_the_results(puzzle):
    rows = numbers("sliding/deepcubea", puzzle=puzzle, model="DeepCubeA")
    results = rows[rows["path_weight"] != ""]
    assert len(results) >= 2
    for column, quantity in (("path_weight", "path_weight_chosen"), ("batch_size", "batch_size_chosen")):
        assert set(results[column].astype(float)) == set(rows.loc[rows["quantity"] == quantity, "number"])


def test_the_patterns_for_the_48_puzzle_hold_each_tile_once():
    counts = {tiles: number("sliding/deepcubea", quantity=f"patterns_of_{tiles}_tiles") for tiles in (3, 5)}
    assert sum(tiles * count for tiles, count in counts.items()) == 48


def test_the_databases_seconds_bear_out_the_ratio_and_are_the_ones_the_report_quotes():
    paper = numbers("sliding/deepcubea", quantity="seconds", puzzle="puzzle24").set_index("model")["number"]
    assert paper["PDB_solver"] / paper["DeepCubeA"] > number("sliding/deepcubea", quantity="seconds_ratio_pdb")
    quoted = number("sliding/final_year_report", quantity="seconds", model="PDB_solver", puzzle="puzzle24")
    assert int(quoted) == paper["PDB_solver"]


# The final-year report

REPORTED = [("cube2", "cube2"), ("cube3", "cube3"), ("sliding", "puzzle15"), ("sliding", "puzzle24")]
each_puzzle = pytest.mark.parametrize(("folder", "puzzle"), REPORTED, ids=[puzzle for _, puzzle in REPORTED])


@each_puzzle
def test_solutions_of_walks_of_1000_moves_have_an_even_number_of_moves_in_all(folder, puzzle):
    """A quarter turn or a slide changes the parity of a state; the printed mean allows for an even sum."""
    terms = {"model": "Report_DNN", "set": "scrambled_1000", "puzzle": puzzle, "relation": "="}
    solved = number(f"{folder}/final_year_report", quantity="states_solved", **terms)
    mean = number(f"{folder}/final_year_report", quantity="length", **terms)
    low, high = (solved * (mean + error) for error in (-0.005, 0.005))
    assert 2 * math.floor(high / 2) > low


@each_puzzle
def test_the_decay_leaves_the_share_of_the_learning_rate_that_the_text_says_or_it_is_doubted(folder, puzzle):
    own = numbers(f"{folder}/final_year_report", model="Report_DNN", puzzle=puzzle).set_index("quantity")["number"]
    last = 100 * own["learning_rate_decay"] ** own["total_iterations"]
    if folder == "cube3":  # its file leaves out what is said of all puzzles
        assert 1 <= last <= 10
        return
    bounds = numbers(f"{folder}/final_year_report", quantity="learning_rate_last_percent", puzzle=puzzle)
    low, high = bounds.to_dict("records")
    assert (last >= low["number"]) != bool(low["erratum"]) and (last <= high["number"]) != bool(high["erratum"])


@pytest.mark.parametrize(("folder", "puzzle"), [pair for pair in REPORTED if pair[1] != "cube3"])
def test_excess_moves_are_the_difference_of_the_two_tables(folder, puzzle):
    name, terms = f"{folder}/final_year_report", {"puzzle": puzzle, "quantity": "length"}
    own, shortest = (number(name, model=model, **terms) for model in ("Report_DNN", "PDB_solver"))
    (row,) = numbers(name, quantity="extra_moves", puzzle=puzzle).to_dict("records")
    assert round(own - shortest, digits(row["value"])) == row["number"]


def test_the_report_s_shortest_solutions_of_the_small_cube_are_of_other_states_than_its_own(distances_of):
    distance = distances_of("cube2").astype(int)
    even = distance[distance % 2 == 0]
    (row,) = numbers("cube2/final_year_report", quantity="extra_moves").to_dict("records")
    assert f"{even.mean():.2f}" in row["erratum"] and even.mean() > distance.mean()
    shortest = number("cube2/final_year_report", quantity="length", model="PDB_solver")
    assert abs(shortest - distance.mean()) < 0.01 < abs(shortest - even.mean())


def test_the_states_and_the_diameter_of_the_cubes_are_those_of_their_rules(distances_of):
    (large,) = numbers("cube3/thesis", quantity="states")["value"]
    (small,) = numbers("cube2/final_year_report", quantity="states")["value"]
    assert (int(large), int(small)) == (make("cube3").state_count, make("cube2").state_count)
    assert number("cube2/final_year_report", quantity="diameter") == distances_of("cube2").max()


def test_the_board_of_figure_2_has_the_manhattan_distance_in_its_caption():
    board = np.array([1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12])
    cells = np.flatnonzero(board)
    away = np.abs(np.array(np.divmod(cells, 4)) - np.divmod(board[cells] - 1, 4)).sum(axis=0)
    assert sorted(board[cells][away > 0]) == [4, 8, 12]
    assert away.sum() == number("sliding/final_year_report", quantity="manhattan_distance", set="figure_2")


@pytest.mark.parametrize(("puzzle", "first"), [("cube3", "thesis"), ("puzzle48", "deepcubea")])
def test_documents_are_those_with_numbers_on_a_puzzle_the_thesis_first(puzzle, first):
    found = documents(puzzle, FOLDER)
    assert found[0].stem == first
    assert set(found) == {path for path in FILES if puzzle in set(typed(path)["puzzle"])}


def test_a_document_without_the_column_puzzle_is_a_sentence(tmp_path):
    (tmp_path / "cube").mkdir()
    (tmp_path / "cube" / "thesis.csv").write_text("source,value\nthesis,1\n")
    with pytest.raises(FileError, match="thesis.csv is damaged") as told:
        documents("cube2", tmp_path)
    assert is_one_sentence(str(told.value))
