"""Scaling and centring of activations: the first step of almost every metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import UndefinedScoreError, listing

__all__ = [
    "centre_columns",
    "centre_columns_scaled",
    "power_of_two_scaled",
    "require_varied",
    "scaled_by",
    "scaled_to_unit",
    "unit_rows",
]

Float = NDArray[np.float64]


def power_of_two_scaled(x: NDArray[np.floating], *, by_row: bool = False) -> Float:
    """Float64 copy of `x` divided by a power of two so that its largest entry lies in [0.5, 1).

    The division is exact, so nothing is lost, and squares neither overflow nor vanish at any scale of the input.
    With `by_row` every row is scaled by its own power of two.
    """
    return scaled_to_unit(x, by_row=by_row)[0]


def scaled_to_unit(x: NDArray[np.floating], *, by_row: bool = False) -> tuple[Float, NDArray[np.intc]]:
    """As `power_of_two_scaled`, with the exponents that were taken off."""
    wide = np.asarray(x, dtype=np.float64, order="C")
    axis = 1 if by_row else None
    largest = np.maximum(wide.max(axis=axis, keepdims=True), -wide.min(axis=axis, keepdims=True))
    _, exponent = np.frexp(largest)
    return scaled_by(wide, -exponent), exponent


def scaled_by(x: NDArray[np.floating], exponent: int | NDArray[np.intc]) -> Float:
    """Float64 copy of `x` times ``2**exponent``, in two exact steps, because one factor may overflow or vanish."""
    half = np.asarray(exponent) // 2
    scaled = x * np.ldexp(1.0, half)
    scaled *= np.ldexp(1.0, exponent - half)
    return np.asarray(scaled, dtype=np.float64)


def require_varied(x: NDArray[np.floating], name: str) -> None:
    """Refuse a layer in which every item has the same vector."""
    if (x == x[0]).all():
        raise UndefinedScoreError(
            f"{name} is constant: all {len(x)} items have the same vector (zero variance), so its alignment with "
            "anything is undefined; leave this layer out"
        )


def centre_columns(x: NDArray[np.floating], name: str) -> Float:
    """Scaled copy of `x` with every column's mean removed; a constant column becomes exactly zero.

    Raises
    ------
    UndefinedScoreError
        When every item has the same vector.
    """
    return centre_columns_scaled(x, name)[0]


def centre_columns_scaled(x: NDArray[np.floating], name: str) -> tuple[Float, int]:
    """As `centre_columns`, with the exponent ``e`` such that the centred activations are ``2**e`` times the copy."""
    require_varied(x, name)
    centred, first = scaled_to_unit(x)
    constant = centred.max(axis=0) == centred.min(axis=0)
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=0)  # what rounding left of a large offset
    if constant.any():
        centred[:, constant] = 0.0
    centred, second = scaled_to_unit(centred)
    return centred, int(first.item() + second.item())


def unit_rows(x: NDArray[np.floating], name: str, *, distance: str = "cosine") -> Float:
    """Rows of `x` divided by their Euclidean length; for correlation distance the row mean is removed first.

    Raises
    ------
    UndefinedScoreError
        When a row has no direction: all zero (cosine) or all entries equal (correlation).
    """
    rows = power_of_two_scaled(x, by_row=True)
    if distance == "correlation":
        flat = rows.max(axis=1) == rows.min(axis=1)
        rows -= rows.mean(axis=1, keepdims=True)
        rows = power_of_two_scaled(rows, by_row=True)
        what = "rows without variance (all units equal)"
    else:
        flat = ~rows.any(axis=1)
        what = "all-zero rows"
    if flat.any():
        rows_without = listing([str(i) for i in np.flatnonzero(flat)], 10)
        raise UndefinedScoreError(
            f"{name} has {what} ({rows_without}), whose {distance} distance is undefined; drop these items from both "
            "sides or use distance='euclidean'"
        )
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows
