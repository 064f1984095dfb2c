"""The pages of a report besides its first, report.md: one for each puzzle, and appendices.

They are in a folder of their own, since it depends on the study which there are. Texts write their links as seen from
the report's folder; linked makes them links from where a text is.
"""

import posixpath
import re
from pathlib import Path
from typing import NamedTuple

from costtogo.files import read_text

FOLDER, FIRST = "pages", "report.md"
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(#[^)]*)?\)")
PICTURE = re.compile(r"!\[[^]]*\]\((?:\.\./)*([^)]+)\)")
DEEP = "/a/b/c/d/"  # any folder below the project's, for links that lead out of a report
ROOT = "../.."  # the project's folder, as seen from a report's
NOT_PUBLISHED = re.compile(r"(?<!!)\[([^]]*)\]\((tables|metrics|timings)/[^)]*\)")


class Page(NamedTuple):
    """A page.

    name: the stem of its file.  kind: what it is about; templates/pages.md.j2 has a line for each kind.  text: from its
    title on, with links as seen from the report's folder.
    """

    name: str
    kind: str
    text: str

    @property
    def title(self) -> str:
        """The heading in its first line."""
        return self.text.partition("\n")[0].removeprefix("# ")

    @property
    def place(self) -> str:
        """Its file, as seen from the report's folder."""
        return f"{FOLDER}/{self.name}.md"


def written(page: Page, study: str) -> str:
    """What the file of a page holds: below the title a link back to the first page."""
    title, _, rest = page.text.partition("\n")
    back = f"A page of [the report of the study `{study}`]({FIRST})."
    return linked(f"{title}\n\n{back}\n\n{rest.lstrip()}", FOLDER)


def linked(text: str, folder: str) -> str:
    """A text whose links are as seen from a folder.  "[t](tables/a.csv)", "pages" -> "[t](../tables/a.csv)"."""
    return LINK.sub(lambda found: f"]({posixpath.relpath(DEEP + found[1], DEEP + folder)}{found[2] or ''})", text)


def placed(text: str, short: bool, deeper: bool) -> str:
    """A text of a report that lies one folder deeper, as reports/published does; short: without links to its tables."""
    text = NOT_PUBLISHED.sub(r"*\1*", text) if short else text
    return text.replace(f"]({ROOT}/", f"]({ROOT}/../") if deeper else text


def pictures_of(folder: Path) -> set[str]:
    """The pictures that the pages of a report show, as seen from its folder."""
    pages = [folder / FIRST, folder / "timings.md", *folder.glob(f"{FOLDER}/*.md")]
    return {picture for page in pages for picture in PICTURE.findall(read_text(page))}
