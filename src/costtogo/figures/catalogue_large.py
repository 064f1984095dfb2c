"""Which figures the study of a large puzzle has; as costtogo.figures.catalogue, cheap to import and to ask."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from costtogo.analysis.documents import REPORTED, documents
from costtogo.figures.catalogue import FigureEntry
from costtogo.files import digest, read_json
from costtogo.params.instances import MirroredInstances, PrefixInstances
from costtogo.params.study import PuzzleStudy
from costtogo.puzzles import noun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXTERNAL = "external_excess"  # the kind of figure of the target of its own


def catalogue(study: PuzzleStudy, reported: Path = REPORTED) -> list[FigureEntry]:
    """All figures that a study's parameters promise, model by model; reported: the literature's folder."""
    shown = [name for name, kind in study.instances.items() if not isinstance(kind, MirroredInstances)]
    instances = [f"instances/{study.puzzle}.parquet"]
    entries = [_entry(study, "large_states", f"example {noun(study.puzzle)}s", None, instances, study.puzzle, shown)]
    for model in study.models:
        entries += _of_model(study, model, reported)
    return [*entries, *_of_heuristics(study)]


def drawable(study: PuzzleStudy, results: Path, reported: Path = REPORTED) -> list[FigureEntry]:
    """The figures whose inputs are there; results: the study's folder."""
    entries = [entry for entry in catalogue(study, reported) if all((results / path).exists() for path in entry.inputs)]
    return [entry for entry in entries if entry.kind != EXTERNAL or external_is_current(results, entry.model)]


def expected(study: PuzzleStudy) -> list[FigureEntry]:
    """The figures that the study's own target draws in any case: all but those of external instances."""
    return [entry for entry in catalogue(study) if entry.kind != EXTERNAL]


def external_is_current(results: Path, model: str) -> bool:
    """Whether external instances have been solved, and with the network that the model has now."""
    card, checkpoints = results / "external" / f"{model}.json", results / "models" / model / "checkpoints.parquet"
    if not card.exists():
        return False
    solved_with = [found for path, found in read_json(card)["inputs"].items() if Path(path).name == checkpoints.name]
    return not solved_with or (checkpoints.exists() and solved_with == [digest(checkpoints)])


def _of_heuristics(study: PuzzleStudy) -> Iterator[FigureEntry]:
    """The networks beside the pattern databases, on the first set of the grids."""
    if not study.baselines:
        return
    groups = dict.fromkeys(study.models, "searches") | dict.fromkeys(study.baselines, "baselines")
    grids = [f"{group}/{name}/grid.parquet" for name, group in groups.items()]
    clocks = [f"timings/{group}/{name}.parquet" for name, group in groups.items()]
    shown = (groups, study.grids[0].set)
    label = "networks beside pattern databases"
    yield _entry(study, "heuristics_compared", label, None, grids, *shown)
    yield _entry(study, "heuristics_seconds", f"seconds of {label}", None, [*grids, *clocks], *shown, timed=True)


def _of_model(study: PuzzleStudy, model: str, reported: Path) -> Iterator[FigureEntry]:
    def entry(kind: str, label: str, inputs: list[str], *arguments, timed: bool = False) -> FigureEntry:
        paths = [path.format(model) for path in inputs]
        return _entry(study, kind, label, model, paths, model, *arguments, timed=timed)

    yield entry("loss_curve", "loss", ["models/{}/curve.parquet", "models/{}.json"])
    lineage, literature = study.lineage(model), [str(path) for path in documents(study.puzzle, reported)]
    costs = [f"{part}/{name}.json" for name in lineage for part in ("models", "timings/models")]
    yield entry(
        "training_costs", "what the training cost", costs, study.study, study.puzzle, lineage, literature, timed=True
    )
    yield entry("nearby_audit", "cost-to-go near the goal", ["audits/{}/nearby.parquet"])
    if study.optima is not None:
        yield entry("known_audit", "cost-to-go where optima are known", ["audits/{}/known.parquet"])
    yield entry("scrambled_costs", "cost-to-go by scramble", ["audits/{}/scrambled.parquet"])
    yield entry("greedy_shares", "greedy search as training goes on", ["audits/{}/greedy.parquet"])
    yield entry("large_mean_costs", "cost-to-go as training goes on", ["audits/{}/greedy.parquet"])
    if study.audit.progress is not None:
        audited = ["audits/{}/progress.parquet", "models/{}.json"]
        yield entry("progress", "solutions as training goes on", audited)
    for name in dict.fromkeys(search.set for search in study.grids):
        grid = ["searches/{}/grid.parquet"]
        yield entry("grid_heat_maps", f"BWAS on {name} by λ and N", grid, name)
        grid.append("timings/searches/{}.parquet")
        yield entry("grid_seconds", f"seconds of BWAS on {name} by λ and N", grid, name, timed=True)
    if study.beams:
        sets = {beams.set: study.instances[beams.set] for beams in study.beams}
        prefixes = [name for name, kind in sets.items() if isinstance(kind, PrefixInstances) and kind.shortest]
        widths = [name for name in sets if name not in prefixes]
        searches = ["beams/{}/searches.parquet"]
        yield entry("beam_lengths", "length by beam width", ["beams/{}/grid.parquet"], widths)
        clock = [*searches, "timings/beams/{}.parquet"]
        yield entry("beam_seconds", "seconds and length by beam width", clock, widths, timed=True)
        for name in prefixes:
            yield entry("prefix_lengths", f"lengths found on {name}", searches, name)
    if study.external is not None:
        kind = noun(study.puzzle)
        yield entry(EXTERNAL, f"external {kind}s beside their optima", ["external/{}/searches.parquet"], kind)


def _entry(
    study: PuzzleStudy, kind: str, label: str, model: str | None, inputs: list[str], *arguments, timed: bool = False
) -> FigureEntry:
    subject = model or study.puzzle
    return FigureEntry(
        name=f"{kind}_{subject}",
        label=f"{subject}: {label}",
        kind=kind,
        puzzle=study.puzzle,
        model=model,
        inputs=tuple(inputs),
        draw=partial(_draw, kind, arguments),
        timed=timed,
    )


def _draw(kind: str, arguments: tuple, results: Path) -> "Figure":
    """Draw by the function of costtogo.figures.drawings_large that bears the kind's name."""
    from costtogo.figures import drawings_large

    return getattr(drawings_large, kind)(Path(results), *arguments)
