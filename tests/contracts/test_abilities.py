"""What puzzles of some families can do beside what all can: declared in puzzles.base, and true where it is declared."""

import numpy as np
import pytest
from known_puzzles import ABILITIES

from costtogo.learning.random_walk import draw_walks
from costtogo.puzzles import FAMILIES, FILE, family, make
from costtogo.puzzles.base import Puzzle, apply, inverses, is_listed, solves

OPTIONAL = set.union(*ABILITIES.values()) - {"listed"}
COUNTS = {"cube3": 48, "sliding": 2}  # of symmetries, by family
STILL = {"cube2": 3, "cube3": 6}  # cells that belong to no piece


def having(ability: str) -> list[Puzzle]:
    return [make(name) for name, abilities in ABILITIES.items() if ability in abilities]


def having_each(ability: str):
    return pytest.mark.parametrize("puzzle", having(ability), ids=lambda puzzle: puzzle.name)


def some_states(puzzle: Puzzle, count: int = 200) -> np.ndarray:
    return draw_walks(puzzle, count, 40, np.random.default_rng(1)).states[:count]


def scramble(puzzle: Puzzle, seed: int, length: int = 25) -> np.ndarray:
    return puzzle.walk(np.random.default_rng(seed).random((1, length)))[1][0]


def test_every_family_has_a_puzzle_here_and_a_key_of_its_own():
    assert {family(name) for name in ABILITIES} == {*(each.key for each in FAMILIES), FILE}
    assert len({each.key for each in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize("name", [*ABILITIES, *(each.example for each in FAMILIES)])
def test_a_puzzle_knows_its_name_and_is_of_the_family_that_its_name_tells(name):
    assert make(name).name == name and make(name).family == family(name)


@pytest.mark.parametrize("name", ABILITIES)
def test_a_puzzle_declares_the_abilities_that_it_has_and_no_others(name):
    puzzle = make(name)
    there = {ability for ability in OPTIONAL if _is_there(getattr(puzzle, ability))}
    assert there == ABILITIES[name] - {"listed"}


def _is_there(ability) -> bool:
    return bool(len(ability) if isinstance(ability, tuple | np.ndarray) else ability)


@having_each("start")
def test_the_customary_start_is_a_state_of_the_puzzle_away_from_the_goal(puzzle):
    assert puzzle.start.dtype == np.uint8 and not puzzle.is_goal(puzzle.start[None])[0]
    np.testing.assert_array_equal(puzzle.parse_state(puzzle.format_state(puzzle.start)), puzzle.start)


@having_each("symmetries")
def test_symmetries_differ_and_the_first_changes_nothing(puzzle):
    states = some_states(puzzle)
    assert len({tuple(symmetry.actions) for symmetry in puzzle.symmetries}) == COUNTS[puzzle.family]
    assert len(puzzle.symmetries) == COUNTS[puzzle.family]
    np.testing.assert_array_equal(puzzle.symmetries[0].apply(states), states)


@having_each("symmetries")
def test_a_symmetry_carries_sequences_to_sequences(puzzle):
    for symmetry in (*puzzle.symmetries, *([puzzle.mirror] if puzzle.mirror else [])):
        for seed in range(5):
            moves = scramble(puzzle, seed)
            image = apply(puzzle, puzzle.goal, symmetry.actions[moves])
            np.testing.assert_array_equal(symmetry.apply(apply(puzzle, puzzle.goal, moves)[None])[0], image)


@having_each("inverse_states")
def test_the_scramble_itself_solves_the_inverse_of_the_state_it_makes(puzzle):
    scrambles = [scramble(puzzle, seed) for seed in range(5)]
    states = np.array([apply(puzzle, puzzle.goal, moves) for moves in scrambles])
    assert solves(puzzle, puzzle.inverse_states(states), scrambles).all()


@having_each("half_turn_length")
def test_half_turns_are_at_most_as_many_as_quarter_turns(puzzle):
    for moves in (scramble(puzzle, seed) for seed in range(5)):
        assert puzzle.half_turn_length(moves) <= len(moves)
        assert puzzle.half_turn_length(np.repeat(moves[:1], 2)) == 1


@having_each("turns")
def test_turns_say_where_each_cell_of_a_child_comes_from(puzzle):
    states = some_states(puzzle)
    children, legal = puzzle.expand(states)
    assert legal.all()
    np.testing.assert_array_equal(children, states[:, puzzle.turns])
    np.testing.assert_array_equal(puzzle.turns[inverses(puzzle)], np.argsort(puzzle.turns, axis=1))


@having_each("pieces")
def test_pieces_are_seen_in_every_state_and_what_is_no_piece_never_changes(puzzle):
    states = some_states(puzzle)
    assert all((pieces.seen(states) >= 0).all() for pieces in puzzle.pieces)
    moving = np.concatenate([pieces.stickers.ravel() for pieces in puzzle.pieces])
    assert len(np.unique(moving)) == len(moving) == puzzle.cells - STILL[puzzle.name]
    assert (np.delete(states, moving, axis=1) == np.delete(puzzle.goal, moving)).all()


@having_each("presses")
def test_presses_are_added_modulo_two_and_quiet_sets_of_them_change_nothing(puzzle):
    states = some_states(puzzle)
    children, legal = puzzle.expand(states)
    assert legal.all()
    np.testing.assert_array_equal(children, (states[:, None] + puzzle.presses) % 2)
    assert not (puzzle.quiet @ puzzle.presses % 2).any()
    assert puzzle.state_count == 2 ** (puzzle.cells - len(puzzle.quiet))


@having_each("side")
def test_a_board_has_as_many_rows_as_columns(puzzle):
    assert puzzle.side**2 == puzzle.cells


@having_each("disks")
def test_disks_are_cells_and_those_at_the_goal_make_the_ranks_of_a_smaller_tower(puzzle):
    assert puzzle.disks == puzzle.cells
    for disks in range(puzzle.disks + 1):
        states = puzzle.unrank(np.arange(puzzle.letters**disks))
        np.testing.assert_array_equal(states[:, disks:], np.tile(puzzle.goal[disks:], (len(states), 1)))


@pytest.mark.parametrize("name", ABILITIES)
def test_only_listed_puzzles_have_ranks_and_their_factors_make_the_neighbours(name):
    puzzle = make(name)
    assert is_listed(puzzle) == hasattr(puzzle, "rank") == ("listed" in ABILITIES[name])
    if name == "cube2":
        first, second = puzzle.factors()
        states = np.random.default_rng(0).integers(puzzle.state_count, size=500)
        high, low = np.divmod(states, len(second))
        np.testing.assert_array_equal(puzzle.neighbours()[states], first[high] * len(second) + second[low])
    elif is_listed(puzzle):
        assert puzzle.factors() is None
