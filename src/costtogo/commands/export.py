"""A network for other programs: its checkpoint, the same network as ONNX, and a model card.

The safetensors file is the checkpoint itself, byte for byte. The card shows how to read it with torch alone. The
exporter of torch writes the ONNX file, which any ONNX runtime evaluates; it needs the packages of the extra `onnx`.
"""

import logging
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from jinja2 import Environment, PackageLoader, StrictUndefined

from costtogo import solving
from costtogo.files import digest, flatten, read_bytes, read_json, write_bytes, write_text
from costtogo.heuristics.layers import Network
from costtogo.heuristics.network import load_network
from costtogo.heuristics.rewards import VALUE_AND_COST
from costtogo.params.training import ArchitectureParams
from costtogo.progress import say
from costtogo.puzzles import title
from costtogo.solving.measuring import in_words, starts
from costtogo.solving.model_cards import PACKAGED, ModelCard
from costtogo.types import States

CARD, WEIGHTS, ONNX = "README.md", "model.safetensors", "model.onnx"
NEEDED = ("onnx", "onnxscript")  # of torch's exporter
READABLE = ("residual", "convolutional", "rows", "tuples")  # kinds of networks that a card's program reads
SHOWN = 3  # states whose values the card gives, for a reader to check
DIGITS = 4  # of these values


def run(named: str, out: Path | None) -> None:
    """Write the files of a network, named as `solving.load` takes it, to the folder out, by default exported/<puzzle>.

    Raises UserError if there is no such network.
    """
    card = solving.load(named).card
    checkpoint = card.checkpoint()
    puzzle, network, _ = load_network(checkpoint)
    folder, states = out or Path("exported") / puzzle.name, starts(puzzle, SHOWN)
    missing = [name for name in NEEDED if find_spec(name) is None]
    write_bytes(folder / WEIGHTS, read_bytes(checkpoint))
    if missing:
        say(f"{folder / ONNX} is left out: {' and '.join(missing)} not installed; pip install 'costtogo[onnx]'.")
        (folder / ONNX).unlink(missing_ok=True)  # of another network
    else:
        write_bytes(folder / ONNX, as_onnx(network, states))
    write_text(folder / CARD, card_of(card, states, with_onnx=not missing))
    print(f"{title(puzzle.name)}: {folder} has the network; read {folder / CARD}.")


class Evaluated(torch.nn.Module):
    """A network as a module of states, uint8 [N, D], which an exporter can trace."""

    def __init__(self, network: Network):
        super().__init__()
        self.network = network

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """float32 [N], [N, A] or [N, 1 + A], as the architecture says."""
        return self.network.outputs(states)


def as_onnx(network: Network, states: States) -> bytes:
    """The network in inference mode as an ONNX model: `states`, uint8 [N, D] for any N, to `values`, float32.

    states: an example, of two rows or more.
    """
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass

    example = torch.from_numpy(np.ascontiguousarray(states))
    exporter = logging.getLogger("torch.onnx")
    level = exporter.level
    exporter.setLevel(logging.ERROR)  # it warns that torchvision is absent
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # torch's, of its own code
            network(network.encoded(states))  # what is cached must not be made while tracing
            rows = {0: torch.export.Dim("N")}
            program = torch.export.export(Evaluated(network).eval(), (example,), dynamic_shapes=(rows,))
            made = torch.onnx.export(program, input_names=["states"], output_names=["values"], verbose=False)
    finally:
        exporter.setLevel(level)
    ClearMetadataAndDocStringPass()(made.model)  # the lines of this machine's sources that each step comes from
    return made.model_proto.SerializeToString(deterministic=True)


def card_of(card: ModelCard, states: States, with_onnx: bool) -> str:
    """The model card, Markdown with the front matter of model hubs; states: whose values it gives, uint8 [N, D]."""
    checkpoint = card.checkpoint()
    puzzle, network, description = load_network(checkpoint)
    with torch.no_grad():
        values = network.outputs(torch.from_numpy(np.ascontiguousarray(states))).numpy()
    whole = read_json(card.path.with_suffix(".json")) if card.origin == PACKAGED else {}
    metrics = {key: value for key, value in flatten(card.numbers).items() if value is not None}
    of_study = [f"{key.replace('_', ' ')}: {value}" for key, value in metrics.items()]
    loader = PackageLoader("costtogo.commands", "")
    templates = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return templates.get_template("model_card.md.j2").render(
        title=title(puzzle.name),
        puzzle=puzzle,
        architecture=network.architecture,
        readable=is_readable(network.architecture),
        weights=network.parameter_count,
        description=description,
        trained=whole.get("training", {}),
        numbers=in_words(whole["numbers"]) if whole else of_study,
        value_and_cost=VALUE_AND_COST,
        sha256=digest(checkpoint),
        with_onnx=with_onnx,
        states=states.tolist(),
        values=np.round(values.astype(float), DIGITS).tolist(),
        goal=puzzle.goal.tolist(),
    )  # fmt: skip


def is_readable(architecture: ArchitectureParams) -> bool:
    """True if the card's program covers the architecture: cells as inputs, batch normalisation before the ReLU."""
    plain = getattr(architecture, "inputs", "cells") == "cells" and not getattr(architecture, "norm_after_relu", False)
    return architecture.kind in READABLE and plain
