"""Local value iteration: its value functions, its solutions, and what it does on all boards."""

from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo.analysis.local_solutions import lengths_of
from costtogo.analysis.local_vi import exact, placements, sizes_of_uniform_blank
from costtogo.files import read_csv
from costtogo.learning.local_vi import (
    OUTSIDE,
    UNREACHED,
    Local,
    Subproblem,
    band_order,
    distances,
    reading_order,
)
from costtogo.literature.documents import LOCAL_VI
from costtogo.literature.reported import read_local_vi
from costtogo.params.audits import LocalVi
from costtogo.params.loading import load
from costtogo.params.study import PuzzleParams, Study
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.puzzles.sliding import SlidingTiles
from costtogo.stages import figures, report
from costtogo.stages.local_vi import counted, policy_of, random_boards, replayed
from costtogo.stages.local_vi import run as run_stage
from costtogo.types import UserError
from costtogo.workflow.stages import stages_of

REPORTED = Path(__file__).parents[1] / "data/reported" / LOCAL_VI
FIFTEEN, EIGHT = SlidingTiles(4), make("puzzle8")
ALL_EIGHT = EIGHT.unrank(np.arange(EIGHT.state_count))
DISCOUNT = 0.9
SUBPROBLEMS = {  # some of theorem 1, and some that cannot always be solved
    "1": Subproblem(4, (1,)),
    "3 4": Subproblem(4, (3, 4), frozenset({1, 2})),
    "8": Subproblem(4, (8,), frozenset(range(1, 8))),
    "9 to 11": Subproblem(4, (9, 10, 11), frozenset(range(1, 9))),
    "10 to 12": Subproblem(4, (10, 11, 12), frozenset(range(1, 10))),
    "14": Subproblem(4, (14,), frozenset(range(1, 14))),
}


def value_iteration(problem: Subproblem, *, discount: float, tolerance: float) -> np.ndarray:
    """The value function by value iteration as the document writes it (Algorithm 1), by rank, float64.

    The reward is 1 in every state whose tiles are home; a sweep updates all states from the values before it, until no
    value changes by more than the tolerance. 0 where the tiles cannot come home.
    """
    states, children = _neighbours(problem)
    reward = np.zeros(problem.ranks + 1)
    reward[states] = _are_home(problem, states)
    values = np.zeros(problem.ranks + 1)  # the last stands for children that there are not
    while True:
        updated = reward[states] + discount * values[children].max(axis=1)
        change = np.abs(updated - values[states]).max()
        values[states] = updated
        if change <= tolerance:
            return values[:-1]


def _digits(problem: Subproblem, ranks: np.ndarray) -> np.ndarray:
    """The places of the blank and the tiles, int64 [N, k + 1]."""
    base = len(problem.cells)
    return ranks[:, None] // base ** np.arange(len(problem.tiles), -1, -1) % base


def _are_home(problem: Subproblem, ranks: np.ndarray) -> np.ndarray:
    return (problem.cells[_digits(problem, ranks)[:, 1:]] == problem.homes).all(axis=1)


def _neighbours(problem: Subproblem) -> tuple[np.ndarray, np.ndarray]:
    """The ranks of all states, int64 [N], and of their children, int64 [N, A], -1 where there is none."""
    ranks = np.arange(problem.ranks)
    digits = _digits(problem, ranks)
    ordered = np.sort(digits, axis=1)
    ranks = ranks[(ordered[:, 1:] > ordered[:, :-1]).all(axis=1)]
    digits = _digits(problem, ranks)
    sources, places = SlidingTiles(problem.side).sources, problem.places
    weights = len(problem.cells) ** np.arange(len(problem.tiles), -1, -1)
    children = np.empty((len(ranks), sources.shape[1]), dtype=np.int64)
    for action in range(sources.shape[1]):
        blank = problem.cells[digits[:, 0]]
        source = places[sources[blank, action]]
        moved = np.where(digits == source[:, None], digits[:, :1], digits)
        moved[:, 0] = source
        legal = (source != OUTSIDE) & (source != digits[:, 0])
        children[:, action] = np.where(legal, moved @ weights, -1)
    return ranks, children


@pytest.mark.parametrize("name", SUBPROBLEMS)
def test_backward_search_and_value_iteration_as_the_document_has_it_agree(name):
    problem = SUBPROBLEMS[name]
    moves, values = distances(problem), value_iteration(problem, discount=DISCOUNT, tolerance=1e-10)
    reached = moves != UNREACHED
    np.testing.assert_array_equal(reached, values > 0)
    np.testing.assert_allclose(values[reached], DISCOUNT ** moves[reached].astype(float) / (1 - DISCOUNT), rtol=1e-6)


def test_the_last_tile_has_another_value_but_the_same_policy():
    """The blank must leave its goal and the tile with it: the reward comes at every second move."""
    problem = Subproblem(4, (15,), frozenset(range(1, 15)))
    moves, values = distances(problem), value_iteration(problem, discount=DISCOUNT, tolerance=1e-10)
    assert sorted(moves[moves != UNREACHED]) == [0, 1]
    np.testing.assert_allclose(values[moves == 0], 1 / (1 - DISCOUNT**2))
    np.testing.assert_allclose(values[moves == 1], DISCOUNT / (1 - DISCOUNT**2))


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("order", [reading_order, band_order])
def test_what_is_said_of_all_boards_holds_for_every_board_of_the_8_puzzle(size, order, distances_of):
    local = Local(EIGHT, size, order)
    found, solved = exact(local), local.solve(ALL_EIGHT)
    assert replayed(EIGHT, ALL_EIGHT, solved).all()
    assert (solved.lower_bound <= distances_of("puzzle8")).all()
    assert (solved.length >= distances_of("puzzle8")).all()
    considered, boards = solved.sizes.max(axis=1), len(ALL_EIGHT)
    assert sorted(found.classes) == sorted(np.unique(considered))
    for largest, part in found.classes.items():
        lengths = solved.length[considered == largest]
        assert part.share == Fraction(len(lengths), boards)
        assert part.moves == Fraction(int(lengths.sum()), boards)
        assert part.most == lengths.max()
    for step, shares in enumerate(found.sizes):
        counts = np.bincount(solved.sizes[:, step])
        assert shares == {k: Fraction(int(n), boards) for k, n in enumerate(counts) if n}
    assert found.average == Fraction(int(solved.length.sum()), boards) and found.most == solved.length.max()


def test_the_order_of_equally_good_moves_changes_lengths_and_not_what_is_said_of_steps(distances_of):
    local = Local(EIGHT)
    some = ALL_EIGHT[::11]
    solved = [Local(EIGHT, preference=order, values=local.values).solve(some) for order in permutations(range(4))]
    assert len({int(found.length.sum()) for found in solved}) > 1
    for found in solved:
        assert replayed(EIGHT, some, found).all()
        np.testing.assert_array_equal(found.moves[:, 0], solved[0].moves[:, 0])
        np.testing.assert_array_equal(found.length, found.moves.sum(axis=1))


def test_the_lengths_of_the_boards_drawn_are_kept_as_counts_of_which_nothing_is_lost():
    boards = random_boards(FIFTEEN, 400, np.random.default_rng(1))
    solved = Local(FIFTEEN, 1, values=VALUES).solve(boards)
    kept, most = counted(1, solved), solved.sizes.max(axis=1)
    assert [*kept] == ["initial_size", "considered", "length", "boards"] and len(kept) < 400
    assert sorted(lengths_of(kept, 1)) == sorted(solved.length) and lengths_of(kept, 2).empty
    for considered in np.unique(most):
        assert sorted(lengths_of(kept, 1, considered)) == sorted(solved.length[most == considered])


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_boards_of_the_15_puzzle_are_solved_in_a_batch_as_alone(seed, size):
    boards = random_boards(FIFTEEN, 5, np.random.default_rng(seed))
    local = Local(FIFTEEN, size, values=VALUES)
    found = local.solve(boards)
    result = found.result()
    assert solves(FIFTEEN, boards, result.solutions).all() and replayed(FIFTEEN, boards, found).all()
    alone = local.solve(boards[3:4]).result()
    np.testing.assert_array_equal(alone.solutions[0], result.solutions[3])
    assert alone.cost[0] == result.cost[3] and alone.lower_bound[0] == result.lower_bound[3]


VALUES: dict[Subproblem, np.ndarray] = {}  # of all examples


def test_a_solution_that_does_not_reach_the_goal_is_found_out():
    boards = random_boards(FIFTEEN, 3, np.random.default_rng(1))
    found = Local(FIFTEEN, 2, values=VALUES).solve(boards)
    found.length[1] -= 1
    np.testing.assert_array_equal(replayed(FIFTEEN, boards, found), [True, False, True])


def test_the_documents_exact_numbers_hold_but_for_the_states():
    """Theorems 1 to 3; the states are halved there."""
    local, rows = Local(FIFTEEN, values=VALUES), read_local_vi(REPORTED)
    found = exact(local)
    for row in rows[rows["quantity"] == "share"].itertuples():
        assert found.sizes[row.tile - 1][row.considered] == Fraction(row.value)
        assert sizes_of_uniform_blank(local, row.tile - 1)[row.considered] == Fraction(row.value)
    for row in rows[rows["quantity"] == "class_share"].itertuples():
        assert found.classes[row.considered].share == Fraction(row.value)
    for row in rows[rows["quantity"].isin(["most_moves", "states"])].itertuples():
        problem = local.subproblem(row.tile - 1, row.considered - 1)
        values = local.value_function(problem)
        reached = values[values != UNREACHED]
        if row.quantity == "most_moves":
            assert reached.max() == int(row.value)
        else:
            assert len(reached) == int(row.value) * (1 if row.tile > 13 else 2)
    bounds = rows[rows["quantity"] == "bound"].set_index("considered")["value"].astype(int)
    assert all(found.classes[largest].most <= bounds[largest] for largest in bounds.index)


def test_placements_are_all_ways_to_lie_and_those_of_the_last_tiles_half_of_them():
    local = Local(FIFTEEN)
    assert len(placements(local, 0).cells) == 16 * 15 and placements(local, 0).boards.all()
    assert len(placements(local, 13).cells) == 6 and placements(local, 13).boards.sum() == 3
    assert len(placements(local, 14).cells) == 2 and placements(local, 14).boards.sum() == 2


def test_the_policy_of_a_tile_moves_it_to_a_neighbouring_cell():
    local = Local(FIFTEEN, values=VALUES)
    table = pd.concat([policy_of(local, step) for step in (0, 3, 14)])
    assert (table.loc[table["cell"] == table["tile"] - 1, "moves"] == 0).all()
    away = table[table["to"] != table["cell"]]
    step = (away["to"] - away["cell"].astype(int)).abs()
    assert set(step) == {1, 4}
    assert table.groupby("tile").size().to_dict() == {1: 240, 4: 156, 15: 2}


def test_a_board_of_ten_by_ten_is_solved_by_bands_and_refused_in_reading_order():
    puzzle = SlidingTiles(10)
    boards = random_boards(puzzle, 2, np.random.default_rng(3))
    found = Local(puzzle, order=band_order).solve(boards)
    assert replayed(puzzle, boards, found).all() and found.sizes.max() == 2
    with pytest.raises(UserError) as told:
        Local(puzzle, order=reading_order).solve(boards)
    assert "order by bands" in str(told.value) and is_one_sentence(str(told.value))


def test_an_impossible_board_is_told_in_one_sentence():
    board = FIFTEEN.goal.copy()
    board[[0, 1]] = board[[1, 0]]
    with pytest.raises(UserError) as told:
        Local(FIFTEEN).solve(board[None])
    assert is_one_sentence(str(told.value))


def test_random_boards_can_all_be_solved_and_differ():
    boards = random_boards(FIFTEEN, 1000, np.random.default_rng(0))
    assert FIFTEEN.is_reachable(boards).all() and len(np.unique(boards, axis=0)) == 1000
    assert (np.sort(boards, axis=1) == np.arange(16)).all()
    share = (boards == 0).mean(axis=0)
    assert np.abs(share - 1 / 16).max() < 0.03


def test_the_study_is_read_and_a_mistake_in_it_told(tmp_path):
    asked = load(["config/local_vi.yaml"]).puzzles["puzzle15"].local_vi
    assert asked.sizes == [1, 2, 3, 4, 5] and asked.boards == 100_000
    path = tmp_path / "x.yaml"
    path.write_text("{study: x, seed: 1, threads: 1, puzzles: {puzzle15: {local_vi: {boards: 5, sizes: [2, 1]}}}}")
    with pytest.raises(UserError) as told:
        load([path])
    assert "sizes must grow" in str(told.value) and is_one_sentence(str(told.value))


def test_the_study_is_run_and_reported_with_what_the_document_has_beside_it(tmp_path, monkeypatch):
    root = Path.cwd()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSTTOGO_TRACKING", "off")
    for folder in ("data", "workflow"):
        Path(folder).symlink_to(root / folder)
    larger = [{"side": 3, "boards": 50}, {"side": 5, "boards": 20, "exact": False}]
    asked = LocalVi.model_validate({"boards": 3000, "sizes": [1, 2], "larger": larger})
    study = Study(study="local_vi", seed=1, threads=1, puzzles={"puzzle15": PuzzleParams(local_vi=asked)})
    results, reports = Path("results/local_vi"), Path("reports/local_vi")
    boards, *drawn, reported = stages_of(study)
    run_stage(boards.recipe.write(boards.folder, boards.name), results / "local_vi/puzzle15")
    for part in drawn:
        figures.run(part.recipe.write(part.folder, part.name), results, reports)
    recipe = reported.recipe.write(reported.folder, reported.name)
    report.run(recipe, results, reports)
    compared = read_csv(reports / "reported_vs_reproduced.csv", dtype=str)
    assert len(compared) + len(read_csv(reports / "timings/reported_vs_reproduced.csv")) == len(read_local_vi(REPORTED))
    verdicts = compared.groupby("quantity")["verdict"].agg(set).to_dict()
    exact_ones = ("share", "class_share", "bound", "most_moves", "class_percent")
    assert all(verdicts[quantity] == {"reproduced"} for quantity in exact_ones)
    assert verdicts["most_states"] == {"source errs"} and verdicts["states"] == {"reproduced", "source errs"}
    assert verdicts["boards"] == {"reproduced"}
    assert verdicts["average_moves"] == {"reproduced", "not run"}, "sizes 3 to 5 are not searched"
    text = "".join(
        (reports / name).read_text() for name in ("report.md", "pages/puzzle15.md", "pages/appendix_differences.md")
    )
    assert (
        "20,160" in text
        and f"{(compared['verdict'] == 'reproduced').sum()} are reproduced" in text
        and "Beside other solvers" not in text
    )
    pictures = sorted(path.stem for path in reports.glob("figures/*.png"))
    assert pictures == ["lengths_by_class", "lengths_by_size", "policy"]
    first = {path: path.read_bytes() for path in reports.rglob("*.*") if "timings" not in str(path)}
    report.run(recipe, results, reports)
    assert first == {path: path.read_bytes() for path in first}
