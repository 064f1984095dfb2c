"""Parameters of searches: by which solver, from which instances, how long."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from costtogo.params.audits import PathWeight
from costtogo.params.base import Amount, Few, FileName, Kind, Later, Nodes, Params, Positive, named
from costtogo.params.training import ModelParams

MANHATTAN = "manhattan"  # the heuristic of that name, with linear conflicts, among the pattern databases
GUIDE = ("costtogo.search.anytime", "guide_of")  # which makes a guide of a network
ZERO = "zero"  # no heuristic at all
DatabaseName = Annotated[
    str,
    named(f"up to 64 small letters, digits, _ and -, not {MANHATTAN}", rf"(?!{MANHATTAN}$)[a-z0-9][a-z0-9_-]{{0,63}}"),
]
SOLUTIONS = ("solved_percent", "length", "optimal_percent")
WORK = (*SOLUTIONS, "nodes_expanded")
Exploration = Annotated[float, Field(ge=0, le=10_000)]  # c of a tree


class SearchParams(Params):
    """Searches that a study asks of its networks.

    group: of the stages.  words: for what they do.  cell: the columns of their rows that name a setting.
    measures: of the summaries, those that cards have.  wants: what a network must have that they can go by; of searches
    that can go by any, nothing.  by_table: whether they look at the exact distances around the goal.
    alone: whether each instance is searched from by itself, else all of a set in one call.
    tells_why: whether rows say why a search ended.
    """

    group: ClassVar[str]
    words: ClassVar[str]
    cell: ClassVar[tuple[str, ...]]
    measures: ClassVar[tuple[str, ...]] = WORK
    wants: ClassVar[str] = ""
    by_table: ClassVar[bool] = True
    alone: ClassVar[bool] = True
    tells_why: ClassVar[bool] = True

    def suits(self, model: ModelParams) -> bool:
        """True if they can go by the network of a training."""
        return True

    @property
    def settings(self) -> list[tuple]:
        """The values of the columns of `cell` of each setting."""
        return []


class CellParams(Params):
    """One setting of BWAS on one instance set."""

    set: str
    path_weight: PathWeight  # λ
    batch_size: Positive  # N


class GridParams(SearchParams):
    """BWAS over λ × N on one instance set; a search that keeps max_nodes states in memory ends as unsolved.

    every_checkpoint: with every audited checkpoint, not with the chosen one alone; for puzzles whose states are listed.
    """

    cell: ClassVar[tuple[str, ...]] = ("set", "path_weight", "batch_size")
    measures: ClassVar[tuple[str, ...]] = (*WORK, "out_of_memory_percent")
    alone: ClassVar[bool] = False
    solver: Literal["bwas"]
    set: str
    path_weight: list[PathWeight] = Field(min_length=1)  # λ
    batch_size: list[Positive] = Field(min_length=1)  # N
    max_nodes: Nodes = 1_000_000
    every_checkpoint: bool = False

    @property
    def cells(self) -> list[CellParams]:
        """Every λ and N."""
        pairs = product(self.path_weight, self.batch_size)
        return [CellParams(set=self.set, path_weight=weight, batch_size=size) for weight, size in pairs]


class BeamParams(SearchParams):
    """Beam search over some widths on one instance set.

    images: symmetric and inverse images of each state that beams start from.  average: symmetric images of a state in a
    beam over which its cost-to-go is averaged, each an evaluation.  max_moves: after which a beam ends as unsolved.
    """

    group: ClassVar[str] = "beams"
    words: ClassVar[str] = "Beam search"
    cell: ClassVar[tuple[str, ...]] = ("set", "width")
    tells_why: ClassVar[bool] = False
    solver: Literal["beam"]
    set: str
    widths: list[Positive] = Field(min_length=1)
    images: Few = 1
    average: Few = 1
    max_moves: Positive = 1000

    @property
    def settings(self) -> list[tuple]:
        return [(self.set, width) for width in self.widths]


class PolicyBeamParams(SearchParams):
    """Beam search by a policy over some widths on one instance set.

    A state counts as the cost-to-go of its parent less the logarithm of the probability of the action that leads to it,
    so that one evaluation of a parent serves all of its children. A beam of width 1 is a greedy walk by the policy.
    max_moves: after which a beam ends as unsolved.
    """

    group: ClassVar[str] = "policy_beams"
    words: ClassVar[str] = "Beam search by the policy"
    cell: ClassVar[tuple[str, ...]] = ("set", "width")
    tells_why: ClassVar[bool] = False
    wants: ClassVar[str] = "a policy, as a training by adi has"
    solver: Literal["policy_beam"]
    set: str
    widths: list[Positive] = Field(min_length=1)
    max_moves: Positive = 1000

    def suits(self, model: ModelParams) -> bool:
        return model.architecture.outputs == "policy"

    @property
    def settings(self) -> list[tuple]:
        return [(self.set, width) for width in self.widths]


class SearchProtocol(Params):
    """How networks of a puzzle whose states are listed are chosen and searched with.

    selection: the setting at which checkpoints are compared on instances of their own: of those that search at most ten
    times the fewest nodes, and that a paired test does not separate from the one with most optimal solutions, the one
    with fewest expansions is taken for the model.
    headline: the setting whose result is quoted for the model.
    """

    selection: CellParams
    headline: CellParams
    max_expansions: Nodes
    max_nodes: Nodes
    zero_instances: Positive
    admissible_instances: Positive
    network_searches: Positive
    network_searches_alone: Positive
    network_max_steps: Positive
    all_starts: list[str] = []  # the models that search the headline setting from every state


class OptimaParams(Kind):
    """Shortest solutions of the study's own instance sets.

    Of sliding tiles by IDA*, of Lights Out by linear algebra, of Sokoban by breadth-first search from the solved states
    of each level, of others by breadth-first search from both ends; of the 3×3×3 also by IDA*, where it has a table or
    a pattern database.
    pattern_database: the name of that which IDA* goes by.  max_generated: nodes after which a search ends as unsolved.
    table: small or large, of distances, which IDA* of the 3×3×3 goes by; see docs/optimal.md.  seconds: after which a
    search ends as unsolved, with a lower bound; the only limit of IDA* over such a table.  guide: the model whose
    network is asked for a solution before a search over the table that takes long: the proof ends where it begins if
    the solution is as short as the next bound.
    around: moves from the goal of the states that breadth-first search is to meet.
    sets: those that are solved; all where none is named.
    """

    pattern_database: str | None = None
    around: int = Field(default=6, ge=0, le=30)
    sets: list[str] = []
    max_generated: Nodes = 1_000_000_000
    table: Later[Literal["small", "large"] | None] = None
    seconds: Later[Amount | None] = None
    guide: Later[str | None] = None

    def asks_for(self, name: str) -> bool:
        """Whether an instance set is solved."""
        return not self.sets or name in self.sets


class TwoPhaseParams(SearchParams):
    """Kociemba's two-phase solver on the study's own instance sets, each search stopped after some seconds."""

    cell: ClassVar[tuple[str, ...]] = ("set",)
    measures: ClassVar[tuple[str, ...]] = SOLUTIONS
    sets: list[str] = Field(min_length=1)
    seconds: Amount = 10


class BeamBudget(Params):
    """How many of the first external instances are solved, by beams that widen until the seconds of each are up."""

    solver: Literal["beam"]
    states: Positive
    seconds: Amount

    @property
    def searched(self) -> str:
        """The searches in words.  -> "beams for 5 s each"."""
        return f"beams for {self.seconds:g} s each"


class BwasBudget(Params):
    """The same by BWAS.

    With several λ it takes them in turn while there is time, and the shortest solution counts; with widening it goes on
    with larger N, from two images of the state. images: from how many of them each λ searches. shortening: the share of
    the seconds that is kept for making the solution shorter by stretches, of sliding tiles alone.
    """

    solver: Literal["bwas"]
    states: Positive
    seconds: Amount
    path_weight: PathWeight | Annotated[list[PathWeight], Field(min_length=1)]
    batch_size: Positive
    widening: bool = False
    images: Few = 1
    shortening: float = Field(default=0, ge=0, lt=1)

    @property
    def path_weights(self) -> list[float]:
        """Each λ."""
        return self.path_weight if isinstance(self.path_weight, list) else [self.path_weight]

    @property
    def searched(self) -> str:
        """The searches in words.  -> "BWAS, λ = 1, N = 300, at most 5 s each"."""
        weights = ", ".join(f"{weight:g}" for weight in self.path_weights)
        upwards = " and upwards" if self.widening else ""
        upwards += f", from {self.images} images" if self.images > 1 else ""
        then = f", {100 * self.shortening:g} % of them to shorten solutions" if self.shortening else ""
        return f"BWAS, λ = {weights}, N = {self.batch_size:,}{upwards}, at most {self.seconds:g} s each{then}"


class TreeParams(SearchParams):
    """Monte Carlo tree search on one instance set, with some exploration constants c.

    virtual_loss: ν, moves that a leaf takes off the actions which lead to it while it is evaluated; leaves: of a tree,
    evaluated at a time.  max_expansions: states that a search evaluates before it ends as unsolved.
    prior, values: whether the network's policy and its values guide the tree, or the same everywhere.
    untried: where W of an action begins that was not tried, at the value of its state or at zero.
    shortening: how a solution is made shorter afterwards: not at all, by breadth-first search in the tree, or with
    shortcuts between states up to three moves apart.
    """

    group: ClassVar[str] = "trees"
    words: ClassVar[str] = "Monte Carlo tree search"
    cell: ClassVar[tuple[str, ...]] = (
        *("set", "exploration", "virtual_loss", "leaves", "prior", "values", "untried", "shortening", "max_expansions"),
    )
    wants: ClassVar[str] = "a policy, as a training by adi has; or say prior: uniform"
    by_table: ClassVar[bool] = False  # a search ends at the goal alone
    alone: ClassVar[bool] = False
    solver: Literal["mcts"]
    set: str
    exploration: list[Exploration] = Field(min_length=1)  # c
    virtual_loss: float = Field(default=1, ge=0, le=1_000)  # ν, moves
    leaves: Few = 1
    max_expansions: Positive
    prior: Literal["policy", "uniform"] = "policy"
    values: Literal["network", "constant"] = "network"
    untried: Literal["parent", "zero"] = "parent"
    shortening: Literal["shortcuts", "tree", "none"] = "shortcuts"

    def problems(self) -> Iterator[str]:
        if self.leaves == 1 and self.virtual_loss != 1:
            yield "virtual_loss changes nothing with one leaf at a time; leave it out, or say leaves: 8"

    @property
    def is_whole(self) -> bool:
        """Whether trees go by both outputs of the network, W begins at the parent's value, and solutions are made as
        short as can be."""
        settings = (self.prior, self.values, self.untried, self.shortening)
        return settings == ("policy", "network", "parent", "shortcuts")

    def searched(self, exploration: float) -> str:
        """The searches in words.  -> "trees (MCTS) with c = 50, at most 2,000 states each"."""
        leaves = f", ν = {self.virtual_loss:g} and {self.leaves} leaves at a time" if self.leaves > 1 else ""
        return f"trees (MCTS) with c = {exploration:g}{leaves}, at most {self.max_expansions:,} states each"

    def suits(self, model: ModelParams) -> bool:
        return self.prior == "uniform" or model.architecture.outputs == "policy"

    @property
    def settings(self) -> list[tuple]:
        cells = [{"exploration": exploration} for exploration in self.exploration]
        return [tuple(cell.get(name, getattr(self, name)) for name in self.cell) for cell in cells]


ExternalBudget = Annotated[BeamBudget | BwasBudget, Field(discriminator="solver")]


def _unordered(budgets: list[ExternalBudget]) -> Iterator[str]:
    """What is wrong with budgets that do not go from short to long."""
    seconds = [budget.seconds for budget in budgets]
    if seconds != sorted(set(seconds)):
        yield f"the seconds of the budgets must grow from one to the next, not {seconds}"


class AnytimeParams(SearchParams):
    """The searches of external instances, of limited seconds each, on one instance set: what their settings do there.

    An external setting is chosen on instances of the study's own; these searches show what it does on them.
    """

    group: ClassVar[str] = "anytime"
    words: ClassVar[str] = "Searches within seconds"
    cell: ClassVar[tuple[str, ...]] = ("set", "seconds_allowed")
    measures: ClassVar[tuple[str, ...]] = SOLUTIONS
    solver: Literal["anytime"]
    set: str
    budgets: list[ExternalBudget] = Field(min_length=1)

    def problems(self) -> Iterator[str]:
        yield from _unordered(self.budgets)

    @property
    def settings(self) -> list[tuple]:
        return [(self.set, budget.seconds) for budget in self.budgets]


# Each kind but BWAS has a group, of stages of the module costtogo.stages.search.<group>.
Search = Annotated[
    GridParams | BeamParams | PolicyBeamParams | AnytimeParams | TreeParams, Field(discriminator="solver")
]


class ExternalParams(Params):
    """Instances from outside, read from the folder of external instances, under budgets from short to long."""

    file: FileName
    budgets: list[ExternalBudget] = Field(min_length=1)

    def budget(self, seconds: float) -> ExternalBudget:
        """The one budget of that many seconds."""
        return next(budget for budget in self.budgets if budget.seconds == seconds)

    def problems(self) -> Iterator[str]:
        yield from _unordered(self.budgets)
