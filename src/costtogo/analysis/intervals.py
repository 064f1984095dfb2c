"""Intervals for measured shares and means."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import special


def wilson(successes: int, trials: int, z: float = 1.959964) -> tuple[float, float]:
    """The Wilson score interval of a share, 95 % unless another z is given; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    middle = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean of some measurements and its 95 % interval by Student's t; the interval is NaN of fewer than two."""
    found = np.asarray(values, dtype=np.float64)
    if len(found) < 2:
        return float(found.mean()) if len(found) else math.nan, math.nan, math.nan
    half = float(special.stdtrit(len(found) - 1, 0.975) * found.std(ddof=1) / math.sqrt(len(found)))
    return float(found.mean()), float(found.mean()) - half, float(found.mean()) + half
