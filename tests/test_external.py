"""External instances: what is read of their files, and the stage that solves them beside the optimum."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from messages import is_one_sentence
from pydantic import ValidationError
from stage_recipes import write_recipe

from costtogo import external
from costtogo import external_files as outside
from costtogo.analysis.intervals import wilson
from costtogo.exact.nearby import FAR, nearby_table
from costtogo.files import read_frame, read_json, write_arrays, write_frame
from costtogo.heuristics import network as networks
from costtogo.params.searches import ExternalParams
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, solves
from costtogo.search import anytime
from costtogo.stages.search import external as stage
from costtogo.types import UserError

CUBE = make("cube3")
SCRAMBLES = ["R U'", "F2", "L D B", "", "U R' B"]
OPTIMAL = [2, 2, 3, 0, 3]
WARMING_UP = 0.1  # seconds of the search that is not counted
ORIGINAL = outside.folder() / "cube3_qtm.csv"  # before a test names another folder
needs_originals = pytest.mark.skipif(
    not ORIGINAL.is_file(), reason=f"There is no {ORIGINAL}: set {outside.VARIABLE} to the folder that has it."
)  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder of external instances that the environment names, with the file cubes.csv."""
    place = tmp_path / "external"
    for each in (place, tmp_path / "elsewhere"):
        each.mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # recipes are written there
    monkeypatch.setenv(outside.VARIABLE, str(place))
    written(place, {"scramble": SCRAMBLES, "optimal_moves_qtm": OPTIMAL})
    return place


def written(place: Path, columns: dict) -> Path:
    pd.DataFrame(columns).to_csv(place / "cubes.csv", index=False)
    return place / "cubes.csv"


def told(function, *arguments) -> str:
    with pytest.raises(UserError) as error:
        function(*arguments)
    assert is_one_sentence(str(error.value)), str(error.value)
    return str(error.value)


def test_scrambles_lead_to_their_states(folder):
    found = external.load(CUBE, outside.find("cubes.csv"))
    for row, scramble in enumerate(SCRAMBLES):
        np.testing.assert_array_equal(found.states[row], apply(CUBE, CUBE.goal, CUBE.parse_moves(scramble)))
    assert found.states.dtype == np.uint8 and found.optimal.tolist() == OPTIMAL and found.texts == SCRAMBLES
    assert found.first(2).texts == SCRAMBLES[:2] and len(found.first(9).states) == 5


def test_a_folder_or_file_that_is_missing_is_told_with_what_to_set(folder, monkeypatch):
    assert outside.VARIABLE in told(outside.find, "others.csv") and "others.csv" in told(outside.find, "others.csv")
    monkeypatch.setenv(outside.VARIABLE, str(folder / "nowhere"))
    assert outside.VARIABLE in told(outside.find, "cubes.csv") and "nowhere" in told(outside.find, "cubes.csv")
    monkeypatch.delenv(outside.VARIABLE)
    assert outside.folder() == Path("data/external")


MISTAKES = {
    "no scrambles": ({"sequence": ["R"], "optimal_moves_qtm": [1]}, "names of columns"),
    "no rows": ({"scramble": [], "optimal_moves_qtm": []}, "has no rows"),
    "an unknown move": ({"scramble": ["R", "Q"], "optimal_moves_qtm": [1, 1]}, "line 3: Unknown move 'Q'"),
    "an optimum in words": ({"scramble": ["R", "U"], "optimal_moves_qtm": [1, "one"]}, "line 3"),
    "half a move": ({"scramble": ["R"], "optimal_moves_qtm": [1.5]}, "line 2"),
    "a long move": ({"scramble": ["Q" * 100_000], "optimal_moves_qtm": [1]}, f"line 2: Unknown move '{'Q' * 59}…'"),
    "too many moves": ({"scramble": ["R" * 100_001], "optimal_moves_qtm": [1]}, "line 2: A scramble has at most"),
    "a long optimum": ({"scramble": ["R"], "optimal_moves_qtm": ["1" * 100_000]}, f"is '{'1' * 59}…'"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_in_a_file_is_told_in_one_sentence(kind, folder):
    columns, reason = MISTAKES[kind]
    assert reason in told(external.load, CUBE, written(folder, columns))


SPREAD = {  # files in which line 6 has the mistake
    "blank lines": "scramble\nR\n\n\nU\nQ\n",
    "blank lines above": "\n\n\nscramble\nR\nQ\n",
    "lines of spaces": "scramble\nR\n  \n\t\nU\nQ\n",
    "other ends of lines": "scramble\r\nR\r\n\r\n\r\nU\r\nQ\r\n",
    "a cell of two lines": 'note,scramble\n"one\ntwo",R\n\n,U\n,Q\n',
    "a blank line in a cell": 'note,scramble\n"one\n\ntwo",R\n,U\n,Q\n',
    "an instance that is solved": 'scramble\n""\n\nR\n\nQ\n',
    "a long cell": f"note,scramble\n{'x' * 200_000},R\n\n\n,U\n,Q\n",
    "an optimum": "scramble,optimal_moves\nR,1\n\n\nU,1\nF,one\n",
}


@pytest.mark.parametrize("kind", SPREAD)
def test_a_mistake_is_told_with_its_line_of_the_file(kind, folder):
    (folder / "cubes.csv").write_bytes(SPREAD[kind].encode())
    assert "cubes.csv, line 6: " in told(external.load, CUBE, folder / "cubes.csv")


@pytest.mark.parametrize(
    ("name", "legal", "wrong"), [("puzzle15", "R", "U"), ("hanoi_3", "0>2", "0>2"), ("hanoi_3", "0>2", "1>2")]
)
def test_a_scramble_with_a_move_that_is_not_legal_is_refused(name, legal, wrong, folder):
    path = written(folder, {"scramble": [legal, f"{legal} {wrong}"]})
    assert f"line 3: Move 2, {wrong}, is not legal" in told(external.load, make(name), path)


def test_a_file_with_more_cells_than_names_is_refused(folder):
    (folder / "cubes.csv").write_text("scramble,optimal_moves\nR,1,2\n", encoding="utf-8")
    assert "line 2: it has 3 cells" in told(external.load, CUBE, folder / "cubes.csv")


def test_a_comma_in_the_only_column_parts_nothing(folder):
    (folder / "cubes.csv").write_text("scramble\nR,U\n", encoding="utf-8")
    assert external.load(CUBE, folder / "cubes.csv").given[0].read_as == "R U"


def test_an_empty_optimum_is_unknown(folder):
    found = external.load(CUBE, written(folder, {"scramble": ["R", "U"], "optimal_moves_qtm": [1, ""]}))
    assert found.optimal[0] == 1 and np.isnan(found.optimal[1])


BOARDS = {  # texts, their states, a text that is none
    "puzzle8": ("tiles", ["1 2 3 4 5 6 7 0 8"], [[1, 2, 3, 4, 5, 6, 7, 0, 8]], "2 1 3 4 5 6 7 8 0"),
    "lights_out_2": ("lights", ["1 1 1 0", "0101"], [[1, 1, 1, 0], [0, 1, 0, 1]], "1 1 2 0"),
}


@pytest.mark.parametrize("name", BOARDS)
def test_boards_are_read_as_written_and_an_optimum_that_is_not_told_is_unknown(name, folder):
    column, texts, states, wrong = BOARDS[name]
    found = external.load(make(name), written(folder, {column: texts}))
    assert found.states.tolist() == states and found.states.dtype == np.uint8 and found.texts == texts
    assert np.isnan(found.optimal).all() and found.optimal.shape == (len(texts),)
    told_of = external.load(make(name), written(folder, {column: texts, "optimal_moves": range(len(texts))}))
    assert told_of.optimal.tolist() == list(range(len(texts)))
    assert "line 3: " in told(external.load, make(name), written(folder, {column: [texts[0], wrong]}))


@needs_originals
def test_the_cubes_from_outside_are_cubes_as_far_away_as_parity_and_the_exact_table_allow():
    found = external.load(CUBE, ORIGINAL)
    assert len(found.states) == len(np.unique(found.states, axis=0)) == 500
    for state in found.states:
        make("cube3").check_pieces(state)
    lengths = np.array([len(CUBE.parse_moves(text)) for text in found.texts])
    assert (found.optimal <= lengths).all() and ((lengths - found.optimal) % 2 == 0).all(), (
        "a turn is an odd permutation"
    )
    assert found.optimal.max() <= 26, "no cube is farther away"
    nearby = nearby_table(CUBE, 4)
    distance = nearby(found.states)
    np.testing.assert_array_equal(distance[distance != FAR], found.optimal[distance != FAR])
    np.testing.assert_array_equal(distance == FAR, found.optimal > nearby.depth)


@needs_originals
def test_the_ends_of_the_scrambles_from_outside_are_as_far_as_the_exact_table_says():
    """A scramble as long as the optimum is a shortest path, and so is each beginning of it."""
    found, nearby = external.load(CUBE, ORIGINAL), nearby_table(CUBE, 4)
    scrambles = [CUBE.parse_moves(text) for text in found.texts]
    shortest = [moves for moves, optimal in zip(scrambles, found.optimal, strict=True) if len(moves) == optimal]
    assert shortest
    for length in range(nearby.depth + 1):
        assert (nearby(np.array([apply(CUBE, CUBE.goal, moves[:length]) for moves in shortest])) == length).all()


@pytest.fixture
def study(folder, tmp_path):
    """A study with an exact table and an untrained network; run it as the workflow does: `study((3, 0.3))`."""
    return study_of(CUBE, tmp_path)


def study_of(puzzle, tmp_path):
    """The same of any puzzle, with the instances of cubes.csv; a budget may have λ and N: `study((3, 0.3, 0.8, 9))`."""
    results = tmp_path / "results" / "small"
    table, model = results / "tables" / f"{puzzle.name}.npz", results / "models" / "walks"
    out = results / "external" / "walks"
    nearby = nearby_table(puzzle, 3)
    write_arrays(table, keys=nearby.keys, distance=nearby.distance, layers=nearby.layers)
    architecture = architecture_of(
        first_layers=[8], residual_blocks=0, outputs="actions", batch_norm_momentum=0.9, batch_norm_epsilon=1e-5
    )
    network = networks.build(architecture, puzzle, seed=0)
    networks.save(
        model / "000000.safetensors", network, {"puzzle": puzzle.name, "precision": "float32", "iteration": 0}
    )
    write_frame(model / "checkpoints.parquet", pd.DataFrame({"file": ["000000.safetensors"]}))

    def run(*budgets: tuple) -> Path:
        names = ("states", "seconds", "path_weight", "batch_size")
        budgets = [dict(zip(names, budget, strict=False)) for budget in budgets or [(5, 0.3)]]
        budgets = [{"solver": "bwas" if "path_weight" in budget else "beam", **budget} for budget in budgets]
        asked = {"file": "cubes.csv", "budgets": budgets}
        common = {"study": "small", "puzzle": puzzle.name, "model": "walks", "threads": torch.get_num_threads()}
        common["device"] = "cpu"
        recipe = write_recipe("search.external", out, {**common, "external": asked, "max_nodes": 1_000_000})
        stage.run(recipe, out, table, model)
        return out

    return run


def test_the_stage_holds_what_it_solves_against_the_optimum(study):
    out = study()
    searches = read_frame(out / "searches.parquet")
    assert list(searches) == [
        "seconds_allowed", "instance", "scramble", "optimal", "cost_to_go", "solved", "cost", "length_htm",
        "nodes_expanded", "nodes_generated", "solution",
    ]  # fmt: skip
    starts = external.load(CUBE, outside.find("cubes.csv")).states
    assert solves(CUBE, starts, [CUBE.parse_moves(text) for text in searches["solution"]]).all()
    assert searches["cost"].tolist() == OPTIMAL and searches["length_htm"].tolist() == [2, 1, 3, 0, 3]
    row = read_frame(out / "summary.parquet").iloc[0]
    assert row["first"] == 5 and row["solved_percent"] == row["optimal_percent"] == 100
    assert row["length"] == row["optimal_length"] == 2 and row["optimal_percent_low"] == 100 * wilson(5, 5)[0]
    heuristic = networks.load(next(out.parents[1].glob("models/walks/*.safetensors")))
    admissible = heuristic(starts) <= OPTIMAL
    assert row["admissible_percent"] == pytest.approx(100 * admissible.mean())
    seconds = read_frame(out.parents[1] / "timings" / "external" / "walks.parquet")
    assert list(seconds) == ["seconds_allowed", "instance", "seconds"] and len(seconds) == 5
    card = read_json(out.with_suffix(".json"))
    assert card["metrics"]["0.3s_first_5_optimal_percent"] == 100 and str(outside.find("cubes.csv")) in card["inputs"]


def test_only_the_first_are_solved_under_each_budget(study):
    out = study((2, 0.3), (4, 0.5))
    searches = read_frame(out / "searches.parquet")
    assert searches["scramble"].tolist() == SCRAMBLES[:2] + SCRAMBLES[:4]
    assert searches["seconds_allowed"].tolist() == [0.3] * 2 + [0.5] * 4
    summary = read_frame(out / "summary.parquet")
    assert summary[["seconds_allowed", "first"]].to_numpy().tolist() == [[0.3, 2], [0.5, 4]]


def test_a_budget_with_a_path_weight_and_a_batch_size_is_of_bwas(study, monkeypatch):
    monkeypatch.setattr(anytime, "solve_within", None)  # beams, which are not asked for
    searches = read_frame(study((5, 60, 0.8, 10)) / "searches.parquet")
    starts = external.load(CUBE, outside.find("cubes.csv")).states
    assert searches["cost"].tolist() == OPTIMAL
    assert solves(CUBE, starts, [CUBE.parse_moves(text) for text in searches["solution"]]).all()


def test_searches_by_beams_are_not_taken_for_those_of_bwas_nor_those_of_another_path_weight(
    study, killed_after, monkeypatch
):
    beams, weights, solve = killed_after(None), [], anytime.solve_with_weights

    def told_of(puzzle, heuristic, start, weighted, *, seconds, **options):
        if seconds != WARMING_UP:
            weights.append(weighted.path_weights)
        return solve(puzzle, heuristic, start, weighted, seconds=seconds, **options)

    monkeypatch.setattr(anytime, "solve_with_weights", told_of)
    for budget in ((2, 0.3), (2, 0.3, 0.8, 10), (2, 0.3, [0.6, 1.2], 10), (2, 0.3, [0.6, 1.2], 10)):
        study(budget)
    assert len(beams) == 2 and weights == [[0.8], [0.8], [0.6, 1.2], [0.6, 1.2]]


@pytest.mark.parametrize(
    ("name", "column", "actions", "known"),
    [("puzzle15", "tiles", [1, 3, 1], False), ("lights_out_3", "lights", [0, 4, 7], True)],
)
def test_boards_without_a_known_optimum_have_none_and_those_of_lights_out_have_their_own(
    name, column, actions, known, folder, tmp_path, capsys
):
    puzzle = make(name)
    boards = [apply(puzzle, puzzle.goal, actions[:length]) for length in range(4)]
    written(folder, {column: [puzzle.format_state(board) for board in boards]})
    out = study_of(puzzle, tmp_path)((4, 0.2), (4, 60, 0.8, 10))
    searches = read_frame(out / "searches.parquet")
    assert list(searches)[:4] == ["seconds_allowed", "instance", column, "optimal"]
    assert searches["length_htm"].isna().all() and searches["cost"].tolist() == [0, 1, 2, 3] * 2
    summary = read_frame(out / "summary.parquet")
    assert summary["solved_percent"].tolist() == [100, 100]
    assert summary[list(stage.AGAINST_THE_OPTIMUM)].notna().all(axis=None) == known
    assert searches["optimal"].tolist() == [0, 1, 2, 3] * 2 if known else searches["optimal"].isna().all()
    metrics = read_json(out.with_suffix(".json"))["metrics"]
    assert ("0.2s_first_4_optimal_percent" in metrics) == known and not any(np.isnan(list(metrics.values())))
    assert "nan" not in capsys.readouterr().err


def test_budgets_must_grow():
    short, long = ({"solver": "beam", "states": 3, "seconds": seconds} for seconds in (1, 9))
    assert [budget.seconds for budget in ExternalParams(file="cubes.csv", budgets=[short, long]).budgets] == [1, 9]
    for budgets in ([long, short], [short, short]):
        with pytest.raises(ValidationError, match="must grow"):
            ExternalParams(file="cubes.csv", budgets=budgets)


@pytest.fixture
def killed_after(monkeypatch):
    """Let a run be killed once so many searches have ended; the instances searched, warming up left out."""
    searched, solve_within = [], anytime.solve_within

    def kill(count: int | None) -> list:
        def limited(puzzle, heuristic, start, **options):
            if options["seconds"] != WARMING_UP:
                if len(searched) == count:
                    raise KeyboardInterrupt
                searched.append(start)
            return solve_within(puzzle, heuristic, start, **options)

        monkeypatch.setattr(anytime, "solve_within", limited)
        return searched

    return kill


def test_a_run_that_was_killed_goes_on_where_it_was(study, killed_after):
    searched = killed_after(3)
    with pytest.raises(KeyboardInterrupt):
        study()
    killed_after(None)
    out = study()
    assert len(searched) == 5, "none is searched twice"
    assert read_frame(out / "searches.parquet")["cost"].tolist() == OPTIMAL


def test_searches_of_another_budget_are_not_taken(study, killed_after):
    searched = killed_after(3)
    with pytest.raises(KeyboardInterrupt):
        study()
    killed_after(None)
    study((5, 0.2))
    assert len(searched) == 3 + 5


def test_more_states_go_on_from_those_already_searched(study, killed_after):
    searched = killed_after(None)
    study((2, 0.3))
    assert len(read_frame(study((5, 0.3)) / "searches.parquet")) == 5 and len(searched) == 5
    assert len(read_frame(study((1, 0.3)) / "searches.parquet")) == 1 and len(searched) == 5


def flip(path: Path, place: int) -> None:
    """Change the lowest bit of a byte."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = {
    "a bit of the digest": lambda path: flip(path, 3),
    "a bit of a number": lambda path: flip(path, path.read_bytes().index(b'"cost": 2') + 8),
    "a bit of the last line's end": lambda path: flip(path, -1),
    "no text": lambda path: path.write_bytes(b"\xff" * 50),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "cut off after a row": lambda path: path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1])),
    "empty": lambda path: path.write_bytes(b""),
    "a folder": put_folder,
}


def kept() -> list[Path]:
    """The files of searches that runs have kept, the oldest first."""
    folder = outside.folder().parent / "results" / "small" / "resume" / "external_walks"
    return sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)


@pytest.mark.parametrize("kind", DAMAGES)
def test_searches_kept_in_a_damaged_file_are_searched_again_and_a_line_says_so(kind, study, killed_after, capsys):
    searched = killed_after(3)
    with pytest.raises(KeyboardInterrupt):
        study()
    (partial,) = kept()
    DAMAGES[kind](partial)
    killed_after(None)
    capsys.readouterr()
    out = study()
    assert len(searched) == 3 + 5 and read_frame(out / "searches.parquet")["cost"].tolist() == OPTIMAL
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "anew" in line]
    assert (
        line.startswith("walks, beams for 0.3 s each: all searches begin anew: ")
        and str(partial) in line
        and is_one_sentence(line)
    )


def test_searches_of_another_budget_are_not_taken_under_the_name_of_this(study, killed_after, capsys):
    searched = killed_after(None)
    study((5, 0.2))
    study((5, 0.3))
    other, own = kept()
    own.write_bytes(other.read_bytes())
    study((5, 0.3))
    assert len(searched) == 15 and f"begin anew: {own} is not what" in capsys.readouterr().err


def test_a_solution_shorter_than_the_optimum_shows_a_wrong_file(study, folder):
    written(folder, {"scramble": ["R U'"], "optimal_moves_qtm": [4]})
    assert "is solved in 2 moves, not in the 4 that were known" in told(study)


def test_a_summary_tells_of_the_first_30_the_first_100_and_all_each_once(capsys):
    def searches(count: int) -> pd.DataFrame:
        unsolved = np.arange(count) == 1
        cost = np.where(unsolved, np.inf, 20.0 + np.arange(count) % 2)
        counted = {"nodes_expanded": 5, "nodes_generated": 60, "seconds": 1.0}
        known = {"seconds_allowed": 5, "distance": 20.0, "cost_to_go": 20.0}
        return pd.DataFrame({**known, "solved": ~unsolved, "cost": cost, **counted})

    for count, firsts in {3: [3], 30: [30], 31: [30, 31], 100: [30, 100], 500: [30, 100, 500]}.items():
        assert stage.summary_of(searches(count))["first"].tolist() == firsts
        both = pd.concat([searches(count), searches(31).assign(seconds_allowed=60)])
        assert stage.summary_of(both)["first"].tolist() == [*firsts, 30, 31]
    row = stage.summary_of(searches(4)).iloc[0]
    assert row["solved_percent"] == 75 and row["optimal_percent"] == 50, "what is not solved is not optimal"
    assert row["length"] == pytest.approx(61 / 3) and row["length_low"] < row["length"] < row["length_high"]
    assert row["optimal_percent_low"] < 50 < row["optimal_percent_high"] and row["admissible_percent"] == 100
    stage.summary_of(searches(4).assign(solved=False, cost=np.inf))
    assert "nan" not in capsys.readouterr().err
