"""Exact distances: what others have published, what theory says, and what a slower search finds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from costtogo.exact.bfs import distances, layer_counts
from costtogo.exact.graph import graph_of, neighbour_table, one_table, with_half_turns
from costtogo.puzzles import make
from costtogo.types import NO_STATE, UserError

PUBLISHED = pd.read_csv(Path(__file__).parent / "data" / "published_layers.csv")
FEWEST_MOVES_ON_FOUR_PEGS = {1: 1, 2: 3, 3: 5, 4: 9, 5: 13, 6: 17}  # OEIS A007664


def published(puzzle: str, metric: str) -> list[int]:
    rows = PUBLISHED[(PUBLISHED["puzzle"] == puzzle) & (PUBLISHED["metric"] == metric)]
    assert rows["distance"].tolist() == list(range(len(rows))) and rows["source"].notna().all()
    return rows["states"].tolist()


@pytest.mark.parametrize(
    ("name", "metric"),
    [("cube2", "quarter turns")]
    + [(name, "moves") for name in ("hanoi_3", "hanoi_4", "puzzle8", "pyraminx", "skewb", "pancake_9")],
)
def test_layers_agree_with_the_published_counts(name, metric, distances_of):
    assert layer_counts(distances_of(name)).tolist() == published(name, metric)


def test_2x2x2_layers_with_half_turns_agree_with_the_published_counts():
    puzzle = make("cube2")
    distance = distances(with_half_turns(graph_of(puzzle)), int(puzzle.rank(puzzle.goal[None])[0]))
    assert layer_counts(distance).tolist() == published("cube2", "half turns")


@pytest.mark.parametrize("disks", range(1, 9))
def test_a_layer_of_hanoi_doubles_with_each_one_in_its_number(disks, distances_of):
    counts = layer_counts(distances_of(f"hanoi_{disks}"))
    assert counts.tolist() == [2 ** bin(moves).count("1") for moves in range(2**disks)]


@pytest.mark.parametrize("disks", FEWEST_MOVES_ON_FOUR_PEGS)
def test_four_pegs_need_as_many_moves_as_published(disks, distances_of):
    puzzle = make(f"hanoi_{disks}_4")
    assert distances_of(puzzle.name)[puzzle.rank(puzzle.start[None])[0]] == FEWEST_MOVES_ON_FOUR_PEGS[disks]


def test_a_graph_in_two_tables_says_what_the_neighbour_table_says(puzzle):
    first, second = graph_of(puzzle)
    high, low = np.divmod(np.arange(puzzle.state_count), len(second))
    reached = np.where(first[high] == NO_STATE, NO_STATE, first[high] * len(second) + second[low])
    np.testing.assert_array_equal(reached, neighbour_table(puzzle))


def test_every_layer_adds_up_to_all_states(puzzle, distance):
    assert layer_counts(distance).sum() == len(distance) == puzzle.state_count


def test_distances_of_neighbours_differ_by_at_most_one_and_every_state_has_a_way_down(puzzle, distance):
    neighbours = neighbour_table(puzzle)
    moves = distance.astype(np.int16)
    change = np.where(neighbours != NO_STATE, moves[neighbours] - moves[:, None], 0)
    assert np.abs(change).max() == 1
    assert ((change == -1).any(axis=1) == (distance > 0)).all()


def layers_by_expansion(puzzle) -> dict[bytes, int]:
    """Breadth-first search over states as they are, without ranks."""
    found, layer = {puzzle.goal.tobytes(): 0}, [puzzle.goal]
    for moves in range(1, puzzle.state_count):
        children, legal = puzzle.expand(np.array(layer))
        layer = []
        for child in children[legal]:
            if child.tobytes() not in found:
                found[child.tobytes()] = moves
                layer.append(child)
        if not layer:
            break
    return found


@pytest.mark.parametrize("name", ["hanoi_4", "hanoi_3_4"])
def test_the_table_agrees_with_a_search_over_states(name, distances_of):
    puzzle = make(name)
    found = layers_by_expansion(puzzle)
    states = puzzle.unrank(np.arange(puzzle.state_count))
    assert [found[state.tobytes()] for state in states] == distances_of(name).tolist()


def test_distances_take_two_bytes_only_where_one_is_too_small(distances_of):
    assert distances_of("hanoi_7").dtype == np.uint8
    assert distances_of("hanoi_8").dtype == np.uint16
    assert distances_of("hanoi_8").max() == 255


def test_states_cut_off_from_the_goal_are_an_error_in_one_sentence():
    neighbours = np.array([[1], [0], [NO_STATE]], dtype=np.int32)
    with pytest.raises(UserError, match=r"^1 of 3 states cannot reach the goal"):
        distances(one_table(neighbours), 0)
