"""Put a trained network into the package: its weights in 16 bits, and a card of what was measured of that file.

The card has what the file itself does, `numbers`, and what the float32 checkpoint does in the same measurement, so that
anybody sees what the rounding costs. `costtogo networks --measure` takes the measurement again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from costtogo.files import digest, read_bytes, read_json, read_tensors, write_bytes, write_json, write_tensors
from costtogo.heuristics.network import load, load_network
from costtogo.progress import say
from costtogo.solving.at_hand import FILE, ModelCard, packaged, packaged_folder
from costtogo.solving.measuring import SECONDS, measure
from costtogo.stages.stage_run import commit
from costtogo.types import UserError, excerpt

DIRTY = "+"  # ends the commit of a working tree with changes
MOST_BYTES = 3_000_000  # of one network


def run(model: Path) -> Path:
    """Pack the selected checkpoint of a model's folder, results/<study>/models/<model>; returns the file.

    Raises UserError, and leaves the package as it was, where the model was trained, or is packed, from a working tree
    with changes, is too large, or solves nothing.
    """
    if not (model / "checkpoints.parquet").exists():
        raise UserError(f"{excerpt(str(model))} is no trained model: name a folder results/<study>/models/<model>.")
    study, name = model.resolve().parents[1], model.name
    timing = read_json(study / "timings" / "models" / f"{name}.json")
    here = commit()
    for place in (timing["commit"], here):
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
        numbers = measure(load(file))
    if numbers["solved_percent"] == 0:
        searched = f"none of {numbers['instances']} searches by {numbers['solver']} found a solution"
        raise UserError(f"{checkpoint} is not packed: over it {searched}.")
    card = {
        "puzzle": puzzle.name,
        "study": study.name,
        "model": name,
        "iteration": description["iteration"],
        "training": {key: timing[key] for key in ("commit", "processor", "seconds") if key in timing},
        "checkpoint_sha256": digest(checkpoint),
        "sha256": sha256,
        "weights": sum(parameter.numel() for parameter in network.parameters()),
        "bytes": len(content),
        "measured_at": here,
        "numbers": numbers,
        "as_trained": measure(load(checkpoint)),
    }
    write_bytes(target, content)
    write_json(target.with_suffix(".json"), card)
    return target


def halved(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of numbers in 16 bits; whole numbers stay as they are. UserError where one is too large for that."""
    if not tensor.is_floating_point():
        return tensor
    half = tensor.half()
    if not torch.isfinite(half).all():
        raise UserError("A weight of the network is too large for 16 bits; pack another checkpoint.")
    return half


def show(name: str | None, measured: bool) -> None:
    """Print the packaged networks, one or all; with measured, measure them again and print that too."""
    cards = [card for card in packaged() if name in (None, card.name)]
    if not cards:
        there = ", ".join(card.name for card in packaged()) or "none at all"
        raise UserError(f"No network of {excerpt(name or 'any puzzle')} comes with costtogo; there are {there}.")
    for card in cards:
        whole = read_json(card.path.with_suffix(".json"))
        trained = whole["training"]
        print(f"{card.name}: {whole['weights']:,} weights of 16 bits, trained in {trained['seconds'] / 60:.0f} minutes")
        print(f"  model {whole['model']} of the study {whole['study']}, at commit {trained['commit'][:7]}")
        _tell("the card", whole["numbers"])
        _tell("with 32 bits, as trained", whole["as_trained"])
        if measured:
            _tell("measured now", measure(load(card.path)))


def _tell(title: str, numbers: dict[str, Any]) -> None:
    """Print what `measure` returned, or a card has of it, in words."""
    of = f"{numbers['instances']} searches by {numbers['solver']}"
    limit = f", of at most {SECONDS:g} s where its time is its limit"
    optimal = "" if numbers["optimal_percent"] is None else f", {numbers['optimal_percent']:g} % by a shortest solution"
    length = "" if numbers["length"] is None else f", {numbers['length']:g} moves on average"
    print(f"  {title}: {of}{limit}")
    print(
        f"    solved {numbers['solved_percent']:g} %{optimal}{length}, {numbers['nodes_expanded']:,.0f} nodes expanded"
    )
    print(
        f"    values of {numbers['states']:,} states: {numbers['mean_absolute_error']:.2g} moves from the exact "
        f"distance on average, {numbers['overestimated_percent']:.3g} % of them above it"
    )
