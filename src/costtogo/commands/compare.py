"""Compare two runs: a study's own results with the published ones, two studies, two folders, two commits."""

import io
import json
import subprocess
import sys
import tarfile
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd

from costtogo.analysis.numbers import short
from costtogo.commands.drawing import is_terminal
from costtogo.files import read_json
from costtogo.literature.reported import DOCUMENTS
from costtogo.params.study import Study
from costtogo.report.beside import where_text
from costtogo.report.difference import ALONE, DIFFERENT, SAME, WITHIN, Difference, decided, difference, held
from costtogo.report.markdown import code
from costtogo.report.render import render
from costtogo.tables.kept import MEASURED, REPORT, REPORTED
from costtogo.tables.results import References, StudyResults
from costtogo.types import UserError, excerpt

DIFFERS = 3  # exit code
PUBLISHED = "published {}"  # what a study's published run is called
MOST = 6  # parameters that the summary names


class Side(NamedTuple):
    """One of two runs: its results and its name."""

    results: StudyResults
    name: str


def run(left: str, right: str | None, results: Path, measured: Path, form: str, whole: bool) -> int:
    """Print how two runs differ.  left, right: as in side; right None for the published results of left's study.

    form: table, brief, markdown or json.  whole: True to show equal numbers, too.  Returns the exit code.
    """
    with ExitStack() as opened:
        one = side(left, results, measured, opened)
        study = one.results.study
        if right is None and one.name == PUBLISHED.format(study):
            raise UserError(f"There are no results of {study} of yours yet: snakemake --cores all {study} makes them.")
        other = published(study, measured) if right is None else side(right, results, measured, opened)
        found = difference(one.results, other.results)
    if form == "json":
        print(json.dumps(as_json(one, other, found), indent=2, allow_nan=False))
    elif form == "brief":
        print("\n".join(summary(one.name, other.name, found)))
    elif form == "markdown" or not is_terminal(sys.stdout):
        print(as_markdown(one, other, found, whole), end="")
    else:
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(as_markdown(one, other, found, whole)))
    return DIFFERS if found.differs else 0


def side(text: str, results: Path, measured: Path, opened: ExitStack) -> Side:
    """A run: `<commit>:<study>`, published there; a folder of results or of kept rows; a study, its own results if it
    has any, else the published ones.  opened: closes what is opened here.

    Raises UserError if there is none.
    """
    commit, found, study = text.rpartition(":")
    if found and not Path(text).exists():
        folder = Path(opened.enter_context(TemporaryDirectory()))
        extract(commit, folder)
        try:
            return published(study, folder / MEASURED, folder / REPORTED)._replace(name=text)
        except UserError as error:
            raise UserError(str(error).replace(f"{folder}/", f"{commit}:")) from error
    folder = Path(text) if Path(text).is_dir() else results / text
    if (folder / f"{REPORT}.json").exists():
        card = read_json(folder / f"{REPORT}.json")
        return Side(StudyResults(folder, Study(**card["parameters"]), References(measured=measured)), text)
    if folder.with_suffix(".json").exists():
        return published(folder.name, folder.parent)._replace(name=text)
    if (measured / f"{text}.json").exists():
        return published(text, measured)
    if folder.is_dir():
        raise UserError(f"{folder} has no report yet: finish the study first, snakemake --cores all {folder.name}.")
    raise UserError(f"There is no study {excerpt(text)} in {results} or {measured}, and no folder of that name.")


def published(study: str, measured: Path, reported: Path = REPORTED) -> Side:
    """The published results of a study."""
    return Side(StudyResults.to_write_again(study, References(reported, measured)), PUBLISHED.format(study))


def extract(commit: str, folder: Path) -> None:
    """Copy the published results of a commit, and its numbers of the literature, below a folder."""
    asked = ["git", "archive", commit, "--", str(MEASURED), str(REPORTED)]
    packed = subprocess.run(asked, capture_output=True)
    if packed.returncode:
        raise UserError(f"git has no commit {excerpt(commit)} with {MEASURED}: give one as in HEAD~1:default.")
    with tarfile.TarFile(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python before 3.11.4 has none
        archive.extractall(folder)


def summary(left: str, right: str, found: Difference) -> list[str]:
    """Three lines: numbers, claims, and differences in parameters, code and versions."""
    kinds = found.numbers["is"].value_counts()
    counted = ", ".join(f"{kinds[kind]} {words}" for kind, words in WORDS.items() if kind in kinds) or "none"
    unknown = ((found.numbers["is"] == DIFFERENT) & (found.numbers["seeds"] == 0)).sum()
    of_seeds = f"; for {unknown} the spread over seeds is unknown" if unknown else ""
    lines = [f"{left} compared with {right}: of {len(found.numbers)} headline numbers {counted}{of_seeds}."]
    counts = [f"{held(found.counts[name])} of {decided(found.counts[name])}" for name in ("left", "right")]
    lines.append(
        f"Claims about results that hold, of those decided: {counts[0]}, {right} {counts[1]}; "
        f"{len(found.changed)} of {len(found.rows)} verdicts are others."
    )
    if found.settings.empty:
        return [*lines, "Parameters, code, versions, commit and processor are the same."]
    changed = found.settings[found.settings["what"] == "parameter"]
    named = [f"{row.place} {row.right} → {row.left}" for row in changed.head(MOST).itertuples()]
    named += [f"and {len(changed) - MOST} more"] if len(changed) > MOST else []
    others = found.settings.loc[found.settings["what"] != "parameter"].groupby("what", sort=False)["place"]
    parts = [f"parameters ({', '.join(named)})" if named else "no parameter"]
    parts += [f"{what} ({', '.join(places)})" for what, places in others]
    return [*lines, f"Not the same: {'; '.join(parts)}."]


WORDS = {
    SAME: "the same",
    WITHIN: "within what another seed gives",
    DIFFERENT: "different",
    ALONE: "in one alone",
}


def as_markdown(one: Side, other: Side, found: Difference, whole: bool) -> str:
    """The comparison in Markdown; whole: with equal numbers, too."""
    numbers = found.numbers if whole else found.numbers[found.numbers["is"] != SAME]
    rows = found.rows if whole else found.changed
    cells = [
        [code(row.model), row.measure, *map(short, (row.left, row.right, row.seeds_differ_by, row.seeds)), row[-1]]
        for row in numbers.itertuples(index=False)
    ]
    counts = [[str(name), *(short(row[side]) for side in ("left", "right"))] for name, row in found.counts.iterrows()]
    return render(
        "difference",
        left=one.name,
        right=other.name,
        summary=summary(one.name, other.name, found),
        numbers=cells,
        counts=counts,
        rows=list(map(_of_literature, rows.to_dict("records"))),
        settings=found.settings.to_numpy().tolist(),
        all=whole,
    )


def _of_literature(row: dict[str, Any]) -> list[str]:
    """A number of the literature as a row of a table."""
    model = code(row["model"]) if isinstance(row["model"], str) else ""
    about = ", ".join(filter(None, [row["quantity"], model, where_text(row) if "iteration" in row else ""]))
    reported = row.get("reported", "–")
    told = [value if isinstance(value, str) else short(value) for value in (reported, row["left"], row["right"])]
    return [DOCUMENTS[row["source"]], about, *told, row["left_verdict"], row["right_verdict"]]


def as_json(one: Side, other: Side, found: Difference) -> dict[str, Any]:
    """The comparison as plain values; missing ones are null."""

    def plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
        return json.loads(frame.to_json(orient="records"))

    return {
        "left": one.name,
        "right": other.name,
        "differs": found.differs,
        "summary": summary(one.name, other.name, found),
        "numbers": plain(found.numbers),
        "claims": plain(found.counts.reset_index()),
        "literature": plain(found.rows),
        "settings": plain(found.settings),
    }
