"""One page over all documents: which of their systems which study repeats, how their claims came out, what is missing.

The systems are in data/systems.csv; the counts are of the published reports' own reported_vs_reproduced.csv.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from costtogo.files import FileError, read_csv, write_text
from costtogo.literature.claims import MARKS, once, scoreboard
from costtogo.literature.reported import DOCUMENTS
from costtogo.literature.words import VERDICTS
from costtogo.report.beside import scoreboard_text, whole_scoreboard_text
from costtogo.report.render import render
from costtogo.report.write import PUBLISHED
from costtogo.types import UserError

SYSTEMS = Path("data/systems.csv")  # columns source, system, study, missing


def write_overview(reports: Path, systems: Path = SYSTEMS) -> Path:
    """Write reports/README.md from the published reports.  Returns its path; UserError without a folder of them."""
    published = reports / PUBLISHED
    if not published.is_dir():
        raise UserError(
            f"There is no folder {published}: name that of all reports, or start in the project's own folder."
        )
    rows = read_csv(systems, dtype=str).fillna("")
    studies = [name for name in dict.fromkeys(rows["study"]) if name]
    told = [name for name in studies if (published / name / "report.md").exists()]
    found = {name: compared for name in told if (compared := _compared(published / name)) is not None}
    documents = [
        {
            "name": DOCUMENTS[source],
            "systems": own.to_dict("records"),
            "tables": _tables(source, {name: found[name] for name in found if name in set(own["study"])}),
        }
        for source, own in rows.groupby("source", sort=False)
    ]
    repeated = {*zip(rows["source"], rows["study"], strict=True)}
    parts = [each[[(source, name) in repeated for source in each["source"]]] for name, each in found.items()]
    whole = whole_scoreboard_text(once(pd.concat(parts, ignore_index=True))) if parts else ""
    earlier = [name for name in told if name not in found]
    target = reports / "README.md"
    write_text(target, render("overview", documents=documents, told=told, earlier=earlier, whole=whole))
    return target


def _compared(folder: Path) -> pd.DataFrame | None:
    """The literature's numbers with a study's; None where its verdicts are of an earlier kind."""
    path = folder / "reported_vs_reproduced.csv"
    rows = read_csv(path)
    if {*MARKS} <= {*rows} and not {*rows["verdict"]} <= {*VERDICTS}:
        raise FileError(f"{path} is damaged: costtogo report {folder.name} writes it again.")
    return rows.fillna({"recipe": ""}) if {*MARKS} <= {*rows} else None


def _tables(source: str, found: dict[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """The scoreboard of the claims of one document in each study that repeats a system of it; others repeat them."""
    own = {name: rows[rows["source"] == source].reset_index(drop=True) for name, rows in found.items()}
    return [
        {"study": name, "scoreboard": scoreboard_text(rows)}
        for name, rows in own.items()
        if len(rows) and len(scoreboard(rows))
    ]
