"""Trainings repeated with several seeds: what stands beside the single ones of a study."""

import pandas as pd
import pytest
from synthetic_answers import MadeUp

from costtogo.report.several_seeds import repeats_table
from costtogo.tables.several_seeds import repeats

HEADLINE = {"set": "test", "path_weight": 0.7, "batch_size": 5}
TRAINING = {"puzzle": "cube2", "seed": 1, "epsilon": 0.05}


@pytest.fixture
def study(tmp_path) -> MadeUp:
    """A study of two networks, of which another study has trained the first again with three seeds."""
    again = MadeUp(tmp_path)
    again.cards = {f"models/walker_seed{k}": {"parameters": {"training": TRAINING | {"seed": k}}} for k in (1, 2, 3)}
    measures = {"mean_absolute_error": 2.0, "admissible_percent": 90.0, "consistent_percent": 80.0}
    rows = [
        {"variant": "walker", "seed": k, "scope": "all", "iteration": iteration, "selected": iteration == 20,
         **HEADLINE, **measures, "optimal_percent": 97.0 + k, "nodes_expanded": 100.0 * k * iteration}
        for k in (1, 2, 3) for iteration in (10, 20)
    ]  # fmt: skip
    again.tables["repeats"] = pd.DataFrame([*rows, rows[1] | {"batch_size": 7, "nodes_expanded": 9e9}])
    again.keep("seeds")
    study = MadeUp(tmp_path, "walker", "runner", name="own")
    for name in study.models:
        study.cards[f"models/{name}"] = {"parameters": {"training": TRAINING}}
        study.cards[f"searches/{name}"] = {"parameters": {"search": {"headline": HEADLINE}}}
    study.measured = again.measured
    return study


def found(study: MadeUp) -> pd.DataFrame:
    return repeats(study.results())


def test_the_spread_is_of_the_chosen_checkpoints_at_the_headline(study):
    rows = found(study).set_index("measure")
    assert set(rows["model"]) == {"walker"} and set(rows["seeds"]) == {3}
    assert rows.loc["nodes_expanded", ["mean", "least", "most"]].tolist() == [4000, 2000, 6000]
    assert rows.loc["optimal_percent", ["mean", "least", "most"]].tolist() == [99, 98, 100]
    assert "| `walker` | 3 | 2.000 | 90.00 | 80.00 | 99.00 [98.00, 100] | 4,000 [2,000, 6,000] |" in repeats_table(
        found(study)
    )


def test_trainings_that_have_not_searched_yet_have_no_spread(study):
    path = study.measured / "seeds" / "repeats.csv"
    pd.read_csv(path).assign(selected=False).to_csv(path, index=False)
    assert found(study).empty


def test_a_training_by_another_recipe_is_no_repetition(study):
    study.cards["models/walker"] = {"parameters": {"training": TRAINING | {"epsilon": 0.07}}}
    assert found(study).empty


def test_a_training_that_has_not_run_has_no_spread(study):
    del study.cards["models/walker"]
    assert found(study).empty
