"""The optimal solver of the 3×3×3 cube: its coordinates, its table of distances, and its search."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from costtogo.exact.cosets import ROW, Cosets, build
from costtogo.exact.meeting import MeetingSearch
from costtogo.exact.nearby import nearby_table
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, random_walks, solves
from costtogo.search import anytime, beam
from costtogo.search.optimal import OptimalSearch
from costtogo.solving.cache import kept_bytes

CUBE = make("cube3")
LAYERS = int(os.environ.get("COSTTOGO_LAYERS", "2"))  # whose cubes are solved one by one; of 6, in minutes, 983,926
METRICS = pytest.mark.parametrize("half_turns", [False, True], ids=["qtm", "htm"])


@cache
def small(half_turns):
    """The coordinates of a metric, and a table of the nearest layers, which is built at once."""
    cosets = Cosets(CUBE, half_turns, arranged=False)
    return cosets, build(cosets, near_share=1e-5)


@cache
def nearby():
    """All cubes within some quarter turns of the goal."""
    return nearby_table(CUBE, max(LAYERS, 5))


def walks(count, moves, seed=0):
    return random_walks(CUBE, count, moves, np.random.default_rng(seed))[:, -1]


@METRICS
@pytest.mark.parametrize("arranged", [False, True])
def test_the_coordinates_of_a_cube_follow_its_moves(half_turns, arranged):
    cosets = Cosets(CUBE, half_turns, arranged)
    states, tables = walks(50, 25), cosets.coordinates
    followed, pairs = cosets.states(states)
    for number, actions in enumerate(cosets.moves):
        moved = states
        for action in actions:
            moved = CUBE.move(moved, np.full(len(states), action))
        along, placed = cosets.states(moved)
        for axis, seen in enumerate(tables.axis_moves[:, number]):
            parts = zip((tables.twist_moves, tables.flip_moves, tables.slice_moves), range(3 * axis, 9), strict=False)
            for table, column in parts:
                assert (table[followed[:, column], seen] == along[:, column]).all()
        assert (tables.corner_moves[pairs[:, :4], number] == placed[:, :4]).all()
        assert (tables.edge_moves[pairs[:, 4:], number] == placed[:, 4:]).all()


@METRICS
def test_layers_of_the_table_are_those_of_all_classes_counted_otherwise(half_turns):
    """Orbits under the sixteen symmetries of the cosets of all cubes of a layer, found by whole cubes."""
    cosets, found = Cosets(CUBE, half_turns, arranged=False), [1]
    build(cosets, lambda depth, count: found.append(count), near_share=1e-7)
    sixteen = [CUBE.symmetries[number] for number in cosets.sixteen]
    layer, seen, counts = CUBE.goal[None], set(), []
    for _ in range(4):
        images = [cosets.states(each.apply(layer))[0][:, :3] for each in sixteen]
        keys = [tuple(key) for key in np.stack(images, axis=1).tolist()]
        least = {tuple(min(key)): row for row, key in enumerate(keys) if tuple(min(key)) not in seen}
        counts.append(len(least))
        seen |= set(least)
        layer = layer[list(least.values())]
        turned = []
        for actions in cosets.moves:
            moved = layer
            for action in actions:
                moved = CUBE.move(moved, np.full(len(moved), action))
            turned.append(moved)
        layer = np.concatenate(turned)
    assert found[: len(counts)] == counts


@METRICS
def test_no_bound_is_beyond_the_distance(half_turns):
    search = OptimalSearch(*small(half_turns))
    for moves in range(1, 12):
        states = walks(100, moves, seed=moves)
        assert search.bounds(states).max() <= moves


def test_every_cube_of_the_first_layers_is_solved_in_its_distance():
    search, table = OptimalSearch(*small(False)), nearby()
    layers = [CUBE.goal[None]]
    for _ in range(LAYERS):
        layers.append(np.unique(CUBE.expand(layers[-1])[0].reshape(-1, CUBE.cells), axis=0))
    states = np.concatenate([*layers, walks(50, 3), walks(50, 4), walks(50, 5)])
    found = search.solve(states)
    assert (found.cost == table(states)).all()
    assert solves(CUBE, states, found.solutions).all()
    assert [len(solution) for solution in found.solutions] == found.cost.tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_solutions_are_as_long_as_those_of_another_method(threads):
    states = np.concatenate([walks(3, moves, seed=moves) for moves in range(7, 11)])
    other = MeetingSearch(CUBE, nearby(), 10_000_000).solve(states)
    found = OptimalSearch(*small(False), threads=threads).solve(states)
    assert (found.cost == other.cost).all() and (found.lower_bound == found.cost).all()
    assert solves(CUBE, states, found.solutions).all()


def test_a_half_turn_counts_as_one_move():
    search = OptimalSearch(*small(True))
    for scramble, length in (("R2", 1), ("R2 U2 F2", 3), ("R U R' U'", 4), ("L R2 U2", 3)):
        state = apply(CUBE, CUBE.goal, CUBE.parse_moves(scramble))
        found = search.solve(state[None])
        assert found.cost[0] == length == CUBE.half_turn_length(found.solutions[0].tolist())
        assert solves(CUBE, state[None], found.solutions)[0]


def test_the_solution_does_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("costtogo.search.optimal.UNCUT", 100)
    states = walks(3, 11, seed=5)
    one, two = (OptimalSearch(*small(False), threads=threads).solve(states) for threads in (1, 2))
    assert [each.tolist() for each in one.solutions] == [each.tolist() for each in two.solutions]


def test_without_time_there_is_a_proved_bound():
    state = walks(1, 40, seed=1)
    ended = OptimalSearch(*small(False), seconds=0.2).solve(state)
    assert not ended.solved[0] and ended.out_of_time[0] and 8 <= ended.lower_bound[0] <= 26


@METRICS
@pytest.mark.parametrize("longer", [0, 2])
def test_a_solution_that_is_known_is_proved_or_replaced_by_a_shorter_one(half_turns, longer, monkeypatch):
    monkeypatch.setattr("costtogo.search.optimal.GUIDED", 0)
    near = walks(1, 10, seed=2)
    shortest = OptimalSearch(*small(half_turns)).solve(near)
    known = shortest.solutions[0].tolist() + [0, 1] * (longer // 2)
    asked = []

    def guide(start, seconds, enough):
        """The known solution, of an image of the start."""
        asked.append(enough)
        kept = next(each for each in CUBE.symmetries if (each.apply(near)[0] == start).all())
        return [int(kept.actions[action]) for action in known]

    monkeypatch.setattr("costtogo.search.optimal.UNCUT", 0)
    monkeypatch.setattr("costtogo.search.optimal.ASKING", np.inf)
    found = OptimalSearch(*small(half_turns), guide=guide).solve(near)
    assert asked and found.cost == found.lower_bound == shortest.cost
    assert asked == sorted({*asked}) and asked[-1] <= shortest.cost[0], "few enough are the moves of the next bound"
    assert solves(CUBE, near, found.solutions)[0]
    assert longer or found.solutions[0].tolist() == known
    asked.clear()
    monkeypatch.setattr("costtogo.search.optimal.GUIDING", 1e9)
    assert OptimalSearch(*small(half_turns), seconds=1e9, guide=guide).solve(near).cost == shortest.cost
    assert not asked, "there is no time for a guide"


@METRICS
def test_a_search_for_a_shorter_solution_ends_where_there_is_none(half_turns):
    near = walks(1, 10, seed=2)
    length = OptimalSearch(*small(half_turns)).solve(near).cost[0]
    none = OptimalSearch(*small(half_turns), shorter_than=length).solve(near)
    assert not none.solved[0] and not none.out_of_time[0] and none.lower_bound[0] == length
    assert OptimalSearch(*small(half_turns), shorter_than=length + 1).solve(near).cost[0] == length


def test_a_kept_file_is_made_once_and_again_when_it_is_damaged(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COSTTOGO_CACHE", str(tmp_path))
    made = []

    def make():
        made.append(1)
        return np.arange(ROW, dtype=np.uint8)

    first = kept_bytes("table", make)
    (tmp_path / ".table.deadbeef").write_bytes(b"part")
    assert (kept_bytes("table", make) == first).all() and len(made) == 1
    content = bytearray((tmp_path / "table").read_bytes())
    content[5] ^= 1
    (tmp_path / "table").write_bytes(content)
    assert (kept_bytes("table", make) == first).all() and len(made) == 2
    assert "is damaged: it is made again" in capsys.readouterr().err
    assert not (tmp_path / ".table.deadbeef").exists()


MAKES = """
import resource, sys, time
import numpy as np
from costtogo.solving.cache import folder, kept_bytes

def make():
    with (folder() / "made").open("a") as log:
        log.write("made\\n")
    time.sleep(float(sys.argv[1]))
    return np.arange(100_000, dtype=np.uint8)

if len(sys.argv) > 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
print(int(kept_bytes("table", make)[:-32].sum()))
"""


def making(folder, *words):
    """A process that reads the file "table" or makes it there; words: seconds to make it, bytes that the disk takes."""
    environment = os.environ | {"COSTTOGO_CACHE": str(folder)}
    given = [sys.executable, "-c", MAKES, *words]
    return subprocess.Popen(given, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until_made(folder):
    """Wait until a process has begun to make the file."""
    end = time.monotonic() + 60
    while not (folder / "made").exists() and time.monotonic() < end:
        time.sleep(0.05)


def test_of_two_processes_one_makes_the_file_and_the_other_waits(tmp_path):
    first = making(tmp_path, "2")
    until_made(tmp_path)
    second = making(tmp_path, "2")
    (told, _), (other, says) = first.communicate(timeout=60), second.communicate(timeout=60)
    assert told == other != "" and (tmp_path / "made").read_text() == "made\n"
    assert says == "" or "this one waits for it" in says  # where the second came late, it read the file


def test_a_killed_process_leaves_nothing_that_is_read(tmp_path):
    killed = making(tmp_path, "60")
    until_made(tmp_path)
    killed.kill()
    killed.communicate()
    (tmp_path / ".table.deadbeef").write_bytes(b"part")
    told, says = making(tmp_path, "0").communicate(timeout=60)
    assert int(told) > 0 and says == "" and len((tmp_path / "made").read_text()) == 10
    assert (tmp_path / "table").stat().st_size == 100_000 and not (tmp_path / ".table.deadbeef").exists()


def test_on_a_full_disk_the_bytes_are_used_and_not_kept(tmp_path):
    told, says = making(tmp_path, "0", "50000").communicate(timeout=60)
    assert int(told) > 0 and "is used and not kept" in says and "Traceback" not in says
    assert sorted(path.name for path in tmp_path.iterdir()) == [".table.lock", "made"]


def test_a_guide_ends_at_a_solution_that_is_short_enough(monkeypatch):
    nearby = nearby_table(CUBE, 4)

    class Distances:
        by_action = True

        def children(self, states):
            distance = nearby.of_children(states).astype(np.float32)
            return np.minimum(distance, 5)

    def search(*given, **options):
        lengths.append(found := beam.solve(*given, **options | {"width": 100}))
        return replace(found, lower_bound=np.zeros(1))  # which no solution is known to be as short as

    guide, start, lengths = anytime.guide_of(CUBE, Distances(), nearby), walks(1, 6)[0], []
    monkeypatch.setattr(anytime, "beam", SimpleNamespace(solve=search))
    monkeypatch.setattr(anytime, "schedule", lambda count: [(1000, 0), (1000, 1), (1000, 2)])
    for enough, beams in ((26, 1), (0, 3)):
        lengths.clear()
        found = guide(start, 1e9, enough)
        assert (apply(CUBE, start, found) == CUBE.goal).all() and len(lengths) == beams
