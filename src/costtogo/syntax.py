"""The meaning of a source text to Python: a digest that ignores comments, docstrings and formatting.

Only the standard library is needed, and every Python that the project supports gives the same digest: the walk over the
syntax tree writes only fields that are not empty, so fields that a newer Python adds, empty where the source does not
use them, change nothing.
"""

import ast
import hashlib
from collections.abc import Iterator

HINTS = ("kind", "type_comment", "type_ignores", "ctx")  # fields without effect on the program
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def digest(source: str) -> str:
    """SHA-256 of the code in a source text, in hexadecimal.  "x=1  # one" and "x = 1" have the same."""
    return hashlib.sha256(written(ast.parse(source)).encode()).hexdigest()


def imports(source: str) -> list[str]:
    """The modules that a source text imports, also inside functions, and the names it takes from them.

    "from a.b import c" -> ["a.b", "a.b.c"], 'collect("a.b")' -> ["a.b.*"].  Imports are absolute.
    """
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "collect":
            names += [f"{node.args[0].value}.*"]
    return sorted(set(names))


def written(node: object) -> str:
    """A syntax tree as text, without positions, hints, docstrings and empty fields."""
    if isinstance(node, ast.Constant):
        return f"{type(node.value).__name__}:{node.value!r}"
    if isinstance(node, ast.JoinedStr):
        return f"JoinedStr({' '.join(_pieces(node))})"
    if isinstance(node, ast.AST):
        fields = ((name, _field(node, name)) for name in node._fields if name not in HINTS)
        filled = (f"{name}={written(value)}" for name, value in fields if value is not None and value != [])
        return f"{type(node).__name__}({' '.join(filled)})"
    if isinstance(node, list):
        return f"[{' '.join(map(written, node))}]"
    return repr(node)


def _field(node: ast.AST, name: str) -> object:
    """A field of a node; a body comes without its docstring."""
    value = getattr(node, name, None)
    if name == "body" and isinstance(node, DOCUMENTED) and value and _is_text(value[0]):
        return value[1:]
    return value


def _is_text(statement: ast.stmt) -> bool:
    """True if a statement is only a string."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _pieces(joined: ast.JoinedStr) -> Iterator[str]:
    """The parts of an f-string; adjacent texts are joined, since not every Python does so."""
    text = ""
    for part in joined.values:
        if isinstance(part, ast.Constant):
            text += str(part.value)
            continue
        if text:
            yield repr(text)
        text = ""
        yield written(part)
    if text:
        yield repr(text)
