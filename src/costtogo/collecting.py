"""Packages whose modules register what they have: who needs all of it names the package alone."""

from importlib import import_module
from pkgutil import iter_modules


def collect(package: str) -> None:
    """Import every module of a package. A text as its argument tells costtogo.syntax what the caller runs through."""
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        import_module(module.name)
