"""Value networks of all architectures: how they are made, evaluated as heuristics, and saved as checkpoints."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import torch

from costtogo.engines import engine_of, engine_on
from costtogo.files import FileError, read_tensors, write_tensors
from costtogo.heuristics.automaton import AutomatonNetwork
from costtogo.heuristics.children import child_costs
from costtogo.heuristics.convolutional import ConvolutionalNetwork
from costtogo.heuristics.gru import GatedNetwork
from costtogo.heuristics.layers import Network, by_onednn
from costtogo.heuristics.light_chasing import LightChasingNetwork
from costtogo.heuristics.residual import ResidualNetwork
from costtogo.heuristics.rewards import cost_to_go_of
from costtogo.parallel import by_parts
from costtogo.params.training import ArchitectureParams, architecture_of
from costtogo.puzzles import find, made, make, rules
from costtogo.puzzles.base import Puzzle
from costtogo.types import CostToGo, Heuristic, States, UserError

CHUNK, LEAST = 2048, 256  # states evaluated at once: enough for fast matrix products, few enough for the cache
ON_DEVICE = 1 << 16  # the same where they lie on a device, few enough for its memory


NETWORKS: dict[str, type[Network]] = {  # besides those that only a family of puzzles has
    "residual": ResidualNetwork,
    "convolutional": ConvolutionalNetwork,
    "automaton": AutomatonNetwork,
    "gru": GatedNetwork,
    "rows": LightChasingNetwork,
}


def of_architecture(architecture: ArchitectureParams, puzzle: Puzzle) -> Network:
    """A network whose weights are not set yet; UserError if the puzzle has none of its kind."""
    if architecture.kind in NETWORKS:
        return NETWORKS[architecture.kind](architecture, puzzle)
    if (place := find(puzzle.name)[0].networks.get(architecture.kind)) is None:
        raise UserError(f"There is no network of kind {architecture.kind} for {puzzle.name}.")
    return made(place)(architecture, puzzle)


def build(architecture: ArchitectureParams, puzzle: Puzzle, seed: int) -> Network:
    """A new network with its initial weights."""
    torch.manual_seed(seed)
    network = of_architecture(architecture, puzzle)
    network.initialise()
    return network


def native_precision(precision: str, device: str) -> str:
    """Resolve "auto": bfloat16 where the device, cpu or cuda, multiplies it natively, else float32."""
    if precision != "auto":
        return precision
    on_cuda = partial(torch.cuda.is_bf16_supported, including_emulation=False)
    native = on_cuda if device == "cuda" else torch.cpu._is_avx512_bf16_supported
    return "bfloat16" if native() else "float32"


def present(device: str, processes: int = 1) -> str:
    """The device, cpu or cuda, UserError if torch cannot use it; "auto" gives the one that there is.

    processes: each needs its own CUDA device.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("The device cuda is asked for, but torch finds no CUDA device; ask for auto or cpu.")
    if device == "cuda" and processes > torch.cuda.device_count():
        raise UserError(
            f"A training asks for processes: {processes}, each on a CUDA device of its own, but torch finds "
            f"{torch.cuda.device_count()}; ask for fewer processes, or say device: cpu."
        )
    return device


class NetworkHeuristic:
    """A frozen network as a heuristic: uint8 [N, D] → float32 [N], 0 at the goal.

    by_action: True if children(), the cost-to-go of each child, is cheap.
    of_children: True if the network gives that and nothing else; the cost-to-go of a state is 1 + the smallest then.
    has_policy: True if it gives a value and a policy of each state; with_policy() returns both from one evaluation.
    States may be an array or, for a network on its device, a tensor; the results are then of the same kind.
    engine: of the network's device, by which searches may expand and sort.
    bound: a lower bound, if the architecture has one. The network's output, at least 0, is added to it; so the
    cost-to-go is never below it.
    """

    def __init__(self, puzzle: Puzzle, network: Network, precision: str):
        self.puzzle = puzzle
        self.precision = precision
        self.of_children = network.architecture.outputs == "actions"
        self.has_policy = network.architecture.outputs == "policy"
        self.dtype = getattr(torch, precision)
        self.device = next(network.parameters()).device
        self.evaluate, self.evaluate_children = network.frozen(self.dtype), network.frozen_children()
        self.by_action = self.of_children or self.evaluate_children is not None
        self.bound = bound_of(network.architecture, puzzle)
        self.engine = engine_on(puzzle, self.device.type)

    def __call__(self, states: States) -> CostToGo:
        """Cost-to-go in moves, 0 at the goal, float32 [N]."""
        values = self.outputs(states)
        values[engine_of(self.puzzle, states).is_goal(states)] = 0.0
        return values

    def outputs(self, states: States) -> CostToGo:
        """The network's own output, also at the goal, float32 [N]."""
        engine = engine_of(self.puzzle, states)
        if self.of_children:
            return 1 + engine.xp.amin(self.children(states), 1)
        values = self._evaluated(states)
        if self.has_policy:
            return cost_to_go_of(values[:, 0])
        if self.bound is None:
            return values
        return engine.given(self.bound(engine.fetched(states))) + values.clip(0)

    def with_policy(self, states: States) -> tuple[np.ndarray, CostToGo]:
        """The probability of each action, float32 [N, A], 0 if it is not legal; and the cost-to-go, float32 [N]."""
        values, legal = self._evaluated(states), self.puzzle.legal(states)
        logits = np.where(legal, values[:, 1:], -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        costs = cost_to_go_of(values[:, 0])
        costs[self.puzzle.is_goal(states)] = 0.0
        return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32), costs

    def predicted(self, states: States) -> np.ndarray:
        """The values that training fits: outputs float32 [N], children [N, A] or, with a policy, all [N, 1 + A]."""
        if self.has_policy:
            return self._evaluated(states)
        return self.children(states) if self.of_children else self.outputs(states)

    def children(self, states: States) -> np.ndarray:
        """Cost-to-go of each child, float32 [N, A]; inf if the action is not legal."""
        if self.evaluate_children is not None and isinstance(states, np.ndarray):
            return self._by_threads(states, self.evaluate_children)
        if not self.of_children:
            return child_costs(self.puzzle, states, self)
        engine = engine_of(self.puzzle, states)
        return engine.xp.where(engine.legal(states), self._evaluated(states), np.inf)

    def _evaluated(self, states: States) -> np.ndarray:
        """The network's outputs, float32 [N], [N, A] or [N, 1 + A]; processes that train together share the states."""
        return by_parts(self._by_threads if isinstance(states, np.ndarray) else self._on_device, states)

    @torch.no_grad()
    def _on_device(self, states: torch.Tensor) -> torch.Tensor:
        """The outputs for a part of the states, a tensor of the network's device."""
        parts = [self.evaluate(part).float() for part in states.split(ON_DEVICE) if len(part)]
        return torch.cat(parts) if parts else self.evaluate(states.new_zeros(1, states.shape[1])).float()[:0]

    def _by_threads(self, states: States, evaluate: Callable[[States], np.ndarray] | None = None) -> np.ndarray:
        """The outputs for a part of the states; if there are many, each thread evaluates a part of them."""
        evaluate = evaluate or self._of_part
        threads = torch.get_num_threads() if self.device.type == "cpu" else 1
        in_turn = -(-len(states) // (CHUNK * threads))
        size = max(LEAST, -(-len(states) // max(1, in_turn * threads)))
        parts = [states[first : first + size] for first in range(0, len(states), size)]
        if threads == 1 or len(parts) < 2:
            values = [evaluate(part) for part in parts]
        else:
            torch.set_num_threads(1)
            try:
                values = list(workers(threads).map(evaluate, parts))
            finally:
                torch.set_num_threads(threads)
        return np.concatenate(values) if values else evaluate(states)

    @torch.inference_mode()
    def _of_part(self, states: States) -> np.ndarray:
        rows = max(1, len(states))  # for some layers torch cannot infer the shape from zero rows
        if by_onednn(self.dtype, self.device, rows):
            rows = rounded(rows)
        evaluated = self.evaluate(torch.from_numpy(with_rows(states, rows)).to(self.device))
        return evaluated[: len(states)].float().cpu().numpy()


@lru_cache(maxsize=1)
def workers(threads: int) -> ThreadPoolExecutor:
    """Threads that evaluate one part of the states each; torch's own would wait for each other after every layer.

    Each is set to compute alone, since a library that it calls would otherwise start threads too; with more threads
    than cores, all threads of torch sleep at once whenever they wait.
    """
    return ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))


def bound_of(architecture: ArchitectureParams, puzzle: Puzzle) -> Heuristic | None:
    """The lower bound that the architecture adds to, if any; UserError if the puzzle has none."""
    if not architecture.above:
        return None
    bounds = find(puzzle.name)[0].bounds
    if architecture.above not in bounds:
        raise UserError(f"{puzzle.name} has no bound {architecture.above} for a network to lie above; leave out above.")
    return made(bounds[architecture.above])(puzzle)


def rounded(rows: int) -> int:
    """The next power of two up to 64, then the next multiple of 64.

    oneDNN compiles a kernel for each number of rows, which may take longer than the evaluation.
    """
    return -(-rows // 64) * 64 if rows > 64 else 1 << (rows - 1).bit_length()


def with_rows(states: States, rows: int) -> States:
    """The states, uint8 [N, D], contiguous in memory and followed by rows of zeros: [rows, D]."""
    if rows == len(states):
        return np.ascontiguousarray(states)
    more = np.zeros((rows, states.shape[1]), dtype=np.uint8)
    more[: len(states)] = states
    return more


def save(path: Path | str, network: Network, description: dict) -> None:
    """Write a checkpoint with its description, which holds at least puzzle, precision and iteration."""
    whole = {**description, "architecture": network.architecture.model_dump(), "kind": "value network"}
    if (known := rules(description["puzzle"])) is not None:
        whole["rules"] = known
    write_tensors(path, network.state_dict(), whole)


def load_network(path: Path | str) -> tuple[Puzzle, Network, dict]:
    """Read a checkpoint: its puzzle, its network in inference mode, its description."""
    tensors, description = read_tensors(path)
    try:
        puzzle = make(description["puzzle"])
        _refuse_other_rules(path, description)
        architecture = architecture_of(**description["architecture"])
        network = of_architecture(architecture, puzzle)
        network.load_state_dict(tensors)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise FileError(
            f"{path} is not a checkpoint of a value network; give a file from models/*/checkpoints."
        ) from error
    return puzzle, network.eval(), description


def _refuse_other_rules(path: Path | str, description: dict) -> None:
    """FileError if the file that describes a puzzle has changed since the network was trained."""
    if description.get("rules") != rules(description["puzzle"]):
        raise FileError(
            f"{path} was trained on another {description['puzzle']}: its file has other moves or another goal by now; "
            "train anew, or bring back the old file."
        )


def load(path: Path | str, precision: str | None = None, device: str = "auto") -> NetworkHeuristic:
    """A checkpoint as a heuristic, in the given precision.

    The default is float32, or bfloat16 if it was trained in bfloat16 and the device multiplies it natively.
    """
    puzzle, network, description = load_network(path)
    device = present(device)
    network.to(device)
    trained = "auto" if description.get("precision") == "bfloat16" else "float32"
    return NetworkHeuristic(puzzle, network, native_precision(precision or trained, device))
