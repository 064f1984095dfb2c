"""The outcomes of the trials, as results.csv and the table of README.md."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from benchmarks.results import processor, put_between
from costtogo.files import read_csv, write_csv
from torture.trials import Kind, Outcome

BEGIN, END = "<!-- table: written by python -m torture -->", "<!-- end of the table -->"
COLUMNS = ["kind", "trials", "tried", "survived", "minutes", "seed", "commit"]


def row(kind: Kind, outcomes: list[Outcome], seed: int, commit: str) -> dict:
    """A kind's line of results.csv."""
    survived = sum(outcome.survived for outcome in outcomes)
    minutes = round(sum(outcome.seconds for outcome in outcomes) / 60, 1)
    return dict(zip(COLUMNS, [kind.name, kind.told, len(outcomes), survived, minutes, seed, commit], strict=True))


def write(folder: Path, kinds: Iterable[Kind], found: dict) -> None:
    """Replace a line in results.csv, then write the table again.

    Repairs are entered by hand in mended.csv: the kind whose trials found the fault, the commit and a description.
    """
    path = folder / "results.csv"
    known = read_csv(path).to_dict("records") if path.exists() else []
    rows = {each["kind"]: each for each in [*known, found]}
    table = pd.DataFrame([rows[kind.name] for kind in kinds if kind.name in rows], columns=COLUMNS)
    write_csv(path, table)
    put_between(folder / "README.md", BEGIN, END, told(table, read_csv(folder / "mended.csv")))


def told(table: pd.DataFrame, mended: pd.DataFrame) -> list[str]:
    """The table as Markdown, and the list of repairs."""
    lines = [f"On {processor()}.", "", "| what was tried | name | tried | survived | mended |"]
    lines.append("| :-- | :-- | --: | --: | --: |")
    counts = mended["kind"].value_counts()
    for each in table.to_dict("records"):
        cells = [each["trials"], f"`{each['kind']}`", f"{each['tried']:,}", f"{each['survived']:,}"]
        lines.append(f"| {' | '.join(cells)} | {counts.get(each['kind'], 0)} |")
    faults = [f"- `{each['kind']}`, {each['commit']}: {each['what']}" for each in mended.to_dict("records")]
    return [*lines, "", "Mended:", "", *faults] if faults else lines
