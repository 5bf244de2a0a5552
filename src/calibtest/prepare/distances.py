"""Distances between all pairs of items, and ranks of them in which rounding cannot split ties."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import UndefinedScoreError
from calibtest.parallel import map_threads
from calibtest.prepare.centring import centre_columns_scaled, scaled_by, unit_rows
from calibtest.prepare.products import gram_matrix

__all__ = ["Distance", "pairwise_distances", "squared_distances", "tied_ranks"]

Float = NDArray[np.float64]
# below this share of the two squared lengths a distance is measured directly; above it the loss is a factor of 20
_CLOSE = 0.05
_ENTRIES_A_PIECE = 2**16

Distance = Literal["correlation", "cosine", "euclidean"]


def squared_euclidean(points: Float, measured: Float) -> Float:
    """(n, n) squared Euclidean distances; the diagonal and copies of an item are exactly zero.

    The Gram matrix of the centred `points` gives ``|x|^2 + |y|^2 - 2 <x, y>``, which loses the digits of small distances
    between points far from the centre; those are taken from the differences of the `measured` rows: the same points
    before the mean was taken off, which depends on the order of the items in its last digits.
    """
    from calibtest.kernels.distances import remeasure_close

    squared = gram_matrix(points)
    lengths = np.diag(squared).copy()
    squared *= -2.0
    squared += lengths[:, None]
    squared += lengths[None, :]

    def one(rows: NDArray[np.intp]) -> None:
        remeasure_close(measured, lengths, _CLOSE, int(rows[0]), int(rows[-1]) + 1, squared)

    n = len(points)
    map_threads(one, np.array_split(np.arange(n), min(n, 1 + n * n // _ENTRIES_A_PIECE)))
    return squared


def pairwise_distances(x: NDArray[np.floating], name: str, distance: Distance) -> Float:
    """(n, n) symmetric distances with a zero diagonal.

    ``euclidean`` is in units of a power of two of the largest entry (a relation is normalised later anyway);
    ``cosine`` and ``correlation`` are ``1 - r`` and lie in [0, 2].
    """
    if distance == "euclidean":
        return np.sqrt(squared_distances(x, name)[0])
    # 1 - <u, v> = |u - v|^2 / 2 for unit rows, which keeps its accuracy for nearly parallel items
    rows = unit_rows(x, name, distance=distance)
    return np.asarray(0.5 * squared_euclidean(rows, rows))


def squared_distances(x: NDArray[np.floating], name: str) -> tuple[Float, int]:
    """(n, n) squared Euclidean distances of activations, in units of ``4**e``, and the exponent ``e``."""
    centred, exponent = centre_columns_scaled(x, name)
    return squared_euclidean(centred, scaled_by(x, -exponent)), exponent


def tied_ranks(distances: Float) -> Float:
    """Mid-ranks of a flat array of distances in which values that differ by rounding alone share one rank.

    Distances are good to about 1e-12 of themselves, and to the rounding of the unit rows that they may come from, which
    moves a small distance by its root.
    """
    order = np.argsort(distances, kind="stable")
    ordered = distances[order]
    eps = float(np.finfo(np.float64).eps)
    rounding = 1e-12 * ordered + 64.0 * eps * np.sqrt(ordered * ordered[-1])
    starts = np.concatenate(([True], np.diff(ordered) > rounding[1:]))
    group = np.cumsum(starts) - 1
    first = np.flatnonzero(starts)
    last = np.append(first[1:], distances.size)
    ranks = np.empty(distances.size, dtype=np.float64)
    ranks[order] = (0.5 * (first + last - 1) + 1.0)[group]
    return ranks


def require_spread(values: Float, name: str, what: str) -> None:
    """Refuse a set of values without variance."""
    if values.size == 0 or values.max() == values.min():
        raise UndefinedScoreError(
            f"{name} has {what} that are all equal (zero variance), so a correlation with them is undefined; "
            "leave this layer out or choose another distance"
        )
