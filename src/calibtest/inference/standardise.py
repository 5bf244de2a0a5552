"""Put the cells of a grid on one scale, so that a wide layer and a narrow one can compete."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibtest.errors import InputError
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import Alternative

__all__ = ["Standardised", "standardise"]

Float = NDArray[np.float64]
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Standardised:
    """An orbit in units of each cell's permutation mean and standard deviation.

    Attributes
    ----------
    z : (M, L_a, L_b) array of float64, read-only
        ``(T - mean) / sd``, in the direction of the statistic itself; 0 in every row of an uninformative cell.
    resolution : (L_a, L_b) array of float64
        Tie tolerance of ``z``; 0 in uninformative cells.
    uninformative : (L_a, L_b) array of bool
        Cells whose statistic takes one value on the whole orbit and so cannot speak for or against the null.
    mean, sd : (L_a, L_b) array of float64
        What the cells were standardised by.
    """

    z: Float
    resolution: Float
    uninformative: NDArray[np.bool_]
    mean: Float
    sd: Float

    @property
    def tolerance(self) -> float:
        """One tie tolerance for comparisons between cells: the largest of theirs."""
        return float(self.resolution.max())

    def evidence(self, tail: Alternative = "greater") -> Float:
        """(M, L_a, L_b) array in which larger lies further out in `tail`: ``z``, ``-z`` or, for both tails, ``|z|``."""
        if tail == "two-sided":
            return np.abs(self.z)
        return self.z if tail == "greater" else -self.z


def standardise(orbit: Orbit, *, mean: ArrayLike | None = None, sd: ArrayLike | None = None) -> Standardised:
    """Standardise every cell of an orbit.

    Without `mean` and `sd` both come from all rows, the observed row included. They are then the same whichever row is
    the observed one, so a maximum over cells keeps an exact p-value. With the null rows alone the observed row would be
    measured against a yardstick that the other rows do not share; the order of the cells in the observed row is the
    same either way, because ``z`` from all ``M = K + 1`` rows is ``sqrt(K) z0 / sqrt(M + z0**2)`` with ``z0`` from the
    ``K`` null rows (population variance), one increasing function for every cell.

    Parameters
    ----------
    orbit : Orbit
        Values and their resolution.
    mean, sd : array broadcast to (L_a, L_b), optional
        Permutation mean and standard deviation in closed form, in the units of the orbit. Give both or neither.

    Raises
    ------
    InputError
        When one of the two is missing, not finite or has another shape, or when a closed-form sd is 0 in a cell whose
        values vary.
    """
    values = orbit.values
    uninformative = values.max(axis=0) - values.min(axis=0) <= 2 * orbit.resolution
    if mean is None and sd is None:
        centre = values.mean(axis=0)
        z = values - centre
        # sqrt(mean square) over all M rows, without a second array of the orbit's size.
        spread = np.sqrt(np.einsum("mij,mij->ij", z, z) / len(z))
    elif mean is None or sd is None:
        missing = "mean" if mean is None else "sd"
        raise InputError(f"{missing} is missing: mean and sd must both be given in closed form, or neither of them")
    else:
        centre, spread = _grid(mean, "mean", orbit.shape), _grid(sd, "sd", orbit.shape)
        impossible = (spread <= 0) & ~uninformative
        if impossible.any():
            left, right = (int(i) for i in np.argwhere(impossible)[0])
            raise InputError(
                f"sd must be positive wherever the values vary, but it is {spread[left, right]:g} in cell "
                f"({left}, {right}); leave mean and sd out to take them from the orbit"
            )
        z = values - centre
    z /= np.where(uninformative, 1.0, spread)
    z[:, uninformative] = 0.0
    z.flags.writeable = False
    # Forming z rounds too; that matters where cells that are tied in exact arithmetic compete.
    rounding = orbit.resolution + 8 * _EPS * np.abs(values).max(axis=0)
    resolution = np.where(uninformative, 0.0, rounding / np.where(uninformative, 1.0, spread))
    return Standardised(z, resolution, uninformative, centre, spread)


def _grid(given: ArrayLike, name: str, shape: tuple[int, int]) -> Float:
    grid = np.asarray(given, dtype=np.float64)
    try:
        grid = np.array(np.broadcast_to(grid, shape))
    except ValueError:
        raise InputError(
            f"{name} must fit the grid of shape {shape}, got shape {grid.shape}; give one value per cell"
        ) from None
    if not np.isfinite(grid).all():
        raise InputError(
            f"{name} must be finite in every cell, got {int((~np.isfinite(grid)).sum())} values that are not; "
            "leave mean and sd out to take them from the orbit"
        )
    return grid
