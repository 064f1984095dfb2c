"""Means of what was measured, intervals for shares and means, and how a share is written."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

ROUNDING = 1e-9  # of a share of 100 %


def percent_text(value: float) -> str:
    """A share to two places, where only the whole is 100.  99.407 -> "99.41", 99.998 -> "99.99"."""
    return "100" if value > 100 - ROUNDING else f"{min(value, 99.99):.2f}"


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """The Wilson score interval of a share, 95 %; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    z, share = 1.959964, successes / trials
    middle = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def share_interval(holds: np.ndarray, groups: np.ndarray | None = None) -> tuple[float, float]:
    """The 95 % interval of the share of observations that hold, bool [N]: Wilson's, of as many as they are worth.

    groups: of each observation, what it was drawn with, such as its walk. Observations drawn together tell less than as
    many alone: their number is divided by the design effect, the variance over groups by that of single ones (Kish
    1965), where that is above 1. It is not known where all or none hold, and taken for 1.
    """
    count, held = len(holds), int(np.sum(holds))
    if groups is None or held in (0, count):
        return wilson(held, count)
    share = held / count
    _, places = np.unique(groups, return_inverse=True)
    apart = np.bincount(places, weights=holds - share)
    number = len(apart)
    if number < 2:
        return 0.0, 1.0
    effect = max(1.0, number / (number - 1) * float(apart @ apart) / (count * share * (1 - share)))
    return wilson(held / effect, count / effect)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean of some measurements and its 95 % interval by Student's t; the interval is NaN of fewer than two."""
    found = np.asarray(values, dtype=np.float64)
    if len(found) < 2:
        return float(found.mean()) if len(found) else math.nan, math.nan, math.nan
    half = float(special.stdtrit(len(found) - 1, 0.975) * found.std(ddof=1) / math.sqrt(len(found)))
    return float(found.mean()), float(found.mean()) - half, float(found.mean()) + half


def weighted_means(frame: pd.DataFrame, by: Any, values: list[str], weight: str = "states") -> pd.DataFrame:
    """Means of some columns over groups of rows, weighted by another column, beside the sums of the weights.

    by: as of DataFrame.groupby; the groups are in order of appearance.
    """
    products = frame[values].mul(frame[weight], axis=0).assign(**{weight: frame[weight]})
    sums = products.groupby([frame[name] for name in by] if isinstance(by, list) else by, sort=False).sum()
    return sums.assign(**sums[values].div(sums[weight], axis=0))
