"""The stage that searches: what its rows promise of any solver, and the protocol where every state is listed."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from messages import is_one_sentence

from costtogo import progress
from costtogo.analysis.intervals import mean_interval, share_interval, wilson
from costtogo.analysis.suboptimality import separated, summarise
from costtogo.exact.nearby import GoalAlone
from costtogo.exact.pattern_database import build, save
from costtogo.heuristics.table import TableHeuristic, exact, zero
from costtogo.learning.instances import draw_prefixes
from costtogo.params.searches import AnytimeParams, CellParams, GridParams
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.search import bwas
from costtogo.stages.search import anytime, exhaustive, grids, running
from costtogo.stages.search.cells import Given, rows_of
from costtogo.stages.search.loading import load_heuristic
from costtogo.types import SearchResult, UserError

HANOI = make("hanoi_4_4")
EIGHT = make("puzzle8")
CUBE = make("cube3")
CELL = CellParams(set="test", path_weight=0.7, batch_size=5)
WAY = draw_prefixes(CUBE, "R U F D")
INSTANCES = pd.DataFrame({"set": "way", "instance": range(4), "distance": [1.0, 2, 3, 4]})


def on_the_way(cost=(1.0, 2, 3, 4), moves="D' F' U' R'") -> SearchResult:
    """What a search over the four states of WAY finds: each solution is the end of these moves."""
    actions, cost = np.array(CUBE.parse_moves(moves), dtype=np.int8), np.array(cost, dtype=np.float64)
    solutions = [actions[len(actions) - place - 1 :] for place in range(4)]
    return SearchResult.from_rows(list(zip(cost, [0, 1, 2, 7], [12, 24, 36, 48], np.zeros(4), solutions, strict=True)))


# Rows of any search


def test_a_row_has_what_the_search_found_and_the_seconds_of_a_call_are_shared_by_nodes():
    rows = running.run_searches(CUBE, lambda _: on_the_way(), INSTANCES, WAY, width=9)
    assert rows["solution"].tolist() == ["R'", "U' R'", "F' U' R'", "D' F' U' R'"]
    assert rows[["cost", "distance", "nodes_generated"]].to_numpy().tolist() == [[n, n, 12 * n] for n in (1, 2, 3, 4)]
    assert (rows["set"] == "way").all() and (rows["width"] == 9).all() and rows["solved"].all()
    np.testing.assert_allclose(rows["seconds"] / rows["seconds"].sum(), np.array([0, 1, 2, 7]) / 10)
    free = running.run_searches(CUBE, lambda starts: replaced(on_the_way(), np.zeros(4, int)), INSTANCES, WAY)
    assert free["seconds"].nunique() == 1 and free["seconds"].iloc[0] > 0, (
        "a solver that expands nothing takes time too"
    )


def replaced(found: SearchResult, nodes) -> SearchResult:
    return replace(found, nodes_expanded=nodes, nodes_generated=nodes)


def test_searches_alone_or_side_by_side_find_what_they_find_in_one_call(distances_of):
    search = partial(bwas.solve, HANOI, exact(HANOI, distances_of("hanoi_4_4")), path_weight=0.9, batch_size=2)
    starts, rows = HANOI.unrank(np.arange(0, 256, 10)), pd.DataFrame({"set": "some", "instance": range(26)})
    rows["distance"] = distances_of("hanoi_4_4")[np.arange(0, 256, 10)]
    together = running.run_searches(HANOI, search, rows, starts).drop(columns="seconds")
    for threads in (1, 3):
        alone = running.run_alone(HANOI, search, rows, starts, threads=threads)
        pd.testing.assert_frame_equal(alone.drop(columns="seconds"), together)
        assert alone["seconds"].nunique() > 1


WRONG = {
    "a solution that leads elsewhere": (on_the_way(moves="D' F' U' R"), "4 of 4 solutions of cube3 missed the goal"),
    "an optimum that is beaten": (on_the_way(cost=(1, 2, 2, 4)), "2 of the set way is solved in 2 moves, not in the 3"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_cannot_be_is_refused(kind):
    found, reason = WRONG[kind]
    with pytest.raises(UserError) as told:
        running.run_searches(CUBE, lambda _: found, INSTANCES, WAY)
    assert reason in str(told.value) and is_one_sentence(str(told.value))


def test_solutions_are_written_move_by_move_and_told_in_the_customary_notation():
    """In that notation moves that commute may stand in another order, and half turns are one."""
    start, moves = draw_prefixes(CUBE, "R L R")[2:], np.array(CUBE.parse_moves("R' L' R'"), np.int8)
    found = SearchResult.from_rows([(3, 1, 1, 1, moves)])
    rows = running.run_searches(CUBE, lambda _: found, INSTANCES.iloc[[2]], start)
    assert rows["solution"].tolist() == ["R' L' R'"]
    told = running.in_notation(CUBE, rows)
    assert told["length_htm"].tolist() == [2] and len(told["solution"][0].split()) == 2
    assert running.in_notation(EIGHT, rows.assign(solution="U"))["length_htm"].isna().all()


def test_progress_is_told_now_and_then_with_the_time_that_is_left(monkeypatch, capsys):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    assert list(progress.with_progress("abcdef", 6, "beams")) == list("abcdef")
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["beams: 3 of 6 searched, 0:12 left"], "every ten seconds, of four each"


def test_searches_are_summarised_as_by_hand():
    """Optimal is told of known distances alone, lengths of what was solved; the mean of nothing is not a number."""
    frame = pd.DataFrame(
        {"set": ["a"] * 4 + ["b"], "distance": [4.0, 4, np.nan, 8, np.nan], "solved": [True, True, True, False, False],
         "cost": [4.0, 6, 9, np.inf, np.inf], "nodes_expanded": [10, 20, 30, 100, 5], "cost_to_go": [3.0, 5, 1, 8, 1],
         "nodes_generated": [40, 80, 120, 400, 20], "ended": ["solved"] * 3 + ["memory", "seconds"]}
    )  # fmt: skip
    length, low, high = mean_interval([4, 6, 9])
    one, other = summarise(frame, ["set"]).to_dict("records")
    ends = wilson(1, 3)
    assert one == {
        "set": "a", "instances": 4, "solved_percent": 75, "length": length, "length_low": low, "length_high": high,
        "known": 3, "optimal_length": pytest.approx(16 / 3), "optimal_percent": pytest.approx(100 / 3),
        "optimal_low": 100 * ends[0], "optimal_high": 100 * ends[1], "excess": 1, "nodes_expanded": 40,
        "nodes_generated": 160, "out_of_memory_percent": 25, "admissible_percent": pytest.approx(200 / 3),
    }  # fmt: skip
    assert [name for name, value in other.items() if value != value] == [
        *("length", "length_low", "length_high", "optimal_length", "optimal_percent", "optimal_low", "optimal_high"),
        *("excess", "admissible_percent"),
    ]
    assert "nan" not in running.describe(frame[4:].assign(seconds=1.0))
    whole = summarise(frame.drop(columns=["ended", "cost_to_go"]))
    assert whole["instances"].tolist() == [5] and not {"out_of_memory_percent", "admissible_percent"} & {*whole}


def test_heuristics_have_names(distances_of, tmp_path):
    """A pattern database may have any name, that of another heuristic too."""
    distance = distances_of("puzzle8")
    states = EIGHT.unrank(np.arange(0, EIGHT.state_count, 9999))
    found = {"exact": exact(EIGHT, distance)(states), "manhattan": load_heuristic(EIGHT, "manhattan")(states)}
    np.testing.assert_array_equal(found["exact"], distance[EIGHT.rank(states)])
    assert not zero(EIGHT)(states).any() and (found["manhattan"] <= found["exact"]).all()
    with pytest.raises(ValueError, match="there is no heuristic exact"):
        load_heuristic(EIGHT, "exact")
    save(tmp_path / "exact.npz", build(3, "4-4"))
    database = load_heuristic(EIGHT, "exact", database=tmp_path / "exact.npz")
    assert (database(states) <= found["exact"]).all() and (database(states) < found["exact"]).any()


# Grids


def test_cells_of_a_small_batch_go_in_step():
    weights = [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert grids.in_step(weights, 20) == [weights]
    assert grids.in_step(weights, 2000) == [[0, 0.2], [0.4, 0.6], [0.8, 1]]
    assert grids.in_step(weights, 10**6) == [[weight] for weight in weights]


def test_every_cell_of_a_grid_is_searched_from_every_instance(distances_of):
    sets = {"way": (INSTANCES.iloc[:3], HANOI.unrank(np.arange(3))), "other": (INSTANCES, HANOI.unrank(np.arange(4)))}
    sets = {name: (rows.assign(set=name, distance=np.nan), starts) for name, (rows, starts) in sets.items()}
    asked = {"solver": "bwas", "path_weight": [0.5, 1.0], "batch_size": [1, 2000]}
    wanted = [GridParams(set=name, **asked) for name in sets]
    heuristic = TableHeuristic(HANOI, distances_of("hanoi_4_4").astype(np.float32))
    given = Given(HANOI, sets, heuristic)
    found = pd.concat([rows for each in wanted for rows in rows_of(given, each, grids.searches)])
    for name, (rows, starts) in sets.items():
        part = found[found["set"] == name]
        assert part[["batch_size", "path_weight", "instance"]].to_numpy().tolist() == [
            [size, weight, instance] for size in (1, 2000) for weight in (0.5, 1) for instance in rows["instance"]
        ]
        solutions = [HANOI.parse_moves(text) for text in part["solution"]]
        assert solves(HANOI, np.tile(starts, (4, 1)), solutions).all()


def test_each_budget_is_searched_with_from_the_first_instances_alone(distances_of):
    budget = {"solver": "bwas", "path_weight": [0.5, 1.0], "batch_size": 1}
    budgets = [{**budget, "states": states, "seconds": seconds} for states, seconds in ((1, 5), (3, 6))]
    asked = AnytimeParams(solver="anytime", set="way", budgets=budgets)
    heuristic = TableHeuristic(HANOI, distances_of("hanoi_4_4").astype(np.float32))
    sets = {"way": (INSTANCES.assign(set="way", distance=np.nan), HANOI.unrank(np.arange(4)))}
    given = Given(HANOI, sets, heuristic, GoalAlone(HANOI), max_nodes=1000)
    found = pd.concat(rows_of(given, asked, anytime.searches))
    assert found[["seconds_allowed", "instance"]].to_numpy().tolist() == [[5, 0], [6, 0], [6, 1], [6, 2]]
    assert found["cost"].tolist() == distances_of("hanoi_4_4")[[0, 0, 1, 2]].tolist()


# The protocol where every state is listed


def protocol_of(distance, sets: dict, **asked) -> exhaustive.Protocol:
    """Searches of H(4, 4), whose four pegs leave many ways, from sets of ranks, on a grid of four cells."""
    headline = CELL.model_copy(update={"set": next(iter(sets))})
    wanted = {"headline": headline, "admissible_instances": 20, "max_expansions": 10_000, "max_nodes": 10_000}
    wanted |= {"network_searches": 8, "network_searches_alone": 3, "network_max_steps": 10_000} | asked
    frames = {
        name: pd.DataFrame({"set": name, "instance": range(len(ranks)), "distance": distance[ranks]})
        for name, ranks in sets.items()
    }
    grid = {"solver": "bwas", "path_weight": [0.2, 0.7], "batch_size": [1, 5]}
    cells = [GridParams(set=name, **grid) for name in sets]
    starts = {name: (rows, HANOI.unrank(np.asarray(sets[name]))) for name, rows in frames.items()}
    return exhaustive.Protocol(HANOI, SimpleNamespace(**wanted), cells, distance, starts)


@pytest.fixture
def protocol(distances_of) -> exhaustive.Protocol:
    """Searches from 30 states."""
    ranks = np.random.default_rng(1).choice(256, size=30, replace=False)
    return protocol_of(distances_of("hanoi_4_4"), {"test": ranks})


def misleading(distance) -> TableHeuristic:
    """Far too high in a third of the states, so that λ = 1 alone does not find shortest solutions."""
    wrong = np.random.default_rng(5).random(len(distance)) < 0.3
    return TableHeuristic(HANOI, (distance + 12.0 * wrong).astype(np.float32))


def test_a_heuristic_less_its_largest_overestimate_finds_shortest_solutions_at_a_price(protocol):
    found = exhaustive.search_admissible(protocol, misleading(protocol.distance), 12.0).set_index("heuristic")
    assert found["instances"].tolist() == [20, 20, 20]
    assert found.loc["network", "optimal_percent"] < 100
    assert found.loc["shifted", "optimal_percent"] == found.loc["exact", "optimal_percent"] == 100
    assert found.loc["shifted", "nodes_expanded"] > found.loc["exact", "nodes_expanded"]


def test_every_start_counts_once(protocol, monkeypatch):
    monkeypatch.setattr(exhaustive, "ALL_STARTS_CHUNK", 100)
    metrics = exhaustive.search_all_starts(protocol, misleading(protocol.distance))
    starts, setting = HANOI.unrank(np.arange(256)), {"path_weight": 0.7, "batch_size": 5}
    result = bwas.solve(HANOI, misleading(protocol.distance), starts, **setting)
    excess = result.cost - protocol.distance
    assert 0 < excess.max() == metrics["all_starts_worst_excess"]
    assert metrics["all_starts_mean_excess"] == pytest.approx(excess.mean())
    assert metrics["all_starts_optimal_percent"] == pytest.approx(100 * np.mean(excess == 0))
    assert metrics["all_starts_nodes_expanded"] == pytest.approx(result.nodes_expanded.mean())


def test_what_a_checkpoint_has_searched_is_not_searched_again(protocol, monkeypatch):
    tables = {10: misleading(protocol.distance), 20: TableHeuristic(HANOI, protocol.distance.astype(np.float32))}
    points = pd.Series([1, 2], index=[10, 20])
    afresh = exhaustive.search_checkpoints(protocol, tables, points, {})
    known = exhaustive.search_cells(protocol, "network", tables[10], protocol.cells())
    searched, whole = [], exhaustive.search_cells

    def counted(protocol, name, heuristic, *rest):
        searched.append(heuristic)
        return whole(protocol, name, heuristic, *rest)

    monkeypatch.setattr(exhaustive, "search_cells", counted)
    again = exhaustive.search_checkpoints(protocol, tables, points, {10: known})
    assert searched == [tables[20]]
    for name, frame in afresh.items():
        pd.testing.assert_frame_equal(again[name], frame)


class Network:
    """A network that says what a table says, and is asked for states, not looked up."""

    precision = "float32"

    def __init__(self, table: TableHeuristic):
        self.table = table

    def __call__(self, states):
        return self.table(states)


def timed(distance, steps: int, monkeypatch, sets: dict) -> tuple[pd.DataFrame, dict, pd.Series]:
    """What is timed over a network where a search may take so many steps of N nodes.

    The timings; the instances of each cell by its set and whether they were searched alone; which instances are within
    the limit in every cell.
    """
    protocol = protocol_of(distance, sets, network_max_steps=steps)
    table = misleading(distance)
    searches = exhaustive.search_cells(protocol, "network", table, protocol.cells())
    places, whole = {}, exhaustive.Protocol.search

    def noted(self, name, heuristic, cell, chosen=slice(None), alone=False):
        rows = whole(self, name, heuristic, cell, chosen, alone)
        places.setdefault((cell.set, alone), []).append(rows["instance"].tolist())
        return rows

    monkeypatch.setattr(exhaustive.Protocol, "search", noted)
    agree, clock = exhaustive.search_over_network(protocol, Network(table), searches)
    monkeypatch.setattr(exhaustive.Protocol, "search", whole)
    assert agree == {"engines_agree_percent": 100}
    limit = searches.groupby(["set", "instance"]).apply(
        lambda rows: (rows["nodes_expanded"] <= steps * rows["batch_size"]).all(), include_groups=False
    )
    return pd.DataFrame(clock), places, limit


SETS = {"test": np.arange(3, 256, 6), "few": [1, 200], "far": [255]}


def test_seconds_over_the_network_are_of_the_same_instances_in_every_cell_of_a_set(distances_of, monkeypatch):
    distance = distances_of("hanoi_4_4")
    clock, places, limit = timed(distance, 25, monkeypatch, SETS)
    for (name, alone), chosen in places.items():
        assert all(each == chosen[0] for each in chosen), "the same in each cell"
        assert len(chosen[0]) == min(3 if alone else 8, limit[name].sum())
        assert limit[name][chosen[0]].all(), "none that is too slow in any cell"
    test = clock[clock["set"] == "test"]
    assert 0 < (~limit["test"]).sum() < 20 and (test["left_out"] == (~limit["test"]).sum()).all()
    assert len(test) == 2 * 4 and test["engine"].tolist() == ["network alone", "network in step"] * 4
    alone = test[test["engine"] == "network alone"]
    assert (alone["seconds_low"] < alone["seconds_high"]).all() and (alone["searches"] == 3).all()


def test_a_cell_in_which_too_few_searches_are_short_is_not_timed_and_the_others_are(distances_of, monkeypatch):
    distance = distances_of("hanoi_4_4")
    farthest = np.argsort(-distance.astype(int), kind="stable")[:12]
    clock, places, limit = timed(distance, 8, monkeypatch, {"far": farthest})
    assert limit["far"].sum() < 3, "too few for all four cells"
    cells = clock[["path_weight", "batch_size"]].drop_duplicates().to_numpy().tolist()
    assert cells == [[0.2, 5], [0.7, 5]], "steps of one node are too many"
    assert places["far", True][0] == places["far", True][1] and len(places["far", True][0]) == 3
    assert len(places["far", False][0]) + clock["left_out"].iloc[0] == 12


# The checkpoint that stands for a model


def chosen_of(monkeypatch, optimal: dict[int, list[bool]], nodes: dict[int, float]) -> pd.DataFrame:
    """What select makes of checkpoints, by iteration, that solve instances optimally or not with so many nodes."""
    count = len(next(iter(optimal.values())))
    instances = pd.DataFrame({"weight": np.ones(count)})
    protocol = SimpleNamespace(
        asked=SimpleNamespace(selection=SimpleNamespace(set="s")),
        sets={"s": (instances, None)},
        search=lambda name, iteration, cell: pd.DataFrame(
            {"optimal": optimal[iteration], "nodes_expanded": nodes[iteration]}
        ),
    )
    points = pd.Series(range(len(optimal)), index=list(optimal))
    return exhaustive.select(protocol, {each: each for each in optimal}, points).set_index("iteration")


def test_a_checkpoint_is_preferred_for_optimality_only_where_a_paired_test_tells_it_apart(monkeypatch):
    few, many = [True] * 195 + [False] * 5, [True] * 180 + [False] * 20
    found = chosen_of(monkeypatch, {114: [True] * 200, 1492: few, 1500: few}, {114: 17.6, 1492: 10.0, 1500: 10.0})
    assert found["selected"].to_dict() == {114: False, 1492: False, 1500: True}, (
        "5 of 200 do not tell: fewest, then later"
    )
    found = chosen_of(monkeypatch, {114: [True] * 200, 1500: many}, {114: 17.6, 1500: 10.0})
    assert found["selected"].to_dict() == {114: True, 1500: False} and found["separated"].to_dict()[1500]


def test_a_network_that_knows_nothing_is_not_preferred_for_what_blind_search_finds(monkeypatch):
    found = chosen_of(monkeypatch, {1: [True] * 200, 9: [True] * 180 + [False] * 20}, {1: 158_000.0, 9: 160.0})
    assert found["selected"].to_dict() == {1: False, 9: True}


def test_a_paired_test_looks_at_the_instances_in_which_two_searches_differ():
    same = np.arange(100) < 60
    assert not separated(same, same)
    assert not separated(same, ~same), "60 against 40 of 100"
    assert separated(np.arange(100) < 65, np.arange(100) >= 65)


def test_a_single_search_is_timed_several_times_and_its_median_counts(distances_of, monkeypatch):
    distance = distances_of("hanoi_4_4")
    clock, places, _ = timed(distance, 10_000, monkeypatch, {"far": [255]})
    assert [len(each) for each in places.values()][0] == 4 * exhaustive.RUNS
    alone = clock[clock["engine"] == "network alone"]
    assert (alone["searches"] == 1).all() and (alone["seconds_low"] == alone["seconds_high"]).all()
    monkeypatch.setattr(exhaustive, "LONG", 0)
    _, places, _ = timed(distance, 10_000, monkeypatch, {"far": [255]})
    assert [len(each) for each in places.values()][0] == 4, "a long one once"


# Intervals over walks


def test_an_interval_over_walks_is_wider_where_a_walk_fails_as_a_whole_and_never_narrower():
    walks = np.repeat(np.arange(50), 20)
    alone, together = np.ones(1000, bool), np.ones(1000, bool)
    alone[::100], together[:10] = False, False  # ten failures: on ten walks, on one
    plain = wilson(990, 1000)
    assert share_interval(alone) == plain and share_interval(alone, walks) == pytest.approx(plain)
    low, high = share_interval(together, walks)
    assert high - low > 1.5 * (plain[1] - plain[0])
    assert share_interval(np.ones(1000, bool), walks) == wilson(1000, 1000)


def test_the_interval_over_walks_covers_the_share_as_often_as_it_says():
    random, covered = np.random.default_rng(3), 0
    for _ in range(400):
        chance = random.beta(9, 1, size=200)  # of each walk, whose states are alike: 0.9 on average
        holds = random.random((200, 10)) < chance[:, None]
        low, high = share_interval(holds.ravel(), np.repeat(np.arange(200), 10))
        covered += low <= 0.9 <= high
    assert 0.92 < covered / 400 < 0.98
