"""The cards of finished stages: those of a study, and the one that a key in a report names."""

import re
from collections.abc import Iterator
from pathlib import Path

from costtogo.cards import KEYED, SHOWN, Card, key_of
from costtogo.files import read_json
from costtogo.tables.kept import MEASURED, cards_kept
from costtogo.types import UserError, excerpt

KEY = re.compile(rf"[0-9a-f]{{{SHOWN},64}}")
WITHOUT_KEY = ("timings", "done")  # folders of results that hold no cards


def cards_of(folder: Path) -> list[Path]:
    """The cards of a study's finished stages, without that of its figures, which are in the run of the report.

    folder: results/<study>.  UserError if there is no card.
    """
    cards = [path for path in sorted(folder.glob("*/*.json")) if path.parent.name != "figures"]
    if not cards:
        raise UserError(f"{folder} holds no finished stage; run the workflow first.")
    return cards


def checked_key(key: str) -> str:
    """The key itself; UserError if it cannot be one."""
    if not KEY.fullmatch(key):
        raise UserError(f"'{excerpt(key)}' is no key of a run: it has {SHOWN} of 0-9 and a-f, as a report prints it.")
    return key


def card_of(key: str, results: Path) -> Path:
    """The card of the finished stage that has the key.

    results: the folder of all studies' results.
    UserError if no stage below it has the key; the sentence names the stage and its commit if git keeps its card.
    """
    for path in sorted(results.glob("*/*/*.json")):
        if path.parent.name not in WITHOUT_KEY and _has(read_json(path), key):
            return path
    for study, address, card in _kept():
        if _has(card, key):
            commit = card.get("timing", {}).get("commit", "")
            raise UserError(
                f"{key} is {address} of the study {study}, kept from commit {commit[:SHOWN] or 'unknown'}, and "
                f"{results} does not have it: check that commit out and run `snakemake --cores all {study}`."
            )
    raise UserError(f"No finished stage in {results} or {MEASURED} has the key {key}: is the report of this project?")


def _has(card: Card, key: str) -> bool:
    return KEYED <= card.keys() and key_of(card).startswith(key)


def _kept() -> Iterator[tuple[str, str, Card]]:
    """Study, address and card of every stage that git keeps."""
    for path in sorted(MEASURED.glob("*.json")):
        for address, card in cards_kept(path).items():
            yield path.stem, address, card
