"""Keep in git what a study measured: data/measured/<study>.json and data/measured/<study>/*.csv.

The JSON has the card of each finished stage, under timing what it noted of its run. The CSVs are the tables that the
study's report reads, so that the report can be written again from them. Of a study without a report they are those that
reports of other studies may ask for, and one table of all trainings repeated with several seeds that are no network of
the literature; there stages kept before and gone since stay.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from costtogo.analysis.documents import REPORT
from costtogo.analysis.literature import read_reported
from costtogo.cards import few
from costtogo.commands import variants
from costtogo.files import read_csv, read_frame, read_json, remove_others, write_csv, write_text
from costtogo.params.base import variant_of
from costtogo.params.study import Study
from costtogo.report.extracts import FOR_OTHERS
from costtogo.report.results import TIMES, References, StudyResults, kept_name
from costtogo.report.write import write
from costtogo.types import UserError

NO_MEASURES = ("timings", "resume", "figures", "report")  # folders of no stage, or of one that measures nothing
FORMATS = {"curve": "%.6g"}  # a row an iteration: figures need no more digits, and git a small file


def run(results: Path, out: Path) -> Path:
    """Keep a study; results: results/<study>, out: data/measured.  Returns the JSON file.

    Raises FileError, and writes nothing, where a table that is to be kept is missing.
    """
    found = StudyResults(results, references=References(measured=out)).with_times()
    if not _cards(found):
        raise UserError(f"{results} holds no finished stage to keep; run the study first.")
    reported = found.find_card(REPORT)
    if reported:
        parameters = reported["parameters"]
        target = keep_with_report(StudyResults(results, Study(**parameters), found.references), parameters, out)
    else:
        target = keep_for_others(found, out)
    print(f"{len(_cards(found))} stages of {found.study} kept in {target}")
    return target


def keep_with_report(results: StudyResults, parameters: dict[str, Any], out: Path) -> Path:
    """Keep what a report reads, with its parameters: it is written elsewhere, and what it asked for on the way is kept.

    results: of which nothing has been read yet.
    """
    with TemporaryDirectory() as folder:
        write(results, Path(folder))
    tables = {address: out / results.study / kept_name(address) for address in results.tables_read}
    texts = {address: [*frame.select_dtypes(["object", "str"])] for address, frame in results.tables_read.items()}
    for address, frame in results.tables_read.items():
        write_csv(tables[address], frame)
    remove_others((out / results.study).glob("*.csv"), tables.values())
    cards = {place: {"timing": timing} for place, timing in results.timings.items() if place != REPORT}
    cards |= {place: _few(card, "inputs") for place, card in _cards(results.with_times()).items()}
    return _write_cards(out, results.study, cards | {REPORT: {"parameters": parameters, "texts": texts}})


def keep_for_others(results: StudyResults, out: Path) -> Path:
    """Keep what reports of other studies may ask for."""
    folder, named = out / results.study, models_of_document(results.study, results.references.reported)
    gathered, target = variants.gather(results.folder, named), folder.with_suffix(".json")
    for address, frame in _for_others(results, named):
        write_csv(folder / kept_name(address), frame, float_format=FORMATS.get(address.rpartition("/")[2]))
    for name, frame in gathered.items():
        write_csv(folder / f"{name}.csv", _with_kept(folder / f"{name}.csv", frame, variants.KEYS[name]))
    kept = read_json(target) if target.exists() else {}
    cards = {place: _few(card, "inputs", "outputs") for place, card in _cards(results).items()}
    repeated = {variant_of(place.split("/")[1])[0] for place in cards if variant_of(place)[1]}
    once = {place for place in kept if place.split("/")[1] in repeated}  # kept before it was repeated with seeds
    return _write_cards(out, results.study, {place: kept[place] for place in kept.keys() - once} | cards)


def models_of_document(study: str, reported: Path) -> set[str]:
    """The networks that data/reported names of the document whose recipes a study repeats, by its name."""
    rows = read_reported(sorted([*reported.glob("thesis.csv"), *reported.glob("*/*.csv")]))
    return set(rows.loc[rows["source"] == study, "model"].dropna())


def _for_others(results: StudyResults, named: set[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of FOR_OTHERS that there are, whole, of trainings that are not repeated, or are of the literature."""
    for place in _cards(results):
        group, name = place.split("/")
        for kind in FOR_OTHERS if not variants.is_variant(name, named) else ():
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


def _cards(results: StudyResults) -> dict[str, dict[str, Any]]:
    """The cards of all stages that have measured something, by address."""
    paths = [path for path in results.folder.glob("*/*.json") if path.parent.name not in NO_MEASURES]
    return {place: results.find_card(place) for place in (f"{path.parent.name}/{path.stem}" for path in paths)}


def _few(card: dict[str, Any], *names: str) -> dict[str, Any]:
    """A card with as few of the files that it names as are kept."""
    return card | {name: few(card[name]) for name in names if name in card}


def _write_cards(out: Path, study: str, cards: dict[str, dict[str, Any]]) -> Path:
    """Write a line for each stage, so that git shows which have changed."""
    lines = [f"{json.dumps(place)}: {json.dumps(card)}" for place, card in sorted(cards.items())]
    target = out / f"{study}.json"
    write_text(target, "{\n" + ",\n".join(lines) + "\n}\n")
    return target
