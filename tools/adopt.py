"""Keep finished results for new code that makes the same results.

In a clone: python -m tools.adopt --net record.json default

The net, which ran both commits on small studies (`make net`), decides if the results are the same. Its record must be
of commits, of this kind of processor and of these versions; it must name the digests of the code that made the results
and of today's code, and have found every result equal. Parameters whose shape has changed count as the same if the
record has both shapes of the slice that the study's own file makes. Then the cheapest stage of each kind is made again
in a separate folder and must be the same byte for byte. Cards record this under `adopted`, and reports mark such rows.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from costtogo import cli, recipes
from costtogo.files import FileError, digest, json_text, read_json, write_json
from costtogo.params.loading import BASE
from costtogo.progress import say
from costtogo.recipes import shortened
from costtogo.sources import digest_of
from costtogo.stages.stage_run import processor, versions
from costtogo.types import UserError
from costtogo.workflow.graph import Graph
from costtogo.workflow.stages import Stage
from costtogo.workflow.state import State

MADE_ANEW = ("figures", "report", "external")  # decided by the clock, or made in seconds
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def adopt(
    net: Annotated[Path, typer.Option(help="Record of the net: make net BEFORE=<commit that made the results>.")],
    studies: Annotated[
        list[str] | None, typer.Argument(help="Names of studies; that of params.yaml and its overlays if left out.")
    ] = None,
    configfile: Annotated[
        list[Path] | None, typer.Option(help="Overlay of params.yaml, as for snakemake; any number.")
    ] = None,
):
    """Take finished results over to new code that makes the same, as a record of the net shows."""
    graph = Graph([Path(BASE), *(configfile or [])], Path("config"))
    names = studies or [graph.study.study]
    if unknown := [name for name in names if name not in {each.study for each in graph.stages}]:
        raise UserError(f"There is no study {unknown[0]}: name one of config/ or the one of {BASE}.")
    run([each for each in graph.stages if each.study in names], net)


@dataclass(frozen=True)
class Net:
    """A record of the net.

    codes: (stage, digest before, digest after) of code with the same results; one digest before may have several after,
    for different puzzles.  slices: the digests of each stage's slice of the parameters on both sides, by place.
    """

    path: Path
    content: dict[str, Any]
    codes: set[tuple[str, str, str]]
    slices: dict[str, list[str | None]]

    @classmethod
    def read(cls, path: Path) -> "Net":
        """Read a record; UserError if it is not valid for this machine, or found a difference."""
        content = read_json(path)
        try:
            pairs = {
                (stage, pair["before"], pair["after"])
                for stage, found in content["codes"].items()
                for pair in found
                if pair["before"] and pair["after"]
            }
            dirty = [side for side in ("before", "after") if content[side]["dirty"] or not content[side]["commit"]]
            made_on, unexplained = content["processor"], content["unexplained"]
            slices = content.get("parts", {}).get("slices", {}).get("digests", {})
        except (KeyError, TypeError, AttributeError) as error:
            raise FileError(f"{path} is no record of the net: make one with `make net BEFORE=<commit>`.") from error
        if dirty:
            raise UserError(f"{path} compares with files that differ from their commit: commit them and run the net.")
        if made_on != processor():
            raise UserError(f"{path} was made on {made_on}, and this is {processor()}: run the net here.")
        other = {name for name, found in versions().items() if content["versions"].get(name, found) != found}
        if other:
            raise UserError(f"{path} was made with another {shortened(sorted(other))}: run the net here.")
        if not content["results_equal"] or unexplained:
            raise UserError(f"{path} names results that differ: they cannot stand for those of the new code.")
        return cls(path, content, pairs, slices)

    def same_parameters(self, stage: Stage, before: dict[str, Any]) -> bool:
        """True if a stage's parameters are those of its card, or the same ones in the new shape."""
        pair = [hashlib.sha256(json_text(each).encode()).hexdigest() for each in (before, stage.parameters)]
        return pair[0] == pair[1] or self.slices.get(f"{stage.id}.json") == pair


def run(stages: list[Stage], net: Path) -> int:
    """Keep the results of some studies' stages where possible, each after those that it needs; returns their number.

    Raises UserError, and changes nothing, if the record is not valid or a stage made again differs.
    """
    record = Net.read(net)
    state = State(stages)
    chosen, kept = [], []
    for stage in stages:
        reason = refusal(stage, record, {other.id for other in chosen}, state)
        if reason is None:
            chosen.append(stage)
        elif reason:
            kept.append(f"{stage.id} ({reason})")
    for stage in cheapest(chosen):
        say(f"{stage.id}: made again, to be compared")
        make_again(stage)
    for stage in chosen:
        take_over(stage, record)
    say(f"{len(chosen)} stages are taken over from {record.content['before']['commit'][:12]}.")
    if kept:
        say(f"To be made anew: {shortened(kept, 6)}.")
    return len(chosen)


def refusal(stage: Stage, net: Net, adopted: set[str], state: State) -> str | None:
    """Why a stage cannot be kept, empty if there is no result to keep; None if it can."""
    card_path = Path(stage.card)
    if stage.group in MADE_ANEW or not card_path.exists() or not state.reason(stage):
        return ""
    card = read_json(card_path)
    if not net.same_parameters(stage, card.get("parameters", {})):
        return "its parameters have changed"
    if (card.get("stage"), card.get("code"), digest_of(stage.recipe.code)) not in net.codes:
        return "the net has not compared its code with today's"
    if any(card["inputs"].get(path, "") != found for path, found in stage.recipe.files.items()):
        return "a file that it reads has changed"
    waiting = [need.id for need in stage.needs if state.reason(need) and need.id not in adopted]
    if waiting:
        return f"{waiting[0]} is to be made before"
    damaged = [path for path, found in card["outputs"].items() if not Path(path).is_file() or digest(path) != found]
    return f"{damaged[0]} is not what it wrote" if damaged else None


def cheapest(stages: list[Stage]) -> Iterator[Stage]:
    """For each kind, the stage that took the fewest seconds."""
    yield from {stage.module: stage for stage in sorted(stages, key=seconds_of, reverse=True)}.values()


def seconds_of(stage: Stage) -> float:
    """The seconds that a stage took."""
    clock = Path(stage.timings[0])
    return float(read_json(clock).get("seconds", 0)) if clock.exists() else 0.0


def make_again(stage: Stage) -> None:
    """Make a stage in a separate folder, with links to its inputs; UserError if a byte differs."""
    written = read_json(stage.card)["outputs"]
    with tempfile.TemporaryDirectory(prefix=".adopt-", dir=".") as name:
        folder = Path(name).resolve()
        for name in ("data", "workflow"):
            (folder / name).symlink_to(Path(name).resolve())
        for path in linked(stage):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path.resolve())
        recipe = stage.recipe.write(stage.folder, stage.name, within=folder / recipes.RECIPES)
        command = [sys.executable, "-m", "costtogo.cli", "stage", stage.module, "--params", str(recipe)]
        environment = {**os.environ, "COSTTOGO_TRACKING": "off"}
        command += stage.options.split()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise UserError(f"{stage.id} could not be made again: {(done.stderr.splitlines() or ['?'])[-1]}")
        other = [path for path, found in written.items() if digest(folder / path) != found]
        shutil.rmtree(folder / "results")
    if other:
        raise UserError(f"{stage.id}, made again, has another {shortened(other)}: nothing was taken over.")


def linked(stage: Stage) -> Iterator[Path]:
    """The files and cards of the stages that a stage reads from, and the folders next to the cards."""
    for need in stage.needs:
        yield Path(need.card)
        folder = need.folder / need.name
        if folder.is_dir():
            yield folder
        yield from (Path(path) for path in need.results if not Path(path).is_relative_to(folder))


def take_over(stage: Stage, net: Net) -> None:
    """Write the old and new digest of the code into the card, and leave today's mark."""
    card, code = read_json(stage.card), digest_of(stage.recipe.code)
    step = {"from": card["code"], "to": code, "net": digest(net.path)}
    step |= {side: net.content[side]["commit"] for side in ("before", "after")}
    for mark in recipes.marks(stage.folder, stage.name):
        mark.path.unlink()
    write_json(
        stage.card, card | {"parameters": stage.parameters, "code": code, "adopted": [*card.get("adopted", []), step]}
    )
    recipe = stage.recipe.write(stage.folder, stage.name)
    timings = [Path(path) for path in stage.timings if Path(path).exists()]
    recipes.finish(recipe, stage.folder, Path(stage.card), timings)


if __name__ == "__main__":
    cli.main(app)
