"""Packages whose modules register their content: code that needs all of it names only the package."""

from importlib import import_module
from pkgutil import iter_modules


def collect(package: str) -> None:
    """Import every module of a package. A literal argument shows costtogo.syntax which modules the caller needs."""
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        import_module(module.name)
