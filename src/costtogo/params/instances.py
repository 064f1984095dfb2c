"""Parameters of instance sets, by how their states come about."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from costtogo.params.base import Few, Moves, Params, Positive

Distance = Annotated[int, Field(ge=0, le=10**6)]  # moves from the goal


class RankedInstances(Params):
    """Instances of a puzzle whose states can be listed; one_each_at: a state more at each of these distances."""

    one_each_at: list[Distance] = []
    role: Literal["test", "selection"] = "test"


class SampledInstances(RankedInstances):
    """States as the literature's samplers draw them, or the ends of walks of exactly walk_max moves (scrambled)."""

    kind: Literal["deepcube", "deepcubea", "scrambled"]
    states: Positive = 1
    walk_max: Moves = 1


class UniformInstances(RankedInstances):
    """States, each equally likely."""

    kind: Literal["uniform"]
    states: Positive = 1


class StratifiedInstances(RankedInstances):
    """`states` different states at each distance, all where there are fewer."""

    kind: Literal["stratified"]
    states: Positive = 1


class StartInstances(RankedInstances):
    """The customary start; disks: how many of the smallest disks are off the goal."""

    kind: Literal["start"]
    disks: Few | None = None


class WalkInstances(Params):
    """States at the end of random walks from the goal, each of a length drawn uniformly between two."""

    kind: Literal["walks"]
    states: Positive
    length: tuple[Moves, Moves] = Field(strict=False)

    def problems(self) -> Iterator[str]:
        if self.length[0] > self.length[1]:
            yield f"length must be the shortest and the longest walk, not {list(self.length)}"


class LevelInstances(Params):
    """Starts of generated levels whose walls and targets no training sees.

    boxes: of each.  role: whether they are for testing or for choosing; the two have no walls and targets in common.
    """

    kind: Literal["levels"]
    states: Positive
    boxes: Few = 4
    role: Literal["test", "selection"] = "test"


class PrefixInstances(Params):
    """What the first 1, 2, … of some moves make of the goal; shortest: the moves are known to be a shortest path."""

    kind: Literal["prefixes"]
    moves: str
    shortest: bool = False


class MirroredInstances(Params):
    """The mirror images of the states of another set, in the same order."""

    kind: Literal["mirrored"]
    of: str


InstanceParams = Annotated[
    SampledInstances
    | UniformInstances
    | StratifiedInstances
    | StartInstances
    | WalkInstances
    | LevelInstances
    | PrefixInstances
    | MirroredInstances,
    Field(discriminator="kind"),
]


class DistributionParams(Params):
    """How the states of the samplers spread over the distances: for which walk lengths this is measured."""

    walks: Positive = 1
    walk_max: list[Moves] = []
    effective_k: list[Moves] = []
