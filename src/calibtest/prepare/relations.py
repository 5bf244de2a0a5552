"""Relations between items: what the matching form compares.

A relation is an ``(n, n)`` matrix of unit Frobenius norm, so that the matching value of two relations is the score
itself: a cosine of two relations. Everything that a metric does to one representation (kernel, centring, ranks)
happens here, once a layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.errors import InputError, UndefinedScoreError
from calibtest.prepare.centring import power_of_two_scaled
from calibtest.prepare.distances import require_spread, tied_ranks
from calibtest.prepare.products import gram_matrix

__all__ = ["Relation", "double_centred", "gaussian_kernel", "given_kernel", "gram", "standardised", "u_centred"]

Float = NDArray[np.float64]


_ALL_NOISE = 0.1  # share of a unit relation that may be rounding before it is no relation


@dataclass(frozen=True, eq=False)
class Relation:
    """One prepared side of the matching form.

    Attributes
    ----------
    matrix : (n, n) array of float64 or float32
        Relation between items, of unit Frobenius norm.
    zero_diagonal : bool
        True when the diagonal carries nothing (distances, U-centred kernels); False for doubly centred kernels.
    symmetric : bool
        True when ``matrix`` equals its transpose.
    noise : float
        Bound on the error that preparation left in ``matrix`` (Frobenius norm), beyond the rounding of its entries.
    definite : bool
        True when the relation is a positive semi-definite kernel for certain, so that two of them cannot disagree.
    details : mapping
        What was chosen from the data (a bandwidth), for the report.
    norm : float
        Frobenius norm of the relation before it was brought to unit norm.
    """

    matrix: NDArray[np.floating]
    zero_diagonal: bool
    symmetric: bool = True
    noise: float = 0.0
    definite: bool = False
    details: Mapping[str, float] = field(default_factory=dict)
    norm: float = 1.0

    @property
    def n_items(self) -> int:
        return int(self.matrix.shape[0])


def _unit(
    matrix: NDArray[np.floating],
    name: str,
    *,
    zero_diagonal: bool,
    dtype: DTypeLike,
    largest: float = 0.0,
    definite: bool = False,
    details: Mapping[str, float] | None = None,
) -> Relation:
    """Divide a matrix of one's own by its norm, in place; `largest` is the largest entry that was cancelled before."""
    norm = _norm(matrix)
    if not norm > 0.0:
        raise UndefinedScoreError(
            f"{name} relates all items alike (its centred kernel is zero), so its alignment with anything is "
            "undefined; leave this layer out"
        )
    noise = 4.0 * float(np.finfo(np.float64).eps) * len(matrix) * largest / norm
    if noise >= _ALL_NOISE:
        raise UndefinedScoreError(
            f"{name} relates all items alike up to rounding (its centred kernel is {norm / largest:.1g} of what was "
            "centred), so its alignment with anything is undefined; leave this layer out"
        )
    matrix /= norm
    return Relation(
        matrix.astype(dtype, copy=False),
        zero_diagonal=zero_diagonal,
        noise=noise,
        definite=definite,
        details=dict(details or {}),
        norm=norm,
    )


def _norm(matrix: NDArray[np.floating]) -> float:
    """Frobenius norm, summed in double precision whatever the precision of the entries."""
    if matrix.dtype == np.float64:
        return float(np.linalg.norm(matrix))
    return float(np.sqrt(np.einsum("ij,ij->", matrix, matrix, dtype=np.float64)))


def gram(centred: Float, name: str, *, dtype: DTypeLike = np.float64) -> Relation:
    """Gram matrix of centred activations (rows and columns sum to zero)."""
    product = gram_matrix(centred.astype(dtype, copy=False))
    return _unit(product, name, zero_diagonal=False, dtype=dtype, definite=True)


def given_kernel(kernel: NDArray[np.floating], name: str) -> Float:
    """A kernel of the caller's, scaled exactly to entries below 1; refuses what is a distance matrix by its looks."""
    scaled = power_of_two_scaled(kernel)
    if not np.diagonal(scaled).any() and (scaled >= 0).all():
        raise InputError(
            f"{name} has a zero diagonal and no negative entry, so it looks like distances, not like a kernel; pass "
            "kind='distance' (--precomputed distance) with a metric that takes distances, such as rsa"
        )
    return scaled


def double_centred(
    kernel: Float,
    name: str,
    *,
    dtype: DTypeLike = np.float64,
    definite: bool = False,
    details: Mapping[str, float] | None = None,
) -> Relation:
    """``H K H`` of a symmetric kernel; `definite` when it is positive semi-definite for certain."""
    columns = kernel.mean(axis=0)
    centred = kernel - columns[:, None] - columns[None, :] + columns.mean()
    largest = _require_signal(centred, kernel, name)
    return _unit(centred, name, zero_diagonal=False, dtype=dtype, largest=largest, definite=definite, details=details)


def u_centred(
    kernel: Float, name: str, *, dtype: DTypeLike = np.float64, details: Mapping[str, float] | None = None
) -> Relation:
    """U-centred kernel (Szekely and Rizzo 2014): zero diagonal and zero row sums. Needs at least 4 items."""
    n = len(kernel)
    if n < 4:
        raise InputError(f"{name} has n = {n} items, but a debiased estimator needs at least 4; add items")
    kernel = kernel.copy()
    np.fill_diagonal(kernel, 0.0)
    centred = kernel.copy()
    rows = centred.sum(axis=1)
    centred -= (rows[:, None] + rows[None, :]) / (n - 2)
    centred += rows.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centred, 0.0)
    largest = _require_signal(centred, kernel, name)
    return _unit(centred, name, zero_diagonal=True, dtype=dtype, largest=largest, details=details)


def _require_signal(centred: Float, kernel: Float, name: str) -> float:
    """Largest entry of the kernel; refuses a centred kernel that is nothing but rounding of it."""
    largest = float(np.abs(kernel).max())
    if np.abs(centred).max() <= 16 * np.finfo(np.float64).eps * largest:
        raise UndefinedScoreError(
            f"{name} relates all items alike (its centred kernel is zero: constant or zero variance), so its alignment "
            "with anything is undefined; leave this layer out"
        )
    return largest


def gaussian_kernel(squared: Float, name: str, *, bandwidth: float | None, fraction: float) -> tuple[Float, float]:
    """``exp(-D^2 / (2 s^2))`` and the ``s`` used: `bandwidth`, or `fraction` of the median off-diagonal distance."""
    if bandwidth is None:
        median = float(np.median(np.sqrt(squared[np.triu_indices(len(squared), 1)])))
        if median == 0.0:
            raise UndefinedScoreError(
                f"{name} has a median distance of 0 between its items (at least half of the pairs are copies), so no "
                "bandwidth can be taken from it; drop the copies or give bandwidth"
            )
        bandwidth = fraction * median
    with np.errstate(under="ignore"):
        return np.exp(squared / (-2.0 * bandwidth**2)), bandwidth


def standardised(
    distances: Float,
    name: str,
    *,
    ranks: bool,
    centred: bool = True,
    dtype: DTypeLike = np.float64,
) -> Relation:
    """Off-diagonal distances (or their mid-ranks), centred unless told otherwise, with a zero diagonal."""
    upper = np.triu_indices(len(distances), 1)
    values = distances[upper]
    require_spread(values, name, "distances")
    if ranks:
        values = tied_ranks(values)
        require_spread(values, name, "ranks of distances")
    if centred:
        values = values - values.mean()
    matrix = np.zeros_like(distances)
    matrix[upper] = values
    matrix += matrix.T
    largest = 0.0 if ranks else float(distances.max())
    return _unit(matrix, name, zero_diagonal=True, dtype=dtype, largest=largest)
