"""Studies in the form that git keeps, written and changed for tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from costtogo.commands.publish import write_study
from costtogo.files import read_csv, write_csv
from costtogo.tables.kept import cards_kept, file_of
from costtogo.tables.rows import as_text, rows_of

Change = Callable[[pd.DataFrame], pd.DataFrame]


def keep(measured: Path, study: str, cards: dict[str, Any], tables: dict[str, pd.DataFrame]) -> Path:
    """Write cards and tables by address as a kept study has them, and return its folder."""
    return write_study(measured, study, cards, {address: as_text(frame) for address, frame in tables.items()})


def change(measured: Path, study: str, address: str, changed: Change) -> None:
    """Change a kept table, in a study's file or in its own file."""
    rows, path = rows_of(measured / study), measured / study / file_of(address)
    if "/" not in address:
        write_csv(path, changed(read_csv(path)))
        return
    tables = {each: rows.text(each) for each in rows.told} | {address: as_text(changed(rows.table(address)))}
    texts = {each: told.get("texts", ()) for each, told in rows.told.items()}
    write_study(measured, study, cards_kept(measured / f"{study}.json"), tables, texts)
