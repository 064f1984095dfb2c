"""Trainings that differ in one thing, over several seeds: what differs, and what predicts a good search heuristic.

Frames here have a row for each variant, seed and checkpoint (convergence_point, iteration), with measures as columns.
"""

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


def compare(frame: pd.DataFrame, base: str, measures: list[str]) -> pd.DataFrame:
    """A row for each variant and measure: mean over the seeds, 95 % interval, and that of the difference from base.

    frame has one row a training.  Differences are paired by seed.  Columns variant, measure, seeds, mean, low, high,
    difference_low, difference_high (NaN for base itself).
    """
    rows = []
    pairs = frame.pivot(index="seed", columns="variant", values=measures)
    for variant in [base, *sorted(set(frame["variant"]) - {base})]:
        for measure in measures:
            found = pairs[measure][variant]
            difference = mean_of(found - pairs[measure][base]) if variant != base else {}
            between = {f"difference_{end}": difference.get(end, np.nan) for end in ("low", "high")}
            row = {"variant": variant, "measure": measure, "seeds": found.count()}
            rows.append(row | mean_of(found) | between)
    return pd.DataFrame(rows)


def mean_of(values: pd.Series) -> dict[str, float]:
    """The mean of what was measured, and low and high, its 95 % interval."""
    return dict(zip(("mean", "low", "high"), mean_interval(values.dropna()), strict=True))


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


def by_point(frame: pd.DataFrame, measures: list[str]) -> pd.DataFrame:
    """A row for each convergence point and measure over the seeds of one variant: seeds, mean, low, high (95 %)."""
    rows = []
    for point, group in frame.groupby("convergence_point"):
        for measure in measures:
            row = {"convergence_point": point, "measure": measure, "seeds": len(group)}
            rows.append(row | mean_of(group[measure]))
    return pd.DataFrame(rows)


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
