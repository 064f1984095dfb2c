"""Keep what a long study measured, in git: data/measured/<study>.json and data/measured/<study>/*.csv.

The JSON has each finished stage's card with its timing, the CSVs the tables behind the metrics; of trainings
repeated with several seeds, one table of all. Stages kept before and gone since stay.
"""

from pathlib import Path

import pandas as pd

from costtogo.files import read_csv, read_frame, read_json, write_csv, write_json
from costtogo.params.base import variant_of
from costtogo.stages import variants
from costtogo.types import UserError

KEPT = ("stage", "parameters", "inputs", "outputs", "code", "versions", "metrics")
UNKEPT = ("timings", "resume", "figures")  # folders of no stage, or of one that has measured nothing
TABLES = {  # of each group
    "models": ("curve", "checkpoints"),
    "audits": ("measures", "by_distance"),
    "searches": ("selection", "grid", "checkpoints", "checkpoints_by_distance"),
}
FORMATS = {"curve": "%.6g"}  # a row an iteration: figures need no more digits, and git a small file


def run(results: Path, out: Path) -> Path:
    """Copy every card, timing and table of a study; returns the JSON file.

    Raises FileError, and writes nothing, where a search lacks a table that the studies' tables are gathered from.
    """
    cards = sorted(
        card for card in results.glob("*/*.json") if card.parent.name not in ("timings", "resume", "figures")
    )
    if not cards:
        raise UserError(f"{results} holds no finished stage to keep; run the study first.")
    gathered = variants.gather(results)
    target = out / f"{results.name}.json"
    kept = read_json(target) if target.exists() else {}
    kept |= {f"{path.parent.name}/{path.stem}": _kept(path) for path in cards}
    for path in cards:
        if not variant_of(path.stem)[1]:
            _keep_tables(path, out / results.name)
    for name, frame in gathered.items():
        path = out / results.name / f"{name}.csv"
        write_csv(path, _beside_kept(path, frame, variants.KEYS[name]))
    write_json(target, kept)
    print(f"{len(cards)} stages of {results.name} kept in {target}")
    return target


def _beside_kept(path: Path, frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The rows of a table, and those kept before of trainings that it does not have."""
    if not path.exists():
        return frame
    before = read_csv(path)
    again = pd.MultiIndex.from_frame(before[keys]).isin(pd.MultiIndex.from_frame(frame[keys]))
    return pd.concat([before[~again], frame], ignore_index=True)


def _kept(path: Path) -> dict:
    card = read_json(path)
    timing = path.parents[1] / "timings" / path.parent.name / path.name
    kept = {name: card[name] for name in KEPT if name in card}
    for name in ("inputs", "outputs"):  # a network each; the digest of their index, checkpoints.parquet, stays
        if name in kept:
            kept[name] = {path: found for path, found in kept[name].items() if "/checkpoints/" not in path}
    return kept | {"timing": read_json(timing) if timing.exists() else {}}


def _keep_tables(card: Path, folder: Path) -> None:
    """Write the tables of a stage as <group>_<name>_<table>.csv, of a search also its seconds."""
    for name in TABLES.get(card.parent.name, ()):
        source = card.with_suffix("") / f"{name}.parquet"
        if source.exists():
            target = folder / f"{card.parent.name}_{card.stem}_{name}.csv"
            write_csv(target, read_frame(source), float_format=FORMATS.get(name))
    clock = card.parents[1] / "timings" / "searches" / f"{card.stem}.parquet"
    if card.parent.name == "searches" and clock.exists():
        write_csv(folder / f"timings_{card.stem}_searches.csv", read_frame(clock))
