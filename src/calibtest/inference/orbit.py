"""The orbit: the values of a grid of statistics on every relabelling, the observed one first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError

__all__ = ["Orbit"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Orbit:
    """Values of a grid of statistics under a set of relabellings.

    Under the null hypothesis every row is as likely as any other to be the observed one. All inference here rests on
    that sentence alone, and a value that is not finite has no rank, so such an orbit is refused.

    Attributes
    ----------
    values : (M, L_a, L_b) array of float64, read-only
        Row ``m`` is the grid under relabelling ``m``; row 0 is the observed grid. Row 0 is the observed one by
        position: other rows may repeat it, and then they count as ties.
    resolution : (L_a, L_b) array of float64, read-only
        Absolute rounding resolution of a cell: values that differ by no more than this are ties (0 for exact counts).
    exhaustive : bool
        True when the rows are all relabellings that the scheme allows; p-values then have no Monte-Carlo error.
    coset_size : int or None
        ``N`` when the rows are ``R`` cosets of ``N`` relabellings (row ``r * N + s``), None when they are independent
        draws or an enumeration.
    """

    values: Float
    resolution: Float
    exhaustive: bool = False
    coset_size: int | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64).view()
        if values.ndim != 3 or 0 in values.shape:
            raise InputError(
                f"values must have shape (relabellings, left layers, right layers) and hold at least one value, got "
                f"shape {values.shape}; for a single statistic pass values[:, None, None]"
            )
        if len(values) == 1 and not self.exhaustive:
            raise InputError(
                "values has 1 row, the observed one, and nothing to compare it with; draw at least 1 relabelling"
            )
        _require_finite(values)
        resolution = np.asarray(self.resolution, dtype=np.float64)
        if resolution.shape not in ((), values.shape[1:]):
            raise InputError(
                f"resolution must be one number or have the shape of the grid, {values.shape[1:]}, got "
                f"{resolution.shape}; give one absolute tolerance a cell"
            )
        if not (np.isfinite(resolution).all() and (resolution >= 0).all()):
            raise InputError(
                "resolution must be finite and at least 0 in every cell; use 0 where values are exact counts"
            )
        resolution = np.array(np.broadcast_to(resolution, values.shape[1:]))
        size = self.coset_size
        if size is not None and (size < 1 or len(values) % size):
            raise InputError(
                f"coset_size = {size} must be at least 1 and divide the {len(values)} rows of values; pass None for "
                "independent draws"
            )
        values.flags.writeable = False
        resolution.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "resolution", resolution)

    def __repr__(self) -> str:
        rows = "enumerated" if self.exhaustive else "drawn"
        if self.coset_size is not None:
            rows += f" in {len(self.values) // self.coset_size} cosets of {self.coset_size}"
        return f"Orbit({len(self.values)} relabellings {rows}, grid {self.shape[0]} x {self.shape[1]})"

    @property
    def observed(self) -> Float:
        """(L_a, L_b) array: the values of the data as they came."""
        return np.asarray(self.values[0])

    @property
    def null(self) -> Float:
        """(M - 1, L_a, L_b) array: every row but the observed one."""
        return self.values[1:]

    @property
    def n_resamples(self) -> int:
        """Number of null draws, ``M - 1``."""
        return len(self.values) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of left and of right layers."""
        return int(self.values.shape[1]), int(self.values.shape[2])


def _require_finite(values: Float) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    bad = ~finite
    row, left, right = (int(i) for i in np.argwhere(bad)[0])
    n_nan = int(np.isnan(values).sum())
    raise InputError(
        f"{int(bad.sum())} of the {values.size} values of the orbit are not finite ({n_nan} NaN), the first in cell "
        f"({left}, {right}) under relabelling {row}; an undefined value has no rank and is never counted as evidence, "
        "so make the score finite on every relabelling or leave that cell out"
    )
