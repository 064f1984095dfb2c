"""Numbers of the literature that depend on no training: counts of states, samplers, sizes of networks, listings."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from costtogo.analysis.intervals import wilson
from costtogo.analysis.listings import Replay
from costtogo.heuristics.network import of_architecture
from costtogo.params.training import ArchitectureParams
from costtogo.puzzles import make
from costtogo.report.answers import NAN, Answer, Row

LISTINGS = "7.4"  # the appendix with the solutions of H(7, 3)


@dataclass(frozen=True)
class Facts:
    """What a study knows without a network.

    states: puzzle, distance, states.  half_turns: the largest distance by puzzle where half turns count as one.
    drawn: how many states each instance set and sampler holds, by (puzzle, set).
    distributions: what the samplers drew, by puzzle.
    listings: the literature's solutions by path weight.  architectures: the literature's networks by name.
    """

    study: str
    states: pd.DataFrame
    half_turns: dict[str, float]
    drawn: dict[tuple[str, str], int]
    distributions: dict[str, pd.DataFrame]
    listings: dict[float, Replay]
    architectures: dict[str, ArchitectureParams]

    def answer(self, row: Row) -> Answer | None:
        """Our number for a row of the literature, None where a network has to answer it."""
        if row["section"] == LISTINGS or row["quantity"] in ("extra_moves", "moves_before_detour"):
            return self._listing(row)
        if row["quantity"] == "length" and not isinstance(row["model"], str):
            return self._recursive(row)
        find = {
            "states": self._states,
            "states_at_distance": self._states,
            "diameter": self._diameter,
            "diameter_half_turns": self._diameter_half_turns,
            "parameters": self._parameters,
            "states_sampled": self._states_sampled,
            "sampled_percent": self._sampled,
            "sampled_states_difference": self._samplers_apart,
            "sampled_percent_difference": self._samplers_apart,
        }.get(row["quantity"])
        return find(row) if find else None

    def _states(self, row: Row) -> Answer | None:
        layers = self.states[self.states["puzzle"] == row["puzzle"]]
        if layers.empty:
            return None
        if not math.isnan(row["distance"]):
            layers = layers[layers["distance"] == row["distance"]]
        count = float(layers["states"].sum())
        return Answer(
            count, f"results/{self.study}/tables/{row['puzzle']}.npz", exhaustive=count, note="all states listed"
        )

    def _diameter(self, row: Row) -> Answer | None:
        layers = self.states[self.states["puzzle"] == row["puzzle"]]
        if layers.empty:
            return None
        largest = float(layers["distance"].max())
        return Answer(largest, f"results/{self.study}/tables/{row['puzzle']}.npz", exhaustive=largest)

    def _diameter_half_turns(self, row: Row) -> Answer | None:
        largest = self.half_turns.get(row["puzzle"], NAN)
        file = f"results/{self.study}/tables/{row['puzzle']}.json"
        return None if math.isnan(largest) else Answer(largest, file, exhaustive=largest)

    def _recursive(self, row: Row) -> Answer:
        moves = len(make(row["puzzle"]).recursive_solution())
        return Answer(moves, "src/costtogo/puzzles/hanoi.py", exhaustive=moves, note="the recursive solution")

    def _states_sampled(self, row: Row) -> Answer | None:
        count = self.drawn.get((row["puzzle"], row["set"]))
        place = "audits" if row["set"] == "sample" else f"instances/{row['puzzle']}.json"
        return Answer(count, f"results/{self.study}/{place}") if count else None

    def _parameters(self, row: Row) -> Answer | None:
        architecture = self.architectures.get(row["model"])
        if architecture is None:
            return None
        puzzle = make(row["puzzle"])
        with torch.device("meta"):  # shapes alone
            network = of_architecture(architecture, puzzle)
        return Answer(network.parameter_count, "params.yaml", note="the same architecture")

    def _sampler(self, puzzle: str, name: str, walk_max: str) -> pd.DataFrame:
        """sampled and expected_percent of a sampler by distance."""
        rows = self.distributions[puzzle]
        return rows[(rows["sampler"] == name) & (rows["walk_max"] == int(walk_max))].set_index("distance")

    def _sampled(self, row: Row) -> Answer | None:
        if row["puzzle"] not in self.distributions:
            return None
        drawn = self._sampler(row["puzzle"], *row["set"].split("_"))
        if row["distance"] not in drawn.index:
            return None
        here, total = drawn.loc[row["distance"]], int(drawn["sampled"].sum())
        low, high = (100 * end for end in wilson(int(here["sampled"]), total))
        expected, drawn_share = float(here["expected_percent"]), 100 * here["sampled"] / total
        note = f"the exact share; of {total:,} states drawn {drawn_share:.2f} %"
        return Answer(expected, self._drawn_file(row), low, high, exhaustive=expected, note=note)

    def _samplers_apart(self, row: Row) -> Answer | None:
        """States that DeepCubeA's sampler drew more than DeepCube's; both have the same distribution."""
        if row["puzzle"] not in self.distributions:
            return None
        _, walk_max = row["set"].split("_")
        theirs, ours = (self._sampler(row["puzzle"], name, walk_max)["sampled"] for name in ("deepcubea", "deepcube"))
        if theirs.empty or ours.empty:
            return None
        apart, total = theirs - ours, float(ours.sum())
        deviation = 1.96 * np.sqrt(theirs + ours)  # of a difference of two counts that chance alone separates
        if row["quantity"] == "sampled_percent_difference":
            apart, deviation = 100 * apart.abs() / total, 100 * deviation / total
        if math.isnan(row["distance"]):
            summed = row["quantity"] == "sampled_percent_difference"
            if summed:
                return Answer(float(apart.sum()), self._drawn_file(row))
            row = row | {"distance": apart.idxmin() if row["relation"].startswith(">") else apart.idxmax()}
        value, spread = float(apart[row["distance"]]), float(deviation[row["distance"]])
        return Answer(value, self._drawn_file(row), value - spread, value + spread)

    def _drawn_file(self, row: Row) -> str:
        return f"results/{self.study}/instances/{row['puzzle']}/distributions.parquet"

    def _listing(self, row: Row) -> Answer | None:
        replay = self.listings.get(row["path_weight"])
        if replay is None or not replay.solves:
            return None
        file = f"data/reported/hanoi_7_lambda_{row['path_weight']:g}.csv"
        count = replay.moves if row["quantity"] == "length" else getattr(replay, row["quantity"])
        return Answer(count, file, exhaustive=count, note="the listing replayed move by move, all legal, to the goal")
