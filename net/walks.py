"""The functions with a given parameter that an entry can reach: the values passed from function to function.

    python -m net.walks src/costtogo study stages.report:write stages.report_large:write

A function reaches the definitions or imports of its module whose names it uses, and every method of a reachable class
with the name of an attribute it reads. This looks only at names, so it counts some functions that are never called, and
follows a dictionary of functions like a function.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TEXTS = ("str", "StudyName")
Place = tuple[str, str]  # a module below the package, and a name it defines: "tables.whole", "Results.card"


@dataclass
class Package:
    """The definitions of a package, and the imports of its modules: their names for places in it."""

    name: str
    definitions: dict[Place, ast.stmt] = field(default_factory=dict)
    imports: dict[str, dict[str, Place]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Package":
        """Every module below a folder."""
        package = cls(folder.name)
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            module = ".".join(part for part in parts if part != "__init__")
            tree = ast.parse(path.read_text(encoding="utf-8"))
            package.definitions |= {(module, name): statement for name, statement in _defined(tree)}
            package.imports[module] = dict(_imported(tree, folder.name))
        return package

    def reachable(self, entries: list[Place]) -> set[Place]:
        """The definitions that the entries lead to, including the entries."""
        found: set[Place] = set()
        names: set[str] = set()  # that any of them reads as an attribute
        ahead = list(entries)
        while ahead:
            while ahead:
                place = ahead.pop()
                if place in found or place not in self.definitions:
                    continue
                found.add(place)
                mentioned, attributes = _mentioned(self.definitions[place])
                names |= attributes
                ahead += [self._resolved(place[0], name) for name in mentioned]
                ahead += [(module, name) for module, _ in self._modules(place[0]) for name in attributes]
            methods = [place for place in self.definitions if "." in place[1]]
            classes = {place for place in found if isinstance(self.definitions[place], ast.ClassDef)}
            ahead = [
                (module, name)
                for module, name in methods
                if (module, name.partition(".")[0]) in classes
                and (name.partition(".")[2] in names or name.endswith("__"))
                and (module, name) not in found
            ]
        return found

    def taking(self, parameter: str, places: set[Place]) -> set[Place]:
        """The definitions with a parameter of this name, or classes with such a field, that is no text."""
        return {place for place in places if parameter in _parameters(self.definitions[place])}

    def _resolved(self, module: str, name: str) -> Place:
        return self.imports[module].get(name, (module, name))

    def _modules(self, module: str) -> list[Place]:
        """The modules that a module has imported as a whole."""
        whole = [(f"{package}.{name}".strip("."), "") for package, name in self.imports[module].values()]
        return [place for place in whole if place[0] in self.imports]


def _defined(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Functions, classes, their methods and the names that a module assigns, each with its statement."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            yield statement.name, statement
            methods = [each for each in statement.body if isinstance(each, ast.FunctionDef)]
            yield from ((f"{statement.name}.{method.name}", method) for method in methods)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
            yield from ((name, statement) for name in names)


def _imported(tree: ast.Module, package: str) -> Iterator[tuple[str, Place]]:
    """Names that refer to something in the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package:
            module = node.module.partition(".")[2]
            yield from ((alias.asname or alias.name, (module, alias.name)) for alias in node.names)


def _mentioned(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names and attributes that a statement reads; for a class, without those of its methods."""
    parts = [statement]
    if isinstance(statement, ast.ClassDef):
        parts = [*statement.bases, *(each for each in statement.body if not isinstance(each, ast.FunctionDef))]
    nodes = [node for part in parts for node in ast.walk(part)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names, {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _parameters(statement: ast.stmt) -> set[str]:
    """The names of a function's parameters, or of a class's fields, except texts."""
    if isinstance(statement, ast.FunctionDef):
        own = statement.args
        given = [(each.arg, each.annotation) for each in (*own.posonlyargs, *own.args, *own.kwonlyargs)]
    elif isinstance(statement, ast.ClassDef):
        fields = [each for each in statement.body if isinstance(each, ast.AnnAssign)]
        given = [(each.target.id, each.annotation) for each in fields if isinstance(each.target, ast.Name)]
    else:
        given = []
    return {name for name, annotation in given if not (isinstance(annotation, ast.Name) and annotation.id in TEXTS)}


def main(folder: str, parameter: str, *entries: str) -> None:
    """Print the functions and their number."""
    package = Package.read(Path(folder))
    places = [tuple(entry.split(":")) for entry in entries]
    if missing := [":".join(place) for place in places if place not in package.definitions]:
        sys.exit(
            f"net: {folder} has no {missing[0]}; an entry is a module below it and a function, stages.report:write."
        )
    reached = package.reachable(places)
    functions = {place for place in reached if isinstance(package.definitions[place], ast.FunctionDef)}
    taking = package.taking(parameter, reached)
    print(*sorted(f"{module}:{name}" for module, name in taking), sep="\n")
    print(f"{len(taking)} of {len(functions)} functions within reach take {parameter}")


if __name__ == "__main__":
    main(*sys.argv[1:])
