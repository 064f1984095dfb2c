"""Trained networks that can be used: those of the user's own studies, and those that come with the package.

A network of a study goes first. The package has one network a puzzle, with 16-bit weights, in the folder `networks`: a
checkpoint <puzzle>.safetensors and its card <puzzle>.json, which tools/pack.py writes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from costtogo.files import FileError, digest, read_frame, read_json
from costtogo.puzzles import make, title
from costtogo.puzzles.base import is_listed
from costtogo.types import UserError, excerpt

RESULTS = Path("results")
STUDIES = Path("config")
DEFAULT = "default"  # the study of params.yaml
STUDIED = ("cube2", "hanoi_4", "hanoi_7", "hanoi_10")  # by the default study
PACKAGED, STUDY, FILE = "packaged", "study", "file"


@dataclass(frozen=True)
class ModelCard:
    """One network.

    name: "cube3" for a packaged network, "study/model" for one of a study, or a path.  puzzle: that it was trained on.
    origin: PACKAGED, STUDY or FILE.  path: the checkpoint, or the folder of the model.
    numbers: measurements by name; empty if there are none.
    """

    name: str
    puzzle: str
    origin: str
    path: Path
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The network in words, for a line of output."""
        if self.origin == PACKAGED:
            return f"the network that comes with costtogo ({title(self.puzzle)})"
        study, _, model = self.name.rpartition("/")
        return f"{model} of the study {study}" if self.origin == STUDY else str(self.path)

    def checkpoint(self) -> Path:
        """The file: of a model's folder the selected checkpoint, else the last.

        FileError if a packaged one is not the file that was measured.
        """
        if self.origin == PACKAGED and digest(self.path) != _packed(self.path)["sha256"]:
            raise FileError(f"{self.path} is damaged: it is not the network that was measured; install costtogo again.")
        if not self.path.is_dir():
            return self.path
        from costtogo.stages.search.loading import checkpoint

        selection = self.path.resolve().parent.parent / "searches" / self.path.name / "selection.parquet"
        if not selection.exists():
            return checkpoint(self.path)
        chosen = read_frame(selection)
        return checkpoint(self.path, chosen.loc[chosen["selected"], "iteration"].iloc[0])


def packaged_folder() -> Path:
    """The folder of the packaged networks."""
    return Path(str(files("costtogo"))) / "networks"


def packaged(puzzle: str | None = None) -> list[ModelCard]:
    """The packaged networks, of one puzzle or of all, by name."""
    paths = sorted(packaged_folder().glob("*.safetensors"))
    cards = [(path.stem, path, _packed(path)) for path in paths]
    return [
        ModelCard(name, card["puzzle"], PACKAGED, path, card["numbers"])
        for name, path, card in cards
        if puzzle in (None, card["puzzle"])
    ]


def _packed(path: Path) -> dict[str, Any]:
    """Read the card of a packaged network. FileError where the card is damaged."""
    match read_json(path.with_suffix(".json")):
        case {"puzzle": str(), "sha256": str(), "numbers": dict()} as card:
            return card
    raise FileError(f"{path.with_suffix('.json')} is damaged; install costtogo again.")


def of_studies(puzzle: str) -> list[ModelCard]:
    """The networks of a puzzle in its own study, or else in the default one, the best first.

    The headline of the study's report comes first, then those whose searches are optimal most often, then by name.
    """
    study = study_of(puzzle)
    trained = [path.stem for path in sorted((study / "models").glob("*.json")) if _trained_on(path) == puzzle]
    if not trained:  # and the report of the default study may not know the puzzle
        return []
    headline = _headline(study / "report" / "report.json", puzzle)
    measured = {name: _metrics(study / "searches" / f"{name}.json") for name in trained}

    def order(name: str) -> tuple:
        metrics = measured[name]
        return name != headline, -metrics.get("optimal_percent", 0), metrics.get("nodes_expanded", float("inf"))

    return [
        ModelCard(f"{study.name}/{name}", puzzle, STUDY, study / "models" / name, measured[name])
        for name in sorted(trained, key=order)
    ]


def study_of(puzzle: str) -> Path:
    """The folder of the study that trains networks of a puzzle: the study of its name, or else the default one."""
    study = RESULTS / puzzle
    return RESULTS / DEFAULT if is_listed(make(puzzle)) and not study.is_dir() else study


def _trained_on(card: Path) -> str:
    """The puzzle of a training, by its card. FileError where the card is damaged."""
    match read_json(card):
        case {"parameters": {"puzzle": str(puzzle)}}:
            return puzzle
    raise FileError(f"{card} is damaged: delete it and run the study again.")


def _headline(report: Path, puzzle: str) -> str | None:
    """The network that a report names as the headline of a puzzle; None without one."""
    match read_json(report) if report.exists() else None:
        case {"parameters": {"puzzles": dict(puzzles)}}:
            return puzzles.get(puzzle, {}).get("headline")
    return None


def _metrics(card: Path) -> dict[str, Any]:
    match read_json(card) if card.exists() else None:
        case {"metrics": dict(metrics)}:
            return metrics
    return {}


def models(puzzle: str | None = None) -> list[ModelCard]:
    """All networks of one puzzle, the best first; or those of every puzzle that has any."""
    names = [puzzle] if puzzle else sorted({card.puzzle for card in packaged()} | set(_studied()))
    return [card for name in names for card in (*of_studies(name), *packaged(name))]


def _studied() -> Iterator[str]:
    """The puzzles that studies in RESULTS have trained networks of."""
    for path in RESULTS.glob("*/models/*.json"):
        try:
            yield _trained_on(path)
        except FileError:  # being written, or of an older version
            continue


def find_model(puzzle: str | None, named: Path | str | None = None) -> ModelCard:
    """The network that is named: by its name, a checkpoint or a model's folder; if none is named, the puzzle's best.

    UserError if there is none.
    """
    if named is not None:
        known = next((card for card in models(puzzle) if card.name == str(named)), None)
        return known or ModelCard(str(named), puzzle or "", FILE, Path(named))
    if puzzle is None:
        raise UserError("Name the puzzle with --puzzle, or a checkpoint with --model.")
    if found := models(puzzle):
        return found[0]
    raise UserError(
        f"There is no trained network of {excerpt(puzzle)} in {study_of(puzzle)}, and none comes with costtogo: train "
        f"one ({_training(puzzle)}), name one with --model, or search without with --solver exact."
    )


def _training(puzzle: str) -> str:
    """The way to train a network of a puzzle: by the default study, the study of its name, or one that you write."""
    if puzzle in STUDIED:
        return "make, in a clone, takes about a quarter of an hour"
    if (STUDIES / f"{puzzle}.yaml").exists():
        return f"snakemake --cores all {puzzle}, in a clone"
    return "in a clone, by a study of yours, as config/pyraminx.yaml is one"
