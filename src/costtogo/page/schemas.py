"""The shapes of requests and answers. A request with a field that is not named here is refused."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

LONGEST_TEXT = 20_000  # letters of moves
LONGEST_FILE = 50_000  # letters of a state as it comes: levels with their titles, facelets with comments
LONGEST_STATE = 4_000  # letters of a state: a board of Sokoban has at most 32 × 33
MOST_CELLS = 1_024
MOST_STATES = 512  # whose values are asked for at once
MOST_SCRAMBLED = 2000  # moves
MOST_SECONDS = 120.0
LARGEST_SEED = 2**53 - 1  # that a browser counts to

Name = Annotated[str, Field(min_length=1, max_length=100)]
StateText = Annotated[str, Field(min_length=1, max_length=LONGEST_STATE)]
Cells = Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=1, max_length=MOST_CELLS)]
Status = Literal["queued", "running", "solved", "unsolved", "cancelled", "failed"]


class Request(BaseModel):
    """The body of a request: exactly these fields, of exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ScrambleRequest(Request):
    """A scramble of `length` moves; the same seed gives the same scramble."""

    puzzle: Name
    length: Annotated[int, Field(ge=0, le=MOST_SCRAMBLED)] | None = None
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] | None = None


class StateRequest(Request):
    """A state: its text, its cells, or moves from a state, from the goal where none is given.

    level: which one of a text of several levels, from 0.
    """

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)
    puzzle: Name
    state: Annotated[str, Field(min_length=1, max_length=LONGEST_FILE)] | None = None
    level: Annotated[int, Field(ge=0)] = 0
    cells: Cells | None = None
    moves: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None
    start: Annotated[StateText | None, Field(alias="from")] = None


class ValuesRequest(Request):
    """The cost-to-go of states: by a network unless that is null, and exactly where it is known."""

    puzzle: Name
    model: Name | None
    states: Annotated[list[StateText], Field(min_length=1, max_length=MOST_STATES)]


class SearchRequest(Request):
    """A search from a state over a network, or with a solver that needs none.

    known: the moves of a solution by that solver; exact looks for a shorter one, or proves that there is none.
    """

    puzzle: Name
    model: Name | None
    solver: Name
    state: StateText
    seconds: Annotated[float, Field(gt=0, le=MOST_SECONDS, allow_inf_nan=False)]
    known: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None


class Refusal(BaseModel):
    """What is wrong with a request, in one sentence."""

    error: str


class ModelInfo(BaseModel):
    """A network at hand. solvers: the names of those that search over it, auto the one that suits it."""

    name: str
    told: str
    origin: str
    numbers: dict
    solvers: list[str]


class SolverInfo(BaseModel):
    """A solver of a puzzle."""

    name: str
    told: str
    needs_model: bool


class Offer(BaseModel):
    """The networks of a puzzle, the best first, and its solvers."""

    models: list[ModelInfo]
    solvers: list[SolverInfo]


class PuzzleInfo(BaseModel):
    """A puzzle. side: cells in a row of a board or of a face of a cube, pegs of a tower.  letters: values of a cell.

    turns: where each cell's value comes from under each action, if every action permutes the cells.
    scramble_length: of a scramble where none is asked for.  start_text: the customary start, if there is one.
    """

    name: str
    title: str
    kind: Literal["cube", "sliding", "lights", "hanoi", "sokoban", "other"]
    side: int
    cells: int
    letters: int
    actions: list[str]
    turns: list[list[int]] | None
    goal: list[int]
    goal_text: str
    start_text: str | None
    one_goal: bool
    scramble_length: int
    models: list[ModelInfo]
    solvers: list[SolverInfo]


class Puzzles(BaseModel):
    """All puzzles, and the most seconds of a search."""

    puzzles: list[PuzzleInfo]
    most_seconds: float
    most_scrambled: int


class Position(BaseModel):
    """A state. legal: which actions are legal there."""

    state: str
    cells: list[int]
    solved: bool
    legal: list[bool]


class ScrambleAnswer(Position):
    """A scramble. actions: its moves by name, each a single action."""

    moves: str
    actions: list[str]
    seed: int


class StateAnswer(Position):
    """A state. actions: the actions of the moves that were given, by name; none where a state was given.

    read_as: what was understood of a state's text.  levels: the titles of the levels in it, if it has several.
    colours: of a cube, the number of the colour that each face has as the cube is held, in the order of faces.
    """

    actions: list[str]
    read_as: str = ""
    levels: list[str] = []
    colours: list[int] | None = None


class Values(BaseModel):
    """Cost-to-go in moves, of each state; null where there is no network or the exact value is not known."""

    cost_to_go: list[float | None]
    exact: list[float | None]


class SolutionInfo(BaseModel):
    """A solution that was replayed. states: the start, and what each move leads to, length + 1 of them.

    lower_bound_holds: whether the bound holds in any case, else if the network never overestimates.
    cost_to_go, exact: of each state, null where there is no network or the exact value is not known.
    solver: by name, also where auto chose it.  why: it did, else empty.
    """

    moves: list[str]
    text: str
    length: int
    metric: str
    lower_bound: float | None
    lower_bound_holds: bool
    proved: bool
    optimum: int | None
    states: list[list[int]]
    state_texts: list[str]
    cost_to_go: list[float | None]
    exact: list[float | None]
    solver: str = ""
    why: str = ""


class SearchInfo(BaseModel):
    """A search. position: its place in the queue, 0 where it does not wait.  seconds: how long it has run."""

    id: str
    status: Status
    position: int
    seconds: float
    nodes_expanded: int
    nodes_generated: int
    best_length: int | None
    solution: SolutionInfo | None
    told: str
