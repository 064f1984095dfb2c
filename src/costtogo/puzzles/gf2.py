"""Linear algebra over GF(2), the field of 0 and 1, where 1 + 1 = 0."""

import numpy as np


def eliminate(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Jordan elimination of a matrix of 0 and 1, uint8 [R, C].

    Returns pivots, int64 [rank], and the transform, uint8 [R, R]: of transform · matrix, row i has its first 1 in
    column pivots[i], where no other row has one, and the rows after the first rank are 0.
    """
    height, width = matrix.shape
    rows = np.concatenate([matrix, np.eye(height, dtype=np.uint8)], axis=1)
    pivots: list[int] = []
    for column in range(width):
        top = len(pivots)
        below = top + np.flatnonzero(rows[top:, column])
        if below.size:
            rows[[top, below[0]]] = rows[[below[0], top]]
            others = np.flatnonzero(rows[:, column])
            rows[others[others != top]] ^= rows[top]
            pivots.append(column)
    return np.array(pivots, dtype=np.int64), rows[:, width:]
