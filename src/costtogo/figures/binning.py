"""Distances gathered into bins where a puzzle has more of them than a figure can show."""

import numpy as np
import pandas as pd

from costtogo.analysis.intervals import weighted_means

BINS = 64  # most bins a figure shows


def bin_width(largest_distance: int) -> int:
    """The number of distances in a bin, so that 0 … largest_distance make at most BINS bins.  14 -> 1, 1023 -> 16."""
    return -(-(largest_distance + 1) // BINS)


def bin_middle(distance, width: int):
    """The middle of the bin that holds each distance.  5, 4 -> 5.5"""
    return distance // width * width + (width - 1) / 2


def binned_means(frame: pd.DataFrame, values: list[str], weight: str, width: int) -> pd.DataFrame:
    """Means of some columns over bins of distance, weighted by another column.

    frame has distance, the values and the weight.  Returns distance (the bin's middle), the means and the sum
    of weights.
    """
    counted = frame[frame[weight] > 0]
    means = weighted_means(counted, bin_middle(counted["distance"], width), values, weight)
    return means.sort_index().reset_index()


def binned_counts(distances: np.ndarray, largest_distance: int) -> tuple[np.ndarray, np.ndarray]:
    """States in each bin of distance: the bins' middles and the counts, both [bins]."""
    width = bin_width(largest_distance)
    counts = np.bincount(np.asarray(distances, dtype=np.int64) // width, minlength=largest_distance // width + 1)
    return np.arange(counts.size) * width + (width - 1) / 2, counts
