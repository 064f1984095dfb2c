"""Levels of Sokoban: those made at random are levels, can be solved and come again; files are read or refused."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from messages import is_one_sentence

from costtogo.learning import level_generator
from costtogo.learning.level_generator import generate
from costtogo.learning.levels import is_new_layout, read_levels
from costtogo.puzzles import make
from costtogo.puzzles.sokoban import BOX, TARGET, WALL, is_box, is_player, sokoban
from costtogo.types import UserError

PUZZLE = make("sokoban")
SMALL = make("sokoban_7")
LEVEL = "#####\n#@$.#\n#####"
MANY = 200


@pytest.fixture(scope="module")
def made():
    """Levels as Boxoban has them: 10 × 10 cells, four boxes."""
    return generate(PUZZLE, MANY, 4, seed=1)


def told(function, *arguments) -> str:
    with pytest.raises(UserError) as error:
        function(*arguments)
    assert is_one_sentence(str(error.value)), str(error.value)
    return str(error.value)


def refuse_what_are_no_levels(puzzle, states, boxes):
    """Fail unless each state is a level with so many boxes, none on a target, and targets, behind a closed border."""
    boards = states.reshape(-1, puzzle.rows, puzzle.columns)
    border = np.ones((puzzle.rows, puzzle.columns), dtype=bool)
    border[1:-1, 1:-1] = False
    assert states.dtype == np.uint8 and (states <= WALL).all()
    assert (boards[:, border] == WALL).all()
    assert (is_player(states).sum(axis=1) == 1).all()
    assert ((states == BOX).sum(axis=1) == boxes).all() and (is_box(states).sum(axis=1) == boxes).all()
    assert ((states == TARGET).sum(axis=1) == boxes).all(), "none with a box or the player on it"
    assert not puzzle.is_goal(states).any()


def least_steps(puzzle, start):
    """Steps of a shortest solution by breadth-first search, None where there is none."""
    layer, steps = start[None], 0
    seen = {start.tobytes()}
    while len(layer) and not puzzle.is_goal(layer).any():
        children, legal = puzzle.expand(layer)
        fresh = {child.tobytes() for child in children[legal]} - seen
        seen |= fresh
        layer = np.array([np.frombuffer(state, dtype=np.uint8) for state in sorted(fresh)])
        steps += 1
    return steps if len(layer) else None


def test_the_same_seed_gives_the_same_levels_and_another_seed_others(made):
    np.testing.assert_array_equal(generate(PUZZLE, MANY, 4, seed=1), made)
    assert not (generate(PUZZLE, MANY, 4, seed=2) == made).all(axis=1).any()


def test_a_longer_run_begins_with_the_levels_of_a_shorter_one(made):
    for count in (0, 1, 7, MANY - 1):
        np.testing.assert_array_equal(generate(PUZZLE, count, 4, seed=1), made[:count])


def test_runs_in_several_parts_give_the_same_levels(made, monkeypatch):
    monkeypatch.setattr(level_generator, "CHUNK", 7)
    np.testing.assert_array_equal(generate(PUZZLE, MANY, 4, seed=1), made)


def test_a_longer_run_begins_with_the_shorter_one_though_most_attempts_are_known_levels():
    puzzle = make("sokoban_5")
    found = generate(puzzle, 100, 1, seed=0)
    assert len(np.unique(found, axis=0)) == 100, "of a few hundred that there are"
    np.testing.assert_array_equal(generate(puzzle, 60, 1, seed=0), found[:60])


def test_levels_differ(made):
    assert len(np.unique(made, axis=0)) == MANY
    assert is_new_layout(PUZZLE, made[:1], made[1:]).all()


def test_every_level_has_a_player_and_boxes_off_as_many_targets_behind_a_closed_border(made):
    refuse_what_are_no_levels(PUZZLE, made, 4)


def test_every_level_reads_back_from_its_text(made):
    for level in made[:50]:
        np.testing.assert_array_equal(PUZZLE.parse_state(PUZZLE.format_state(level)), level)


def test_every_level_has_a_solution_of_a_few_pushes():
    steps = [least_steps(SMALL, level) for level in generate(SMALL, 40, 2, seed=3)]
    assert None not in steps
    assert min(steps) >= 2 and np.mean(steps) > 8, steps


def test_one_box_is_pushed_at_least_twice():
    for level in generate(make("sokoban_5"), 40, 1, seed=3):
        box, target = np.argwhere(level.reshape(5, 5) == BOX)[0], np.argwhere(level.reshape(5, 5) == TARGET)[0]
        assert np.abs(box - target).sum() >= level_generator.FEWEST_PUSHES


def test_levels_look_like_those_of_boxoban(made):
    """Means of its 30,000 training levels: 31.7 free cells, 1.95 rows and columns from a box to the nearest target."""
    more = generate(PUZZLE, 1000, 4, seed=4)
    boards = more.reshape(-1, 10, 10)
    boxes, targets = (np.argwhere(boards == letter)[:, 1:].reshape(-1, 4, 2) for letter in (BOX, TARGET))
    nearest = np.abs(boxes[:, :, None] - targets[:, None]).sum(axis=3).min(axis=2)
    assert abs((more != WALL).sum(axis=1).mean() - 31.7) < 1.5
    assert abs(nearest.mean() - 1.95) < 0.15


@given(rows=st.integers(4, 14), columns=st.integers(4, 14), boxes=st.integers(1, 6), seed=st.integers(0, 2**40))
def test_any_board_and_number_of_boxes_gives_levels_or_a_sentence(rows, columns, boxes, seed):
    puzzle = sokoban(rows, columns)
    try:
        found = generate(puzzle, 3, boxes, seed)
    except UserError as error:
        assert is_one_sentence(str(error))
        assert (rows - 2) * (columns - 2) < 6 * boxes + 6, "there is room"
        assume(False)
    refuse_what_are_no_levels(puzzle, found, boxes)
    assert len(np.unique(found, axis=0)) == 3


@pytest.mark.parametrize("name", ["sokoban_4_32", "sokoban_32_4", "sokoban_32"])
def test_the_narrowest_and_the_largest_boards_have_levels(name):
    refuse_what_are_no_levels(make(name), generate(make(name), 3, 2, seed=0), 2)


def test_many_boxes_have_levels_where_there_is_room():
    refuse_what_are_no_levels(PUZZLE, generate(PUZZLE, 3, 12, seed=0), 12)


@pytest.mark.parametrize("name, boxes", [("sokoban_4", 10), ("sokoban_4", 1), ("sokoban_5", 4), ("sokoban", 31)])
def test_boxes_without_room_are_refused_in_a_sentence(name, boxes):
    message = told(generate, make(name), 3, boxes, 0)
    assert "no room" in message and name in message and f" {boxes} box" in message


def test_more_levels_than_there_are_are_refused_in_a_sentence_with_their_number():
    assert told(generate, make("sokoban_5"), 100_000, 1, 0).startswith("Only ")


@pytest.mark.parametrize("count, boxes", [(-1, 4), (3, 0), (3, -1)])
def test_fewer_than_no_levels_or_boxes_are_refused_in_a_sentence(count, boxes):
    told(generate, PUZZLE, count, boxes, 0)


def written(path, states, title="; {}") -> None:
    path.write_text("".join(f"{title.format(i)}\n{PUZZLE.draw(level)}\n\n" for i, level in enumerate(states)))


def test_levels_written_to_a_file_are_read_again(tmp_path, made):
    written(tmp_path / "made.txt", made[:20])
    names, found = read_levels(PUZZLE, tmp_path / "made.txt")
    np.testing.assert_array_equal(found, made[:20])
    assert names == [str(number) for number in range(20)] and found.dtype == np.uint8


def test_the_files_of_a_folder_are_read_in_the_order_of_their_names(tmp_path, made):
    for number in (1, 0, 2):
        written(tmp_path / f"{number:03}.txt", made[5 * number : 5 * number + 5])
    (tmp_path / "README.md").write_text("no levels")
    names, found = read_levels(PUZZLE, tmp_path)
    np.testing.assert_array_equal(found, made[:15])
    assert names[:6] == ["000/0", "000/1", "000/2", "000/3", "000/4", "001/0"]


def test_levels_stand_between_blank_lines_titles_and_comments(tmp_path):
    path = tmp_path / "some.txt"
    lines = [
        "; A collection",
        "",
        "; first",
        "",
        LEVEL,
        "  ",
        LEVEL,
        "; third",
        "; of three",
        LEVEL,
        ";",
        LEVEL,
        "; end",
    ]
    path.write_bytes("\ufeff".encode() + "\r\n".join("\n".join(lines).split("\n")).encode())
    names, found = read_levels(PUZZLE, path)
    assert names == ["first", "1", "of three", "3"]
    np.testing.assert_array_equal(found, np.repeat(PUZZLE.parse_state(LEVEL)[None], 4, axis=0))


@pytest.mark.parametrize(
    "bad",
    [
        "#####\n#@x.#\n#####",
        "#####\n#@$.\n#####",
        "#####\n#$$.#\n#####",
        "#####\n#@$ #\n#####",
        "#####\n#@  #\n#####",
        "#" * 11,
    ],
)
def test_what_is_no_level_is_told_with_file_and_line(tmp_path, bad):
    path = tmp_path / "bad.txt"
    path.write_text(f"; 0\n{LEVEL}\n\n; 1\n{bad}\n")
    for place in (path, tmp_path):
        assert told(read_levels, PUZZLE, place).startswith(f"{path}, line 7: ")


@pytest.mark.parametrize("content", [b"", b"\n \n", b"; only\n; comments\n", b"\xff\xfe\x00#@$.#"])
def test_a_file_without_levels_is_told_in_a_sentence(tmp_path, content):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    for place in (path, tmp_path):
        assert str(path) in told(read_levels, PUZZLE, place)


def test_a_missing_path_and_a_folder_without_files_are_told_in_a_sentence(tmp_path):
    for path in (tmp_path, tmp_path / "missing", tmp_path / "missing.txt"):
        assert str(path) in told(read_levels, PUZZLE, path)


def test_a_layout_is_known_wherever_its_boxes_and_player_are_and_however_it_is_turned(made):
    boards = made[:20].reshape(-1, 10, 10)
    bare = np.where(boards == WALL, WALL, boards == TARGET).astype(np.uint8)
    for turns in range(4):
        turned = np.rot90(bare, turns, axes=(1, 2))
        for other in (turned, turned[:, :, ::-1]):
            assert not is_new_layout(PUZZLE, made[:20], other.reshape(-1, 100)).any()


def test_a_layout_is_new_where_a_wall_or_a_target_differs(made):
    level, other = made[0], made[0].copy()
    other[np.flatnonzero(level == TARGET)[0]] = 0
    walled = np.where(np.arange(100) == np.flatnonzero(level == 0)[0], WALL, level).astype(np.uint8)
    assert is_new_layout(PUZZLE, level[None], other[None], walled[None]).all()
    assert not is_new_layout(PUZZLE, level[None], other[None], level[None]).any()


def test_layouts_of_boards_that_are_not_square_are_mirrored_and_none_is_compared_with_nothing():
    puzzle = make("sokoban_7_9")
    states = generate(puzzle, 10, 2, seed=0)
    turned = states.reshape(-1, 7, 9)[:, ::-1, ::-1].reshape(-1, 63)
    assert not is_new_layout(puzzle, states, turned).any()
    assert is_new_layout(puzzle, states).all() and is_new_layout(puzzle, states, states[:0]).all()
    assert is_new_layout(puzzle, states[:0], states).shape == (0,)


def test_a_layout_is_known_again_wherever_it_stands_and_however_it_is_turned():
    puzzle = make("sokoban")
    small = generate(make("sokoban_7"), 20, 2, 5).reshape(-1, 7, 7)
    placed = []
    for turned in (small, small[:, ::-1], small.transpose(0, 2, 1), small[:, :, ::-1].transpose(0, 2, 1)):
        for row, column in ((0, 0), (3, 1)):
            board = np.full((len(small), 10, 10), WALL, dtype=np.uint8)
            board[:, row : row + 7, column : column + 7] = turned
            placed.append(board.reshape(len(small), -1))
    for other in placed[1:]:
        assert not is_new_layout(puzzle, other, placed[0]).any()
    assert is_new_layout(puzzle, generate(puzzle, 20, 2, 6), placed[0]).all()
