"""Stage: write the report of a study, its tables, its headline numbers and its timings."""

from pathlib import Path

from costtogo.files import flatten
from costtogo.literature.documents import read_by_report
from costtogo.params.study import Study
from costtogo.report.figures import Figures
from costtogo.report.write import write
from costtogo.stages.figures import remove_figures
from costtogo.stages.stage_run import StageRun, clocks_of, parameters_of, whole_cards
from costtogo.tables.results import References, StudyResults

WRITTEN = ("report.md", "pages/*.md", "reported_vs_reproduced.csv", "metrics/*.json", "tables/*.csv", "figures/*.png")


def run(params: Path, results: Path, reports: Path) -> None:
    """Write the report of a study; results and reports are the study's folders."""
    study, cards = Study(**parameters_of(params)), whole_cards(results)
    inputs = [*read_by_report(study), *cards]
    stage = StageRun("report", __name__, params, results / "report" / "report", inputs)
    found = StudyResults(results, study, References())
    numbers = write(found, reports)
    remove_figures(reports, Figures.of_study(found).entries)
    outputs = [path for kind in WRITTEN for path in sorted(reports.glob(kind))]
    stage.finish(outputs, flatten(numbers), clocks_of(reports))
