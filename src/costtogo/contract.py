"""What every puzzle owes the rest of the package, checked on some of its states: for puzzles of other packages.

from costtogo.contract import check

check(MyPuzzle())
"""

from collections.abc import Callable

import numpy as np

from costtogo.engines.device import DeviceEngine
from costtogo.engines.host import HostEngine
from costtogo.exact.hashing import hash_states
from costtogo.puzzles.base import Puzzle, apply, inverses, is_listed, pick_legal
from costtogo.types import NO_ACTION, States, UserError

WALKS, LENGTH = 20, 25  # from whose states the laws are checked

Law = Callable[[Puzzle, States, np.random.Generator], np.ndarray | bool]


def check(puzzle: Puzzle, seed: int = 0) -> None:
    """UserError that names the first law which a puzzle breaks, and a state that shows it, if there is one.

    The laws are those of LAWS. A puzzle that fulfils them can be trained, audited and searched like the others.
    """
    generator = np.random.default_rng(seed)
    states = puzzle.goal[None]
    for law in LAWS:
        name = law.__doc__.rstrip(".").replace("\n", " ")
        try:
            broken = ~np.atleast_1d(law(puzzle, states, generator))
        except UserError as error:
            raise UserError(f"The puzzle {puzzle.name} breaks a law: {name}; {error}") from error
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise UserError(f"The puzzle {puzzle.name} breaks a law: {name}; {raised}.") from error
        if broken.any():
            shown = f", for example {states[broken][0].tolist()}" if len(broken) == len(states) else ""
            raise UserError(f"The puzzle {puzzle.name} breaks a law: {name}{shown}.")
        if law is _expands:  # the goal alone has shown that walks can be made
            states = walked(puzzle, generator)


def walked(puzzle: Puzzle, generator: np.random.Generator) -> States:
    """The goal and the states of walks from it by legal actions, uint8 [N, D]."""
    states, found = np.repeat(puzzle.goal[None], WALKS, axis=0), [puzzle.goal[None]]
    for _ in range(LENGTH):
        children, legal = puzzle.expand(states)
        chosen = pick_legal(legal, generator.random(WALKS))
        states = np.where((chosen == NO_ACTION)[:, None], states, children[np.arange(WALKS), chosen])
        found.append(states)
    return np.concatenate(found)


def _expands(puzzle: Puzzle, states: States, generator: np.random.Generator) -> bool:
    """expand gives children uint8 [N, A, D] and legal bool [N, A], and the goal is a goal of uint8 [D]."""
    children, legal = puzzle.expand(states)
    shapes = children.shape == (len(states), len(puzzle.actions), puzzle.cells) and legal.shape == children.shape[:2]
    kinds = puzzle.goal.dtype == children.dtype == np.uint8 and legal.dtype == np.bool_
    return bool(shapes and kinds and puzzle.is_goal(puzzle.goal[None])[0])


def _within_letters(puzzle: Puzzle, states: States, generator: np.random.Generator) -> np.ndarray:
    """Every cell of a state has one of the letters 0 to letters - 1."""
    return (states < puzzle.letters).all(axis=1)


def _alone(puzzle: Puzzle, states: States, generator: np.random.Generator) -> np.ndarray:
    """A state has the same children in a batch as alone, and expand leaves the batch unchanged."""
    before = states.copy()
    children, legal = puzzle.expand(states)
    rows = range(0, len(states), 17)
    each = {row: puzzle.expand(before[row : row + 1]) for row in rows}
    same = (states == before).all(axis=1)
    for row, (alone, allowed) in each.items():
        same[row] &= np.array_equal(alone[0], children[row]) and np.array_equal(allowed[0], legal[row])
    return same


def _changes(puzzle: Puzzle, states: States, generator: np.random.Generator) -> np.ndarray:
    """A legal child differs from its parent, and one that is not legal equals it."""
    children, legal = puzzle.expand(states)
    return ((children != states[:, None]).any(axis=2) == legal).all(axis=1)


def _moves(puzzle: Puzzle, states: States, generator: np.random.Generator) -> np.ndarray:
    """legal and move say what expand says."""
    children, legal = puzzle.expand(states)
    actions = generator.integers(len(puzzle.actions), size=len(states))
    moved = puzzle.move(states, actions) == children[np.arange(len(states)), actions]
    return moved.all(axis=1) & (puzzle.legal(states) == legal).all(axis=1)


def _undone(puzzle: Puzzle, states: States, generator: np.random.Generator) -> np.ndarray:
    """Where an action has an inverse, the inverse is legal after it and undoes it."""
    children, legal = puzzle.expand(states)
    same = np.ones(len(states), dtype=bool)
    for action, inverse in enumerate(inverses(puzzle)):
        rows = np.flatnonzero(legal[:, action]) if inverse != NO_ACTION else []
        if len(rows):
            back, allowed = puzzle.expand(children[rows, action])
            same[rows] &= allowed[:, inverse] & (back[:, inverse] == states[rows]).all(axis=1)
    return same


def _walks(puzzle: Puzzle, states: States, generator: np.random.Generator) -> bool:
    """The actions of the steps back of a walk from the goal lead from each of its states to the one before."""
    path, steps = puzzle.walk(generator.random((WALKS, LENGTH + 1)))
    actions = puzzle.steps_back.action[steps[:, :-1]]
    before = np.concatenate([np.broadcast_to(puzzle.goal, (WALKS, 1, puzzle.cells)), path[:, :-1]], axis=1)
    moved = puzzle.move(path.reshape(-1, puzzle.cells), actions.ravel())
    return np.array_equal(moved, before.reshape(-1, puzzle.cells))


def _ranks(puzzle: Puzzle, states: States, generator: np.random.Generator) -> np.ndarray:
    """rank and unrank of a puzzle whose states can be listed undo each other."""
    return (puzzle.unrank(puzzle.rank(states)) == states).all(axis=1) if is_listed(puzzle) else np.array(True)


def _reads_states(puzzle: Puzzle, states: States, generator: np.random.Generator) -> np.ndarray:
    """A state is read back from its text."""
    return np.array([np.array_equal(puzzle.parse_state(puzzle.format_state(state)), state) for state in states])


def _reads_moves(puzzle: Puzzle, states: States, generator: np.random.Generator) -> bool:
    """Moves that are read back from their text lead to the same state."""
    state, moves = puzzle.goal, []
    for _ in range(LENGTH):
        moves.append(int(generator.choice(np.flatnonzero(puzzle.legal(state[None])[0]))))
        state = puzzle.move(state[None], np.array(moves[-1:]))[0]
    return np.array_equal(apply(puzzle, puzzle.goal, puzzle.parse_moves(puzzle.format_moves(moves))), state)


def _hashes(puzzle: Puzzle, states: States, generator: np.random.Generator) -> bool:
    """Different states have different hashes."""
    return len(np.unique(hash_states(puzzle, states))) == len(np.unique(states, axis=0))


def _engines(puzzle: Puzzle, states: States, generator: np.random.Generator) -> np.ndarray:
    """The moves that the rule declares are those of the puzzle: tensors give the same states, walks and hashes."""
    if puzzle.rule is None:
        return np.array(True)
    host, device = HostEngine(puzzle), DeviceEngine(puzzle, "cpu")
    tensor, draws = device.given(states), generator.random((WALKS, LENGTH + 1))
    path, steps = (device.fetched(each) for each in device.walk(draws))
    own_path, own_steps = host.walk(draws)
    if not (np.array_equal(path, own_path) and np.array_equal(steps, own_steps)):
        return np.array(False)
    children, legal = (device.fetched(each) for each in device.expand(tensor))
    own_children, own_legal = host.expand(states)
    same_children = (children == own_children).all(axis=(1, 2)) & (legal == own_legal).all(axis=1)
    same_goals = device.fetched(device.is_goal(tensor)) == host.is_goal(states)
    same_hashes = device.fetched(device.hashes(tensor)) == host.hashes(states).view(np.int64)
    return same_children & same_goals & same_hashes


LAWS: tuple[Law, ...] = (
    _expands,
    _within_letters,
    _alone,
    _changes,
    _moves,
    _undone,
    _walks,
    _ranks,
    _reads_states,
    _reads_moves,
    _hashes,
    _engines,
)
