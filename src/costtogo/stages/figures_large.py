"""Stage: draw the figures of the study of a large puzzle, of what has been run."""

from pathlib import Path

from costtogo.figures.catalogue import KINDS
from costtogo.figures.catalogue_large import drawable
from costtogo.params.study import PuzzleStudy, Study, alone
from costtogo.stages.figures import draw_all
from costtogo.stages.stage_run import StageRun, whole_cards


def run(params: Path, results: Path, reports: Path) -> None:
    """Draw the figures of a study; results and reports are the study's folders."""
    stage = StageRun("figures_large", __name__, params, results / "figures" / "figures", whole_cards(results))
    written = draw_catalogue(alone(Study(**stage.parameters)), results.parent, reports.parent)
    timed = [path for path in written if "timings" in path.parts]
    drawn = [path for path in written if path not in timed]
    stage.finish(drawn, {"figures": len(written) // len(KINDS)}, timed, tracked=False)


def draw_catalogue(study: PuzzleStudy, results: Path, reports: Path) -> list[Path]:
    """Draw into reports/<study>; results and reports are the folders that hold one folder a study."""
    source = results / study.study
    return draw_all(drawable(study, source), source, reports / study.study)
