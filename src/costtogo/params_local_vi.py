"""Typed parameters of the study of local value iteration: config/local_vi.yaml."""

from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, model_validator

from costtogo.params import Few, Nodes, Params, Positive, Seed, StudyName, checked, derive_seed, refuse_other_name
from costtogo.params_yaml import read_yaml
from costtogo.types import LARGEST_PATH_WEIGHT


class LargerBoards(Params):
    """Random boards of a side that are solved row by row, the last two rows column by column.

    exact: whether all boards are followed beside them.
    """

    side: int = Field(ge=3, le=15)
    boards: Positive
    exact: bool = True


class ComparedSolvers(Params):
    """The same random boards by all solvers.

    max_generated: nodes of a search by IDA* with Manhattan distance and linear conflicts, which ends there.
    path_weight and batch_size: λ and N of the search over the network.
    """

    boards: Positive
    max_generated: Nodes
    path_weight: float = Field(ge=0, le=LARGEST_PATH_WEIGHT)
    batch_size: Positive


class LocalViStudy(Params):
    """The study, as its stages see it. sizes: how many tiles each step of Algorithm 2 begins with."""

    puzzle: ClassVar[str] = "puzzle15"  # the document's; other sides stand under larger
    study: StudyName
    seed: Seed
    threads: Few
    boards: Positive
    sizes: list[Positive] = Field(min_length=1)
    larger: list[LargerBoards] = []
    compared: ComparedSolvers | None = None

    @model_validator(mode="after")
    def _sizes_grow(self):
        if self.sizes != sorted(set(self.sizes)) or self.sizes[0] != 1 or self.sizes[-1] > 6:
            raise ValueError("sizes must grow from 1, which the document's theorems are about, to 6 at most")
        return self

    def slices(self) -> dict[str, Any]:
        """The parameters of each stage, by the path of its slice below params/."""
        common = {"study": self.study, "puzzle": self.puzzle}
        dumped = self.model_dump()
        seed = derive_seed(self.seed, "local_vi", self.puzzle)
        asked = {name: dumped[name] for name in ("boards", "sizes", "larger")}
        parts = {f"local_vi/{self.puzzle}": {**common, "seed": seed, **asked}, "report/report": {**common, **dumped}}
        if self.compared is not None:
            seed = derive_seed(self.seed, "compared", self.puzzle)
            asked = {name: dumped[name] for name in ("threads", "sizes", "compared")}
            parts[f"compared/{self.puzzle}"] = {**common, "seed": seed, **asked}
        return parts


def is_local_vi(path: Path | str) -> bool:
    """Whether a file is the study of local value iteration."""
    return "sizes" in read_yaml(Path(path))


def load(path: Path | str) -> LocalViStudy:
    """Read the study; UserError names file, key and nearest name."""
    study = checked(LocalViStudy, read_yaml(Path(path)))
    refuse_other_name(study.study, Path(path))
    return study
