"""Stage: write the report of a study, its tables, its headline numbers and its timings."""

from pathlib import Path

from costtogo.files import read_csv, write_csv, write_json, write_text
from costtogo.stages.report_tables import gather, headline_numbers, reported_beside_reproduced, tables
from costtogo.stages.report_text import report
from costtogo.stages.report_timings import search_timings, stage_timings, timings_text

REPORTED = Path("data/reported/thesis.csv")
CAPTIONS = Path("workflow/captions")


def run(
    study,
    results: Path | str,
    reports: Path | str,
    reported: Path | str = REPORTED,
    captions: Path | str = CAPTIONS,
) -> None:
    """Write report.md, metrics.json, timings.md, reported_vs_reproduced.csv and tables/*.csv.

    results and reports are the folders that hold one folder a study; reported is the CSV of the literature's
    numbers and captions the folder of the figures' captions.  All but timings.md and tables/timings*.csv come
    out byte-identical from the same results.
    """
    target = Path(reports) / study.study
    found = gather(study, Path(results))
    literature = read_csv(reported, dtype={"section": str})
    comparison = reported_beside_reproduced(found, literature)
    for name, frame in tables(found).items():
        write_csv(target / "tables" / f"{name}.csv", frame)
    write_csv(target / "reported_vs_reproduced.csv", comparison)
    write_json(target / "metrics.json", headline_numbers(found))
    write_text(target / "report.md", report(study, found, comparison, Path(captions)))
    _write_timings(study, found, literature, target, Path(captions))


def _write_timings(study, found, literature, target: Path, captions: Path) -> None:
    stages, searches = stage_timings(found), search_timings(found, literature)
    write_csv(target / "tables" / "timings.csv", stages)
    write_csv(target / "tables" / "timings_searches.csv", searches)
    write_text(target / "timings.md", timings_text(study, found, stages, searches, literature, captions))
