"""The loader that MLflow calls for a registered network: `mlflow.pyfunc.load_model("models:/…")`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from costtogo.heuristics import network
from costtogo.types import CostToGo, Heuristic


@dataclass(frozen=True)
class NetworkModel:
    """A checkpoint with MLflow's interface."""

    heuristic: Heuristic

    def predict(self, data: Any) -> CostToGo:
        """Estimate the moves to go.

        data: states [N, D] as an array, a list or a data frame with one column per cell.
        Returns float32 [N], meaningless for a state that cannot be reached. Raises ValueError if a row does not have
        the puzzle's cells and letters.
        """
        states, puzzle = np.asarray(data), self.heuristic.puzzle
        inside = 0 <= states.min(initial=0) and states.max(initial=0) < puzzle.letters
        if states.ndim != 2 or states.shape[1] != puzzle.cells or not inside:
            letters = f"whole numbers from 0 to {puzzle.letters - 1}"
            raise ValueError(f"States of {puzzle.name} are a table [N, {puzzle.cells}] of {letters}.")
        return self.heuristic(states.astype(np.uint8))


def _load_pyfunc(path: str) -> NetworkModel:
    return NetworkModel(network.load(Path(path)))
