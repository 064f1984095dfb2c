"""A report's sentences: the templates next to this module, filled in with values that the report has computed.

A template is Markdown with wrapped lines; a condition or a loop has a line of its own. What is rendered is put
together as Markdown means it: the lines of a paragraph become one, and one empty line parts paragraphs.
"""

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from costtogo.analysis import numbers
from costtogo.report import markdown
from costtogo.report.columns import columns

BLOCK = re.compile(r"[#|]|!\[|```")  # what begins a heading, a row of a table, code or a picture: no text goes on there
ITEM = "- "
CLOSING = (",", ".", ";", ":")  # what is put to the word before it, not apart from it
FENCE = "```"


def render(template: str, **values) -> str:
    """A template, by its name without suffix, filled in; empty where it says nothing.

    Raises jinja2.UndefinedError where the template asks for a value that is not given.
    """
    return joined(environment().get_template(f"{template}.md.j2").render(values))


@cache
def environment() -> Environment:
    """The templates, with the filters and functions that they may use."""
    loader = PackageLoader("costtogo.report")
    found = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    forms = vars(numbers) | vars(markdown)
    names = ("amount", "code", "interval", "percent", "places", "short", "significant", "table", "text")
    functions = {"columns": columns} | {name: forms[name] for name in names}
    found.filters |= functions | {"places": lambda value, count: numbers.places(count)(value)}
    found.globals |= functions
    found.tests["missing"] = numbers.is_missing
    words = found.get_template("words.md.j2").module
    found.globals |= {name: getattr(words, name) for name in ("not_run", "solved", "source", "of_study", "runs")}
    return found


def joined(text: str) -> str:
    """Text whose lines are wrapped, with a line for each paragraph and item; code stays as it is.

    "One\\nline.\\n\\n\\n- An\\n  item\\n, too.\\n" -> "One line.\\n\\n- An item, too.\\n"
    """
    lines: list[str] = []
    inside = False  # of code between fences
    for line in text.splitlines():
        fence, line = line.startswith(FENCE), line if inside else line.strip()
        goes_on = bool(lines and lines[-1] and line) and not (inside or fence or BLOCK.match(lines[-1]))
        if goes_on and not BLOCK.match(line) and not line.startswith(ITEM):
            lines[-1] += line if line.startswith(CLOSING) else f" {line}"
        elif line or inside or (lines and lines[-1]):
            lines.append(line)
        inside ^= fence
    return "\n".join(lines).rstrip() + "\n" if any(lines) else ""


def items(text: str) -> list[str]:
    """The items of a list, each a line.  "- One.\\n- Two.\\n" -> ["- One.", "- Two."]"""
    return [line for line in text.splitlines() if line.startswith(ITEM)]


def deeper(text: str) -> str:
    """Text whose headings are one level lower than they were."""
    return re.sub(r"^#", "##", text, flags=re.MULTILINE)
