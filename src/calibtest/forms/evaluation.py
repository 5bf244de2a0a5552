"""What every form returns: the values of a statistic on a set of relabellings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Evaluation"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Values of one form on a grid of states.

    Attributes
    ----------
    values : (M, L_a, L_b) array of float64
        Row ``m`` holds the grid under relabelling ``m``; row 0 is the observed grid.
    resolution : (L_a, L_b) array of float64
        Differences up to this size are rounding (0 where the values are exact counts).
    """

    values: NDArray[np.float64]
    resolution: NDArray[np.float64]
