"""The parts of a written report that tests read: its pages, and their links."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


def texts_of(folder: Path) -> dict[str, str]:
    """The first page of a report and the others, by place; folder: reports/<study>."""
    places = [folder / "report.md", *sorted(folder.glob("pages/*.md"))]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in places}


def whole_text(folder: Path) -> str:
    """The whole text of these pages."""
    return "\n".join(texts_of(folder).values())


def links_of(folder: Path) -> Iterator[tuple[str, str, str]]:
    """For every link and picture, also in timings.md: the page, the place seen from the folder, and the anchor."""
    for page, text in (texts_of(folder) | {"timings.md": (folder / "timings.md").read_text(encoding="utf-8")}).items():
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
            path, _, anchor = link.partition("#")
            yield page, posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page, anchor


def anchors_of(text: str) -> set[str]:
    """The anchors of the headings.  "## The thesis's text" -> "the-thesiss-text"."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


class Table(NamedTuple):
    """A table of a page and the paragraph below it."""

    rows: str
    source: str


def tables_of(folder: Path) -> Iterator[tuple[str, Table]]:
    """The tables of a report's pages, each with the place of its page; those of provenance are left out."""
    for place, text in texts_of(folder).items():
        parts = text.split("\n\n") + [""]
        for rows, source in zip(parts, parts[1:], strict=False):
            if rows.startswith("|") and "provenance" not in place:
                yield place, Table(rows, source.strip() if source.startswith(("*From", "*This study")) else "")
