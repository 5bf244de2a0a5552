"""Direct measurement of the distances that a Gram matrix cannot resolve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibtest.kernels import kernel

__all__ = ["remeasure_close"]


@kernel
def remeasure_close(
    points: NDArray[np.float64],
    lengths: NDArray[np.float64],
    share: float,
    first: int,
    last: int,
    squared: NDArray[np.float64],
) -> None:
    """Replace squared distances below `share` of the two squared lengths by sums of squared differences.

    Rows `first` to `last` of the upper triangle; the lower triangle follows it. A sum of differences depends on the
    two points alone, not on where they stand in the file.
    """
    n, width = points.shape
    for i in range(first, last):
        squared[i, i] = 0.0
        for j in range(i + 1, n):
            if squared[i, j] <= share * (lengths[i] + lengths[j]):
                total = 0.0
                for c in range(width):
                    difference = points[i, c] - points[j, c]
                    total += difference * difference
                squared[i, j] = total
            squared[j, i] = squared[i, j]
