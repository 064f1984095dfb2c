"""The engine of a device: torch tensors, and the rule that a puzzle declares (base.Rule). It waits for the
device where as many rows come out as are found (distinct, rows, in_order), and nowhere else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import torch

from costtogo.exact.graph import neighbour_table
from costtogo.exact.hashing import EMPTY, hash_numbers
from costtogo.exact.nearby import FAR, Ends, GoalAlone
from costtogo.progress import say
from costtogo.puzzles.base import Adding, Permuting, Pushing, Puzzle, Ranked, Rule
from costtogo.types import NO_ACTION, NO_STATE

CHUNK = 1 << 18  # states hashed at once: each takes eight bytes a cell
AS_THEY_ARE = 3  # calls of each shape before one is recorded
RECORDINGS = 16  # of one function, for as many shapes


class DeviceEngine:
    """The rules of a puzzle on tensors of a device: see engines.Engine."""

    xp: ClassVar[ModuleType] = torch
    full: ClassVar[tuple] = (torch.OutOfMemoryError,)

    def __init__(self, puzzle: Puzzle, device: str):
        self.puzzle, self.device = puzzle, torch.device(device)
        self.rules = INTERPRETERS[type(puzzle.rule)](puzzle, puzzle.rule, self.given)
        self.goal = self.given(puzzle.goal)
        self._ends: tuple | None = None  # a table of exact distances: itself, its hashes sorted, their distances
        numbers = hash_numbers(puzzle.cells, puzzle.letters).view(np.int64)
        self.numbers, self.cells = self.given(numbers.ravel()), self.given(np.arange(puzzle.cells) * puzzle.letters)
        self._walked = self.captured(self._walk_on)

    def given(self, array: Any) -> torch.Tensor:
        """An array of the host, or a tensor, as a tensor of the device."""
        if isinstance(array, np.ndarray):
            array = np.ascontiguousarray(array)  # torch takes no reversed arrays
        return torch.as_tensor(array, device=self.device)

    def fetched(self, batch: torch.Tensor) -> np.ndarray:
        """A tensor as an array of the host."""
        return batch.cpu().numpy()

    def captured(self, act: Callable) -> "Captured":
        """A function of tensors, recorded and repeated: see Captured."""
        return Captured(act, self.device)

    def expand(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Every action: children uint8 [N, A, D], legal bool [N, A]; an illegal child equals its parent."""
        return self.rules.children(states), self.rules.legal(states)

    def legal(self, states: torch.Tensor) -> torch.Tensor:
        """Which actions are legal, bool [N, A]."""
        return self.rules.legal(states)

    def move(self, states: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Each state after its action, uint8 [N, D]."""
        return self.rules.move(states, actions.long())

    def is_goal(self, states: torch.Tensor) -> torch.Tensor:
        """Which states are solved, bool [N]."""
        return (states == self.goal).all(1) if self.puzzle.one_goal else self.rules.solved(states)

    def pick(self, legal: torch.Tensor, draws: np.ndarray) -> torch.Tensor:
        """The legal action that a draw chooses in each row, int64 [N]."""
        return _chosen(legal, self.given(draws), torch.full((len(legal),), NO_ACTION, device=self.device))

    def walk(self, draws: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Walks back from the goal that never undo a step: states [walks, length, D], steps [walks, length + 1]."""
        path, steps = self._walks(draws, self.puzzle.steps_back.undone_by)
        return path[:, :-1], steps

    def random_walks(self, walks: int, length: int, generator: np.random.Generator) -> torch.Tensor:
        """Walks back from the goal by uniformly random legal steps: the states after each, [walks, length, D]."""
        free = np.full(len(self.puzzle.steps_back.action), NO_ACTION)
        return self._walks(generator.random((length, walks)).T, free)[0]

    def _walks(self, draws: np.ndarray, undone_by: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """base._walks: all walks take each step together."""
        undone_by = np.append(undone_by, NO_ACTION)  # the last one also answers for NO_ACTION, which is -1
        return self._walked(self.given(draws.T), self.given(undone_by))

    def _walk_on(self, draws: torch.Tensor, undone_by: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Walks by draws, float64 [length, walks], and what undoes each step, int64 [B + 1]."""
        states = self.goal.repeat(draws.shape[1], 1)
        back = torch.full((draws.shape[1],), NO_ACTION, device=self.device)
        path, steps = [], []
        for draw in draws:
            taken = _chosen(self.rules.back_legal(states), draw, back)
            states = self.rules.step_back(states, taken)
            back = undone_by[taken]
            path.append(states)
            steps.append(taken)
        return torch.stack(path, dim=1), torch.stack(steps, dim=1)

    def evaluated(
        self, children: torch.Tensor, legal: torch.Tensor, cost_to_go: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        """The cost-to-go of children, float32 [N, A], inf where they are not legal.

        All are evaluated: to find the equal and the illegal ones, the device would have to be waited for.
        """
        return torch.where(legal, cost_to_go(children.flatten(0, 1)).view(legal.shape), torch.inf)

    def hashes(self, states: torch.Tensor) -> torch.Tensor:
        """The bits of exact.hashing.hash_states, int64 [N]."""
        return torch.cat([self._hashed(part) for part in states.split(CHUNK)])

    def _hashed(self, states: torch.Tensor) -> torch.Tensor:
        mixed = self.numbers[self.cells + states]
        while (width := mixed.shape[1]) > 1:  # torch has no bitwise sum of a row: fold its halves
            half = width // 2
            folded = mixed[:, :half] ^ mixed[:, half : 2 * half]
            mixed = torch.cat([folded, mixed[:, 2 * half :]], dim=1) if width % 2 else folded
        return torch.where(mixed[:, 0] == 0, 1, mixed[:, 0])

    def distinct(self, hashes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The first row of each distinct hash, int64 [K], in order, and each row's index among them, int64 [N]."""
        ordered, rows = hashes.sort(stable=True)
        begins = torch.ones_like(ordered, dtype=torch.bool)
        begins[1:] = ordered[1:] != ordered[:-1]
        first, places = rows[begins].sort()
        number = torch.empty_like(places)
        number[places] = torch.arange(len(places), device=self.device)
        which = torch.empty_like(rows)
        which[rows] = number[begins.cumsum(0) - 1]
        return first, which

    def rows(self, flags: torch.Tensor) -> torch.Tensor:
        """The rows where flags are true, int64, ascending."""
        return flags.flatten().nonzero()[:, 0]

    def in_order(self, values: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
        """Rows of finite values from the least on, of equal ones the first first, in pieces of at most size."""
        order = values.sort(stable=True).indices[: int(values.isfinite().sum())]
        yield from order.split(size)

    def seen(self) -> "Seen":
        """An empty set of hashes."""
        return Seen(self)

    def near(self, ends: Ends, states: torch.Tensor, hashes: torch.Tensor) -> torch.Tensor:
        """The exact distance of each state, uint8 [N], FAR where it is not known."""
        if isinstance(ends, GoalAlone):
            return torch.where(self.is_goal(states), 0, FAR).to(torch.uint8)
        if self._ends is None or self._ends[0] is not ends:
            there = np.flatnonzero(ends.keys != EMPTY)
            keys, order = self.given(ends.keys.view(np.int64)[there]).sort()
            self._ends = ends, keys, self.given(ends.distance[there])[order]
        places, found = _among(self._ends[1], hashes)
        return torch.where(found, self._ends[2][places], FAR)


@dataclass
class Recording:
    """A function for tensors of some shapes.  given: the buffers that it reads.  results: what it gave, recorded."""

    given: tuple[torch.Tensor, ...]
    calls: int = 0
    graph: torch.cuda.CUDAGraph | None = None
    results: Any = None


class Captured:
    """A function of tensors that a GPU repeats by one launch: recorded as a CUDA graph for each shape of its arguments.

    act: takes tensors of the device and gives one or a tuple. It does not wait for the device, and what it changes it
    changes in place; nobody keeps what it is given.

    The first calls of a shape run as they are, on the stream that records later, so that libraries and optimisers set
    up what they need. They count as any other call: nothing has to be undone. Where a recording fails, one sentence
    says so, and all calls run as they are. So they do on another device, which reads the same buffers.
    """

    def __init__(self, act: Callable, device: torch.device):
        self.act, self.recordings, self.records = act, {}, device.type == "cuda"
        if self.records:
            self.stream, self.pool = torch.cuda.Stream(), torch.cuda.graph_pool_handle()

    def __call__(self, *given: torch.Tensor) -> Any:
        """What act gives, in tensors of its own."""
        found = self._of_shapes(given)
        for buffer, each in zip(found.given, given, strict=True):
            buffer.copy_(each)
        found.calls += 1
        if self.records and found.graph is None and found.calls > AS_THEY_ARE:
            self._record(found)
        if found.graph is None:
            return self._as_it_is(found.given)
        found.graph.replay()
        return _copies(found.results)

    def _of_shapes(self, given: tuple[torch.Tensor, ...]) -> Recording:
        """The recording for tensors of these shapes; if there are too many, the oldest one is dropped for a new one."""
        shapes = tuple((*each.shape, each.dtype) for each in given)
        if shapes not in self.recordings:
            if len(self.recordings) == RECORDINGS:
                del self.recordings[next(iter(self.recordings))]
            self.recordings[shapes] = Recording(tuple(each.clone() for each in given))
        return self.recordings[shapes]

    def _as_it_is(self, given: tuple[torch.Tensor, ...]) -> Any:
        """What act gives, if it may be recorded on the stream that records."""
        if not self.records:
            return self.act(*given)
        here = torch.cuda.current_stream()
        self.stream.wait_stream(here)
        with torch.cuda.stream(self.stream):
            results = self.act(*given)
        here.wait_stream(self.stream)
        return results

    def _record(self, found: Recording) -> None:
        """Record act on the buffers; nothing is computed yet."""
        here = torch.cuda.current_stream()
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self.pool, stream=self.stream):
                found.results = self.act(*found.given)
            found.graph = graph
        except RuntimeError as error:
            torch.cuda.set_stream(here)  # a recording that fails leaves its own
            self.records = False
            cause = str(error.__context__ or error).partition("\n")[0]
            say(f"Work on the GPU could not be recorded, so that small steps take longer: {cause}")


def _copies(results: Any) -> Any:
    """A tensor, or a tuple of them, that the next repetition does not overwrite."""
    return results.clone() if isinstance(results, torch.Tensor) else tuple(each.clone() for each in results)


class Seen:
    """A set of hashes, kept in sorted runs each more than twice as long as the next: see engines.Seen."""

    def __init__(self, engine: DeviceEngine):
        self.engine, self.count = engine, 0
        self.runs: list[torch.Tensor] = []

    def enter(self, hashes: torch.Tensor) -> None:
        """Add hashes that are new, each once."""
        self.count += len(hashes)
        while self.runs and len(self.runs[-1]) <= 2 * len(hashes):
            hashes = torch.cat([self.runs.pop(), hashes])
        self.runs.append(hashes.sort().values)

    def new(self, hashes: torch.Tensor) -> torch.Tensor:
        """The rows of hashes that are not there, of equal ones only the first, ascending, int64 [M]."""
        first = self.engine.distinct(hashes)[0]
        known = torch.zeros_like(first, dtype=torch.bool)
        for run in self.runs:
            known |= _among(run, hashes[first])[1]
        return first[~known]


def _among(keys: torch.Tensor, wanted: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Where keys, sorted, have each wanted value or would have it, int64 [N], and whether they have it, bool [N]."""
    if not len(keys):
        return torch.zeros_like(wanted), torch.zeros_like(wanted, dtype=torch.bool)
    places = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return places, keys[places] == wanted


def _chosen(legal: torch.Tensor, draw: torch.Tensor, back: torch.Tensor) -> torch.Tensor:
    """base.chosen of each row: legal bool [N, B], draw float64 [N], back int64 [N] -> int64 [N]."""
    free = legal & (torch.arange(legal.shape[1], device=legal.device) != back[:, None])
    upto = free.cumsum(1)
    order = (draw * upto[:, -1]).long()
    taken = (upto > order[:, None]).byte().argmax(1)  # the first of equal values
    return torch.where(upto[:, -1] == 0, back, taken)


class Interpreter:
    """What every kind of moves has; steps back are the actions if those have inverses. given: array to tensor."""

    def __init__(self, puzzle: Puzzle, rule: Rule, given: Any):
        self.count = len(puzzle.actions)

    def legal(self, states: torch.Tensor) -> torch.Tensor:
        """Which actions are legal, bool [N, A]: here all."""
        return torch.ones((len(states), self.count), dtype=torch.bool, device=states.device)

    def children(self, states: torch.Tensor) -> torch.Tensor:
        """Each state after every action, uint8 [N, A, D]."""
        actions = torch.arange(self.count, device=states.device).repeat(len(states))
        moved = self.move(states.repeat_interleave(self.count, dim=0), actions)
        return moved.view(len(states), self.count, states.shape[1])

    def back_legal(self, states: torch.Tensor) -> torch.Tensor:
        """Which steps back are legal, bool [N, B]."""
        return self.legal(states)

    def step_back(self, states: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        """Each state after its step back, uint8 [N, D]; NO_ACTION leaves it unchanged."""
        return torch.where((steps == NO_ACTION)[:, None], states, self.move(states, steps.clamp(min=0)))


class Permuted(Interpreter):
    """A move gathers the letters of a state by a row of a table."""

    def __init__(self, puzzle: Puzzle, rule: Permuting, given: Any):
        super().__init__(puzzle, rule, given)
        self.marker, self.changing, self.turns = rule.marker, rule.changing, given(rule.turns)
        self.moving = (self.turns != torch.arange(puzzle.cells, device=self.turns.device)).any(2)

    def legal(self, states: torch.Tensor) -> torch.Tensor:
        """An action is legal unless it moves nothing or, where moves must change something, changes nothing."""
        if self.changing:
            return (states[:, self.turns[0]] != states[:, None]).any(2)
        return self.moving[self._marked(states)] if self.marker is not None else super().legal(states)

    def move(self, states: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Each state after its action."""
        places = 0 if self.marker is None else self._marked(states)
        return states.gather(1, self.turns[places, actions])

    def children(self, states: torch.Tensor) -> torch.Tensor:
        """Each state after every action; without a marker by one small table."""
        return states[:, self.turns[0]] if self.marker is None else super().children(states)

    def _marked(self, states: torch.Tensor) -> torch.Tensor:
        """The cell of the marker, int64 [N]."""
        return (states == self.marker).byte().argmax(1)


class Added(Interpreter):
    """A move adds to the letters of a state modulo 2."""

    def __init__(self, puzzle: Puzzle, rule: Adding, given: Any):
        super().__init__(puzzle, rule, given)
        self.presses = given(rule.presses)

    def move(self, states: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Each state after its press."""
        return states ^ self.presses[actions]


class Listed(Interpreter):
    """A move goes from a rank to a rank; the rank is a number whose digits are the letters."""

    def __init__(self, puzzle: Puzzle, rule: Ranked, given: Any):
        super().__init__(puzzle, rule, given)
        self.weights, self.letters = given(rule.weights), puzzle.letters
        self.neighbours = given(neighbour_table(puzzle))

    def legal(self, states: torch.Tensor) -> torch.Tensor:
        """Which actions lead to a rank."""
        return self.neighbours[self._ranks(states)] != NO_STATE

    def move(self, states: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """The state of the rank that each action leads to."""
        ranks = self._ranks(states)
        reached = self.neighbours[ranks, actions].long()
        reached = torch.where(reached == NO_STATE, ranks, reached)
        return (reached[:, None] // self.weights % self.letters).to(torch.uint8)

    def _ranks(self, states: torch.Tensor) -> torch.Tensor:
        return (states * self.weights).sum(1)


class Pushed(Interpreter):
    """The player steps and pushes what is in the way; walls around the board keep every cell that counts inside it.

    A letter is the code of what is on a cell, plus 1 on a target; those below the box are free.
    """

    def __init__(self, puzzle: Puzzle, rule: Pushing, given: Any):
        super().__init__(puzzle, rule, given)
        self.steps, self.box, self.player = given(rule.steps), rule.box, rule.player
        self.both = given(np.tile(rule.steps, 2))  # of the steps back: without a pull, then with one
        self.pulled = given(np.repeat([False, True], len(rule.steps)))

    def solved(self, states: torch.Tensor) -> torch.Tensor:
        """Which states have no box off a target, bool [N]."""
        return (states != self.box).all(1)

    def legal(self, states: torch.Tensor) -> torch.Tensor:
        """Which ways the player can go, bool [N, A]."""
        player = self._player(states)[:, None]
        there, beyond = self._letters(states, player + self.steps), self._letters(states, player + 2 * self.steps)
        return (there < self.box) | (self._boxed(there) & (beyond < self.box))

    def move(self, states: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Each state after its step."""
        steps, player = self.steps[actions][:, None], self._player(states)[:, None]
        legal = self.legal(states).gather(1, actions[:, None])
        pushed = self._boxed(self._letters(states, player + steps)) & legal
        lifted = self._carried(states, player, player + steps, self.player, legal)
        return self._carried(lifted, player + steps, player + 2 * steps, self.box, pushed)

    def back_legal(self, states: torch.Tensor) -> torch.Tensor:
        """Which steps can have led here, bool [N, 2 A]: the cell behind is free, and for a pull a box in front."""
        player = self._player(states)[:, None]
        behind, front = self._letters(states, player - self.both), self._letters(states, player + self.both)
        return (behind < self.box) & (~self.pulled | self._boxed(front))

    def step_back(self, states: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        """Each state after its step back."""
        chosen, player = steps.clamp(min=0)[:, None], self._player(states)[:, None]
        legal = self.back_legal(states).gather(1, chosen) & (steps != NO_ACTION)[:, None]
        lifted = self._carried(states, player, player - self.both[chosen], self.player, legal)
        return self._carried(lifted, player + self.both[chosen], player, self.box, legal & self.pulled[chosen])

    def _player(self, states: torch.Tensor) -> torch.Tensor:
        """The cell of the player, int64 [N]."""
        return (states >= self.player).logical_and(states <= self.player + 1).byte().argmax(1)

    def _boxed(self, letters: torch.Tensor) -> torch.Tensor:
        return (letters == self.box) | (letters == self.box + 1)

    @staticmethod
    def _letters(states: torch.Tensor, cells: torch.Tensor) -> torch.Tensor:
        """The letters of cells, int64 [N, k]; of cells off the board any: nothing then depends on them."""
        return states.gather(1, cells.clamp(0, states.shape[1] - 1))

    @staticmethod
    def _carried(states, before: torch.Tensor, after: torch.Tensor, code: int, moves: torch.Tensor) -> torch.Tensor:
        """What has the code goes from a cell to another, int64 [N, 1] each, where it moves, bool [N, 1]."""
        amount, last = moves.to(torch.uint8) * code, states.shape[1] - 1
        lifted = states.scatter_add(1, before.clamp(0, last), -amount)  # modulo 256
        return lifted.scatter_add(1, after.clamp(0, last), amount)


INTERPRETERS = {Permuting: Permuted, Adding: Added, Pushing: Pushed, Ranked: Listed}
