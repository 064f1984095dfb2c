"""Stage: write the report of a study, its tables, its headline numbers and its timings."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from costtogo.analysis.literature import rows_on
from costtogo.figures.catalogue import catalogue, kept_of
from costtogo.files import write_csv, write_json, write_text
from costtogo.params import Study
from costtogo.report.answers.puzzle import listings
from costtogo.report.literature import documents, repeated
from costtogo.report.measured import measured_text
from costtogo.report.quantities import TIMES
from costtogo.report.results import Beside, StudyResults
from costtogo.report.standing import THESIS
from costtogo.report.tables import headline_numbers, tables
from costtogo.report.text import gallery, report
from costtogo.report.timings import search_timings, stage_timings, timings_text
from costtogo.report.variants import variants_text
from costtogo.report.verdicts import BY_RECIPE, compare, project
from costtogo.stages.leftovers import remove_others
from costtogo.stages.stage_run import StageRun, clocks_of, whole_cards


def run(params: Path, results: Path, reports: Path) -> None:
    """Write the report of a study; results and reports are the study's folders."""
    beside = Beside()
    cards = whole_cards(results)
    stage = StageRun("report", __name__, params, results / "report" / "report", [*files(beside), *cards])
    study = Study(**stage.parameters)
    numbers = write(study, results.parent, reports.parent, beside)
    kinds = ("report.md", "reported_vs_reproduced.csv", "metrics.json", "tables/*.csv", "figures/*.png")
    outputs = [path for kind in kinds for path in sorted(reports.glob(kind))]
    metrics = {f"{model}.{name}": value for model, part in numbers.items() for name, value in part.items()}
    stage.finish(outputs, metrics, clocks_of(reports))


def write(study, results: Path, reports: Path, beside: Beside) -> dict:
    """Write report.md, metrics.json, timings.md, reported_vs_reproduced.csv, tables/*.csv and timings/*.csv.

    results and reports are the folders that hold one folder a study.  All but timings come out byte-identical
    from the same results.  Returns the headline numbers by model.
    """
    target = reports / study.study
    found = StudyResults(results / study.study, study, beside)
    reported = rows_on(found.puzzles, beside.reported)
    comparison = project(compare(reported, found), BY_RECIPE)
    written = {target / "tables" / f"{name}.csv": frame for name, frame in tables(found).items()}
    for path, frame in written.items():
        write_csv(path, frame)
    remove_others((target / "tables").glob("*.csv"), written)
    write_csv(target / "reported_vs_reproduced.csv", comparison)
    numbers = headline_numbers(found)
    write_json(target / "metrics.json", numbers)
    kept = [found.kept(path.stem) for path in kept_of(found.puzzles, beside.measured)]
    sections = [*literature(comparison, found), variants_text(kept, pictures(found, beside))]
    text = report(found, beside.captions, beside.measured, *sections)
    write_text(target / "report.md", text + measured_text(kept))
    times = compare(reported[reported["quantity"].isin(TIMES)], found.with_times())
    _write_timings(found.with_times(), project(times, BY_RECIPE), target, beside)
    return numbers


def literature(comparison: pd.DataFrame, found: StudyResults) -> Iterator[str]:
    """The literature's numbers beside ours, section by section."""
    thesis = comparison["source"] == THESIS
    if thesis.any():
        yield repeated(comparison[thesis], listings(found))
    if not thesis.all():
        columns = {"reproduced_thesis": "reproduced", "reason": "note"}
        others = comparison[~thesis].rename(columns=columns)
        yield documents(others, "The final-year report")
    if comparison.empty:
        yield "## Reported and reproduced\n\nThe literature in data/reported has no number on these puzzles."


def files(beside: Beside) -> list[Path]:
    """What a report reads beside results: the literature's numbers and listings, and what longer studies kept."""
    return sorted([*beside.reported.glob("**/*.csv"), *beside.measured.glob("**/*.[cj]s*")])


def pictures(found: StudyResults, beside: Beside):
    """A function that gives the figures of a kind on a puzzle as Markdown."""
    entries = catalogue(found.params, beside.measured)

    def drawn(kind: str, puzzle: str) -> str:
        chosen = [entry for entry in entries if (entry.kind, entry.puzzle) == (kind, puzzle)]
        return gallery(chosen, beside.captions)

    return drawn


def _write_timings(found: StudyResults, comparison: pd.DataFrame, target: Path, beside: Beside) -> None:
    stages, searches = stage_timings(found), search_timings(found)
    write_csv(target / "timings" / "stages.csv", stages)
    write_csv(target / "timings" / "searches.csv", searches)
    write_csv(target / "timings" / "reported_vs_reproduced.csv", comparison)
    write_text(target / "timings.md", timings_text(found, stages, searches, comparison, beside.captions))
