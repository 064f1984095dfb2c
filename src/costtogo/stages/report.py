"""Stage: write the report of a study, its tables, its headline numbers and its timings."""

from pathlib import Path

from costtogo.figures.catalogue import MEASURED
from costtogo.files import read_csv, write_csv, write_json, write_text
from costtogo.params import Study
from costtogo.stages.frame import StageRun
from costtogo.stages.report_measured import measured_text
from costtogo.stages.report_tables import gather, headline_numbers, reported_beside_reproduced, tables
from costtogo.stages.report_text import report
from costtogo.stages.report_timings import search_timings, stage_timings, timings_text

REPORTED = Path("data/reported/thesis.csv")
CAPTIONS = Path("workflow/captions")


def run(params: Path, results: Path, reports: Path) -> None:
    """Write the report of a study; results and reports are the study's folders."""
    cards = [path for path in sorted(results.glob("*/*.json")) if path.parent.name != "report"]
    inputs = [REPORTED, *sorted(MEASURED.glob("*.json")), *cards]
    stage = StageRun("report", __name__, params, results / "report" / "report", inputs)
    study = Study(**stage.parameters)
    numbers = write(study, results.parent, reports.parent, REPORTED, CAPTIONS, MEASURED)
    kinds = ("report.md", "reported_vs_reproduced.csv", "metrics.json", "tables/*.csv", "figures/*.png")
    outputs = [path for kind in kinds for path in sorted(reports.glob(kind))]
    stage.finish(outputs, {f"{model}.{name}": value for model, part in numbers.items() for name, value in part.items()})


def write(study, results: Path, reports: Path, reported: Path, captions: Path, measured: Path) -> dict:
    """Write report.md, metrics.json, timings.md, reported_vs_reproduced.csv, tables/*.csv and timings/*.csv.

    results and reports are the folders that hold one folder a study; reported is the CSV of the literature's
    numbers, captions the folder of the figures' captions, measured that of what longer studies kept.  All but
    timings come out byte-identical from the same results.  Returns the headline numbers by model.
    """
    target = reports / study.study
    found = gather(study, results)
    literature = read_csv(reported, dtype={"section": str})
    comparison = reported_beside_reproduced(found, literature)
    for name, frame in tables(found).items():
        write_csv(target / "tables" / f"{name}.csv", frame)
    write_csv(target / "reported_vs_reproduced.csv", comparison)
    numbers = headline_numbers(found)
    write_json(target / "metrics.json", numbers)
    text = report(study, found, comparison, captions, measured)
    write_text(target / "report.md", text + measured_text(measured))
    _write_timings(study, found, literature, target, captions)
    return numbers


def _write_timings(study, found, literature, target: Path, captions: Path) -> None:
    stages, searches = stage_timings(found), search_timings(found, literature)
    write_csv(target / "timings" / "stages.csv", stages)
    write_csv(target / "timings" / "searches.csv", searches)
    write_text(target / "timings.md", timings_text(study, found, stages, searches, literature, captions))
