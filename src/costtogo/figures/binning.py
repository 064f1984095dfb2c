"""Distances gathered into bins where a puzzle has more of them than a figure can show."""

import numpy as np
import pandas as pd

BINS = 64  # most bins a figure shows


def bin_width(largest_distance: int) -> int:
    """Distances to a bin, so that 0 … largest_distance make at most BINS bins.  14 -> 1, 1023 -> 16."""
    return -(-(largest_distance + 1) // BINS)


def bin_middle(distance, width: int):
    """The middle of the bin that holds each distance.  5, 4 -> 5.5"""
    return distance // width * width + (width - 1) / 2


def binned_means(frame: pd.DataFrame, value: str, weight: str, width: int) -> pd.DataFrame:
    """Means of a column over bins of distance, weighted by another column.

    frame has distance, the value and the weight.  Returns distance (the bin's middle), the mean and the sum
    of weights.
    """
    weighted = pd.DataFrame(
        {
            "distance": bin_middle(frame["distance"], width),
            value: frame[value] * frame[weight],
            weight: frame[weight],
        }
    )
    sums = weighted[weighted[weight] > 0].groupby("distance", as_index=False).sum()
    return sums.assign(**{value: sums[value] / sums[weight]})


def binned_counts(distances: np.ndarray, largest_distance: int) -> tuple[np.ndarray, np.ndarray]:
    """States in each bin of distance: the bins' middles and the counts, both [bins]."""
    width = bin_width(largest_distance)
    counts = np.bincount(np.asarray(distances, dtype=np.int64) // width, minlength=largest_distance // width + 1)
    return np.arange(counts.size) * width + (width - 1) / 2, counts
