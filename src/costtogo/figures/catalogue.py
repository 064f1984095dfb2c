"""Which figures a study has, what each reads and how it is drawn.

Importing this module and listing a study's figures loads neither matplotlib nor pandas, so that a workflow
can ask while it is being parsed; a figure is drawn only when its `draw` is called.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from costtogo.puzzles import family

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MEASURED = Path("data/measured")  # what other studies kept
KINDS = ("png", "svg")  # each figure is drawn as both
TIMED = "seconds"  # the kind of figure of these studies that shows wall-clock time


@dataclass(frozen=True)
class FigureEntry:
    """One figure of a study.

    name: the stem of its files.  label: what it shows, in a few words.  kind: the drawing and the caption,
    workflow/captions/<kind>.rst.  inputs: the files it reads, below the study's folder of results.
    kept: the files it reads of what other studies kept.  draw: takes the folder and returns the figure.
    timed: whether it shows wall-clock time.
    """

    name: str
    label: str
    kind: str
    puzzle: str
    model: str | None
    inputs: tuple[str, ...]
    draw: "Callable[[Path], Figure]"
    kept: tuple[str, ...] = ()
    timed: bool = False

    @property
    def stem(self) -> str:
        """The path of its files below the study's reports, without suffix: what shows wall-clock time lies apart."""
        return f"{'timings' if self.timed else 'figures'}/{self.name}"

    def file(self, kind: str) -> str:
        """The path of its file of a kind below the study's reports: PNGs are in git, SVGs lie apart in svg/."""
        return file_of(self.stem, kind)


def file_of(stem: str, kind: str) -> str:
    """The path of a figure's file below its study's reports.  "figures/way", "svg" -> "svg/figures/way.svg"."""
    return f"{'svg/' if kind == 'svg' else ''}{stem}.{kind}"


def catalogue(study: Any, measured: Path = MEASURED) -> list[FigureEntry]:
    """All figures of a study, by puzzle and then by model, in the order of its parameters.

    study needs .study, .puzzles (by name, each with .distributions) and .models (by name, each with .puzzle,
    .epsilon, .sampler and .checkpoint_iterations).  A puzzle without a model has none.  measured: the folder of what
    other studies kept; shown is what they kept of trainings on a puzzle of this study.
    """
    entries = []
    for puzzle in study.puzzles:
        models = {name: model for name, model in study.models.items() if model.puzzle == puzzle}
        if models:
            entries += _puzzle_figures(puzzle, {name: model.epsilon for name, model in models.items()})
            entries += _sampler_figures(puzzle, study.puzzles[puzzle].distributions)
            for name, model in models.items():
                entries += _model_figures(puzzle, name, model)
            entries += _kept_figures(puzzle, study.study, measured)
    return entries + list(_variant_figures(measured, study.puzzles))


def names(study: Any, measured: Path = MEASURED) -> list[str]:
    """The paths of all figures of a study below its reports, without suffix."""
    return [entry.stem for entry in catalogue(study, measured)]


def kept_of(puzzles: Iterable[str], measured: Path = MEASURED) -> list[Path]:
    """The files of the studies that have kept results of any of these puzzles: data/measured/<study>.json."""
    return [card for card in sorted(measured.glob("*.json")) if kept_puzzles(_cards(card)) & {*puzzles}]


def kept_puzzles(cards: dict[str, Any]) -> set[str]:
    """The puzzles that the cards of a kept study tell of."""
    parameters = [card.get("parameters", {}) for card in cards.values()]
    return {puzzle for part in parameters if (puzzle := part.get("puzzle", part.get("training", {}).get("puzzle")))}


def _cards(kept: Path) -> dict[str, Any]:
    """The cards of a study that has kept its results."""
    return json.loads(kept.read_text(encoding="utf-8"))


def _sampler_figures(puzzle: str, distributions: Any) -> Iterator[FigureEntry]:
    """The figures of the samplers, of those that were measured."""
    spread = [f"instances/{puzzle}/distributions.parquet"]
    if distributions.walk_max:
        label = "distances of the states drawn, by K"
        yield _entry("sampler_distances", label, puzzle, None, spread, puzzle)
        yield _entry("sampler_difference", "deepcubea and deepcube compared", puzzle, None, spread, puzzle)
    if distributions.effective_k:
        yield _entry("effective_k", "distances of the states drawn, by effective K", puzzle, None, spread, puzzle)


def _puzzle_figures(puzzle: str, epsilons: dict[str, float]) -> Iterator[FigureEntry]:
    """The figures that compare the models of one puzzle; epsilons by model."""
    models = list(epsilons)
    table, searched = f"tables/{puzzle}.npz", f"searches/baseline_{puzzle}"
    selections = [f"searches/{model}/selection.parquet" for model in models]

    def of_each_model(path: str) -> list[str]:
        return [path.format(model) for model in models]

    def entry(kind: str, label: str, inputs: list[str], *arguments: Any) -> FigureEntry:
        return _entry(kind, label, puzzle, None, inputs, puzzle, *arguments)

    yield entry("states", "the goal and a state farthest from it", [table])
    yield entry("distances", "states per distance", [table, f"instances/{puzzle}.parquet"])
    yield entry("last_points", "the last convergence points", of_each_model("models/{}/curve.parquet"), epsilons)
    reached = of_each_model("models/{}/errors.parquet")
    yield entry("error_at_point", "error by distance at the same convergence point", reached, models)
    errors = of_each_model("audits/{}/by_distance.parquet")
    yield entry("error_by_distance", "error by distance", errors + selections, models)
    measures = of_each_model("audits/{}/measures.parquet")
    yield entry("audit", "admissible and consistent states", measures + selections, models)
    shares = [*of_each_model("searches/{}/by_distance.parquet"), f"searches/{models[0]}.json"]
    yield entry("optimal_by_distance", "optimal solutions by distance", shares, models)
    if family(puzzle) == "hanoi":
        grids = [*of_each_model("searches/{}/grid.parquet"), f"{searched}/grid.parquet"]
        yield entry("from_start", "nodes expanded from the start", [table, *grids], models)


def _model_figures(puzzle: str, model: str, training: Any) -> Iterator[FigureEntry]:
    """The figures of one model; training: its parameters."""

    def entry(kind: str, label: str, inputs: list[str], *arguments: Any) -> FigureEntry:
        return _entry(kind, label, puzzle, model, inputs, model, *arguments)

    yield entry("training", "loss", [f"models/{model}/curve.parquet"], training.epsilon, training.sampler.kind)
    audited = [f"audits/{model}/by_distance.parquet"]
    yield entry("error_by_checkpoint", "error by distance of each audited checkpoint", audited)
    yield entry("learning_curve", "error as training goes on", [f"models/{model}/errors.parquet"])
    grids = [f"searches/{model}/grid.parquet", f"searches/baseline_{puzzle}/grid.parquet"]
    if training.checkpoint_iterations:
        looks, states = (
            [f"models/{model}/checkpoints.parquet", f"audits/{model}/measures.parquet"],
            f"tables/{puzzle}.npz",
        )
        yield entry("mean_costs", "loss and mean cost-to-go as training goes on", [*looks, states], puzzle)
        shares = [f"searches/{model}/checkpoints_by_distance.parquet"]
        yield entry("optimal_by_iteration", "optimal solutions as training goes on", shares)
        values = [states, f"audits/{model}/values.npz", f"searches/{model}/selection.parquet"]
        yield entry("walk_costs", "cost-to-go by the length of walks", values, puzzle, training.sampler.walk_max)
    yield entry("grid", "optimal solutions and nodes by λ and N", grids, puzzle)
    yield entry("seconds", "seconds by λ and N", [f"timings/searches/{model}.parquet"])
    if family(puzzle) == "hanoi":
        found = [f"searches/{model}/selection.parquet", f"searches/{model}/searches.parquet"]
        states = [f"tables/{puzzle}.npz", f"audits/{model}/values.npz"]
        yield entry("way", "the way found from start to goal", states + found, puzzle)


def _kept_figures(puzzle: str, own: str, measured: Path) -> Iterator[FigureEntry]:
    """The losses of the trainings on a puzzle that studies other than the own one have kept."""
    for card in sorted(path for path in measured.glob("*.json") if path.stem != own):
        for place, stage in sorted(_cards(card).items()):
            curve = card.with_suffix("") / f"{place.replace('/', '_')}_curve.csv"
            if curve.exists() and stage["parameters"]["training"]["puzzle"] == puzzle:
                model = place.removeprefix("models/")
                label = f"loss of the study {card.stem}'s {model}"
                epsilon = stage["parameters"]["training"]["epsilon"]
                subject = f"{card.stem}_{model}"
                entry = _entry("kept_training", label, puzzle, subject, [], str(curve), epsilon)
                yield replace(entry, kept=(str(card), str(curve)))


def _variant_figures(measured: Path, puzzles: Iterable[str]) -> Iterator[FigureEntry]:
    """The figures of the trainings that a study repeated with several seeds, once it has kept them."""
    for card in [path for path in kept_of(puzzles, measured) if (path.with_suffix("") / "variants.csv").exists()]:
        table = card.with_suffix("") / "variants.csv"
        cards = _cards(card)
        stages = [stage for place, stage in cards.items() if re.match(r"searches/.*_seed\d+$", place)]
        for puzzle in sorted({stage["parameters"]["puzzle"] for stage in stages}):
            kinds, kept = {"variants": "seeds of each variant"}, (str(table),)
            if (mean := mean_distance_at_looks(cards, puzzle)) is not None:
                kinds |= {"variant_errors": "error as training goes on", "variant_losses": "loss as training goes on"}
                kinds |= {"variant_costs": "mean cost-to-go as training goes on"}
                kept += (str(card),)
            elif family(puzzle) != "hanoi":
                kinds |= {"measures_by_point": "measures by convergence point", "predictors": "what predicts searches"}
            for kind, label in kinds.items():
                means = () if kind in ("variants", "measures_by_point", "predictors") else (mean,)
                entry = _entry(kind, label, puzzle, f"{card.stem}_{puzzle}", [], str(table), puzzle, *means)
                yield replace(entry, kept=kept)


def mean_distance_at_looks(cards: dict[str, Any], puzzle: str) -> float | None:
    """The mean distance of a puzzle where its trainings were looked at every so many iterations, None where not."""
    trainings = [card["parameters"]["training"] for place, card in cards.items() if place.startswith("models/")]
    looked = any(each["puzzle"] == puzzle and each.get("checkpoint_iterations") for each in trainings)
    return cards[f"tables/{puzzle}"]["metrics"]["mean_distance"] if looked else None


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
        timed=kind == TIMED,
    )


def _draw(kind: str, arguments: tuple, results: Path) -> "Figure":
    """Draw by the function of costtogo.figures.drawings that bears the kind's name."""
    from costtogo.figures import drawings

    return getattr(drawings, kind)(Path(results), *arguments)
