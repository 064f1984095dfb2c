"""Put a trained network into the package: its weights in 16 bits, and a card with measurements of that file.

The card has the measurements of the file, `numbers`, and of the float32 checkpoint, which shows the cost of rounding.
`costtogo networks --measure` measures again. In a clone:

    python -m tools.pack results/<study>/models/<model>
    python -m tools.pack cube3 --again      # measures the packed network again, and writes its card
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import torch
import typer

from costtogo import cli
from costtogo.files import digest, read_bytes, read_json, read_tensors, write_bytes, write_json, write_tensors
from costtogo.heuristics.network import load, load_network
from costtogo.progress import say
from costtogo.solving.measuring import BUDGETS, measure
from costtogo.solving.model_cards import FILE, ModelCard, packaged, packaged_folder
from costtogo.stages.stage_run import commit, processor
from costtogo.types import UserError, excerpt

DIRTY = "+"  # ends the commit of a working tree with changes
MOST_BYTES = 8_000_000  # for one network
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def pack(
    model: Annotated[
        Path, typer.Argument(help="A trained model, results/<study>/models/<model>; with --again, a puzzle.")
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Measure the packed network of a puzzle, and write its card.")
    ] = False,
):
    """Put a trained network into the package with 16-bit weights, and a card of what it can do."""
    print(f"{measured_again(str(model)) if again else run(model)} is written{'' if again else ', with its card'}.")


def measured_again(name: str) -> Path:
    """Write the card of a packed network with new measurements of its file, those as trained apart; returns the card.

    Raises UserError if no network of that name is packed, or the working tree has changes.
    """
    found = [card for card in packaged() if card.name == name]
    if not found:
        raise UserError(
            f"No network {excerpt(name)} is packed; there are {', '.join(card.name for card in packaged())}."
        )
    path = found[0].path.with_suffix(".json")
    card = read_json(path) | measurements(found[0].checkpoint())
    write_json(path, card)
    return path


def measurements(file: Path) -> dict[str, Any]:
    """What a card says of a packed file: its numbers, by which commit and on which machine."""
    if (here := commit()).endswith(DIRTY):
        raise UserError(f"{file.name} would be measured by changed files ({here}): commit them first.")
    machine = f"{os.cpu_count()} cores of {processor()}"
    return {"measured_at": here, "measured_on": machine, "numbers": measure(load(file))}


def run(model: Path) -> Path:
    """Pack the selected checkpoint of a model's folder, results/<study>/models/<model>; returns the file.

    Raises UserError, and leaves the package unchanged, if the model was trained, or is packed, from a working tree with
    changes, is too large, or solves nothing.
    """
    if not (model / "checkpoints.parquet").exists():
        raise UserError(f"{excerpt(str(model))} is no trained model: name a folder results/<study>/models/<model>.")
    study, name = model.resolve().parents[1], model.name
    timing = read_json(study / "timings" / "models" / f"{name}.json")
    stage = read_json(model.with_suffix(".json"))
    for place in (timing["commit"], commit()):
        if place.endswith(DIRTY):
            raise UserError(f"{name} would be packed from changed files ({place}): commit them first.")
    checkpoint = ModelCard(name, "", FILE, model).checkpoint()
    puzzle, network, description = load_network(checkpoint)
    rounded = {key: halved(tensor) for key, tensor in read_tensors(checkpoint)[0].items()}
    target = packaged_folder() / f"{puzzle.name}.safetensors"
    with TemporaryDirectory() as apart:
        file = Path(apart) / target.name
        write_tensors(file, rounded, description)
        content, sha256 = read_bytes(file), digest(file)
        if len(content) > MOST_BYTES:
            raise UserError(f"{checkpoint} is too large for the package even in 16 bits; train a smaller network.")
        say(f"{puzzle.name}: measuring the network with 16-bit weights, then with the weights as they were trained")
        measured = measurements(file)
    numbers = measured["numbers"]
    if not any(reached["solved_percent"] for reached in numbers["reached"]):
        searched = f"no search by {numbers['solver']} found a solution"
        raise UserError(f"{checkpoint} is not packed: over it {searched}.")
    card = {
        "puzzle": puzzle.name,
        "study": study.name,
        "model": name,
        "iteration": description["iteration"],
        "training": {key: timing[key] for key in ("commit", "device", "processor", "seconds") if key in timing}
        | {"states_seen": int(stage["metrics"]["states_seen"])}
        | ({"starts_from": stage["parameters"]["starts_from"]} if "starts_from" in stage["parameters"] else {}),
        "recipe": stage["parameters"]["training"],
        "checkpoint_sha256": digest(checkpoint),
        "sha256": sha256,
        "weights": sum(parameter.numel() for parameter in network.parameters()),
        "bytes": len(content),
        "as_trained": measure(load(checkpoint), BUDGETS[:1]),
    } | measured
    write_bytes(target, content)
    write_json(target.with_suffix(".json"), card)
    return target


def halved(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of numbers in 16 bits; whole numbers are unchanged. UserError if a number is too large for that."""
    if not tensor.is_floating_point():
        return tensor
    half = tensor.half()
    if not torch.isfinite(half).all():
        raise UserError("A weight of the network is too large for 16 bits; pack another checkpoint.")
    return half


if __name__ == "__main__":
    cli.main(app)
