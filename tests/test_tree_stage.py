"""Trees in studies: which parameters make sense, which networks they suit, and what the stage searches with."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from messages import is_one_sentence
from pydantic import ValidationError

from costtogo.params.searches import TreeParams
from costtogo.puzzles import make
from costtogo.search import mcts
from costtogo.stages.search.cells import Given, rows_of
from costtogo.stages.search.trees import heuristic_of, searches
from costtogo.tables.timings import of_settings

PUZZLE = make("hanoi_3")
GIVEN = {"solver": "mcts", "set": "test", "exploration": [1.0, 2.0], "max_expansions": 50}


class Network:
    """Rank as cost-to-go, and all probability on the first legal action."""

    has_policy = True

    def __call__(self, states):
        return PUZZLE.rank(states).astype(np.float32)

    def with_policy(self, states):
        return np.eye(len(PUZZLE.actions), dtype=np.float32)[PUZZLE.legal(states).argmax(axis=1)], self(states)


@pytest.mark.parametrize("prior", ["policy", "uniform"])
@pytest.mark.parametrize("values", ["network", "constant"])
def test_trees_go_by_the_policy_and_the_values_that_are_asked_for(prior, values):
    heuristic = heuristic_of(TreeParams(**GIVEN, prior=prior, values=values), Network())
    states = PUZZLE.unrank(np.arange(27))
    told, cost = mcts.evaluate(PUZZLE, heuristic, states)
    legal = PUZZLE.legal(states)
    wanted = Network().with_policy(states)[0] if prior == "policy" else legal / legal.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(told, wanted, rtol=1e-6)
    np.testing.assert_array_equal(cost, np.arange(27) if values == "network" else np.full(27, 2))


def test_every_setting_is_searched_as_it_says(monkeypatch):
    calls, solve = [], mcts.solve

    def recorded(*args, **named):
        calls.append(named)
        return solve(*args, **named)

    monkeypatch.setattr(mcts, "solve", recorded)
    frame = pd.DataFrame({"set": ["test"], "instance": [0], "distance": [7]})
    given = Given(PUZZLE, {"test": (frame, PUZZLE.start[None])}, Network(), max_nodes=77)
    asked = [
        TreeParams(**GIVEN),
        TreeParams(**GIVEN | {"exploration": [3.0]}, leaves=4, virtual_loss=2.0, untried="zero", shortening="tree"),
        TreeParams(**GIVEN | {"exploration": [4.0]}, shortening="none"),
    ]
    rows = [part for each in asked for part in rows_of(given, each, searches)]
    made = [call for call in calls if call["limits"].max_nodes == 77]
    assert [(*call["rules"][:4], call["shortening"]) for call in made] == [
        (1.0, 1.0, 1, False, "shortcuts"),
        (2.0, 1.0, 1, False, "shortcuts"),
        (3.0, 2.0, 4, True, "tree"),
        (4.0, 1.0, 1, False, "none"),
    ]
    assert all(call["limits"].max_expansions == 50 for call in made)
    settings = [setting for trees in asked for setting in trees.settings]
    assert [tuple(part[list(TreeParams.cell)].iloc[0]) for part in rows] == settings


def test_a_tree_with_a_policy_suits_networks_that_have_one():
    with_policy, without = (
        SimpleNamespace(architecture=SimpleNamespace(outputs=outputs)) for outputs in ("policy", "state")
    )
    assert TreeParams(**GIVEN).suits(with_policy) and not TreeParams(**GIVEN).suits(without)
    assert TreeParams(**GIVEN, prior="uniform").suits(without)


@pytest.mark.parametrize(
    "changes", [{"exploration": [-1.0]}, {"exploration": []}, {"prior": "none"}, {"leaves": 0}, {"virtual_loss": 5.0}]
)
def test_what_makes_no_sense_is_refused(changes):
    with pytest.raises(ValidationError) as told:
        TreeParams(**GIVEN | changes)
    (error,) = told.value.errors()
    assert is_one_sentence(error["msg"].removeprefix("Value error, ").removesuffix(".") + ".")


def test_seconds_of_trees_on_a_listed_puzzle_are_told_by_their_settings():
    clock = pd.DataFrame([[*setting, 0, 2.0] for setting in TreeParams(**GIVEN).settings * 2])
    clock.columns = [*TreeParams.cell, "instance", "seconds"]
    clock.loc[0, "seconds"] = 4.0

    class Results:
        puzzle, model_names = "hanoi_3", ["net"]
        asked = SimpleNamespace(is_exhaustive=True, by_group={"trees": [TreeParams(**GIVEN)]}, baselines=[])

        def of_each(self, names, address):
            return clock.assign(model="net") if address == "timings/trees/{}" else pd.DataFrame()

    found = of_settings(Results())
    assert found["exploration"].tolist() == [1.0, 2.0] and found["searches"].tolist() == [2, 2]
    assert found["seconds"].tolist() == [3.0, 2.0] and found["longest"].tolist() == [4.0, 2.0]
