"""The page's files, read as text: what the content policy and its readers' safety ask of them. No browser is needed."""

import re
from pathlib import Path

import pytest

import costtogo.page

STATIC = Path(costtogo.page.__file__).parent / "static"
MODULES = sorted(STATIC.rglob("*.js"))
WRITES_MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function")


def named(path: Path) -> str:
    return path.relative_to(STATIC).as_posix()


@pytest.mark.parametrize("module", MODULES, ids=named)
def test_no_module_makes_markup_or_code_of_text(module):
    assert not WRITES_MARKUP.search(module.read_text())


@pytest.mark.parametrize("module", MODULES, ids=named)
def test_a_module_begins_with_what_it_is_for_and_imports_what_is_there(module):
    text = module.read_text()
    assert text.startswith("// ")
    for imported in re.findall(r'from "(.*?)"', text):
        assert (module.parent / imported).resolve().is_relative_to(STATIC) and (module.parent / imported).is_file()


def test_the_document_has_no_inline_style_script_or_handler():
    document = (STATIC / "index.html").read_text()
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*src=)", document)
    for file in re.findall(r'(?:src|href)="/static/(.*?)"', document):
        assert (STATIC / file).is_file()


@pytest.mark.parametrize(
    "path", [p for p in sorted(STATIC.rglob("*")) if p.suffix in (".js", ".css", ".html")], ids=named
)
def test_nothing_comes_from_another_address(path):
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", path.read_text()))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody asks for
