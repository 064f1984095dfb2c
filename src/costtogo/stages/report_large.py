"""Stage: write the report of the study of a large puzzle, its tables, its headline numbers and its timings."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from costtogo.analysis.documents import REPORTED, documents
from costtogo.analysis.literature import read_reported
from costtogo.figures.catalogue import drawn, of_puzzle
from costtogo.files import write_csv, write_json, write_text
from costtogo.params.study import PuzzleStudy, Study, alone
from costtogo.report import sampled, timings
from costtogo.report.large_answers import Findings
from costtogo.report.large_compared import compared, explanations, rows_table
from costtogo.report.large_comparison import LARGE_TIMES, compare
from costtogo.report.provenance import provenance_text
from costtogo.report.render import gallery, render
from costtogo.report.results import StudyResults
from costtogo.report.tables import headline_numbers, tables
from costtogo.stages.figures import remove_figures
from costtogo.stages.leftovers import remove_others
from costtogo.stages.stage_run import StageRun, clocks_of, parameters_of, whole_cards


@dataclass(frozen=True)
class Beside:
    """What stands beside a study's results in its report: the literature's folders, the captions of the figures."""

    reported: Path = REPORTED
    captions: Path = Path("workflow/captions")

    def files(self, puzzle: str) -> list[Path]:
        """The documents that have numbers on a puzzle, the thesis first."""
        return documents(puzzle, self.reported)


def run(params: Path, results: Path, reports: Path) -> None:
    """Write the report of a study; results and reports are the study's folders."""
    beside = Beside()
    cards = whole_cards(results)
    study = alone(Study(**parameters_of(params)))
    inputs = [*beside.files(study.puzzle), *cards]
    stage = StageRun("report_large", __name__, params, results / "report" / "report", inputs)
    numbers = write(study, results.parent, reports.parent, beside)
    remove_figures(reports, drawn(of_puzzle(study), StudyResults(results, study).find_card))
    kinds = ("report.md", "reported_vs_reproduced.csv", "metrics.json", "tables/*.csv", "figures/*.png")
    outputs = [path for kind in kinds for path in sorted(reports.glob(kind))]
    metrics = {f"{model}.{name}": value for model, part in numbers.items() for name, value in part.items()}
    stage.finish(outputs, metrics, clocks_of(reports))


def write(study: PuzzleStudy, results: Path, reports: Path, beside: Beside) -> dict:
    """Write report.md, metrics.json, timings.md, reported_vs_reproduced.csv, tables/*.csv and timings/*.csv.

    results and reports are the folders that hold one folder a study.  All but timings come out byte-identical from
    the same results.  Returns the headline numbers by model: the metrics of every card, by group.
    """
    target, found = reports / study.study, StudyResults(results / study.study, study)
    frames = tables(found)
    reported = read_reported(beside.files(study.puzzle), study.puzzle)
    own = Findings(found, study.headline or min(study.models))
    comparison = compare(reported, own)
    written = {target / "tables" / f"{name}.csv": frame for name, frame in frames.items()}
    for path, frame in written.items():
        write_csv(path, frame)
    remove_others((target / "tables").glob("*.csv"), written)
    write_csv(target / "reported_vs_reproduced.csv", comparison)
    numbers = headline_numbers(found)
    write_json(target / "metrics.json", numbers)
    chapter = sampled.Chapter(found, frames, comparison, drawn_of(found, beside.captions))
    parts = [f"# {sampled.heading(found)}: the study `{found.study}`\n", chapter.text()]
    parts += [*compared(comparison, explanations(found)), provenance_text(found)]
    write_text(target / "report.md", "\n".join(parts))
    timed = Findings(found.with_times(), own.model)
    times = compare(reported[reported["quantity"].isin(LARGE_TIMES)], timed)
    _write_timings(timed.results, times, target, beside.captions)
    return numbers


def drawn_of(found: StudyResults, captions: Path):
    """A function that gives the figures of some kinds as Markdown."""
    entries = drawn(of_puzzle(found.params), found.find_card)
    return lambda *kinds: "\n".join(
        gallery([entry for entry in entries if entry.kind == kind], captions) for kind in kinds
    )


def _write_timings(found: StudyResults, times: pd.DataFrame, target: Path, captions: Path) -> None:
    stages = timings.stage_timings(found)
    write_csv(target / "timings" / "stages.csv", stages)
    write_csv(target / "timings" / "searches.csv", timings.search_timings(found))
    write_csv(target / "timings" / "reported_vs_reproduced.csv", times)
    entries = [entry for entry in drawn(of_puzzle(found.params), found.find_card) if entry.timed]
    covered = times[times["reproduced"].notna()]
    literature = rows_table(covered) if len(covered) else ""
    parts = [
        render("timings", study=found.study, stages=stages),
        timings.of_sampled(found, literature, lambda: "\n".join(gallery([entry], captions) for entry in entries)),
    ]
    write_text(target / "timings.md", "\n".join(parts))
