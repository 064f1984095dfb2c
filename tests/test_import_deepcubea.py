"""DeepCubeA's pickled test set as our CSV: the same cubes, each solution replayed, anything else told in a sentence."""

import pickle
import sys
from types import ModuleType

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo import cli, external
from costtogo import external_files as outside
from costtogo.commands.import_deepcubea import sticker_places
from costtogo.files import read_csv
from costtogo.puzzles import make
from costtogo.puzzles.base import apply

CUBE = make("cube3")
SCRAMBLES = ["B U' R U U R U D R F", "R", "L D' F F", "", "U R' B"]
PROTOCOLS = range(3, pickle.HIGHEST_PROTOCOL + 1)


@pytest.fixture
def state_class(monkeypatch):
    """A class of the name that the originals' states have, as its environment declares it."""

    class State:
        def __init__(self, colors):
            self.colors, self.hash = colors, None

    Cube3State = type("Cube3State", (State,), {"__slots__": ["colors", "hash"], "__module__": "environments.cube3"})
    Cube3State.__qualname__ = "Cube3State"
    for name in ("environments", "environments.cube3"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["environments.cube3"], "Cube3State", Cube3State, raising=False)
    return Cube3State


@pytest.fixture
def originals(state_class):
    """A dictionary like that of the originals: sticker numbers, solutions, what the optimal solver took."""

    def made(scrambles=SCRAMBLES) -> dict:
        states, solutions = [], []
        places = sticker_places()
        for scramble in scrambles:
            stickers, actions = np.arange(54), CUBE.parse_moves(scramble)
            for action in actions:
                stickers = stickers[CUBE.turns[action]]
            colors = np.argsort(places)[stickers[places]].astype(np.uint8)
            states.append(state_class(colors))
            back = [CUBE.actions[CUBE.inverse(action)] for action in reversed(actions)]
            solutions.append([[move[0], -1 if move.endswith("'") else 1] for move in back])
        times = [np.float64(1.5 * row) for row in range(len(states))]
        nodes = [1000 + row for row in range(len(states))]
        return {"states": states, "solutions": solutions, "num_nodes_generated": nodes, "times": times}

    return made


@pytest.fixture
def imported(tmp_path, monkeypatch, capsys):
    """Run the command on an object pickled: exit code, stderr; the folder of external instances is a fresh one."""
    monkeypatch.setenv(outside.VARIABLE, str(tmp_path / "external"))

    def run(content, protocol=4) -> tuple[int, str]:
        path = tmp_path / "data_0.pkl"
        path.write_bytes(pickle.dumps(content, protocol))
        monkeypatch.setattr(sys, "argv", ["costtogo", "import-instances", str(path)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code or 0, capsys.readouterr().err

    return run


def refused(found: tuple[int, str]) -> str:
    code, err = found
    assert code == 1 and is_one_sentence(err.removeprefix("costtogo: ").removesuffix("\n")), err
    assert not outside.folder().exists(), "nothing is written where anything is wrong"
    return err


def test_the_stickers_of_the_originals_are_where_their_environment_turns_them():
    """Their U takes what is at 47, 50, 53 (front) to 20, 23, 26 (left), their B what is at 35, 34, 33 to 2, 5, 8."""
    places = sticker_places()
    assert sorted(places) == list(range(54))
    facts = {"U": {0: 6, 1: 3, 20: 47, 23: 50, 26: 53}, "B": {2: 35, 5: 34, 8: 33, 36: 42}, "L": {0: 44, 9: 45, 18: 24}}
    for move, comes_from in facts.items():
        turn = CUBE.turns[CUBE.actions.index(move)]
        for place, source in comes_from.items():
            assert turn[places[place]] == places[source], (move, place)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_imported_scrambles_lead_to_the_states_of_the_originals(protocol, originals, imported):
    assert imported(originals(), protocol) == (0, "")
    path = outside.find("cube3_qtm.csv")
    found = external.load(CUBE, path)
    expected = [apply(CUBE, CUBE.goal, CUBE.parse_moves(scramble)) for scramble in SCRAMBLES]
    np.testing.assert_array_equal(found.states, expected)
    assert found.optimal.tolist() == [len(CUBE.parse_moves(scramble)) for scramble in SCRAMBLES]
    frame = read_csv(path, keep_default_na=False)
    assert list(frame) == ["scramble", "optimal_moves_qtm", "optimal_solver_nodes", "optimal_solver_seconds"]
    assert frame["scramble"].tolist() == SCRAMBLES and frame["optimal_solver_seconds"][2] == 3.0


def test_stickers_may_be_numbers_of_another_size(originals, imported):
    content = originals()
    for state in content["states"]:
        state.colors = state.colors.astype(">i8")
    assert imported(content) == (0, "")


def test_a_solution_that_does_not_solve_is_told_and_nothing_is_written(originals, imported):
    content = originals()
    content["solutions"][2][0][1] *= -1
    assert "solution 2 does not solve" in refused(imported(content))


MISTAKES = {
    "no dictionary": (lambda content: [content], "no list of states"),
    "no solutions": (lambda content: {"states": content["states"]}, "no list of solutions"),
    "a solution fewer": (lambda content: content | {"solutions": content["solutions"][1:]}, "5 states and 4"),
    "a measure fewer": (lambda content: content | {"times": [1.0]}, "times are not a number for each of 5"),
    "a measure in words": (lambda content: content | {"times": ["1"] * 5}, "times are not a number for each of 5"),
    "moves as numbers": (lambda content: content | {"solutions": [[1, 2]] * 5}, "solution 0 is not a list of"),
    "an unknown face": (lambda content: content | {"solutions": [[["X", 1]]] * 5}, "solution 0 is not a list of"),
    "a half turn": (lambda content: content | {"solutions": [[["U", 2]]] * 5}, "solution 0 is not a list of"),
    "a solution longer than any": (lambda content: content | {"solutions": [[["U", 1]] * 27] * 5}, "at most 26 moves"),
    "a measure too large": (lambda content: content | {"times": [1 << 64] * 5}, "times are not a number for each of 5"),
    "plain states": (lambda content: content | {"states": [1] * 5}, "arrays of 54 stickers"),
    "no states": (lambda content: content | {"states": [], "solutions": []}, "arrays of 54 stickers"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_what_is_no_test_set_is_told_in_one_sentence(kind, originals, imported):
    change, reason = MISTAKES[kind]
    assert reason in refused(imported(change(originals())))


@pytest.mark.parametrize(
    "colors", [np.arange(53, dtype=np.uint8), np.zeros(54, dtype=np.uint8), np.arange(54.0) + 0.5, [1, 2], None]
)
def test_states_that_are_no_cubes_are_told_in_one_sentence(colors, originals, imported):
    content = originals()
    content["states"][1].colors = colors
    refused(imported(content))


def test_a_pickle_that_would_run_something_is_refused_and_runs_nothing(originals, imported, tmp_path):
    class Harmful:
        def __reduce__(self):
            return eval, (f"__import__('os').mkdir({str(tmp_path / 'ran')!r})",)

    content = originals()
    content["states"][1].colors = Harmful()
    assert "builtins.eval" in refused(imported(content))
    assert not (tmp_path / "ran").exists()


def test_a_file_there_already_is_kept_where_the_import_fails(originals, imported):
    imported(originals())
    before = outside.find("cube3_qtm.csv").read_bytes()
    content = originals(["R U"])
    content["solutions"][0].pop()
    assert imported(content)[0] == 1
    assert outside.find("cube3_qtm.csv").read_bytes() == before
