"""The audit of a puzzle too large to list: what it must say of heuristics that are exact, too high or misordered."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stage_recipes import write_recipe

from costtogo.analysis.audit import audit, measures, measures_by_distance
from costtogo.analysis.level_audit import DeadEnds
from costtogo.analysis.neighbourhoods import audit_near_goal, look_around
from costtogo.exact.graph import neighbour_table
from costtogo.exact.nearby import draw_by_distance, nearby_table
from costtogo.files import digest, read_frame, read_json, write_arrays, write_frame
from costtogo.heuristics import network
from costtogo.heuristics.table import TableHeuristic
from costtogo.learning.instances import draw_prefixes, draw_walk_ends
from costtogo.params.audits import SampledAudit
from costtogo.params.loading import load
from costtogo.params.slices import slices
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.stages import audit_samples
from costtogo.tracking import record

CUBE = make("cube3")
CONFIG = Path(__file__).parents[1] / "config" / "cube3.yaml"
DEPTH = 4


@pytest.fixture(scope="module")
def table():
    return nearby_table(CUBE, DEPTH)


class Known:
    """The exact distance of states within a table, with what another function makes of it; far beyond elsewhere."""

    def __init__(self, table, changed=lambda distance: distance):
        self.table, self.changed = table, changed

    def __call__(self, states):
        return self.changed(self.table(states).astype(np.float32))

    def children(self, states):
        children, legal = CUBE.expand(states)
        return self(children.reshape(-1, CUBE.cells)).reshape(legal.shape)


def raised(distance):
    return distance + np.float32(1) * (distance > 0)


def test_states_drawn_at_a_distance_are_different_and_at_that_distance(table):
    states, distance = draw_by_distance(table, 200, np.random.default_rng(0))
    np.testing.assert_array_equal(table(states), distance)
    assert np.bincount(distance).tolist() == [1, 12, 114, 200, 200], "all where there are fewer"
    assert len(np.unique(states, axis=0)) == len(states)


@pytest.mark.parametrize("depth", [2, 3])
def test_states_at_a_distance_are_drawn_equally_often(depth):
    """Walks of two moves would come to a state by two commuting turns twice as often as to another."""
    small, counts = nearby_table(CUBE, depth), {}
    for seed in range(400):
        states, distance = draw_by_distance(small, 57, np.random.default_rng(seed))
        for state in states[distance == 2]:
            counts[state.tobytes()] = counts.get(state.tobytes(), 0) + 1
    found = np.array(list(counts.values()))
    assert len(found) == 114 and abs(found - 200).max() < 5 * np.sqrt(400 / 4)


def test_near_the_goal_it_says_what_the_audit_of_all_states_says(distances_of):
    tower, distance = make("hanoi_4"), distances_of("hanoi_4").astype(np.int64)
    values = (distance + np.random.default_rng(1).uniform(-2, 2, len(distance))).astype(np.float32)
    states = tower.unrank(np.arange(81))
    found = audit_near_goal(nearby_table(tower, 15), TableHeuristic(tower, values), states, distance)
    whole = audit(values, distance, neighbour_table(tower))
    assert 0 < whole.consistent.sum() < 81 and 0 < whole.descending.sum() < 81
    for name in ("distance", "error", "consistent", "descending"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name), err_msg=name)


def test_of_the_2x2x2_both_audits_say_the_same_at_every_distance_of_the_table(distances_of):
    """All states beside those around the goal, all of them drawn."""
    cube, distance, depth = make("cube2"), distances_of("cube2"), 6
    noise = np.random.default_rng(2).normal(0, 1, len(distance))
    heuristic = TableHeuristic(cube, (distance + noise).astype(np.float32))
    rows = measures_by_distance(audit(heuristic.values, distance, neighbour_table(cube)))[: depth + 1]
    wanted = SampledAudit(nearby_states=len(distance))
    found = audit_samples.audit_nearby(
        nearby_table(cube, depth), heuristic, wanted, DeadEnds(), np.random.default_rng(6)
    )
    whole = pd.DataFrame(rows).assign(mean_cost_to_go=lambda rows: rows["distance"] + rows["bias"])[found.columns]
    away = whole[2:]  # next to the goal every way leads down
    assert away["consistent_percent"].between(5, 95).all() and away["descending_percent"].between(5, 95).all()
    pd.testing.assert_frame_equal(found, whole, check_dtype=False, rtol=1e-13)


def test_exact_distances_are_admissible_consistent_and_descend(table):
    found = measures(audit_near_goal(table, Known(table), *draw_by_distance(table, 500, np.random.default_rng(2))))
    whole = {name: 100 for name in ("admissible_percent", "consistent_percent", "descending_percent")}
    assert whole.items() <= found.items() and found["mean_absolute_error"] == found["overestimation_max"] == 0


def test_a_move_too_many_is_inadmissible_everywhere_but_at_the_goal(table):
    drawn = draw_by_distance(table, 500, np.random.default_rng(3))
    for row in measures_by_distance(audit_near_goal(table, Known(table, raised), *drawn)):
        away = row["distance"] > 0
        assert row["admissible_percent"] == 100 * (not away) and row["overestimation_max"] == row["bias"] == away
        assert row["consistent_percent"] == 100 * (row["distance"] != 1), "two moves from beside the goal, which says 0"
        assert row["descending_percent"] == 100


def test_a_state_is_inconsistent_by_a_single_child(table):
    one = CUBE.expand(CUBE.goal[None])[0][0, 3]

    def heuristic(states):
        return np.where((states == one).all(axis=1), 0, 5).astype(np.float32)

    states = np.concatenate([CUBE.goal[None], CUBE.expand(one[None])[0][0]])
    np.testing.assert_array_equal(look_around(CUBE, heuristic, states).consistent, [False] * 13)
    np.testing.assert_array_equal(look_around(CUBE, heuristic, one[None]).consistent, [True])


WALKS = partial(draw_walk_ends, CUBE)
WANTED = SampledAudit(
    consistency_states=100, consistency_checkpoints=2, walk_max=10, nearby_states=20, scrambled_states=10, depths=3,
    greedy_states=15, greedy_depths=[2, DEPTH], greedy_moves=6,
    progress={"set": "way", "checkpoints": 2, "batch_size": 10, "max_nodes": 20_000},
)  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "solves_all"),
    [(lambda d: d, True), (raised, True), (lambda d: -d, False)],
    ids=["exact", "high", "wrong"],
)
def test_greedy_search_solves_what_is_in_order(table, changed, solves_all):
    known = {7: Known(table, changed)}
    found = audit_samples.audit_greedy(CUBE, WALKS, known, WANTED, np.random.default_rng(4))
    assert found[["iteration", "depth", "states"]].to_numpy().tolist() == [[7, 2, 15], [7, DEPTH, 15]]
    assert (found["solved_percent"] == 100).all() == solves_all


def test_the_cost_to_go_of_scrambles_is_that_of_their_states(table):
    found = audit_samples.audit_scrambled(WALKS, Known(table), WANTED, np.random.default_rng(5))
    assert found["depth"].tolist() == [1, 2, 3] and found["mean_cost_to_go"].iloc[0] == 1
    assert (found["mean_cost_to_go"] <= found["depth"]).all() and (found["low"] <= found["high"]).all()


@pytest.mark.parametrize(("count", "chosen"), [(1, [9]), (2, [0, 9]), (4, [0, 3, 6, 9]), (50, list(range(10)))])
def test_checkpoints_are_spread_and_the_last_is_among_them(count, chosen):
    assert list(audit_samples.spread({place: None for place in range(10)}, count)) == chosen


@pytest.fixture
def trained(tmp_path, monkeypatch, table):
    """A project with a table and three checkpoints of a network that has learned nothing; the recipe of its audit."""
    monkeypatch.chdir(tmp_path)
    folder, rows = Path("results/cube3/models/walks"), []
    architecture = architecture_of(first_layers=[8], outputs="actions")
    for iteration in (10, 20, 30):
        name = f"checkpoints/{iteration:06d}.safetensors"
        description = {"puzzle": "cube3", "precision": "float32", "iteration": iteration}
        network.save(folder / name, network.build(architecture, CUBE, iteration), description)
        rows.append({"iteration": iteration, "file": name, "sha256": digest(folder / name)})
    write_frame(folder / "checkpoints.parquet", pd.DataFrame(rows))
    arrays = {"keys": table.keys, "distance": table.distance, "layers": table.layers}
    write_arrays(Path("results/cube3/tables/cube3.npz"), **arrays)
    way = draw_prefixes(CUBE, "R U F D")
    texts = [CUBE.format_state(state) for state in way]
    known = pd.DataFrame({"set": "way", "instance": range(4), "state": texts, "distance": [1.0, 2.0, np.nan, 4.0]})
    write_frame(Path("results/cube3/instances/cube3.parquet"), known)
    values = slices(load([CONFIG]))["audits/walks"] | {"audit": WANTED.model_dump(), "threads": 1}
    return (
        write_recipe("audit_samples", Path("results/cube3/audits/walks"), values),
        Path("results/cube3/tables/cube3.npz"),
        Path("results/cube3/instances/cube3.parquet"),
        folder,
    )


def test_a_whole_audit_is_the_same_to_the_byte_when_it_is_made_again(trained):
    out = Path("results/cube3/audits/walks")
    audit_samples.run(*trained, out)
    first = {path: path.read_bytes() for path in [out.with_suffix(".json"), *out.glob("*")]}
    frames = {path.stem: read_frame(path) for path in out.glob("*.parquet")}
    assert set(frames) == {"nearby", "known", "consistency", "scrambled", "greedy", "progress"}
    progress = frames["progress"]
    assert progress["iteration"].tolist() == [10, 30] and progress["known"].tolist() == [3, 3]
    # The table knows them all; from its edge a network that has learned nothing leads astray.
    assert progress["solved_percent"].tolist() == [75, 75] and progress["excess"].tolist() == [0, 0]
    assert frames["known"][["set", "distance", "states"]].to_numpy().tolist() == [["way", d, 1] for d in (1, 2, 4)]
    assert frames["nearby"]["states"].tolist() == [1, 12, 20, 20, 20]
    assert frames["nearby"]["mean_cost_to_go"].iloc[0] == 0
    assert frames["consistency"][["iteration", "states"]].to_numpy().tolist() == [[10, 100], [30, 100]]
    assert len(frames["greedy"]) == 3 * len(WANTED.greedy_depths) and len(frames["scrambled"]) == WANTED.depths
    assert frames["greedy"].groupby("iteration")["mean_cost_to_go"].mean().nunique() == 3
    for frame in frames.values():
        known = frame.drop(columns="overestimation_mean", errors="ignore")  # NaN where nothing is overestimated
        assert known.notna().all(axis=None)
        assert frame.filter(like="percent").apply(lambda column: column.between(0, 100)).all(axis=None)
    audit_samples.run(*trained, out)
    assert first == {path: path.read_bytes() for path in first}


def test_mlflow_shows_the_audit_over_the_training(trained):
    out = Path("results/cube3/audits/walks")
    audit_samples.run(*trained, out)
    found = record.points(record.read_stage(out.with_suffix(".json"), Path.cwd()))
    assert {step for name, step in found if name == "greedy_2_solved_percent"} == {10, 20, 30}
    assert found["consistent_percent", 30] == read_json(out.with_suffix(".json"))["metrics"]["consistent_percent"]
