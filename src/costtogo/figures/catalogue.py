"""Which figures a study has, what each reads and how it is drawn.

Importing this module and listing a study's figures loads neither matplotlib nor pandas, so that a workflow
can ask while it is being parsed; a figure is drawn only when its `draw` is called.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


TIMED = "seconds"  # the kind of figure that shows wall-clock time


@dataclass(frozen=True)
class FigureEntry:
    """One figure of a study.

    name: the stem of its files.  label: what it shows, in a few words.  kind: the drawing and the caption,
    workflow/captions/<kind>.rst.  inputs: the files it reads, below the study's folder of results.
    draw: takes that folder and returns the figure.
    """

    name: str
    label: str
    kind: str
    puzzle: str
    model: str | None
    inputs: tuple[str, ...]
    draw: "Callable[[Path], Figure]"

    @property
    def stem(self) -> str:
        """The path of its files below the study's reports, without suffix: what shows wall-clock time lies apart."""
        return f"{'timings' if self.kind == TIMED else 'figures'}/{self.name}"


def catalogue(study: Any) -> list[FigureEntry]:
    """All figures of a study, by puzzle and then by model, in the order of its parameters.

    study needs .puzzles (by name) and .models (by name, each with .puzzle and .epsilon).
    A puzzle without a model has none.
    """
    entries = []
    for puzzle in study.puzzles:
        models = {name: model for name, model in study.models.items() if model.puzzle == puzzle}
        if models:
            entries += _puzzle_figures(puzzle, list(models))
            for name, model in models.items():
                entries += _model_figures(puzzle, name, model.epsilon)
    return entries


def names(study: Any) -> list[str]:
    """The paths of all figures of a study below its reports, without suffix."""
    return [entry.stem for entry in catalogue(study)]


def is_hanoi(puzzle: str) -> bool:
    """Whether a puzzle's name is that of a Towers of Hanoi: "hanoi_7"."""
    return puzzle.startswith("hanoi_")


def _puzzle_figures(puzzle: str, models: list[str]) -> Iterator[FigureEntry]:
    """The figures that compare the models of one puzzle."""
    table, searched = f"tables/{puzzle}.npz", f"searches/baseline_{puzzle}"
    selections = [f"searches/{model}/selection.parquet" for model in models]

    def of_each_model(*paths: str) -> list[str]:
        return [path.format(model) for model in models for path in paths]

    def entry(kind: str, label: str, inputs: list[str], *arguments: Any) -> FigureEntry:
        return _entry(kind, label, puzzle, None, inputs, puzzle, *arguments)

    yield entry("states", "the goal and a state farthest from it", [table])
    yield entry("distances", "states per distance", [table, f"instances/{puzzle}.parquet"])
    errors = of_each_model("audits/{}/by_distance.parquet")
    yield entry("error_by_distance", "error by distance", errors + selections, models)
    measures = of_each_model("audits/{}/measures.parquet")
    yield entry("audit", "admissible and consistent states", measures + selections, models)
    shares = of_each_model("searches/{}/by_distance.parquet", "searches/{}.json")
    yield entry("optimal_by_distance", "optimal solutions by distance", shares, models)
    if is_hanoi(puzzle):
        grids = [*of_each_model("searches/{}/grid.parquet"), f"{searched}/grid.parquet"]
        yield entry("from_start", "nodes expanded from the start", [table, *grids], models)


def _model_figures(puzzle: str, model: str, epsilon: float) -> Iterator[FigureEntry]:
    """The figures of one model."""

    def entry(kind: str, label: str, inputs: list[str], *arguments: Any) -> FigureEntry:
        return _entry(kind, label, puzzle, model, inputs, model, *arguments)

    yield entry("training", "loss", [f"models/{model}/curve.parquet"], epsilon)
    yield entry("learning_curve", "error as training goes on", [f"models/{model}/errors.parquet"])
    grids = [f"searches/{model}/grid.parquet", f"searches/baseline_{puzzle}/grid.parquet"]
    yield entry("grid", "optimal solutions and nodes by λ and N", grids, puzzle)
    yield entry("seconds", "seconds by λ and N", [f"timings/searches/{model}.parquet"])
    if is_hanoi(puzzle):
        found = [f"searches/{model}/selection.parquet", f"searches/{model}/searches.parquet"]
        states = [f"tables/{puzzle}.npz", f"audits/{model}/values.npz"]
        yield entry("way", "the way found from start to goal", states + found, puzzle)


def _entry(kind: str, label: str, puzzle: str, model: str | None, inputs: list[str], *arguments: Any) -> FigureEntry:
    subject = model or puzzle
    return FigureEntry(
        name=f"{kind}_{subject}",
        label=f"{subject}: {label}",
        kind=kind,
        puzzle=puzzle,
        model=model,
        inputs=tuple(inputs),
        draw=partial(_draw, kind, arguments),
    )


def _draw(kind: str, arguments: tuple, results: Path) -> "Figure":
    """Draw by the function of costtogo.figures.drawings that bears the kind's name."""
    from costtogo.figures import drawings

    return getattr(drawings, kind)(Path(results), *arguments)
