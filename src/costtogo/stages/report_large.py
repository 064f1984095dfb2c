"""Stage: write the report of the study of a large puzzle, its tables, its headline numbers and its timings."""

from pathlib import Path

import pandas as pd

from costtogo.analysis.documents import documents
from costtogo.analysis.literature import rows_on
from costtogo.files import write_csv, write_json, write_text
from costtogo.params_large import LargeStudy
from costtogo.report.large_tables import tables
from costtogo.report.large_text import report
from costtogo.report.large_timings import search_timings, timings_text
from costtogo.report.quantities import TIMES
from costtogo.report.results import Beside, StudyResults
from costtogo.report.timings import stage_timings
from costtogo.report.verdicts import ALONE, compare, project
from costtogo.stages.leftovers import remove_others
from costtogo.stages.stage_run import StageRun, clocks_of, parameters_of, whole_cards


def run(params: Path, results: Path, reports: Path) -> None:
    """Write the report of a study; results and reports are the study's folders."""
    beside = Beside()
    cards = whole_cards(results)
    study = LargeStudy(**parameters_of(params))
    inputs = [*documents(study.puzzle, beside.reported), *cards]
    stage = StageRun("report_large", __name__, params, results / "report" / "report", inputs)
    numbers = write(study, results.parent, reports.parent, beside)
    kinds = ("report.md", "reported_vs_reproduced.csv", "metrics.json", "tables/*.csv", "figures/*.png")
    outputs = [path for kind in kinds for path in sorted(reports.glob(kind))]
    metrics = {f"{model}.{name}": value for model, part in numbers.items() for name, value in part.items()}
    stage.finish(outputs, metrics, clocks_of(reports))


def write(study: LargeStudy, results: Path, reports: Path, beside: Beside) -> dict:
    """Write report.md, metrics.json, timings.md, reported_vs_reproduced.csv, tables/*.csv and timings/*.csv.

    results and reports are the folders that hold one folder a study.  All but timings come out byte-identical from
    the same results.  Returns the headline numbers by model: the metrics of every card, by group.
    """
    target, found = reports / study.study, StudyResults(results / study.study, study, beside)
    frames = tables(found)
    reported = rows_on(found.puzzles, beside.reported)
    comparison = project(compare(reported, found), ALONE)
    written = {target / "tables" / f"{name}.csv": frame for name, frame in frames.items()}
    for path, frame in written.items():
        write_csv(path, frame)
    remove_others((target / "tables").glob("*.csv"), written)
    write_csv(target / "reported_vs_reproduced.csv", comparison)
    numbers = headline_numbers(found)
    write_json(target / "metrics.json", numbers)
    write_text(target / "report.md", report(found, frames, comparison, beside.captions))
    times = compare(reported[reported["quantity"].isin(TIMES)], found.with_times())
    _write_timings(found.with_times(), project(times, ALONE), target, beside.captions)
    return numbers


def headline_numbers(found: StudyResults) -> dict[str, dict[str, float]]:
    """What the cards of each model's stages have measured, by model; a measure's name begins with its group."""
    groups = ("models", "audits", "searches", "beams", "external")
    return {
        model: {
            f"{group}_{name}": value
            for group in groups
            for name, value in found.find_card(f"{group}/{model}").get("metrics", {}).items()
        }
        for model in found.model_names
    }


def _write_timings(found: StudyResults, times: pd.DataFrame, target: Path, captions: Path) -> None:
    stages = stage_timings(found)
    stages = stages[stages["group"] != "report"]  # of an earlier run
    searches = search_timings(found)
    write_csv(target / "timings" / "stages.csv", stages)
    write_csv(target / "timings" / "searches.csv", searches)
    write_csv(target / "timings" / "reported_vs_reproduced.csv", times)
    write_text(target / "timings.md", timings_text(found, stages, searches, times, captions))
