"""Recipes for tests that run a stage by hand, as the Snakefile writes them."""

from pathlib import Path
from typing import Any

from costtogo.params.study import puzzles_of
from costtogo.recipes import Recipe
from costtogo.sources import code_of


def write_recipe(module: str, out: Path, parameters: dict[str, Any]) -> Path:
    """The recipe of a stage, of a module of costtogo.stages, that makes out, results/<study>/<group>/<name>."""
    recipe = Recipe(parameters, code_of(f"costtogo.stages.{module}", puzzles_of(parameters)))
    return recipe.write(Path(out).parent, Path(out).name)
