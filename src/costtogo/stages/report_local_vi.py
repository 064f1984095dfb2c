"""Stage: write the report of the study of local value iteration, its figures, its tables and its timings."""

from pathlib import Path

import pandas as pd

from costtogo.figures import local_vi as drawings
from costtogo.figures.catalogue import KINDS, file_of
from costtogo.figures.style import image
from costtogo.files import read_text, write_bytes, write_csv, write_json, write_text
from costtogo.params_local_vi import LocalViStudy
from costtogo.puzzles import make
from costtogo.report import local_vi
from costtogo.report.local_vi_compared import REPORTED, compare, local, read_reported
from costtogo.report.results import StudyResults
from costtogo.report.tables import tables
from costtogo.stages.leftovers import remove_others
from costtogo.stages.stage_run import StageRun, parameters_of, whole_cards

LABELS = {
    "policy": ("figures", "what the policy does with each tile"),
    "lengths_by_size": ("figures", "lengths by initial size"),
    "lengths_by_class": ("figures", "random boards by class"),
    "compared": ("timings", "every board by every solver"),
}
CAPTIONS = Path("workflow/captions")


def run(params: Path, results: Path, reports: Path) -> None:
    """Write everything; results and reports are the study's folders."""
    study = LocalViStudy(**{name: value for name, value in parameters_of(params).items() if name != "puzzle"})
    cards = whole_cards(results)
    stage = StageRun("report_local_vi", __name__, params, results / "report" / "report", [REPORTED, *cards])
    found = StudyResults(results, study, timed=True)
    reported = read_reported()
    frames = tables(found)
    comparison, timed = compare(reported, found), compare(reported, found, timed=True)
    metrics = {f"{row.initial_size}_average_moves": row.average_moves for row in frames["sizes"].itertuples()}
    written = write_figures(reports, draw(found, reported, frames))
    written += write_tables(reports, frames, comparison, timed)
    write_json(reports / "metrics.json", metrics)
    write_text(reports / "report.md", local_vi.chapter(found, frames, comparison, drawn))
    write_text(reports / "timings.md", local_vi.timings(found, timed, drawn))
    for folder in ("figures", "svg/figures", "svg/timings", "tables", "timings"):
        remove_others((reports / folder).glob("*.*"), written)
    files = sorted(reports.rglob("*.*"))
    timed = [path for path in files if "timings" in str(path.relative_to(reports))]
    stage.finish([path for path in files if path not in timed], metrics, timed)


def drawn(kind: str) -> str:
    """A figure as Markdown."""
    folder, label = LABELS[kind]
    caption = " ".join(read_text(CAPTIONS / f"local_vi_{kind}.rst").split())
    return f"![{label}]({folder}/{kind}.png)\n\n**{label[0].upper()}{label[1:]}.** {caption}\n"


def write_figures(reports: Path, figures: dict) -> list[Path]:
    """Write the figures of draw in each kind; returns their files."""
    written = []
    for (folder, name), figure in figures.items():
        for kind in KINDS:
            written.append(reports / file_of(f"{folder}/{name}", kind))
            write_bytes(written[-1], image(figure, kind))
    return written


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


def draw(results: StudyResults, reported: pd.DataFrame, frames: dict[str, pd.DataFrame]) -> dict:
    """The figures by folder and name; those that a clock tells of stand among the timings."""
    numbers = reported[reported["section"].isin(["Table 1", "Table 2"])].assign(
        value=lambda rows: rows["value"].astype(float)
    )
    boards = local(results, "boards").rename(columns={"length_1": "length", "considered_1": "considered"})
    table_1, table_2 = (numbers[numbers["section"] == name] for name in ("Table 1", "Table 2"))
    classes = local_vi.one_tile_a_step(frames["classes"])
    found = {
        ("figures", "policy"): drawings.policy(local(results, "policy"), make(results.puzzle).side),
        ("figures", "lengths_by_size"): drawings.lengths_by_size(frames["sizes"], table_2),
        ("figures", "lengths_by_class"): drawings.lengths_by_class(boards, classes, table_1),
    }
    if "compared" in frames:
        searches, clock = (results.frame(f"{place}compared/{results.puzzle}") for place in ("", "timings/"))
        found["timings", "compared"] = drawings.compared(searches, clock)
    return found
