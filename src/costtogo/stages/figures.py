"""Stage: draw every figure of a study as PNG and SVG."""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from costtogo.figures.catalogue import KINDS, MEASURED, FigureEntry, catalogue
from costtogo.files import FileError, write_bytes
from costtogo.params.study import Study
from costtogo.stages.leftovers import remove_others
from costtogo.stages.stage_run import StageRun, whole_cards


def run(params: Path, results: Path, reports: Path) -> None:
    """Draw the figures of a study; results and reports are the study's folders."""
    stage = StageRun("figures", __name__, params, results / "figures" / "figures", whole_cards(results))
    written = draw_catalogue(Study(**stage.parameters), results.parent, reports.parent)
    timed = [path for path in written if "timings" in path.parts]
    drawn = [path for path in written if path not in timed]
    stage.finish(drawn, {"figures": len(written) // len(KINDS)}, timed, tracked=False)


def draw_catalogue(
    study, results: Path | str, reports: Path | str, measured: Path = MEASURED, processes: int = 2
) -> list[Path]:
    """Draw the study's catalogue into reports/<study> and return the files written.

    results and reports are the folders that hold one folder a study, measured that of what other studies kept.
    Figures of models that the study no longer has are removed.
    Raises FileError where a result that a figure needs is missing.
    """
    source, target = Path(results) / study.study, Path(reports) / study.study
    entries = catalogue(study, measured)
    _demand_inputs(entries, source)
    return draw_all(entries, source, target, processes)


def draw_all(entries: list[FigureEntry], source: Path, target: Path, processes: int = 2) -> list[Path]:
    """Draw figures in parallel from source, results/<study>, to target, reports/<study>; others there are removed."""
    with ProcessPoolExecutor(max_workers=processes) as pool:
        written = list(pool.map(draw, entries, [source] * len(entries), [target] * len(entries)))
    paths = [path for paths in written for path in paths]
    for folder in {path.parent for path in paths}:
        remove_others((path for kind in KINDS for path in folder.glob(f"*.{kind}")), paths)
    return paths


def draw(entry: FigureEntry, source: Path, target: Path) -> list[Path]:
    """Draw one figure and write it in every kind."""
    from costtogo.figures.style import image

    figure = entry.draw(source)
    paths = [target / entry.file(kind) for kind in KINDS]
    for path, kind in zip(paths, KINDS, strict=True):
        write_bytes(path, image(figure, kind))
    return paths


def _demand_inputs(entries: list[FigureEntry], source: Path) -> None:
    for entry in entries:
        for path in entry.inputs:
            if not (source / path).exists():
                raise FileError(f"The figure {entry.name} needs {source / path}; run the stage that writes it first.")
