"""Trainings that differ in one thing, over several seeds: what differs, and what predicts a good search heuristic.

Frames here have a row for each variant, seed and checkpoint (convergence_point, iteration), with measures as columns.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from costtogo.analysis.intervals import mean_interval

BASE = "base_"  # the variant base_<puzzle> is what the others of a puzzle differ from
CELLS = ["set", "path_weight", "batch_size"]
TRAINING = ["variant", "seed"]
RESAMPLES = 500  # of the bootstrap


def last_checkpoints(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last checkpoint of each training."""
    return frame[frame["iteration"] == frame.groupby(TRAINING)["iteration"].transform("max")]


def in_order(variants: Iterable[str], base: str) -> list[str]:
    """The variants that there are, each once: base first, the others by name."""
    return [base, *sorted({*variants} - {base})]


def compare(frame: pd.DataFrame, by: str, measures: Sequence[str], base: str | None = None) -> pd.DataFrame:
    """A row for each value of the column by and each measure: what the measure is over the seeds.

    frame: one row for each seed and value of by.  base: the value that the others are compared with, which comes first.
    Columns by, measure, seeds (that were measured), mean, low and high (95 %), least, most, difference_low and
    difference_high: the interval of the difference from base, paired by seed; NaN for base itself and without a base.
    """
    pairs = frame.pivot(index="seed", columns=by, values=[*measures])
    names = in_order(frame[by], base) if base else sorted(set(frame[by]))
    return pd.DataFrame(
        {by: name, "measure": measure, **over_seeds(pairs[measure], name, base)}
        for name in names
        for measure in measures
    )


def over_seeds(pairs: pd.DataFrame, name: Any, base: str | None) -> dict[str, float]:
    """What compare says of one measure under one name.  pairs: a row for each seed, a column for each name."""
    found = pairs[name].dropna()
    apart = found[:0] if base in (None, name) else (pairs[name] - pairs[base]).dropna()
    values = {"seeds": len(found), **dict(zip(("mean", "low", "high"), mean_interval(found), strict=True))}
    values |= {"least": found.min(), "most": found.max()}
    return values | dict(zip(("difference_low", "difference_high"), mean_interval(apart)[1:], strict=True))


def divergence(frame: pd.DataFrame, mean_distance: float) -> pd.DataFrame:
    """A row for each training: its least and its last error over all states, and whether it diverged.

    Columns variant, seed, least_error, least_at (iteration), last_error, within_one (the first iteration with an error
    below one move, NaN if none) and diverged: the last error is above mean_distance, that of the zero heuristic.
    """
    frame = frame.sort_values("iteration", ignore_index=True)
    errors = frame.groupby(TRAINING)["mean_absolute_error"]
    found = errors.agg(least_error="min", last_error="last")
    near = frame[frame["mean_absolute_error"] < 1].groupby(TRAINING)["iteration"].first()
    found = found.assign(least_at=frame["iteration"][errors.idxmin()].to_numpy(), within_one=near)
    return found.assign(diverged=found["last_error"] > mean_distance).reset_index()


def longest(points: pd.DataFrame) -> str:
    """The variant that reaches the latest convergence point, and of those the one with most checkpoints."""
    reached = points.groupby("variant")["convergence_point"].agg(["max", "size"])
    return str(reached.sort_values(["max", "size"], kind="stable").index[-1])


def predictions(frame: pd.DataFrame, measures: list[str], targets: list[str]) -> pd.DataFrame:
    """How well each measure predicts each target: Spearman's ρ over all checkpoints, and among those of one point.

    within: whether measure and target were first ranked among the checkpoints of the same convergence point, which
    takes out what merely grows with training.  low and high: 95 % by bootstrap over whole trainings.
    """
    columns = [*measures, *targets]
    points = frame.groupby("convergence_point")
    alone = points["seed"].transform("size") < 3
    scopes = {False: frame[columns], True: points[columns].rank(pct=True)[~alone]}
    trainings = [rows.to_numpy() for rows in frame.groupby(TRAINING).groups.values()]
    generator = np.random.default_rng(0)
    draws = [generator.integers(len(trainings), size=len(trainings)) for _ in range(RESAMPLES)]
    pairs, frames = pd.MultiIndex.from_product([measures, targets], names=["measure", "target"]), []
    for within, values in scopes.items():
        resampled = []
        for draw in draws:
            chosen = np.concatenate([trainings[number] for number in draw])
            resampled.append(_rank_correlations(values.reindex(chosen).dropna(), measures, targets))
        low, high = pd.DataFrame(resampled).quantile([0.025, 0.975]).to_numpy()
        found = {"correlation": _rank_correlations(values, measures, targets), "low": low, "high": high}
        frames.append(pd.DataFrame(found, index=pairs).reset_index().assign(within=within))
    return pd.concat(frames, ignore_index=True)


def _rank_correlations(values: pd.DataFrame, measures: list[str], targets: list[str]) -> np.ndarray:
    """Spearman's ρ of each measure with each target, float64 [measures · targets], by measure."""
    ranks = values.rank().to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.corrcoef(ranks, rowvar=False)
    return found[: len(measures), len(measures) :].ravel()
