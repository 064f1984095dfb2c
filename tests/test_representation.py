"""What a network sees of a cube in place of its stickers: where each piece stands and how it is turned."""

import numpy as np
import pytest
import torch
from messages import is_one_sentence

from costtogo.heuristics.network import NetworkHeuristic, build
from costtogo.heuristics.representation import PlacesOfPieces
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, random_walks
from costtogo.types import UserError

CUBES = [make("cube2"), make("cube3")]
each_cube = pytest.mark.parametrize("cube", CUBES, ids=lambda cube: cube.name)


def seen(cube, states) -> np.ndarray:
    return PlacesOfPieces(cube).of(torch.from_numpy(states)).numpy()


def test_the_cube_has_twenty_pieces_of_twenty_four_ways_to_stand_as_deepcube_has_it():
    view = PlacesOfPieces(CUBES[1])
    assert (view.cells, view.letters) == (20, 24)
    goal = seen(CUBES[1], CUBES[1].goal[None])[0]
    assert sorted(goal[:8]) == list(range(0, 24, 3)) and sorted(goal[8:]) == list(range(0, 24, 2))


@each_cube
def test_states_differ_in_it_as_they_differ_in_their_stickers(cube):
    states = np.unique(random_walks(cube, 300, 12, np.random.default_rng(1)).reshape(-1, cube.cells), axis=0)
    assert len(np.unique(seen(cube, states), axis=0)) == len(states)
    for kind in range(2 if cube.name == "cube3" else 1):
        first, size = 8 * kind, 3 - kind
        places = seen(cube, states)[:, first : first + (12 if kind else 8)] // size
        assert (np.sort(places, axis=1) == np.sort(places[0])).all(), "no two pieces stand at one place"


@each_cube
def test_a_turn_moves_the_pieces_of_a_face_alone_each_wherever_it_stands(cube):
    states = random_walks(cube, 200, 20, np.random.default_rng(2))[:, -1]
    before, after = seen(cube, states), seen(cube, np.array([apply(cube, state, [0]) for state in states]))
    moved = (before != after).sum(axis=1)
    assert (moved == (4 if cube.name == "cube2" else 8)).all()
    for piece in range(before.shape[1]):
        goes = dict(zip(before[:, piece].tolist(), after[:, piece].tolist(), strict=True))
        assert all(goes[was] == now for was, now in zip(before[:, piece], after[:, piece], strict=True))


@each_cube
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_frozen_and_trained_networks_see_the_same(cube, precision):
    architecture = architecture_of(first_layers=[24, 12], residual_blocks=1, inputs="pieces")
    network = build(architecture, cube, seed=3).eval()
    states = random_walks(cube, 70, 9, np.random.default_rng(4))[:, -1]
    with torch.no_grad():
        wanted = network(network.encoded(states)).numpy()
    assert network.first[0].in_features == (147 if cube.name == "cube2" else 480)
    found = NetworkHeuristic(cube, network, precision).outputs(states)
    np.testing.assert_allclose(found, wanted, atol=1e-4 if precision == "float32" else 0.1)


def test_a_puzzle_without_pieces_is_refused():
    with pytest.raises(UserError) as error:
        build(architecture_of(first_layers=[4], inputs="pieces"), make("puzzle8"), seed=1)
    assert is_one_sentence(str(error.value))
