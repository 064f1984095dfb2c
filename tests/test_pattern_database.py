"""Pattern databases: partitions, tables against a plain search, sums that never overestimate, files."""

from collections import deque
from itertools import permutations
from math import perm

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.exact.partition import STANDARD, format_partition, parse_partition, shared_tables, symmetries
from costtogo.exact.pattern_database import UNREACHED, build, build_table, load, save
from costtogo.files import FileError, write_arrays
from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
from costtogo.learning.random_walk import draw_walks
from costtogo.puzzles import make
from costtogo.search.bwas import solve
from costtogo.types import UserError

EIGHT, FIFTEEN = make("puzzle8"), make("puzzle15")
SQUARES = "1 2 5 6 | 3 4 7 8 | 9 10 13 14 | 11 12 15"


def plain_table(puzzle, tiles) -> list[int]:
    """The same by a search over single places of the blank, in plain Python; placings in lexicographic order."""
    start = (*(tile - 1 for tile in tiles), puzzle.cells - 1)
    distance, queue = {start: 0}, deque([start])
    while queue:
        state = queue.popleft()
        *placing, blank = state
        for cell in set(puzzle.sources[blank].tolist()) - {blank}:
            moved = tuple(blank if place == cell else place for place in placing)
            costs, child = int(cell in placing), (*moved, cell)
            if distance.get(child, np.inf) > distance[state] + costs:
                distance[child] = distance[state] + costs
                queue.append(child) if costs else queue.appendleft(child)
    least: dict = {}
    for (*placing, _), moves in distance.items():
        least[tuple(placing)] = min(moves, least.get(tuple(placing), moves))
    return [least[placing] for placing in permutations(range(puzzle.cells), len(tiles))]


def some_boards(puzzle, count: int = 200) -> np.ndarray:
    """Boards at the ends of walks of 1, 2, 3, … moves."""
    return draw_walks(puzzle, count, count, np.random.default_rng(5)).states


@pytest.fixture(scope="module")
def boards():
    """All boards of the 8-puzzle in the order of their ranks."""
    return EIGHT.unrank(np.arange(EIGHT.state_count))


@pytest.mark.parametrize(
    ("puzzle", "tiles"),
    [(EIGHT, (1,)), (EIGHT, (8, 1, 5)), (EIGHT, (6, 8, 3, 2)), (FIFTEEN, (12, 15)), (FIFTEEN, (1, 6))],
)
def test_a_table_holds_the_least_moves_of_its_tiles_over_all_places_of_the_blank(puzzle, tiles):
    np.testing.assert_array_equal(build_table(puzzle.side, tiles), plain_table(puzzle, tiles))


def test_the_table_of_all_tiles_is_the_exact_distance(boards, distances_of):
    table = build_table(3, tuple(range(1, 9)))
    assert (table == UNREACHED).sum() == EIGHT.state_count, "the other half cannot be reached"
    heuristic = PatternDatabaseHeuristic(EIGHT, build(3, "8"))
    np.testing.assert_array_equal(heuristic(boards), distances_of("puzzle8"))


@pytest.mark.parametrize(("side", "tiles"), [(3, (1, 2, 3, 6)), (4, (4, 7, 8, 11, 12)), (5, (13, 18, 19)), (6, (1, 8))])
def test_a_table_has_every_placing_and_only_the_goal_at_no_moves(side, tiles):
    table = build_table(side, tiles)
    counts = np.bincount(table)
    assert len(table) == counts.sum() == perm(side * side, len(tiles)) and len(counts) < UNREACHED
    assert counts.min() > 0 and counts[0] == 1, "layers follow each other from the goal on"


@pytest.mark.parametrize("partition", ["4-4", "1 8 | 2 3 4 | 5 6 7", "1-1-1-1-1-1-1-1", "3 1 2 | 8 7 6 5 4"])
def test_a_sum_over_patterns_is_never_above_the_distance_and_0_at_the_goal_alone(partition, boards, distances_of):
    distance, database = distances_of("puzzle8"), build(3, partition)
    plain, reflected = (PatternDatabaseHeuristic(EIGHT, database, both)(boards) for both in (False, True))
    assert plain.dtype == np.float32 and (plain <= reflected).all() and (reflected <= distance).all()
    np.testing.assert_array_equal(plain == 0, distance == 0)
    mirrored = PatternDatabaseHeuristic(EIGHT, database, False)(EIGHT.symmetries[1].apply(boards))
    np.testing.assert_array_equal(reflected, np.maximum(plain, mirrored))


@pytest.mark.parametrize(
    "partition", ["1 2 5 6 | 3 4 7 8 | 9 10 13 14 | 11 12 15", "1 2 3 | 4 8 12 | 9 13 14 | 5 6 7 10 11 | 15"]
)
def test_patterns_that_are_images_of_each_other_share_a_table_and_their_values(partition):
    patterns = parse_partition(4, partition)
    assert len({image.table for image in shared_tables(4, patterns)}) < len(patterns)
    boards = some_boards(FIFTEEN)
    place = {
        size: {placing: rank for rank, placing in enumerate(permutations(range(16), size))}
        for size in {len(pattern) for pattern in patterns}
    }
    where = np.argsort(boards, axis=1)
    own = np.zeros(len(boards))
    for pattern in patterns:
        table = build_table(4, pattern)
        own += [table[place[len(pattern)][tuple(row)]] for row in where[:, pattern].tolist()]
    np.testing.assert_array_equal(PatternDatabaseHeuristic(FIFTEEN, build(4, patterns), reflected=False)(boards), own)


def test_the_symmetries_are_those_of_the_square():
    for side in (3, 4, 7):
        cells = np.arange(side * side)
        neighbours = abs(cells // side - cells[:, None] // side) + abs(cells % side - cells[:, None] % side) == 1
        images = symmetries(side)
        assert len(np.unique(images, axis=0)) == 8
        for image in images:
            np.testing.assert_array_equal(neighbours[image][:, image], neighbours)


def test_two_tables_do_for_the_four_patterns_of_the_24_puzzle():
    shared = shared_tables(5, parse_partition(5, "6-6-6-6"))
    assert [image.table for image in shared] == [0, 0, 0, 1]


@pytest.mark.parametrize("side", [3, 4, 5, 6, 7])
def test_every_standard_partition_has_each_tile_once_and_the_sizes_of_its_name(side):
    for name in STANDARD.get(side, {}):
        partition = parse_partition(side, name)
        assert sorted(sum(partition, ())) == list(range(1, side * side))
        assert sorted(len(pattern) for pattern in partition) == sorted(int(size) for size in name.split("-"))
        assert parse_partition(side, format_partition(partition)) == partition
    rows = parse_partition(side, f"2-{side**2 - 3}")
    assert rows == ((1, 2), tuple(range(3, side**2)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4-5", "do not add up"),
        ("0-8", "do not add up"),
        ("7-8", "do not add up"),
        ("1 2 3 | 4 5 6 7", "Tile 8 is in no pattern"),
        ("1 2 3 | 4 5 6 7 8 1", "Tile 1 is in the partition twice"),
        ("1 2 3 4 | 5 6 7 8 9", "no tile 9"),
        ("1 2 3 4 0 | 5 6 7 8", "no tile 0"),
        ("1 2 3 4 5 6 7 8 |", "has no tiles"),
        ("four-four", "is no partition"),
        ("", "is no partition"),
    ],
)
def test_a_partition_that_is_none_is_told_in_one_sentence(text, reason):
    with pytest.raises(UserError, match=reason) as told:
        parse_partition(3, text)
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize(("side", "partition"), [(5, "12-12"), (7, "24-24"), (5, "24")])
def test_patterns_that_no_memory_holds_are_refused_before_anything_is_built(side, partition):
    with pytest.raises(UserError, match="GiB") as told:
        build(side, partition)
    assert is_one_sentence(str(told.value))


def test_a_database_of_another_side_is_refused():
    with pytest.raises(UserError, match="side 3, not of puzzle15") as told:
        PatternDatabaseHeuristic(FIFTEEN, build(3, "4-4"))
    assert is_one_sentence(str(told.value))


def test_children_are_told_as_states_are_and_inf_where_an_action_is_not_legal():
    heuristic, boards = PatternDatabaseHeuristic(FIFTEEN, build(4, "3-3-3-3-3")), some_boards(FIFTEEN)
    children, legal = FIFTEEN.expand(boards)
    values = heuristic.children(boards)
    assert np.isinf(values[~legal]).all() and not legal.all()
    np.testing.assert_array_equal(values[legal], heuristic(children[legal]))


def test_best_first_search_over_a_database_finds_shortest_solutions(boards, distances_of):
    rows = np.random.default_rng(6).integers(len(boards), size=30)
    heuristic = PatternDatabaseHeuristic(EIGHT, build(3, "4-4"))
    found = solve(EIGHT, heuristic, boards[rows], path_weight=1.0, batch_size=1)
    np.testing.assert_array_equal(found.cost, distances_of("puzzle8")[rows])


def test_what_is_saved_is_loaded_and_the_same_database_gives_the_same_bytes(tmp_path):
    database = build(4, SQUARES)
    save(tmp_path / "one.npz", database)
    read = load(tmp_path / "one.npz")
    assert (read.side, read.partition) == (4, database.partition)
    np.testing.assert_array_equal(read.values, database.values)
    tiles, first = read.shared[1].tiles, read.starts[read.shared[1].table]
    np.testing.assert_array_equal(read.values[first : first + perm(16, len(tiles))], build_table(4, tiles))
    save(tmp_path / "two.npz", read)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def other_files(folder) -> dict:
    """Files that are no database."""
    database = build(3, "4-4")
    save(folder / "cut off.npz", database)
    content = (folder / "cut off.npz").read_bytes()
    (folder / "cut off.npz").write_bytes(content[: len(content) // 2])
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    (folder / "one bit.npz").write_bytes(bytes(flipped))
    (folder / "text.npz").write_text("no database at all")
    side, partition = np.array(3), np.array("1 2 3 6 | 4 5 7 8")
    write_arrays(folder / "other.npz", distance=database.values)
    write_arrays(folder / "short.npz", side=side, partition=partition, values=database.values[:-1])
    write_arrays(folder / "wide.npz", side=side, partition=partition, values=database.values.astype(np.int64))
    write_arrays(folder / "side.npz", side=np.array(4), partition=partition, values=database.values)
    write_arrays(folder / "sides.npz", side=np.array([3, 3]), partition=partition, values=database.values)
    return {path.name: path for path in folder.iterdir()} | {"missing": folder / "missing.npz"}


def test_a_file_that_is_no_database_is_told_in_one_sentence(tmp_path):
    for name, path in other_files(tmp_path).items():
        with pytest.raises(FileError, match=str(path)) as told:
            load(path)
        assert is_one_sentence(str(told.value)), name
