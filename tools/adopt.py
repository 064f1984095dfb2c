"""Keep finished results for new code that makes the same results.

In a clone: python -m tools.adopt --net record.json default

The net, which ran both commits on small studies (`make net`), decides if the results are the same. Its record must be
of commits, of this kind of processor and of these versions; it must name the digests of the code that made the results
and of today's code, and have found every result equal. Parameters whose shape has changed count as the same if the
record has both shapes of the slice that the study's own file makes. Then the cheapest stage of each kind is made again
in a separate folder and must be the same byte for byte. Cards record this under `adopted`, and reports mark such rows.

With --brought instead, what a machine with a GPU made from the same code and packed (`make gpu`) is taken as made here.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from costtogo import cli, recipes
from costtogo.files import FileError, digest, json_text, read_json, write_bytes, write_json
from costtogo.params.loading import BASE
from costtogo.progress import say
from costtogo.recipes import shortened
from costtogo.sources import digest_of
from costtogo.stages.stage_run import processor, versions
from costtogo.types import UserError
from costtogo.workflow.graph import Graph
from costtogo.workflow.stages import Stage
from costtogo.workflow.state import State

MACHINE = "machine.json"  # in what another machine packed: what it is
MADE_ANEW = ("figures", "report", "external")  # decided by the clock, or made in seconds
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def adopt(
    net: Annotated[
        Path | None, typer.Option(help="Record of the net: make net BEFORE=<commit that made the results>.")
    ] = None,
    brought: Annotated[
        list[Path] | None, typer.Option(help="What `make gpu` packed on another machine; any number.")
    ] = None,
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
    chosen = [each for each in graph.stages if each.study in names]
    if bool(net) == bool(brought):
        raise UserError("Give either --net, the record of the net, or --brought, what another machine packed.")
    for path in brought or ():
        bring(chosen, path)
    if net:
        run(chosen, net)


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
    write_json(
        stage.card, card | {"parameters": stage.parameters, "code": code, "adopted": [*card.get("adopted", []), step]}
    )
    leave_mark(stage)


def leave_mark(stage: Stage) -> None:
    """The mark of today's recipe instead of all others."""
    for mark in recipes.marks(stage.folder, stage.name):
        mark.path.unlink()
    recipe = stage.recipe.write(stage.folder, stage.name)
    timings = [Path(path) for path in stage.timings if Path(path).exists()]
    recipes.finish(recipe, stage.folder, Path(stage.card), timings)


def bring(stages: list[Stage], path: Path) -> int:
    """Take what a machine with a GPU packed (benchmarks.gpu, part exact) as if it had run here; how many stages.

    Code, inputs and parameters but the device must be those of today's stages: else UserError, and nothing changes.
    Cards say under `brought` where they come from, and the digests of the large results that stayed there.
    """
    try:
        with tarfile.open(path) as archive:
            files = {each.name: archive.extractfile(each).read() for each in archive if each.isfile()}
        machine = json.loads(files[MACHINE])
        cards = {stage.id: json.loads(files[stage.card]) for stage in stages if stage.card in files}
        code = {stage.id: _mark_in(files, stage) for stage in stages if stage.id in cards}
    except (OSError, tarfile.TarError, KeyError, StopIteration, ValueError) as error:
        raise FileError(f"{path} is damaged, or not what `make gpu` packs: {error}.") from error
    chosen = [stage for stage in stages if stage.id in cards]
    if not chosen:
        raise UserError(f"{path} holds no results of these studies: name theirs, and their file with --configfile.")
    written = {name: found for card in cards.values() for name, found in card["outputs"].items()}
    for stage in chosen:
        if reason := unlike(stage, cards[stage.id], code[stage.id], files, written):
            raise UserError(f"{stage.id} of {path} cannot be taken: {reason}.")
    renewed: dict[str, str] = {}  # digests of cards that have changed
    for stage in chosen:
        card = cards[stage.id]
        kept = {name: found for name, found in card["outputs"].items() if name in files}
        left = {name: found for name, found in card["outputs"].items() if name not in files}
        for name in (*kept, *(name for name in stage.timings if name in files)):
            write_bytes(Path(name), files[name])
        read = {name: renewed.get(name, found) for name, found in card["inputs"].items()}
        card |= {"outputs": kept, "inputs": read}
        write_json(stage.card, card | {"brought": machine | {"left": left}})
        renewed[stage.card] = digest(stage.card)
        leave_mark(stage)
    say(f"{len(chosen)} stages are taken from {path.name}, made on {machine.get('device')}.")
    return len(chosen)


def _mark_in(files: dict[str, bytes], stage: Stage) -> dict[str, str]:
    """The code that made a packed stage, digests by file."""
    start = f"results/{stage.study}/done/{stage.group}/{stage.name}."
    return json.loads(next(content for name, content in files.items() if name.startswith(start)))["code"]


def unlike(stage: Stage, card: dict, code: dict, files: dict[str, bytes], written: dict[str, str]) -> str:
    """Why a packed stage is not today's, empty if it is.  written: what all packed stages wrote, digests by path."""
    same = {**card["parameters"], **{name: stage.parameters[name] for name in ("device",) if name in stage.parameters}}
    if json_text(same) != json_text(stage.parameters):
        return "it has other parameters"
    if changed := sorted(name for name, found in stage.recipe.code.items() if code.get(name) != found):
        return f"it was made by other code ({shortened(changed)})"
    for name, found in card["outputs"].items():
        if not name.startswith((f"{stage.folder}/{stage.name}.", f"{stage.folder}/{stage.name}/")) or ".." in name:
            return f"it names {name}"
        if name in files and hashlib.sha256(files[name]).hexdigest() != found:
            return f"{name} is damaged"
    for name, found in card["inputs"].items():
        packed = hashlib.sha256(files[name]).hexdigest() if name in files else written.get(name)
        if found != (packed or (digest(name) if Path(name).is_file() else "")):
            return f"{name}, which it read, is not here or another one: make it first"
    return ""


if __name__ == "__main__":
    cli.main(app)
