"""The loader that MLflow calls for a registered network: `mlflow.pyfunc.load_model("models:/…")`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from costtogo.heuristics import network
from costtogo.types import CostToGo, Heuristic


@dataclass(frozen=True)
class NetworkModel:
    """A checkpoint behind MLflow's interface."""

    heuristic: Heuristic

    def predict(self, data: Any) -> CostToGo:
        """Estimate the moves to go.

        data: states [N, D] as an array, a list or a data frame with one column a cell.
        Returns float32 [N]. Raises ValueError where a value is not a cell's, 0 to 255.
        """
        states = np.asarray(data)
        if states.ndim != 2 or states.min(initial=0) < 0 or states.max(initial=0) > 255:
            raise ValueError("States must be a table [N, D] of whole numbers from 0 to 255.")
        return self.heuristic(states.astype(np.uint8))


def _load_pyfunc(path: str) -> NetworkModel:
    return NetworkModel(network.load(Path(path)))
