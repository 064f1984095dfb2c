"""Stages and their recipes, for tests that run stages by hand, as the Snakefile does."""

from pathlib import Path
from typing import Any

from costtogo import cli
from costtogo.params.study import modules_of
from costtogo.recipes import Recipe
from costtogo.sources import code_of
from costtogo.workflow.stages import Stage


def write_recipe(module: str, out: Path, parameters: dict[str, Any]) -> Path:
    """The recipe of a stage, with its module in costtogo.stages, that makes out, results/<study>/<group>/<name>."""
    recipe = Recipe(parameters, code_of(f"costtogo.stages.{module}", modules_of(parameters)))
    return recipe.write(Path(out).parent, Path(out).name)


def make(stage: Stage) -> None:
    """Run the command of a stage."""
    recipe = stage.recipe.write(stage.folder, stage.name)
    words = ["stage", stage.module, "--params", str(recipe), *stage.options.split()]
    cli.app(words, standalone_mode=False)
