"""DeepCubeA's pickled test sets as our CSVs: the same states, each solution replayed, anything else told in a sentence.

The pickles are forged in the published format: the original files are not at hand.
"""

import pickle
import sys
from types import ModuleType

import numpy as np
import pytest
from messages import is_one_sentence

from costtogo import external
from costtogo import external_files as outside
from costtogo.files import read_csv
from costtogo.puzzles import make
from costtogo.puzzles.base import apply
from tools.import_deepcubea import main, sticker_places

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
        monkeypatch.setattr(sys, "argv", ["import_deepcubea", str(path)])
        with pytest.raises(SystemExit) as left:
            main()
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
    "plain states": (lambda content: content | {"states": [1] * 5}, "no known cubes, boards or levels"),
    "no states": (lambda content: content | {"states": [], "solutions": []}, "no known cubes, boards or levels"),
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


# Boards


def forged(monkeypatch, module: str, name: str, attribute: str, slots: tuple[str, ...]):
    """A class of states as the originals' environments declare them; what has no slot lies beside the others."""

    class State:
        def __init__(self, values):
            setattr(self, attribute, values)
            self.hash = None

    made = type(name, (State,), {"__slots__": list(slots), "__module__": f"environments.{module}"})
    made.__qualname__ = name
    for place in ("environments", f"environments.{module}"):
        monkeypatch.setitem(sys.modules, place, ModuleType(place))
    monkeypatch.setattr(sys.modules[f"environments.{module}"], name, made, raising=False)
    return made


@pytest.fixture
def boards(monkeypatch):
    """The dictionary of some boards of a puzzle, with the way back to the goal of each in the originals' moves."""

    def made(puzzle_name: str, slots=("tiles", "hash"), moves=12) -> dict:
        puzzle, generator = make(puzzle_name), np.random.default_rng(3)
        of_tiles = puzzle_name.startswith("puzzle")
        names = ("n_puzzle", "NPuzzleState") if of_tiles else ("lights_out", "LOState")
        state_class, states, solutions = forged(monkeypatch, *names, "tiles", slots), [], []
        for _ in range(4):
            state, back = puzzle.goal[None], []
            for _ in range(moves):
                action = int(generator.choice(np.flatnonzero(puzzle.legal(state)[0])))
                state = puzzle.expand(state)[0][:, action]
                back.insert(0, puzzle.actions[puzzle.inverse(action)] if of_tiles else action)
            states.append(state_class(state[0].astype(np.uint8)))
            solutions.append(back)
        return {"states": states, "solutions": solutions, "num_nodes_generated": [5] * 4, "times": [0.5] * 4}

    return made


FILES = {
    "puzzle15": ("puzzle15.csv", ["tiles", "optimal_moves", "optimal_solver_nodes", "optimal_solver_seconds"]),
    "puzzle24": ("puzzle24.csv", ["tiles", "optimal_moves", "optimal_solver_nodes", "optimal_solver_seconds"]),
    "puzzle35": ("puzzle35.csv", ["tiles"]),
    "puzzle48": ("puzzle48.csv", ["tiles"]),
    "lights_out_7": ("lightsout7.csv", ["lights"]),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_imported_boards_are_those_of_the_originals(name, protocol, boards, imported):
    content = boards(name)
    assert imported(content, protocol) == (0, "")
    file, columns = FILES[name]
    found = external.load(make(name), outside.find(file))
    np.testing.assert_array_equal(found.states, [state.tiles for state in content["states"]])
    assert list(read_csv(outside.find(file), keep_default_na=False)) == columns
    assert np.isnan(found.optimal).all() or found.optimal.tolist() == [12] * 4


def test_an_attribute_without_a_slot_is_no_matter(boards, imported):
    assert imported(boards("puzzle15", slots=("tiles",))) == (0, "")


def test_boards_that_nobody_solved_are_imported_without_lengths(boards, imported):
    assert imported({"states": boards("puzzle48")["states"]}) == (0, "")
    assert list(read_csv(outside.find("puzzle48.csv"))) == ["tiles"]


def board(change):
    """A mistake in the tiles of the second board."""

    def mistaken(content):
        content["states"][1].tiles = change(content["states"][1].tiles)
        return content

    return mistaken


BOARD_MISTAKES = {
    "a solution of another board": (
        lambda content: content | {"solutions": content["solutions"][::-1]},
        "does not solve",
    ),
    "a move that is none": (lambda content: content | {"solutions": [["X"]] * 4}, "solution 0 is not a list of"),
    "a word for moves": (lambda content: content | {"solutions": ["UD"] * 4}, "solution 0 is not a list of"),
    "a tile too few": (board(lambda tiles: tiles[1:]), "arrays of 16 numbers"),
    "a tile twice": (board(lambda tiles: np.zeros(16, dtype=np.uint8)), "each of the numbers below 16 once"),
    "half a tile": (board(lambda tiles: tiles + 0.5), "numbers from 0 to 15"),
    "two tiles exchanged": (board(lambda tiles: np.r_[tiles[1], tiles[0], tiles[2:]]), "cannot make of the goal"),
    "a board of another side": (board(lambda tiles: np.arange(25, dtype=np.uint8)), "arrays of 16 numbers"),
}


@pytest.mark.parametrize("kind", BOARD_MISTAKES)
def test_what_are_no_boards_is_told_in_one_sentence(kind, boards, imported):
    change, reason = BOARD_MISTAKES[kind]
    assert reason in refused(imported(change(boards("puzzle15"))))


def test_cubes_and_boards_in_one_file_are_refused(originals, boards, imported):
    mixed = boards("puzzle15")
    cubes = originals()
    sys.modules["environments.n_puzzle"] = ModuleType("environments.n_puzzle")
    sys.modules["environments.n_puzzle"].NPuzzleState = type(mixed["states"][0])
    mixed["states"][2] = cubes["states"][0]
    refused(imported(mixed))


# Sokoban

LEVELS = ("########|#.   ###|#$ @   #|#  #$$ #|#.  *  #|##  .  #|########", "#####|#@$.#|#####")


@pytest.fixture
def levels(monkeypatch):
    """The dictionary of some levels of 10 × 10 cells, with the solution of the second in the originals' moves."""
    puzzle = make("sokoban")

    class State:
        def __init__(self, board):
            board = board.reshape(puzzle.rows, puzzle.columns)
            self.agent = np.argwhere(np.isin(board, (4, 5)))[0]
            self.walls, self.boxes, self.goals = board == 6, np.isin(board, (2, 3)), np.isin(board, (1, 3, 5))
            self.hash = None

    name, module = "SokobanState", "environments.sokoban"
    slots = ["agent", "walls", "boxes", "goals", "hash"]
    made = type(name, (State,), {"__slots__": slots, "__module__": module, "__qualname__": name})
    for place in ("environments", module):
        monkeypatch.setitem(sys.modules, place, ModuleType(place))
    monkeypatch.setattr(sys.modules[module], name, made, raising=False)
    return {"states": [made(puzzle.parse_state(level)) for level in LEVELS]}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_imported_levels_are_those_of_the_originals(protocol, levels, imported):
    assert imported(levels, protocol) == (0, "")
    puzzle = make("sokoban")
    found = external.load(puzzle, outside.find("sokoban.csv"))
    np.testing.assert_array_equal(found.states, [puzzle.parse_state(level) for level in LEVELS])
    assert list(read_csv(outside.find("sokoban.csv"))) == ["state"]


def test_solutions_of_levels_are_replayed(levels, imported):
    content = {"states": levels["states"][1:], "solutions": [[2]]}
    assert "solution 0 does not solve" in refused(imported(content))
    assert "is not a list of" in refused(imported(content | {"solutions": [[4]]}))
    assert imported(content | {"solutions": [[3]]}) == (0, "")


def cells(name, change):
    """A mistake in an attribute of the second level."""

    def mistaken(state):
        setattr(state, name, change(getattr(state, name)))

    return mistaken


LEVEL_MISTAKES = {
    "a player on a wall": (cells("agent", lambda agent: agent * 0), "on cells of their own"),
    "a player outside": (cells("agent", lambda agent: agent + 6), "numbers from 0 to 9"),
    "a player of three numbers": (cells("agent", lambda agent: np.r_[agent, 1]), "arrays of 2, 10 × 10"),
    "no boxes": (cells("boxes", lambda boxes: boxes & False), "as many boxes as targets"),
    "two boxes on a cell": (cells("boxes", lambda boxes: boxes * 2), "numbers from 0 to 1"),
    "no walls": (cells("walls", lambda walls: walls & False), "border of the level is open"),
    "a level of another size": (cells("goals", lambda goals: goals[1:]), "arrays of 2, 10 × 10"),
    "no array": (cells("walls", lambda walls: walls.tolist()), "arrays of 2, 10 × 10"),
}


@pytest.mark.parametrize("kind", LEVEL_MISTAKES)
def test_what_are_no_levels_is_told_in_one_sentence(kind, levels, imported):
    change, reason = LEVEL_MISTAKES[kind]
    change(levels["states"][1])
    assert reason in refused(imported(levels))


def test_levels_larger_than_any_board_are_told_in_one_sentence(levels, imported):
    for state in levels["states"]:
        state.walls, state.boxes, state.goals = (np.zeros((70, 70), dtype=bool) for _ in range(3))
    assert "There is no sokoban_70" in refused(imported(levels))


def test_a_player_off_a_board_that_is_no_square_is_told_in_one_sentence(levels, imported):
    for state in levels["states"]:
        state.walls, state.boxes, state.goals = (plane[:7] for plane in (state.walls, state.boxes, state.goals))
        state.agent = np.array([8, 1])
    assert "state 0: the player is not on the board" in refused(imported(levels))
