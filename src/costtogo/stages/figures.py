"""Stage: draw the figures of a part of a study, those of a puzzle, of a model or of what another study kept.

Each is a PNG and an SVG below reports/<study>/.
"""

from collections.abc import Iterable
from pathlib import Path

from costtogo.figures.catalogue import KINDS, FigureEntry, drawn
from costtogo.figures.drawing import files_of, write
from costtogo.files import remove_others
from costtogo.stages.stage_run import StageRun, parameters_of
from costtogo.tables.results import StudyResults


def run(params: Path, results: Path, reports: Path) -> None:
    """Draw the figures that the recipe lists; results and reports are the study's folders.

    Raises FileError where a result that a figure needs is missing.
    """
    parameters = parameters_of(params)

    found, listed = StudyResults(results), [FigureEntry(**entry) for entry in parameters["figures"]]
    entries = [entry for entry in listed if not entry.optional or drawn([entry], found.find_card)]
    read = {path for entry in entries for path in files_of(entry, found) if "timings" not in path.parts}
    stage = StageRun("figures", __name__, params, results / "figures" / parameters["part"], sorted(read))
    files = {entry: write(entry, found, reports) for entry in entries}
    outputs, timed = ([path for entry, paths in files.items() if entry.timed == of_time for path in paths]
                      for of_time in (False, True))  # fmt: skip
    stage.finish(outputs, {"figures": len(entries)}, timed, tracked=False)


def remove_figures(reports: Path, entries: Iterable[FigureEntry]) -> None:
    """Remove the pictures of a study that are none of its figures: those of models that it no longer has."""
    shown = {reports / entry.file(kind) for entry in entries for kind in KINDS}
    folders = (reports / place for place in ("figures", "timings", "svg/figures", "svg/timings"))
    remove_others((path for folder in folders for kind in KINDS for path in folder.glob(f"*.{kind}")), shown)
