"""Stage: write the report of the study of local value iteration, its tables and its timings."""

from pathlib import Path

import pandas as pd

from costtogo.figures.catalogue import of_puzzle
from costtogo.files import read_text, write_csv, write_json, write_text
from costtogo.params.study import Study, alone
from costtogo.report import local_vi
from costtogo.report.local_vi_compared import REPORTED, compare, read_reported
from costtogo.report.results import StudyResults
from costtogo.report.tables import tables
from costtogo.stages.figures import remove_figures
from costtogo.stages.leftovers import remove_others
from costtogo.stages.stage_run import StageRun, parameters_of, whole_cards

CAPTIONS = Path("workflow/captions")


def run(params: Path, results: Path, reports: Path) -> None:
    """Write everything; results and reports are the study's folders."""
    study = alone(Study(**parameters_of(params)))
    cards = whole_cards(results)
    stage = StageRun("report_local_vi", __name__, params, results / "report" / "report", [REPORTED, *cards])
    found = StudyResults(results, study, timed=True)
    reported, figures = read_reported(), of_puzzle(study)
    frames = tables(found)
    comparison, timed = compare(reported, found), compare(reported, found, timed=True)
    metrics = {f"{row.initial_size}_average_moves": row.average_moves for row in frames["sizes"].itertuples()}
    written = write_tables(reports, frames, comparison, timed)

    def drawn(kind: str) -> str:
        """A figure as Markdown."""
        (entry,) = (entry for entry in figures if entry.kind == f"local_vi_{kind}")
        caption = " ".join(read_text(CAPTIONS / f"{entry.kind}.rst").split())
        label = entry.label.partition(": ")[2]
        return f"![{label}]({entry.stem}.png)\n\n**{label[0].upper()}{label[1:]}.** {caption}\n"

    write_json(reports / "metrics.json", metrics)
    write_text(reports / "report.md", local_vi.chapter(found, frames, comparison, drawn))
    write_text(reports / "timings.md", local_vi.timings(found, timed, drawn))
    for folder in ("tables", "timings"):
        remove_others((reports / folder).glob("*.csv"), written)
    remove_figures(reports, figures)
    files = sorted(reports.rglob("*.*"))
    timed = [path for path in files if "timings" in str(path.relative_to(reports))]
    stage.finish([path for path in files if path not in timed], metrics, timed)


def write_tables(
    reports: Path, frames: dict[str, pd.DataFrame], comparison: pd.DataFrame, timed: pd.DataFrame
) -> list[Path]:
    """Write the tables and the numbers reported beside ours; returns their files."""
    files = {reports / "tables" / f"{name}.csv": frame for name, frame in frames.items()}
    files[reports / "reported_vs_reproduced.csv"] = comparison
    files[reports / "timings" / "reported_vs_reproduced.csv"] = timed
    for path, frame in files.items():
        write_csv(path, frame)
    return list(files)
