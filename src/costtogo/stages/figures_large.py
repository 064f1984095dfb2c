"""Stage: draw the figures of the study of a large puzzle, of what has been run."""

from pathlib import Path

from costtogo.figures.catalogue_large import drawable
from costtogo.params_large import LargeStudy
from costtogo.stages.figures import draw_all


def run(study: LargeStudy, results: Path, reports: Path) -> list[Path]:
    """Draw into reports/<study>; results and reports are the folders that hold one folder a study."""
    source = results / study.study
    return draw_all(drawable(study, source), source, reports / study.study)
