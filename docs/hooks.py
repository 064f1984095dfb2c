"""What mkdocs does to the pages: references made from the code; links out of the folder docs become plain text.

What stands between <!-- parameters --> and <!-- end --> becomes the schema of a study, after <!-- commands --> the help
of each command.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

OUTSIDE = re.compile(r"(?<!!)\[([^]]+)\]\(\.\./([^)#]+)(?:#[^)]*)?\)")  # a link from docs/ to elsewhere in the project
FIGURE = re.compile(r"!\[([^]]*)\]\(\.\./([^)]+)\)")  # a picture from there
WIDTH = "100"  # columns of the help of commands
BOUNDS = {"minimum": "from {}", "exclusiveMinimum": "over {}", "maximum": "to {}", "exclusiveMaximum": "below {}"}
LONGEST = 10**10  # from which a number is written as a power of ten
TYPES = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false", "null": "none"}


def on_files(files, config):
    """The files of the site, with the figures of reports that pages show."""
    root = Path(config["docs_dir"]).parent
    for page in files.documentation_pages():
        for _, figure in FIGURE.findall(Path(page.abs_src_path).read_text(encoding="utf-8")):
            if files.get_file_from_path(figure) is None:
                files.append(File.generated(config, figure, abs_src_path=str(root / figure)))
    return files


def on_page_markdown(markdown: str, page, config, files) -> str:
    """The Markdown of a page as the site has it."""
    for name, make in (("parameters", parameters), ("commands", commands)):
        before, mark, rest = markdown.partition(f"<!-- {name} -->")
        if mark:
            markdown = before + make() + rest.partition("<!-- end -->")[2]
    return OUTSIDE.sub(without_link, FIGURE.sub(r"![\1](\2)", markdown))


def without_link(link: re.Match) -> str:
    """The text of a link to a file that the site does not have, with the file's path.  "[x](../y)" -> "x (`y`)"."""
    text, path = link[1].strip("`"), link[2].rstrip("/")
    return f"`{path}`" if text.rstrip("/") == path else f"{link[1]} (`{path}`)"


def commands() -> str:
    """The help of each command, in a section of its own."""
    import typer.testing
    from typer.main import get_command

    from costtogo.cli import app

    def help_of(*words: str) -> str:
        shown = typer.testing.CliRunner(env={"COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH}).invoke(app, [*words, "--help"])
        return f"```text\n{shown.output.replace('Usage: root', 'Usage: costtogo').strip()}\n```"

    sections = [f"## costtogo {name}\n\n{help_of(name)}" for name in get_command(app).commands]
    return "\n\n".join(sections)


def parameters() -> str:
    """All tables of parameters: of a study, then of each kind of value in it, in the order in which they are met."""
    from costtogo.params.study import Study

    schema = Study.model_json_schema()
    kinds = {"Study": {name: part for name, part in schema.items() if name != "$defs"}} | schema["$defs"]
    order = list(dict.fromkeys(["Study", *_met(kinds, "Study")]))
    return "\n\n".join(_section(name, kinds[name], _users(kinds, name)) for name in order)


def _users(kinds: dict[str, Any], name: str) -> str:
    """Where a kind is a value: the keys, with links to what has them."""
    users = [
        f"`{key}` of [{other}](#{other.lower()})"
        for other, kind in kinds.items()
        for key, part in kind["properties"].items()
        if f"#/$defs/{name}'" in str(part)
    ]
    return f"A value of {', '.join(users)}." if users else ""


def _met(kinds: dict[str, Any], name: str) -> Iterator[str]:
    """The kinds that a kind refers to, each followed by those that it refers to itself."""
    for other in re.findall(r"#/\$defs/(\w+)", str(kinds[name]["properties"])):
        yield other
        yield from _met(kinds, other)


def _section(name: str, kind: dict[str, Any], users: str) -> str:
    keys = {key: part for key, part in kind["properties"].items() if key != "unused"}
    rows = [f"| `{key}` | {_values(part)} | {_default(kind, key, part)} |" for key, part in keys.items()]
    table = "\n".join(["| key | value | if left out |", "| :-- | :-- | :-- |", *rows])
    words = _described(kind.get("description", ""), keys)
    return "\n\n".join([f"## {name}", users, words, table if rows else ""])


def _described(text: str, keys: dict[str, Any]) -> str:
    """A docstring with each key that it explains in a paragraph of its own."""
    text = text.replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n\n").replace("*", "\\*")
    return re.sub(r"(?:(?<=[.;]) +|\n\n|^)((?:\w+(?:, | and )?)+):", lambda found: _keys(found, keys), text)


def _keys(found: re.Match, keys: dict[str, Any]) -> str:
    names = re.split(r", | and ", found[1])
    if not set(names) <= set(keys):
        return found[0]
    return "\n\n" + ", ".join(f"`{name}`" for name in names) + ":"


def _values(part: dict[str, Any]) -> str:
    """What a key may have for a value, in words."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if choices := part.get("anyOf") or part.get("oneOf"):
        return " or ".join(dict.fromkeys(_values(choice) for choice in choices))
    if "const" in part:
        return f"`{part['const'] or '(empty)'}`"
    if "enum" in part:
        return ", ".join(f"`{value or '(empty)'}`" for value in part["enum"])
    if part["type"] == "object":
        return f"a table by name: {_values(part['additionalProperties'])}"
    if part["type"] == "array":
        items = part.get("items") or {"anyOf": part["prefixItems"]}
        return f"a list: {_values(items)}"
    bounds = [words.format(_number(part[key])) for key, words in BOUNDS.items() if key in part]
    return " ".join([TYPES[part["type"]], *bounds])


def _number(value: float) -> str:
    return f"{value:,}" if abs(value) < LONGEST else f"{value:.0e}"


def _default(kind: dict[str, Any], key: str, part: dict[str, Any]) -> str:
    if "default" not in part:
        return "**needed**" if key in kind.get("required", []) else "–"
    default = part["default"]
    if default in (None, "", [], {}) and not isinstance(default, bool):
        return "none"
    text = str(default).lower() if isinstance(default, bool) else str(default)
    return f"`{text}`"
