"""Permutation mean and variance of the matching form in closed form, from a few sums of each matrix.

For ``T(pi) = sum_ij A[i, j] B[pi(i), pi(j)]`` with ``pi`` uniform on all permutations, the space of matrices splits
into irreducible parts under relabelling, and parts of different kinds are uncorrelated. If ``A_k`` and ``B_k`` are the
components of one kind, of dimension ``dim_k``, then

    E T    = <A_0, B_0>                            (the part that no relabelling changes)
    Var T  = sum_k  |A_k|^2 |B_k|^2 / dim_k

with a 2 x 2 table of inner products in place of the squared norms where a kind occurs twice. The kinds are:

============================================  =====================  ================================
component of a matrix                         dimension              matrices that have it
============================================  =====================  ================================
overall level                                 1                      all
row effects ``v_i + v_j`` or ``v_i - v_j``    ``n - 1``              all; both signs if directed
symmetric rest, zero diagonal and row sums    ``n (n - 3) / 2``      all
antisymmetric rest, zero row sums             ``(n-1)(n-2) / 2``     directed only
============================================  =====================  ================================

Every term is a product of squared norms, so nothing is subtracted at the end and a matrix without structure has
variance exactly 0. For symmetric matrices with zero diagonal this is Mantel's variance, for doubly centred ones that of
the RV coefficient (Kazi-Aoual et al. 1995). U-centred ones are all rest: ``Var T = 2 |A|^2 |B|^2 / (n (n - 3))``.

These moments hold for free permutation of the items only; a restricted scheme takes its mean and sd from the orbit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibtest.errors import InputError
from calibtest.parallel import map_threads

__all__ = [
    "DoublyCentred",
    "Invariants",
    "MomentGrid",
    "Moments",
    "ZeroDiagonal",
    "moment_grid",
    "moments",
]

Float = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
# A squared norm below this share of the sums it came from is rounding.
_NOISE = 64 * _EPS
# Rows of a dense matrix handled at a time, so that no second n x n array is needed.
_ROWS = 256


@dataclass(frozen=True)
class Moments:
    """Mean and variance of a statistic over all permutations of one side's items."""

    mean: float
    variance: float

    @property
    def sd(self) -> float:
        """Standard deviation, the square root of the variance."""
        return math.sqrt(self.variance)


@dataclass(frozen=True, eq=False)
class MomentGrid:
    """Permutation moments of a grid of layers: `mean` and `sd`, each an (L_a, L_b) array."""

    mean: Float
    sd: Float


@dataclass(frozen=True)
class ZeroDiagonal:
    """Sums of a matrix with zero diagonal, directed or not, that fix its permutation moments.

    Attributes
    ----------
    n : int
        Number of items, at least 2.
    t : float
        Sum of all entries.
    s1, s2 : float
        ``sum A_ij^2`` and ``sum A_ij A_ji``.
    r2, c2, rc : float
        With row sums ``r`` and column sums ``c``: ``sum r_i^2``, ``sum c_i^2`` and ``sum r_i c_i``.
    level : float
        A constant taken off every off-diagonal entry before the sums were formed. It adds nothing to the variance, and
        taking the mean off first keeps the digits of matrices whose entries barely vary.
    """

    n: int
    t: float
    s1: float
    s2: float
    r2: float
    c2: float
    rc: float
    level: float = 0.0

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def from_dense(cls, matrix: ArrayLike) -> ZeroDiagonal:
        """Sums of a square matrix with zero diagonal."""
        a = _square(matrix)
        if np.diagonal(a).any():
            raise InputError(
                f"matrix must have a zero diagonal, but {int(np.count_nonzero(np.diagonal(a)))} diagonal entries are "
                "not 0; set them to 0, or use DoublyCentred for a centred matrix that keeps its diagonal"
            )
        n = len(a)
        level = math.fsum(float(a[rows].sum(dtype=np.float64)) for rows in _blocks(n)) / (n * (n - 1))
        row_sums = np.empty(n)

        def block(rows: slice) -> Float:
            from calibtest.kernels.sums import directed_sums

            found = np.empty(n + 2)
            directed_sums(a, rows.start, rows.stop, level, row_sums, found)
            return found

        found = np.stack(map_threads(block, _blocks(n)))
        column_sums = found[:, :n].sum(axis=0)
        return cls(
            n=n,
            t=float(row_sums.sum()),
            s1=math.fsum(found[:, n]),
            s2=math.fsum(found[:, n + 1]),
            r2=float(np.sum(row_sums**2)),
            c2=float(np.sum(column_sums**2)),
            rc=float(np.sum(row_sums * column_sums)),
            level=level,
        )

    @property
    def total(self) -> float:
        """Sum of all entries of the matrix itself, its level included."""
        return self.t + self.level * self.n * (self.n - 1)

    def _parts(self) -> _Parts:
        n = self.n
        flat = self.t**2 / (n * (n - 1))
        both, towards = (self.r2 + self.c2) / 4, self.rc / 2
        noise = _NOISE * self.s1 + n * (n - 1) * (8 * _EPS * self.level) ** 2
        # a row sum is good to a few eps of the row's length times the root of n
        sides = _NOISE * (self.r2 + self.c2) + n * self.s1 * (8 * _EPS) ** 2
        u2 = _positive(both + towards - self.t**2 / n, sides) if n > 2 else 0.0
        w2 = _positive(both - towards, sides)
        row_symmetric = 2 * u2 / (n - 2) if n > 2 else 0.0
        row_directed = 2 * w2 / n
        # u and w are the row effects of the symmetric and of the directed half; their inner product is bounded by
        # their lengths, so that an effect which is rounding alone has no inner product either.
        crossed = (self.r2 - self.c2) / 2 / math.sqrt(n * (n - 2)) if n > 2 else 0.0
        bound = math.sqrt(row_symmetric * row_directed)
        rest_symmetric = _positive((self.s1 + self.s2) / 2 - flat - row_symmetric, noise) if n > 3 else 0.0
        rest_directed = _positive((self.s1 - self.s2) / 2 - row_directed, noise) if n > 2 else 0.0
        if row_symmetric <= noise:
            row_symmetric = bound = 0.0
        if row_directed <= noise:
            row_directed = bound = 0.0
        return _Parts(row_symmetric, row_directed, max(-bound, min(bound, crossed)), rest_symmetric, rest_directed)


@dataclass(frozen=True)
class DoublyCentred:
    """Sums of a symmetric matrix with zero row sums, diagonal kept, that fix its permutation moments.

    Attributes
    ----------
    n : int
        Number of items, at least 2.
    trace : float
        ``sum K_ii``.
    frobenius2 : float
        ``sum K_ij^2``.
    diagonal2 : float
        ``sum K_ii^2``.
    level : float
        Multiple of the centring matrix ``I - 11'/n`` taken off before the sums were formed. It adds nothing to the
        variance, and taking it off first keeps the digits of matrices close to a multiple of the centring matrix.
    """

    n: int
    trace: float
    frobenius2: float
    diagonal2: float
    level: float = 0.0

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def from_dense(cls, matrix: ArrayLike) -> DoublyCentred:
        """Sums of a doubly centred symmetric matrix."""
        k = _square(matrix)
        n = len(k)
        level = float(np.trace(k, dtype=np.float64)) / (n - 1)
        diagonal = np.diagonal(k).astype(np.float64) - level * (1 - 1 / n)

        def block(rows: slice) -> Float:
            from calibtest.kernels.sums import centred_sums

            found = np.empty(4)
            centred_sums(k, rows.start, rows.stop, level, found)
            return found

        found = np.stack(map_threads(block, _blocks(n)))
        largest, row_error, asymmetry = found[:, 1:].max(axis=0).tolist()
        tolerance = math.sqrt(max(_EPS, float(np.finfo(k.dtype.char).eps) if k.dtype.kind == "f" else 0.0))
        if row_error > tolerance * n * largest or asymmetry > tolerance * largest:
            raise InputError(
                f"matrix must be symmetric with zero row sums, but its largest row sum is {row_error:g} and its "
                f"largest asymmetry {asymmetry:g}; centre it on both sides first"
            )
        return cls(
            n=n,
            trace=float(diagonal.sum()),
            frobenius2=math.fsum(found[:, 0]),
            diagonal2=float(np.sum(diagonal**2)),
            level=level,
        )

    @property
    def total_trace(self) -> float:
        """Trace of the matrix itself, its level included."""
        return self.trace + self.level * (self.n - 1)

    @property
    def total_frobenius2(self) -> float:
        """Squared Frobenius norm of the matrix itself, its level included."""
        return self.frobenius2 + 2 * self.level * self.trace + self.level**2 * (self.n - 1)

    def off_diagonal(self) -> ZeroDiagonal:
        """Sums of the same matrix with its diagonal set to 0, which is all that a zero-diagonal partner sees."""
        n, level = self.n, self.level
        on_diagonal = level * (1 - 1 / n)
        diagonal2 = self.diagonal2 + 2 * on_diagonal * self.trace + n * on_diagonal**2
        rest = self.total_frobenius2 - diagonal2
        # A zero row sum makes each off-diagonal row sum the diagonal entry with its sign turned.
        return ZeroDiagonal(n, -self.total_trace, rest, rest, diagonal2, diagonal2, diagonal2)

    def _parts(self) -> _Parts:
        n = self.n
        noise = _NOISE * self.frobenius2 + n * (8 * _EPS * self.level) ** 2
        flat = self.trace**2 / (n - 1)
        rows = _positive(n / (n - 2) * (self.diagonal2 - self.trace**2 / n), noise) if n > 2 else 0.0
        rest = _positive(self.frobenius2 - flat - rows, noise) if n > 3 else 0.0
        return _Parts(rows, 0.0, 0.0, rest, 0.0)


Invariants = ZeroDiagonal | DoublyCentred


@dataclass(frozen=True)
class _Parts:
    """Squared norms of the irreducible parts of one matrix, and the inner product of its two row effects."""

    row_symmetric: float
    row_directed: float
    row_crossed: float
    rest_symmetric: float
    rest_directed: float


def moments(left: Invariants, right: Invariants) -> Moments:
    """Mean and variance of ``sum_ij A[i, j] B[pi(i), pi(j)]`` over all permutations ``pi``.

    Parameters
    ----------
    left, right : ZeroDiagonal or DoublyCentred
        Sums of the two matrices over the same number of items. One of each kind is fine: the zero-diagonal matrix sees
        only the off-diagonal entries of the other.

    Returns
    -------
    Moments
        Exact for every n >= 2; the variance is never negative.

    Notes
    -----
    Free permutation only. The cost is a handful of multiplications.
    """
    if left.n != right.n:
        raise InputError(f"left has n = {left.n} items and right has n = {right.n}; both must describe the same items")
    n = left.n
    if isinstance(left, DoublyCentred) and isinstance(right, DoublyCentred):
        mean = left.total_trace * right.total_trace / (n - 1)
    else:
        left = left.off_diagonal() if isinstance(left, DoublyCentred) else left
        right = right.off_diagonal() if isinstance(right, DoublyCentred) else right
        mean = left.total * right.total / (n * (n - 1))
    a, b = left._parts(), right._parts()
    variance = (
        a.row_symmetric * b.row_symmetric + a.row_directed * b.row_directed + 2 * a.row_crossed * b.row_crossed
    ) / (n - 1)
    if n > 3:
        variance += 2 * a.rest_symmetric * b.rest_symmetric / (n * (n - 3))
    if n > 2:
        variance += 2 * a.rest_directed * b.rest_directed / ((n - 1) * (n - 2))
    # The row effects give a product of two positive semi-definite tables, so only rounding can fall below 0.
    return Moments(mean, max(variance, 0.0))


def moment_grid(lefts: Sequence[Invariants], rights: Sequence[Invariants]) -> MomentGrid:
    """`moments` for every pair of a left and a right layer."""
    cells = [[moments(left, right) for right in rights] for left in lefts]
    return MomentGrid(
        mean=np.array([[cell.mean for cell in row] for row in cells]),
        sd=np.array([[cell.sd for cell in row] for row in cells]),
    )


def _check(sums: Invariants) -> None:
    if sums.n < 2:
        raise InputError(f"n must be at least 2, got {sums.n}; a single item has nothing to be permuted with")
    for field in fields(sums):
        value = getattr(sums, field.name)
        if not math.isfinite(value):
            raise InputError(f"{field.name} must be finite, got {value}; rescale the matrix, for instance to unit norm")


def _positive(squared: float, noise: float) -> float:
    """A squared norm found by subtraction: 0 where it is rounding, refused where it is truly negative."""
    if squared < -1e6 * noise and squared < 0:
        raise InputError(
            f"the sums belong to no matrix: a squared norm comes out as {squared:g}; take them from the matrix with "
            "from_dense"
        )
    return squared if squared > noise else 0.0


def _square(matrix: ArrayLike) -> NDArray[np.floating]:
    a = np.asarray(matrix)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or len(a) < 2:
        raise InputError(f"matrix must be square with at least 2 rows, got shape {a.shape}; pass an (n, n) array")
    if a.dtype.kind not in "fiub":
        raise InputError(f"matrix must hold real numbers, got dtype {a.dtype}; convert it first")
    return a if a.dtype in (np.float32, np.float64) else a.astype(np.float64)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _ROWS, n)) for start in range(0, n, _ROWS))
