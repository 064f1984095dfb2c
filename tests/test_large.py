"""Studies of a large puzzle: their parameters, their instances, their searches."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import yaml
from messages import is_one_sentence
from pydantic import TypeAdapter

from costtogo.exact.nearby import FAR, nearby_table
from costtogo.learning import davi, resume
from costtogo.learning.instances import draw_prefixes, draw_walk_ends
from costtogo.learning.samplers import sample_states
from costtogo.params.instances import InstanceParams
from costtogo.params.loading import load
from costtogo.params.searches import BeamBudget, BwasBudget
from costtogo.params.slices import slices
from costtogo.params.training import sampler_of, training_of
from costtogo.puzzles import make
from costtogo.puzzles.base import apply
from costtogo.stages.instances import draw_around
from costtogo.types import UserError
from costtogo.workflow.stages import stages_of

CONFIG = Path(__file__).parents[1] / "config" / "cube3.yaml"
CUBE = make("cube3")
NEARBY = nearby_table(CUBE, 4)


OF_STUDY = ("models", "recipes", "architectures")  # keys of a study; the others here are of its puzzle


def changed(tmp_path: Path, **values) -> Path:
    """The study of the cube with other values of some keys, its own or those of its puzzle."""
    path, study = tmp_path / "cube3.yaml", yaml.safe_load(CONFIG.read_text())
    for key, value in values.items():
        (study if key in OF_STUDY else study["puzzles"]["cube3"])[key] = value
    path.write_text(yaml.safe_dump(study))
    return path


def test_each_stage_has_its_slice_and_the_searches_do_not_depend_on_the_training():
    for study in (load([CONFIG]), load([CONFIG.with_name("puzzle15.yaml")])):
        stages = {f"{stage.group}/{stage.name}" for stage in stages_of(study) if stage.group != "figures"}
        assert stages == {*slices(study)}
    parts = slices(load([CONFIG]))
    for group in ("beams", "searches", "audits", "external"):
        assert "training" not in parts[f"{group}/walks"] and group not in parts["models/walks"]


def test_the_trainers_beside_one_another_differ_in_what_is_compared_alone():
    models = load([CONFIG.with_name("cube3-trainers.yaml")]).models.values()
    assert {model.trainer for model in models} == {"davi", "random_walk"}
    assert len({(*model.architecture.first_layers, model.architecture.residual_blocks) for model in models}) == 1
    assert len({model.seed for model in models}) == len({model.learning_rate for model in models}) == 1


@pytest.mark.parametrize("name", ["puzzle15-final-year", "puzzle24-final-year"])
def test_the_recipes_of_the_literature_have_no_greedy_walks(name):
    models = load([CONFIG.with_name(f"{name}.yaml")]).models.values()
    assert [model.sampler.greedy_share for model in models] == [0] * len(models)


def test_a_budget_is_told_in_words():
    budget = partial(BwasBudget, solver="bwas", states=3)
    told = budget(seconds=20, path_weight=[0.9, 1], batch_size=1000, shortening=0.4).searched
    assert told == "BWAS, λ = 0.9, 1, N = 1,000, at most 20 s each, 40 % of them to shorten solutions"
    assert BeamBudget(solver="beam", states=3, seconds=5).searched == "beams for 5 s each"
    widening = budget(seconds=1, path_weight=1, batch_size=200, widening=True)
    assert widening.searched == "BWAS, λ = 1, N = 200 and upwards, at most 1 s each"
    reflected = budget(seconds=1, path_weight=1, batch_size=200, images=2)
    assert reflected.searched == "BWAS, λ = 1, N = 200, from 2 images, at most 1 s each"


def fine_tuned(**values) -> dict:
    return {
        "walks": {"puzzle": "cube3", "recipe": "random_walk"},
        "more": {"puzzle": "cube3", "recipe": "random_walk"} | values,
    }


def test_a_training_may_start_from_another(tmp_path):
    parts = slices(load([changed(tmp_path, models=fine_tuned(starts_from="walks"))]))
    assert parts["models/more"]["starts_from"] == "walks" and "starts_from" not in parts["models/walks"]
    assert parts["models/more"]["training"] == parts["models/walks"]["training"]


STARTS = {
    "unknown": ({"starts_from": "walk"}, "must name a model trained before it, not 'walk'"),
    "itself": ({"starts_from": "more"}, "must name a model trained before it, not 'more'"),
    "other": (
        {"starts_from": "walks", "architecture": {"first_layers": [8], "outputs": "actions"}},
        "alike in architecture",
    ),
}


@pytest.mark.parametrize("kind", STARTS)
def test_a_training_starts_from_an_earlier_one_of_its_architecture(kind, tmp_path):
    values, reason = STARTS[kind]
    with pytest.raises(UserError) as told:
        load([changed(tmp_path, models=fine_tuned(**values))])
    assert reason in str(told.value) and is_one_sentence(str(told.value)), str(told.value)


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


@pytest.mark.parametrize("sampler", ["deepcube", "deepcubea", "adaptive_k"])
def test_davi_learns_the_states_next_to_the_goal_of_a_puzzle_without_ranks(sampler, tmp_path):
    recipe = yaml.safe_load(CONFIG.read_text())["recipes"]["random_walk"]
    changes = {
        "puzzle": "cube3",
        "trainer": "davi",
        "seed": 1,
        "precision": "float32",
        "check_every": 5,
        "epsilon": 0.3,
    }
    changes |= {"states_per_iteration": 200, "minibatch": 50, "validation_states": 50, "iterations": 20}
    architecture = {"first_layers": [32], "batch_norm_momentum": 0.9}
    walks = {"kind": sampler, "walk_max": 2}
    params = training_of(**recipe | changes | {"architecture": architecture, "sampler": walks})
    training = davi.begin(CUBE, params, "float32")
    progress = list(davi.train(training))
    assert progress[-1].loss < progress[0].loss and training.convergence_points > 0
    resume.save(tmp_path / "point.safetensors", training, {}, {"key": "mine"}, {})
    again = davi.begin(CUBE, training.params, "float32")
    assert resume.load(tmp_path / "point.safetensors", again, "mine") is not None
    states = CUBE.expand(CUBE.goal[None])[0][0]
    np.testing.assert_array_equal(again.cost_to_go(states), training.cost_to_go(states))


def test_a_sampler_that_needs_ranks_is_told_in_one_sentence():
    with pytest.raises(UserError, match="can be listed") as told:
        sample_states(CUBE, sampler_of(kind="uniform"), 5, 1, np.random.default_rng(0))
    assert is_one_sentence(str(told.value))


# Instances


def drawn(**sets):
    """States and distances of instance sets of the cube, by name."""
    frames = draw_around(CUBE, TypeAdapter(dict[str, InstanceParams]).validate_python(sets), 1, NEARBY)
    return {
        name: (np.array([CUBE.parse_state(text) for text in frame["state"]]), frame["distance"].to_numpy())
        for name, frame in frames.items()
    }


def test_distances_are_known_within_the_table_and_of_shortest_paths():
    walks = {"kind": "walks", "states": 50, "length": [2, 6]}
    states, distance = drawn(walks=walks)["walks"]
    found = NEARBY(states)
    assert np.isnan(distance).any() and np.isnan(distance).tolist() == (found == FAR).tolist()
    np.testing.assert_array_equal(distance[found != FAR], found[found != FAR])
    way = {"kind": "prefixes", "moves": "R U F D"}
    assert np.isnan(drawn(way=way)["way"][1]).all()
    assert drawn(way=way | {"shortest": True})["way"][1].tolist() == [1, 2, 3, 4]


def test_a_mirrored_state_is_solved_by_the_mirrored_moves_and_as_far():
    way = {"kind": "prefixes", "moves": "R U' F2", "shortest": True}
    sets = drawn(mirrored={"kind": "mirrored", "of": "way"}, way=way)
    np.testing.assert_array_equal(sets["mirrored"][1], sets["way"][1])
    np.testing.assert_array_equal(sets["mirrored"][0], draw_prefixes(CUBE, "L' U F' F'"))


def test_another_set_leaves_a_set_as_it_is():
    walks = {"kind": "walks", "states": 5, "length": [9, 9]}
    one, other = drawn(walks=walks), drawn(more=walks, walks=walks)
    np.testing.assert_array_equal(one["walks"][0], other["walks"][0])
    assert (other["more"][0] != other["walks"][0]).any()
