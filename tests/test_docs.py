"""The documentation site builds, loads nothing from elsewhere and leaves nothing out; tutorials and notebook run."""

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from nbclient import NotebookClient
from typer.main import get_command
from workflow_runs import ROOT, copy_project, run

from costtogo import solving
from costtogo.cli import app
from costtogo.params.base import Params
from costtogo.params.study import Study

LOADING = {"link": "href", "script": "src", "img": "src", "source": "src", "iframe": "src", "audio": "src",
           "video": "src", "object": "data", "embed": "src", "use": "href", "image": "href"}  # fmt: skip
ADDRESS = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
TINY = {"iterations: 600": "iterations: 40"}  # what a tutorial trains, in seconds
TUTORIALS = ("first_study", "does_it_hold", "library")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


class Loads(HTMLParser):
    """What a browser loads for a page: the values of attributes by which elements do."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.found += [values[LOADING[tag]]] if values.get(LOADING.get(tag, "")) else []
        self.found += [part.split()[0] for part in (values.get("srcset") or "").split(",") if part.split()]
        self.found += addresses_in_styles(values.get("style") or "")


def addresses_in_styles(text: str) -> list[str]:
    """What a style sheet loads."""
    return re.findall(r"(?:url\(\s*|@import\s+)[\"']?([^\"')\s]+)", text)


def test_the_reader_of_pages_finds_what_a_browser_would_load():
    page = '<link href="//a/x.css"><script src=https://b/y.js></script><img srcset="http://c/z 2x" style="b:url(//d)">'
    assert [bool(ADDRESS.match(each)) for each in Loads(page).found] == [True] * 4
    assert not ADDRESS.match("assets/x.css") and not ADDRESS.match("data:image/svg+xml;a//b")


def test_no_page_of_the_site_loads_anything_from_elsewhere(site):
    pages, styles = sorted(site.rglob("*.html")), sorted(site.rglob("*.css"))
    assert len(pages) > 10 and styles
    loaded = [each for page in pages for each in Loads(page.read_text(encoding="utf-8")).found]
    loaded += [each for sheet in styles for each in addresses_in_styles(sheet.read_text(encoding="utf-8"))]
    assert len(loaded) > 50
    assert not [each for each in loaded if ADDRESS.match(each)]


def test_every_page_is_in_the_navigation():
    nav = Path("mkdocs.yml").read_text(encoding="utf-8")
    assert not [path.name for path in Path("docs").glob("*.md") if f": {path.name}" not in nav]


def test_the_reference_has_every_parameter_command_and_public_name(site):
    parameters = (site / "parameters.html").read_text(encoding="utf-8")
    for kind in kinds_of_parameters():
        section = re.search(rf'<h2 id="{kind.__name__.lower()}">.*?(?=<h2|</article>)', parameters, re.DOTALL)
        shown = set(re.findall(r"<td[^>]*><code>(\w+)</code></td>", section[0]))
        assert set(kind.model_fields) - {"unused"} <= shown, kind
    commands = (site / "commands.html").read_text(encoding="utf-8")
    assert not [name for name in get_command(app).commands if f"costtogo {name}<" not in commands]
    api = (site / "api.html").read_text(encoding="utf-8")
    constants = {"SOLVERS", "HEURISTICS", "WITHOUT_NETWORK"}
    names = set(solving.__all__) - constants
    assert not [name for name in names if not re.search(rf'id="costtogo\.solving\.(?:[\w.]+\.)?{name}"', api)]


def kinds_of_parameters() -> list[type[Params]]:
    """The classes whose names stand in the schema of a study."""
    names, found, left = set(Study.model_json_schema()["$defs"]) | {"Study"}, [], [Params]
    while left:
        kind = left.pop()
        left += kind.__subclasses__()
        found += [kind] if kind.__name__ in names else []
    assert len(found) == len(names)
    return found


def blocks(text: str) -> list[tuple[str, str, str]]:
    """The blocks of code of a page: language, title, code."""
    return re.findall(r'^```(\w+)(?: title="([^"]*)")?\n(.*?)^```', text, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with tiny networks."""
    return copy_project(tmp_path_factory.mktemp("project"))


@pytest.mark.parametrize("name", TUTORIALS)
def test_what_a_tutorial_shows_runs(name, project):
    """On a tiny budget: files as their titles say, commands in the shell, all Python blocks so far in one program."""
    shown, program = blocks(Path(f"docs/{name}.md").read_text(encoding="utf-8")), ""
    outputs = []
    for language, title, code in shown:
        if language == "yaml":
            for told, tiny in TINY.items():
                code = code.replace(told, tiny)
            (project / title).write_text(code, encoding="utf-8")
        elif language == "sh":
            outputs += [run(project, "bash", "-ec", code)]
        elif language == "python":
            program += code
    if program:
        outputs += [run(project, "python", "-c", program)]
    for promised in re.findall(r"`(because: [^`]+)`", Path(f"docs/{name}.md").read_text(encoding="utf-8")):
        assert any(promised in output for output in outputs), promised
    assert len(outputs) >= 1


def test_the_notebook_runs():
    notebook = nbformat.read("docs/notebooks/solve.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    length, optimum = re.search(r"(\d+) moves; a shortest solution has (\d+)", printed).groups()
    assert length == optimum == "15"
    assert float(re.search(r"mean absolute error: ([\d.]+)", printed)[1]) < 2, "the network has learned"
