"""Write the reports of made-up results: reports.py FOLDER, in the root of a checkout.

The results come from tests/synthetic_*.py, including their times, so nothing is trained and every text and CSV of a
report can be compared: FOLDER/<study>/report.md, timings.md, metrics/*.json, *.csv.
"""

import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

import synthetic_large
import synthetic_local_vi
import synthetic_study

from costtogo.files import read_frame
from costtogo.report.write import write
from costtogo.tables.results import References, StudyResults

LARGE = ("cube3", "cube3-trainers", "puzzle15", "lights_out_7")
RESULTS, REPORTS, MEASURED = Path("results"), Path("reports"), Path("measured")
KINDS = ("*.md", "*.csv", "metrics/*.json")
PLACES = 6  # in made-up numbers: processors differ in the last digits of a logarithm


def write_results(listed, large, local) -> None:
    """Make up the results: for puzzles that can be listed, for each too large to list, for local value iteration."""
    synthetic_study.write_results(listed, RESULTS)
    synthetic_study.write_kept(MEASURED)
    for study in large:
        parts = [part for part in synthetic_large.PARTS if part != "external" or study.external]
        synthetic_large.write_results(study, RESULTS, parts)
    synthetic_local_vi.write_results(local, RESULTS)
    for path in RESULTS.rglob("*.parquet"):
        read_frame(path).round(PLACES).to_parquet(path, index=False)


def write_reports(listed, large, local) -> None:
    """Write the reports of the same studies."""
    for study in (listed, *map(synthetic_study.whole, [*large, local])):
        results = StudyResults(RESULTS / study.study, study, References(measured=MEASURED))
        write(results, REPORTS / study.study)


def main(folder: Path) -> None:
    """Write results and reports, and keep the readable files of the reports."""
    root, folder = Path.cwd(), folder.absolute()
    listed, local = synthetic_study.study_of((3, 4), name="listed"), synthetic_local_vi.study_of()
    studies = listed, [synthetic_large.study_of(name) for name in LARGE], local
    with tempfile.TemporaryDirectory() as work, chdir(work):
        for name in ("data", "workflow"):
            Path(name).symlink_to(root / name)
        write_results(*studies)
        write_reports(*studies)
        for path in sorted(path for kind in KINDS for path in REPORTS.rglob(kind)):
            target = folder / path.relative_to(REPORTS)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
