"""Instance sets: disjoint, independent of one another, and of the distances they were asked for."""

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo.exact.nearby import FAR, nearby_table
from costtogo.learning.distributions import walk_chances, walk_spread
from costtogo.learning.instances import draw_prefixes, draw_sets, draw_walk_ends
from costtogo.params.base import maker
from costtogo.params.instances import DistributionParams, InstanceParams
from costtogo.puzzles import make
from costtogo.puzzles.base import apply
from costtogo.stages.instances import DISTRIBUTIONS, distributions, draw_around
from costtogo.types import UserError

CUBE = make("cube3")
NEARBY = nearby_table(CUBE, 4)
instances_of = maker(InstanceParams)
SETS = {
    "selection": instances_of(kind="deepcube", states=300, walk_max=6, role="selection"),
    "test": instances_of(kind="deepcube", states=300, walk_max=6),
    "uniform": instances_of(kind="uniform", states=40),
}


@pytest.fixture
def drawn(distances_of):
    """Draw sets of a puzzle."""

    def draw(name: str, sets: dict, seed: int = 7, disjoint: bool = True):
        sets = draw_sets(make(name), sets, distances_of(name), seed, disjoint)
        return {name: each.ranks for name, each in sets.items()}

    return draw


def test_what_is_left_of_a_selection_set_weighs_as_much_at_each_distance_as_was_drawn(distances_of):
    puzzle, distance = make("cube2"), distances_of("cube2")
    (whole, ones, _), (left, weights, walks) = (
        draw_sets(puzzle, SETS, distance, 7, disjoint)["selection"] for disjoint in (False, True)
    )
    assert len(left) == len(walks) < len(whole) and (ones == 1).all() and weights.min() >= 1
    drawn = np.bincount(distance[whole], minlength=15)
    weighed = np.bincount(distance[left], weights=weights, minlength=15)
    remaining = np.bincount(distance[left], minlength=15) > 0
    np.testing.assert_allclose(weighed[remaining], drawn[remaining])


def test_selection_states_are_no_test_states(drawn):
    shared, apart = drawn("cube2", SETS, disjoint=False), drawn("cube2", SETS)
    assert np.isin(shared["selection"], shared["test"]).any()
    assert not np.isin(apart["selection"], np.concatenate([apart["test"], apart["uniform"]])).any()
    kept = ~np.isin(shared["selection"], np.concatenate([shared["test"], shared["uniform"]]))
    np.testing.assert_array_equal(apart["selection"], shared["selection"][kept])
    np.testing.assert_array_equal(apart["test"], shared["test"])


def test_the_states_of_a_walk_are_told_from_those_of_another(distances_of):
    sets = {"walks": instances_of(kind="deepcube", states=12, walk_max=6, one_each_at=[3]), "uniform": SETS["uniform"]}
    drawn = draw_sets(make("cube2"), sets, distances_of("cube2"), 7, disjoint=True)
    assert drawn["walks"].walks.tolist() == [0] * 6 + [1] * 6 + [12]
    assert len(set(drawn["uniform"].walks)) == 40


def test_sets_come_in_the_order_of_the_parameters(drawn):
    assert list(drawn("cube2", SETS)) == list(SETS)


@pytest.mark.parametrize("name", ["cube2", "hanoi_4"])
def test_adding_a_set_leaves_the_others_as_they_are(name, drawn):
    more = {"another": instances_of(kind="deepcubea", states=5, walk_max=3, role="selection"), **SETS}
    before, after = drawn(name, SETS, disjoint=False), drawn(name, more, disjoint=False)
    for each in SETS:
        np.testing.assert_array_equal(before[each], after[each])


def test_the_same_seed_draws_the_same_sets_and_another_seed_others(drawn):
    np.testing.assert_array_equal(drawn("cube2", SETS)["uniform"], drawn("cube2", SETS)["uniform"])
    assert (drawn("cube2", SETS)["uniform"] != drawn("cube2", SETS, seed=8)["uniform"]).any()


def test_scrambled_states_are_the_ends_of_walks_of_just_so_many_moves(drawn, distances_of):
    ranks = drawn("cube2", {"set": instances_of(kind="scrambled", states=400, walk_max=5)})["set"]
    distance = distances_of("cube2")[ranks]
    assert len(ranks) == 400
    assert set(np.unique(distance)) == {1, 3, 5}  # a quarter turn is an odd permutation


def test_what_a_heuristic_says_of_walks_is_its_mean_over_all_ways_to_walk(distances_of):
    puzzle, distance = make("hanoi_2"), distances_of("hanoi_2")
    values = np.arange(9, dtype=np.float64)
    rows = walk_spread(puzzle, 3, values, distance)
    ends = [(puzzle.goal, 1.0)]
    for depth in range(4):
        expected = [
            sum(chance * table[puzzle.rank(state[None])[0]] for state, chance in ends) for table in (values, distance)
        ]
        assert rows[depth]["depth"] == depth
        np.testing.assert_allclose([rows[depth]["mean_cost_to_go"], rows[depth]["mean_distance"]], expected)
        following = []
        for state, chance in ends:
            children, legal = puzzle.expand(state[None])
            following += [(child, chance / legal.sum()) for child in children[legal]]
        ends = following
    assert all(row["low"] <= row["mean_cost_to_go"] <= row["high"] for row in rows)


def test_a_stratified_set_has_so_many_different_states_of_each_distance(drawn, distances_of):
    ranks = drawn("cube2", {"set": instances_of(kind="stratified", states=50)})["set"]
    distance = distances_of("cube2")
    layers = np.bincount(distance)
    np.testing.assert_array_equal(np.bincount(distance[ranks]), np.minimum(layers, 50))
    assert len(np.unique(ranks)) == len(ranks)


def test_one_state_of_each_distance_asked_for_follows_the_others(drawn, distances_of):
    plain = instances_of(kind="uniform", states=20)
    ranks = drawn("cube2", {"set": plain.model_copy(update={"one_each_at": [14, 9, 13]})})["set"]
    assert len(ranks) == 23
    assert distances_of("cube2")[ranks[-3:]].tolist() == [14, 9, 13]


def test_the_start_set_is_the_customary_start(drawn):
    assert drawn("hanoi_4", {"start": instances_of(kind="start")})["start"].tolist() == [80]


@pytest.mark.parametrize(
    ("name", "params", "reason"),
    [
        ("cube2", instances_of(kind="start"), "no customary start"),
        ("hanoi_4", instances_of(kind="uniform", one_each_at=[16]), "the farthest is 15"),
    ],
)
def test_a_set_that_cannot_be_drawn_is_told_in_one_sentence(name, params, reason, drawn):
    with pytest.raises(UserError) as told:
        drawn(name, {"set": params})
    assert reason in str(told.value) and is_one_sentence(str(told.value))


def test_a_selection_set_left_empty_by_the_test_sets_is_told_in_one_sentence(drawn):
    sets = {
        "test": instances_of(kind="stratified", states=1000),
        "rest": instances_of(kind="uniform", role="selection"),
    }
    with pytest.raises(UserError, match="rest of hanoi_4 is empty") as told:
        drawn("hanoi_4", sets)
    assert is_one_sentence(str(told.value))


SPREAD = DistributionParams(walks=2000, walk_max=[3, 9], effective_k=[2])


def spread_of(name: str, distances_of, params=SPREAD, seed: int = 7):
    return distributions(make(name), params, distances_of(name), seed)


@pytest.mark.parametrize("name", ["cube2", "hanoi_4"])
def test_a_sampler_draws_states_at_the_distances_that_its_chances_expect(name, distances_of):
    spread = spread_of(name, distances_of)
    groups = spread.groupby(["sampler", "walk_max"], sort=False)
    walks = [("deepcube", 3), ("deepcube", 9), ("deepcubea", 3), ("deepcubea", 9), ("adaptive_k", 2)]
    assert list(groups.groups) == walks
    for (sampler, walk_max), rows in groups:
        chance, count = rows["expected_percent"] / 100, rows["sampled"].sum()
        assert count == 2000 * walk_max and chance.sum() == pytest.approx(1)
        spread_of_walks = walk_max if sampler != "deepcubea" else 1  # the states of one walk hang together
        allowed = 5 * np.sqrt(spread_of_walks * count * chance * (1 - chance))
        assert (np.abs(rows["sampled"] - count * chance) <= allowed + 1e-9).all()
        np.testing.assert_array_equal(rows["states"], np.bincount(distances_of(name)))


def test_chances_after_one_quarter_turn_are_even_over_six_states(distances_of):
    _, first, second = walk_chances(make("cube2"), 2)
    np.testing.assert_allclose(first[distances_of("cube2") == 1], 1 / 6)
    assert first.sum() == pytest.approx(1) and second.sum() == pytest.approx(1)
    assert second[distances_of("cube2") == 0] == pytest.approx(1 / 6)


def test_another_walk_length_leaves_the_other_draws_as_they_are(distances_of):
    more = SPREAD.model_copy(update={"walk_max": [5, 9]})
    before, after = (spread_of("hanoi_4", distances_of, params) for params in (SPREAD, more))
    np.testing.assert_array_equal(before[before["walk_max"] == 9], after[after["walk_max"] == 9])
    assert (spread_of("hanoi_4", distances_of, seed=8)["sampled"] != before["sampled"]).any()


def test_a_puzzle_without_walk_lengths_has_an_empty_frame_of_distributions(distances_of):
    spread = spread_of("hanoi_4", distances_of, DistributionParams())
    assert spread.empty and spread.columns.tolist() == DISTRIBUTIONS


def test_the_start_of_a_smaller_tower_has_its_other_disks_at_the_goal(drawn, distances_of):
    ranks = drawn("hanoi_7", {"set": instances_of(kind="start", disks=4)})["set"]
    np.testing.assert_array_equal(make("hanoi_7").unrank(ranks), [[2, 2, 2, 2, 0, 0, 0]])
    assert distances_of("hanoi_7")[ranks] == [15]


@pytest.mark.parametrize("name", ["cube2", "hanoi_3"])
def test_a_start_of_disks_that_the_puzzle_has_not_is_told(name, drawn):
    with pytest.raises(UserError, match="start") as told:
        drawn(name, {"set": instances_of(kind="start", disks=4)})
    assert is_one_sentence(str(told.value))


# Sets that moves make, of a puzzle of which the states around the goal are listed


def test_walks_end_where_they_are_told_to():
    drawn = draw_walk_ends(CUBE, 200, (1, 2), np.random.default_rng(0))
    one = {tuple(state) for state in CUBE.expand(CUBE.goal[None])[0][0]}
    share = np.mean([tuple(state) in one for state in drawn])
    assert 0.4 < share < 0.6, "half of them have one move"
    np.testing.assert_array_equal(drawn, draw_walk_ends(CUBE, 200, (1, 2), np.random.default_rng(0)))


def test_prefixes_are_the_states_on_the_way():
    states = draw_prefixes(CUBE, "R U2 F'")
    assert len(states) == 4
    np.testing.assert_array_equal(states[2], apply(CUBE, CUBE.goal, CUBE.parse_moves("R U2")))


def drawn_around(**sets):
    """States and distances of instance sets of the cube, by name."""
    frames = draw_around(CUBE, {name: instances_of(**values) for name, values in sets.items()}, 1, NEARBY)
    return {
        name: (np.array([CUBE.parse_state(text) for text in frame["state"]]), frame["distance"].to_numpy())
        for name, frame in frames.items()
    }


def test_distances_are_known_within_the_table_and_of_shortest_paths():
    walks = {"kind": "walks", "states": 50, "length": [2, 6]}
    states, distance = drawn_around(walks=walks)["walks"]
    found = NEARBY(states)
    assert np.isnan(distance).any() and np.isnan(distance).tolist() == (found == FAR).tolist()
    np.testing.assert_array_equal(distance[found != FAR], found[found != FAR])
    way = {"kind": "prefixes", "moves": "R U F D"}
    assert np.isnan(drawn_around(way=way)["way"][1]).all()
    assert drawn_around(way=way | {"shortest": True})["way"][1].tolist() == [1, 2, 3, 4]


def test_a_mirrored_state_is_solved_by_the_mirrored_moves_and_as_far():
    way = {"kind": "prefixes", "moves": "R U' F2", "shortest": True}
    sets = drawn_around(mirrored={"kind": "mirrored", "of": "way"}, way=way)
    np.testing.assert_array_equal(sets["mirrored"][1], sets["way"][1])
    np.testing.assert_array_equal(sets["mirrored"][0], draw_prefixes(CUBE, "L' U F' F'"))


def test_another_set_of_walks_leaves_a_set_as_it_is():
    walks = {"kind": "walks", "states": 5, "length": [9, 9]}
    one, other = drawn_around(walks=walks), drawn_around(more=walks, walks=walks)
    np.testing.assert_array_equal(one["walks"][0], other["walks"][0])
    assert (other["more"][0] != other["walks"][0]).any()
