"""Publish what a study measured: its rows into data/measured/<study>, its report into reports/published/<study>.

data/measured/<study>.json has the card of each finished stage, under timing what it noted of its run, and the tables
beside it the rows that the study's report reads (costtogo.tables.rows): the published report is written from these
alone. Of a study without a report the rows are those that reports of other studies may ask for, and one table of all
trainings repeated with several seeds that are no network of the literature; there stages kept before and gone since
stay. Pictures are those that the run drew.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from costtogo.cards import few
from costtogo.commands import variants
from costtogo.figures.drawing import write as draw
from costtogo.files import read_csv, read_frame, remove_others, write_bytes, write_csv, write_text
from costtogo.literature.reported import read_reported
from costtogo.params.study import Study
from costtogo.report.figures import Figures, is_kept, is_whole
from costtogo.report.overview import write_overview
from costtogo.report.pages import pictures_of
from costtogo.report.write import PUBLISHED, write
from costtogo.tables.extracts import FOR_OTHERS
from costtogo.tables.kept import ESTIMATES, REPORT, TABLES, cards_kept, whose
from costtogo.tables.results import TIMES, References, StudyResults
from costtogo.tables.rows import as_text, rows_of, told_of, write_rows
from costtogo.types import UserError

AGAIN = "again"  # the folder of whole reports written from what was kept
OF_ALL = (*variants.KEYS, ESTIMATES)  # tables of all trainings of a study, each a file
FORMATS = {"curve": "%.6g"}  # a row an iteration: figures need no more digits, and git a small file


def run(study: str, results: Path, measured: Path, reports: Path) -> None:
    """Keep a study's rows and write from them its report, or the reports that show its rows, and the overview.

    results, reports: the folders of all studies'.  measured: data/measured.  Raises UserError, and writes nothing,
    where files differ from their commit, or did when a stage ran; FileError where a table is missing.
    """
    refuse_changes()
    if StudyResults(results / study).find_card(REPORT) and not (reports / study / "report.md").exists():
        raise UserError(f"The figures of this run are not in {reports / study}: bring it with {results / study}.")
    keep(results / study, measured)
    cards = {path.stem: cards_kept(path) for path in sorted(measured.glob("*.json"))}
    shown = {name: kept[REPORT]["parameters"].get("beside", ()) for name, kept in cards.items() if REPORT in kept}
    for name in [study] if study in shown else [name for name, beside in shown.items() if study in beside]:
        write_published(name, reports, measured, reports / name if name == study else None)
    print(f"The overview is written: read {write_overview(reports)}.")


def refuse_changes() -> None:
    """Raise UserError unless the folder is a clean checkout: published results must belong to a commit."""
    asked = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True)
    if asked.returncode:
        raise UserError("This is no clone of costtogo, so that nothing can be published from it: start in one.")
    if changed := asked.stdout.splitlines():
        first, more = changed[0][3:], f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise UserError(f"Commit or stash what git status shows, {first}{more}: what is published is of a commit.")


def write_published(study: str, reports: Path, measured: Path, drawn: Path | None = None) -> None:
    """Write a study's report from what was kept of it, to reports/published.  reports: of all studies.

    drawn: the report that the run wrote, for its pictures; None for those that are there.
    """
    target = reports / PUBLISHED / study
    write(StudyResults.to_write_again(study, References(measured=measured)), target, short=True, deeper=True)
    shown = pictures_of(target)
    if drawn is not None:
        for picture in (picture for picture in shown if (drawn / picture).exists()):
            write_bytes(target / picture, (drawn / picture).read_bytes())
    remove_others(target.glob("figures/*"), {target / picture for picture in shown})
    for name in ("tables", "metrics", "timings", "svg"):
        shutil.rmtree(target / name, ignore_errors=True)
    print(f"The report of {study} is written: read {target / 'report.md'}.")


def write_whole(study: str, reports: Path, measured: Path) -> None:
    """Write a study's report with all its tables and figures from what was kept of it, to reports/again.

    Figures of more than was kept, such as of every state, are those that are published.  reports: of all studies.
    """
    again, published = reports / AGAIN, reports / PUBLISHED
    target, results = again / study, StudyResults.to_write_again(study, References(measured=measured))
    write(results, target, deeper=True)
    timed = results.with_times()
    for entry in Figures.of_study(results).entries:
        if is_kept(entry, timed):
            draw(entry, timed, target)
        elif (picture := published / study / entry.file("png")).exists():
            write_bytes(target / entry.file("png"), picture.read_bytes())
    print(f"The report of {study} is written: read {target / 'report.md'}.")


def keep(results: Path, out: Path) -> Path:
    """Keep a study's rows; results: results/<study>, out: data/measured.  Returns the folder of the rows.

    Raises FileError, and writes nothing, where a table that is to be kept is missing.
    """
    found = StudyResults(results, references=References(measured=out)).with_times()
    if not found.stages:
        raise UserError(f"{results} holds no finished stage to keep; run the study first.")
    if changed := [place for place, timing in found.timings.items() if timing.get("commit", "").endswith("+")]:
        raise UserError(f"{changed[0]} ran with uncommitted changes: commit, remove its card and run it again.")
    reported = found.find_card(REPORT)
    if reported:
        parameters = reported["parameters"]
        target = keep_with_report(StudyResults(results, Study(**parameters), found.references), parameters, out)
    else:
        target = keep_for_others(found, out)
    print(f"{len(found.stages)} stages of {found.study} kept in {target}")
    return target


def keep_with_report(results: StudyResults, parameters: dict[str, Any], out: Path) -> Path:
    """Keep what a report reads, with its parameters: it is written elsewhere, and what it asked for on the way is kept.

    results: of which nothing has been read yet.
    """
    with TemporaryDirectory() as folder:
        write(results, Path(folder))
    for entry in Figures.of_study(results.with_times()).entries:
        for address in filter(is_whole, entry.own_tables):
            results.with_times().find_frame(address)  # what was read is kept
    texts = {address: [*frame.select_dtypes(["object", "str"])] for address, frame in results.tables_read.items()}
    tables = {address: as_text(frame) for address, frame in results.tables_read.items()}
    cards = {place: {"timing": timing} for place, timing in results.timings.items() if place != REPORT}
    cards |= {place: _few(card, "inputs") for place, card in results.with_times().stages.items()}
    return write_study(out, results.study, cards | {REPORT: {"parameters": parameters}}, tables, texts)


def keep_for_others(results: StudyResults, out: Path) -> Path:
    """Keep what reports of other studies may ask for."""
    folder, named = out / results.study, models_of_document(results.study, results.references.reported)
    differ, target = (folder / f"{variants.VARIANTS}.csv").exists(), folder.with_suffix(".json")
    gathered = variants.gather(results, named, differ)
    kept = cards_kept(target) if target.exists() else {}
    cards = {place: _few(card, "inputs", "outputs") for place, card in results.stages.items()}
    repeated = {name.variant for model, name in results.trainings.items() if name.seed and f"models/{model}" in cards}
    once = {place for place in kept if place.split("/")[1] in repeated}  # kept before it was repeated with seeds
    rows = rows_of(folder)
    stay = [address for address in rows.told if whose(address)[0] not in cards.keys() | once]
    tables = {address: rows.text(address) for address in stay}
    for address, frame in _for_others(results, named):
        tables[address] = as_text(frame, FORMATS.get(address.rpartition("/")[2]))
    for name, frame in gathered.items():
        write_csv(folder / f"{name}.csv", _with_kept(folder / f"{name}.csv", frame, variants.KEYS[name]))
    cards = {place: kept[place] for place in kept.keys() - once} | cards
    return write_study(out, results.study, cards, tables)


def models_of_document(study: str, reported: Path) -> set[str]:
    """The networks that data/reported names of the document whose recipes a study repeats, by its name."""
    rows = read_reported(sorted([*reported.glob("thesis.csv"), *reported.glob("*/*.csv")]))
    return set(rows.loc[rows["source"] == study, "model"].dropna())


def _for_others(results: StudyResults, named: set[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of FOR_OTHERS that there are, whole, of trainings that are not repeated, or are of the literature."""
    gathered = variants.in_one_table(results, named)
    for place in results.stages:
        group, name = place.split("/")
        for kind in FOR_OTHERS if name not in gathered else ():
            first, table = kind.split("/")
            address = f"{TIMES}/{place}" if kind == f"{TIMES}/{group}" else f"{place}/{table}"
            path = results.folder / f"{address}.parquet"
            if group in (first, table) and path.exists():
                yield address, read_frame(path)


def _with_kept(path: Path, frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The rows of a table, and those kept before of trainings that it does not have."""
    if not path.exists():
        return frame
    before = read_csv(path)
    again = pd.MultiIndex.from_frame(before[keys]).isin(pd.MultiIndex.from_frame(frame[keys]))
    return pd.concat([before[~again], frame], ignore_index=True)


def _few(card: dict[str, Any], *names: str) -> dict[str, Any]:
    """A card with as few of the files that it names as are kept."""
    return card | {name: few(card[name]) for name in names if name in card}


def write_study(
    out: Path, study: str, cards: dict[str, Any], tables: dict[str, pd.DataFrame], texts: dict[str, Any] | None = None
) -> Path:
    """Write what is kept of a study, its tables, as as_text makes them, and its JSON.  Returns the tables' folder.

    A line for each stage and each table, so that git shows which have changed.  texts: the columns of text, by address.
    """
    written = write_rows(out / study, tables)
    remove_others((out / study).glob("*.csv"), [*written, *(out / study / f"{name}.csv" for name in OF_ALL)])
    told = {address: told_of(frame, (texts or {}).get(address, ())) for address, frame in sorted(tables.items())}
    lines = [f"{json.dumps(place)}: {json.dumps(card)}" for place, card in sorted(cards.items())]
    inner = ",\n".join(f"{json.dumps(address)}: {json.dumps(each)}" for address, each in told.items())
    lines.append(f'"{TABLES}": {{\n{inner}\n}}')
    write_text(out / f"{study}.json", "{\n" + ",\n".join(lines) + "\n}\n")
    return out / study
