"""Policies: audits by the exact table, against plain walks; searches that go by them, and the stage of such beams."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from costtogo.analysis.policies import audit_policy, least_child, reaches
from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of, neighbour_table
from costtogo.exact.nearby import GoalAlone
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.heuristics.table import tabulate, tabulate_policy
from costtogo.params.searches import PolicyBeamParams
from costtogo.puzzles import make
from costtogo.search import beam, greedy
from costtogo.stages.search.cells import Given, rows_of
from costtogo.stages.search.policy_beams import searches

PUZZLE = make("puzzle8")
HANOI = make("hanoi_4")
STATES = HANOI.unrank(np.arange(HANOI.state_count))
DISTANCE = distances(graph_of(HANOI), 0)


@pytest.fixture(scope="module")
def known(distances_of):
    return distances_of("puzzle8"), neighbour_table(PUZZLE)


def optimal_prior(distance, neighbours):
    """All probability on the first action that leads nearer the goal; on the first legal one at the goal."""
    reached = np.where(neighbours >= 0, distance.astype(int)[neighbours], 99)
    return np.eye(neighbours.shape[1], dtype=np.float32)[reached.argmin(axis=1)]


def test_an_optimal_policy_is_optimal_and_solves_everything(known):
    distance, neighbours = known
    rows, metrics = audit_policy(optimal_prior(distance, neighbours), distance.astype(np.float32), *known)
    assert rows["distance"].tolist() == list(range(1, 32)) and rows["states"].sum() == len(distance) - 1
    for name in ("optimal_percent", "solved_percent", "value_optimal_percent", "value_solved_percent"):
        assert (rows[name] == 100).all() and metrics[name] == 100
    assert metrics["entropy"] == 0 and metrics["optimal_probability"] == 1


def test_measures_are_those_of_a_plain_walk(known):
    distance, neighbours = known
    generator = np.random.default_rng(0)
    prior = np.where(neighbours >= 0, generator.random(neighbours.shape), 0).astype(np.float32)
    prior = 0.8 * prior / prior.sum(axis=1, keepdims=True) + 0.2 * optimal_prior(distance, neighbours)
    values = distance + generator.normal(size=len(distance)).astype(np.float32)
    rows, metrics = audit_policy(prior, values, *known)
    sample = generator.choice(np.flatnonzero(distance > 0), size=3000, replace=False)
    optimal, mass, entropy, solved = [], [], [], []
    for state in sample:
        nearer = [distance[reached] < distance[state] and reached >= 0 for reached in neighbours[state]]
        optimal.append(nearer[prior[state].argmax()])
        mass.append(sum(prior[state][nearer]))
        entropy.append(-sum(p * np.log(p) for p in prior[state] if p > 0))
        way = [state]
        while way[-1] not in way[:-1] and distance[way[-1]]:
            way.append(neighbours[way[-1], prior[way[-1]].argmax()])
        solved.append(distance[way[-1]] == 0)
    assert metrics["optimal_percent"] == pytest.approx(100 * np.mean(optimal), abs=3)
    assert metrics["optimal_probability"] == pytest.approx(np.mean(mass), abs=0.02)
    assert metrics["entropy"] == pytest.approx(np.mean(entropy), abs=0.02)
    assert metrics["solved_percent"] == pytest.approx(100 * np.mean(solved), abs=3)
    assert 0 < metrics["solved_percent"] < 100 and 0 < metrics["value_optimal_percent"] < 100
    means = np.average(rows["optimal_percent"], weights=rows["states"])
    assert means == pytest.approx(metrics["optimal_percent"])


def test_a_way_that_goes_in_circles_does_not_reach_the_goal():
    onward = np.array([0, 0, 1, 4, 5, 3, 3, 2], dtype=np.int32)
    assert reaches(onward, 0).tolist() == [True, True, True, False, False, False, False, True]


def test_an_illegal_child_is_never_the_least(known):
    _, neighbours = known
    values = np.full(len(neighbours), 3.0, dtype=np.float32)
    chosen = least_child(values, neighbours)
    assert (neighbours[np.arange(len(neighbours)), chosen] >= 0).all()
    assert (chosen == (neighbours >= 0).argmax(axis=1)).all(), "of equal children the first"


def test_a_policy_is_tabulated_with_the_values_of_the_same_states():
    puzzle = make("hanoi_4")

    class Known:
        def __call__(self, states):
            return puzzle.rank(states).astype(np.float32)

        def with_policy(self, states):
            ranks = puzzle.rank(states)
            return np.repeat(ranks[:, None], len(puzzle.actions), axis=1).astype(np.float32), self(states)

    heuristic, prior = tabulate_policy(puzzle, Known(), chunk=10)
    np.testing.assert_array_equal(heuristic.values, tabulate(puzzle, Known()).values)
    np.testing.assert_array_equal(prior[:, 0], np.arange(81))


class Informed:
    """The policy that prefers children the more the nearer they are to the goal; every state counts as 9 moves."""

    has_policy = True

    def with_policy(self, states):
        weights = np.exp(-child_costs(HANOI, states, lambda some: DISTANCE[HANOI.rank(some)].astype(np.float32)))
        return weights / weights.sum(axis=1, keepdims=True), np.full(len(states), 9, dtype=np.float32)


def test_children_count_as_their_parent_and_how_improbable_they_are():
    found, legal = PolicyGuide(Informed()).children(STATES), HANOI.legal(STATES)
    probability, cost = Informed().with_policy(STATES)
    assert np.isinf(found[~legal]).all() and (~legal).any()
    np.testing.assert_allclose(found[legal], 9 - np.log(probability[legal]), rtol=1e-5)
    np.testing.assert_array_equal(PolicyGuide(Informed())(STATES), cost)


def test_a_policy_that_knows_the_way_leads_greedy_walks_and_the_narrowest_beam_straight_to_the_goal():
    walked = greedy.solve(HANOI, PolicyGuide(Informed()), STATES, max_moves=20)
    beams = beam.solve(HANOI, PolicyGuide(Informed()), STATES, width=1)
    np.testing.assert_array_equal(walked.cost, DISTANCE)
    np.testing.assert_array_equal(beams.cost, DISTANCE)
    np.testing.assert_array_equal(beams.nodes_expanded, DISTANCE)  # one evaluation a move, not one a child


def test_the_stage_searches_with_every_width_within_its_moves():
    frame = pd.DataFrame({"set": "test", "instance": [0, 1], "distance": [15.0, 1.0]})
    starts = STATES[[int(DISTANCE.argmax()), int(np.flatnonzero(DISTANCE == 1)[0])]]
    asked = PolicyBeamParams(solver="policy_beam", set="test", widths=[1, 3], max_moves=14)
    given = Given(HANOI, {"test": (frame, starts)}, Informed(), GoalAlone(HANOI), max_nodes=1000)
    rows = pd.concat(rows_of(given, asked, searches))
    assert rows["width"].tolist() == [1, 1, 3, 3]
    assert rows["solved"].tolist() == [False, True, False, True]


def test_only_networks_with_a_policy_are_suited():
    beams = PolicyBeamParams(solver="policy_beam", set="test", widths=[1])
    of = {outputs: SimpleNamespace(architecture=SimpleNamespace(outputs=outputs)) for outputs in ("policy", "state")}
    assert beams.suits(of["policy"]) and not beams.suits(of["state"])
    with pytest.raises(ValidationError):
        PolicyBeamParams(solver="policy_beam", set="test", widths=[0])
