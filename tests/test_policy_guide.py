"""What beams and greedy walks go by where a policy guides them, and the stage that runs such beams."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of
from costtogo.exact.nearby import GoalAlone
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.params.searches import PolicyBeamParams
from costtogo.puzzles import make
from costtogo.search import beam, greedy
from costtogo.stages.search.cells import Given, rows_of
from costtogo.stages.search.policy_beams import searches

PUZZLE = make("hanoi_4")
STATES = PUZZLE.unrank(np.arange(PUZZLE.state_count))
DISTANCE = distances(graph_of(PUZZLE), 0)


class Informed:
    """The policy that prefers children the more the nearer they are to the goal; every state counts as 9 moves."""

    has_policy = True

    def with_policy(self, states):
        weights = np.exp(-child_costs(PUZZLE, states, lambda some: DISTANCE[PUZZLE.rank(some)].astype(np.float32)))
        return weights / weights.sum(axis=1, keepdims=True), np.full(len(states), 9, dtype=np.float32)


def test_children_count_as_their_parent_and_how_improbable_they_are():
    found, legal = PolicyGuide(Informed()).children(STATES), PUZZLE.legal(STATES)
    probability, cost = Informed().with_policy(STATES)
    assert np.isinf(found[~legal]).all() and (~legal).any()
    np.testing.assert_allclose(found[legal], 9 - np.log(probability[legal]), rtol=1e-5)
    np.testing.assert_array_equal(PolicyGuide(Informed())(STATES), cost)


def test_a_policy_that_knows_the_way_leads_greedy_walks_and_the_narrowest_beam_straight_to_the_goal():
    walked = greedy.solve(PUZZLE, PolicyGuide(Informed()), STATES, max_moves=20)
    beams = beam.solve(PUZZLE, PolicyGuide(Informed()), STATES, width=1)
    np.testing.assert_array_equal(walked.cost, DISTANCE)
    np.testing.assert_array_equal(beams.cost, DISTANCE)
    np.testing.assert_array_equal(beams.nodes_expanded, DISTANCE)  # one evaluation a move, not one a child


def test_the_stage_searches_with_every_width_within_its_moves():
    frame = pd.DataFrame({"set": "test", "instance": [0, 1], "distance": [15.0, 1.0]})
    starts = STATES[[int(DISTANCE.argmax()), int(np.flatnonzero(DISTANCE == 1)[0])]]
    asked = PolicyBeamParams(solver="policy_beam", set="test", widths=[1, 3], max_moves=14)
    given = Given(PUZZLE, {"test": (frame, starts)}, Informed(), GoalAlone(PUZZLE), max_nodes=1000)
    rows = pd.concat(rows_of(given, asked, searches))
    assert rows["width"].tolist() == [1, 1, 3, 3]
    assert rows["solved"].tolist() == [False, True, False, True]


def test_only_networks_with_a_policy_are_suited():
    beams = PolicyBeamParams(solver="policy_beam", set="test", widths=[1])
    of = {outputs: SimpleNamespace(architecture=SimpleNamespace(outputs=outputs)) for outputs in ("policy", "state")}
    assert beams.suits(of["policy"]) and not beams.suits(of["state"])
    with pytest.raises(ValidationError):
        PolicyBeamParams(solver="policy_beam", set="test", widths=[0])
