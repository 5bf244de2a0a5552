"""Directed nearest-neighbour graphs: who is among the k nearest items of whom.

Ties at the k-th place are shared: if two items compete for the last place, each of them is half a neighbour. A list
therefore depends on the rows alone and not on the order of the items, bit for bit, which is what makes a permutation
test of a neighbour metric valid on data with copies or lattices. The item itself is left out by its index, never by
its distance.

How it is found: tiles of a Gram matrix give every squared distance with a bound on its rounding; only pairs that the
bound leaves undecided are measured again, by direct differences (see ``calibtest.kernels.neighbours``). Memory grows
with tile times n, never with n squared.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError, UndefinedScoreError, listing
from calibtest.parallel import map_threads, one_blas_thread

__all__ = [
    "AdjacencyInvariants",
    "NeighbourDistance",
    "NeighbourGraph",
    "adjacency_invariants",
    "neighbour_graph",
    "neighbour_graph_from_distances",
    "neighbour_graph_from_lists",
]

NeighbourDistance = Literal["cosine", "euclidean"]
Precision = Literal["float64", "float32"]

_TILE_ENTRIES = 2**22  # squared distances held at a time by a thread
_LONGEST_TILE = 256
_MOST_EDGES = 2**28  # about 3 GB of lists and weights
_NAMED_ROWS = 10


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """Directed weighted adjacency of the k nearest neighbours, as compressed rows.

    Attributes
    ----------
    indptr : (n + 1,) array of int64
        The neighbours of item ``i`` stand at ``indptr[i] : indptr[i + 1]``.
    indices : (n_edges,) array of int32
        Neighbours, in ascending order within an item.
    weights : (n_edges,) array of float64, or None
        Membership of each neighbour; None when every weight is 1. The weights of an item add up to `k`.
    k : int
        Places of each list.
    n_tied : int
        Number of items whose last places are shared by more neighbours than there are places.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    k: int
    n_tied: int = 0

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.indptr.size - 1)

    @property
    def n_edges(self) -> int:
        """Number of listed neighbours, shared places included."""
        return int(self.indices.size)

    @property
    def binary(self) -> bool:
        """True when every weight is 1, so that overlaps are whole numbers."""
        return self.weights is None

    @cached_property
    def sum_of_squares(self) -> float:
        """``<A, A>``: ``n k`` without ties, less with ties; the same for every order of the items."""
        if self.weights is None:
            return float(self.n_edges)
        return math.fsum((self.weights * self.weights).tolist())

    @property
    def norm(self) -> float:
        """Frobenius norm of the adjacency, ``sqrt(<A, A>)``."""
        return math.sqrt(self.sum_of_squares)

    def edge_weights(self) -> NDArray[np.float64]:
        """(n_edges,) weights, also when all of them are 1."""
        return np.ones(self.n_edges) if self.weights is None else self.weights

    def tails(self) -> NDArray[np.int32]:
        """(n_edges,) item that each edge leaves."""
        return np.repeat(np.arange(self.n_items, dtype=np.int32), np.diff(self.indptr))

    def dense(self) -> NDArray[np.float64]:
        """(n, n) adjacency, for small n."""
        matrix = np.zeros((self.n_items, self.n_items))
        matrix[self.tails(), self.indices] = self.edge_weights()
        return matrix


# ------------------------------------------------------------------------------------------------------ from points
def neighbour_graph(
    points: NDArray[np.floating[Any]],
    k: int,
    *,
    distance: NeighbourDistance = "cosine",
    name: str = "X",
    precision: Precision = "float64",
    threads: int | None = None,
) -> NeighbourGraph:
    """The k nearest neighbours of every item among the others, ties at the k-th place shared.

    Parameters
    ----------
    points : (n, d) array
        One finite row an item.
    k : int
        Number of neighbours, at least 1 and less than `n`.
    distance : {"cosine", "euclidean"}
        Cosine neighbours are the Euclidean neighbours of the rows divided by their lengths.
    name : str
        What the caller calls the points, for the error sentences.
    precision : {"float64", "float32"}
        Arithmetic of the tiles. It changes the speed, never the result: what single precision leaves undecided is
        measured in double precision.
    threads : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    NeighbourGraph

    Raises
    ------
    UndefinedScoreError
        When a row is zero and the distance is cosine.
    InputError
        When `k` is not between 1 and n - 1, or another argument breaks its rule.

    Notes
    -----
    Measured squared distances count as tied when they differ by no more than their own rounding: ``4 eps (d + 4)`` of
    the distance at the k-th place, plus, for cosine, 16 eps of its root, which is what rounding the unit rows costs.
    Copies of an item are therefore tied with each other, and so are the points of a lattice and, under cosine,
    proportional rows.
    """
    k = _checked_k(k, len(points), name)
    eps = float(np.finfo(np.float64).eps)
    if distance == "cosine":
        measured, blur = _directions(points, name), 8.0 * eps
    elif distance == "euclidean":
        measured, blur = _scaled(points), 0.0
    else:
        raise InputError(
            f"distance must be 'cosine' or 'euclidean' for neighbours, got {distance!r}; choose one of them"
        )
    if precision not in ("float64", "float32"):
        raise InputError(f"precision must be 'float64' or 'float32', got {precision!r}; choose one of them")
    proposed = (measured - measured.mean(axis=0)).astype(precision, copy=False)
    return _search(measured, proposed, k, blur, name, threads)


def _checked_k(k: int, n: int, name: str) -> int:
    """`k` as a plain integer in 1..n-1, or one sentence."""
    if isinstance(k, bool | np.bool_) or not hasattr(k, "__index__"):
        raise InputError(f"k must be a whole number of neighbours (an int), got {k!r}; pass for example k=10")
    k = operator.index(k)
    if k < 1:
        raise InputError(f"k must be at least 1 neighbour, got k = {k}; pass for example k=10")
    if k >= n:
        raise InputError(
            f"k = {k} needs more than {k} items, got n = {n} in {name} (an item is not its own neighbour); "
            "lower k or add items"
        )
    return k


def _directions(points: NDArray[np.floating[Any]], name: str) -> NDArray[np.float64]:
    """Unit rows; refuses rows without a direction."""
    from calibtest.kernels.neighbours import unit_rows

    zero = np.flatnonzero(~points.any(axis=1))
    if zero.size:
        zero_rows = listing([str(i) for i in zero], _NAMED_ROWS)
        raise UndefinedScoreError(
            f"{name} has all-zero rows {zero_rows}, whose cosine is undefined; drop these items from both sides or "
            "use distance='euclidean'"
        )
    rows = np.empty(points.shape, dtype=np.float64)
    unit_rows(points, rows)
    return rows


def _scaled(points: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Float64 copy divided by a power of two, so that no square overflows or vanishes."""
    largest = max(abs(float(points.max())), abs(float(points.min())))
    exponent = math.frexp(largest)[1]
    half = exponent // 2  # in two exact steps: the inverse of the smallest numbers overflows
    scaled: NDArray[np.float64] = np.multiply(points, math.ldexp(1.0, -half), dtype=np.float64)
    scaled *= math.ldexp(1.0, half - exponent)
    return scaled


class _Part(NamedTuple):
    """Lists of a tile of items."""

    lengths: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    n_tied: int


def _search(
    measured: NDArray[np.float64],
    proposed: NDArray[np.floating[Any]],
    k: int,
    blur: float,
    name: str,
    threads: int | None,
) -> NeighbourGraph:
    from calibtest.kernels.neighbours import Rule, candidate_limits, count_candidates, list_candidates, settle

    n, width = measured.shape
    rule = Rule(k, *_tile_error(width, proposed.dtype), 4.0 * float(np.finfo(np.float64).eps) * (width + 4), blur)
    squares = np.einsum("ij,ij->i", proposed, proposed, dtype=np.float64)
    rows = max(16, min(_LONGEST_TILE, _TILE_ENTRIES // n))
    found: list[int] = []

    def tile(first: int) -> _Part:
        gram = proposed[first : first + rows] @ proposed.T
        limits = np.empty(len(gram), dtype=np.float64)
        candidate_limits(gram, squares, first, rule, limits)
        counts = np.empty(len(gram), dtype=np.int64)
        count_candidates(gram, squares, first, rule, limits, counts)
        starts = np.concatenate(([0], np.cumsum(counts)))
        candidates = np.empty(starts[-1], dtype=np.int32)
        list_candidates(gram, squares, first, rule, limits, candidates)
        del gram
        if candidates.size == k * len(counts):
            part = _Part(counts, candidates, None, 0)
        else:
            weights = np.empty(candidates.size, dtype=np.float64)
            settle(measured, first, rule, starts, candidates, weights)
            part = _listed(starts, candidates, weights)
        found.append(part.indices.size)
        if sum(found) > _MOST_EDGES:
            raise InputError(
                f"{name} has so many items tied at place k = {k} that its neighbour lists exceed {_MOST_EDGES:,} "
                f"entries for n = {n}; drop copies of items from both sides"
            )
        return part

    with one_blas_thread():
        lists = map_threads(tile, range(0, n, rows), threads=threads)
    return _joined(lists, k)


def _tile_error(width: int, dtype: np.dtype[Any]) -> tuple[float, float]:
    """Bound on ``|tile - measured|`` for squared distances: a factor of ``|x_i|^2 + |x_j|^2``, and a constant.

    With unit roundoff u of the tile: the product is off by at most ``width u |x_i| |x_j|`` in any order of summation,
    and rounding the centred coordinates moves a squared distance by at most ``4 u (|x_i|^2 + |x_j|^2)``. In double
    precision the squared lengths and the direct measurement add ``(3 width + 4) u`` of that sum. A margin is left.
    """
    tile, wide = np.finfo(dtype), np.finfo(np.float64)
    slack = 0.55 * (width + 12) * float(tile.eps) + 1.6 * (width + 8) * float(wide.eps)
    return slack, 16.0 * width * float(tile.tiny)


def _listed(starts: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float64]) -> _Part:
    """Lists without the candidates of weight 0."""
    kept = weights > 0.0
    lengths = np.add.reduceat(kept, starts[:-1], dtype=np.int64)
    weights = weights[kept]
    shared = np.add.reduceat(weights < 1.0, np.cumsum(lengths) - lengths, dtype=np.int64)
    n_tied = int(np.count_nonzero(shared))
    return _Part(lengths, indices[kept], weights if n_tied else None, n_tied)


def _joined(parts: list[_Part], k: int) -> NeighbourGraph:
    lengths = np.concatenate([part.lengths for part in parts])
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(p.indices.size) if p.weights is None else p.weights for p in parts])
    return NeighbourGraph(
        indptr=np.concatenate(([0], np.cumsum(lengths))),
        indices=np.concatenate([part.indices for part in parts]),
        weights=weights,
        k=k,
        n_tied=sum(part.n_tied for part in parts),
    )


# ---------------------------------------------------------------------------------------- from lists and distances
def neighbour_graph_from_lists(lists: NDArray[np.integer[Any]], *, name: str = "X") -> NeighbourGraph:
    """The graph of ready neighbour lists.

    Parameters
    ----------
    lists : (n, k) array of integers
        Row ``i`` holds the neighbours of item ``i``, in any order: item numbers from 0 to n - 1, without repeats and
        without ``i`` itself.
    name : str
        What the caller calls the lists, for the error sentences.

    Raises
    ------
    InputError
        When a row breaks one of these rules.
    """
    lists = np.asarray(lists)
    if lists.ndim != 2 or lists.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be an (n, k) array of integer item numbers, got shape {lists.shape} of {lists.dtype}; "
            "give one list of k neighbours an item"
        )
    n, k = lists.shape
    k = _checked_k(k, n, name)
    ordered = np.sort(lists, axis=1)
    for broken, what in (
        ((ordered[:, :1] < 0) | (ordered[:, -1:] >= n), f"holds an item number outside 0..{n - 1}"),
        (ordered == np.arange(n)[:, None], "lists the item itself"),
        (ordered[:, 1:] == ordered[:, :-1], "lists an item twice"),
    ):
        rows = np.flatnonzero(broken.any(axis=1))
        if rows.size:
            raise InputError(
                f"{name} must list {k} other items for every item, but row {rows[0]} {what}; mend the list"
            )
    return NeighbourGraph(np.arange(n + 1, dtype=np.int64) * k, ordered.astype(np.int32).ravel(), None, k)


def neighbour_graph_from_distances(
    distances: NDArray[np.floating[Any]], k: int, *, name: str = "X", threads: int | None = None
) -> NeighbourGraph:
    """The k nearest neighbours by given distances, ties at the k-th place shared.

    Parameters
    ----------
    distances : (n, n) array
        Row ``i`` holds the distances from item ``i``; the diagonal is not looked at. Distances that differ by at most
        8 units in the last place of their own precision count as tied.
    k : int
        Number of neighbours, at least 1 and less than `n`.
    name : str
        What the caller calls the distances, for the error sentences.
    threads : int, optional
        Number of threads; the result does not depend on it.

    Raises
    ------
    InputError
        When the matrix is not square or holds a negative distance, or `k` is out of range.
    """
    distances = np.asarray(distances)
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1]:
        raise InputError(f"{name} must be a square (n, n) matrix of distances, got shape {distances.shape}; check it")
    n = len(distances)
    k = _checked_k(k, n, name)
    if distances.min() < 0:
        i, j = (int(at) for at in np.unravel_index(np.argmin(distances), distances.shape))
        raise InputError(
            f"{name} must hold distances of at least 0, got {distances[i, j]:g} for items {i} and {j}; turn similarities "
            "into distances first"
        )
    precise = distances.dtype.kind == "f"
    relative = 8.0 * float(np.finfo(distances.dtype if precise else np.float64).eps)
    rows = max(1, min(n, _TILE_ENTRIES // n))

    def tile(first: int) -> _Part:
        near = distances[first : first + rows].astype(np.float64)
        me = np.arange(len(near))
        near[me, first + me] = np.inf
        kth = np.partition(near, k - 1, axis=1)[:, k - 1 : k]
        sure = near < kth * (1.0 - relative)
        tied = np.abs(near - kth) <= kth * relative
        share = (k - sure.sum(axis=1)) / tied.sum(axis=1)
        weights = np.where(sure, 1.0, np.where(tied, share[:, None], 0.0))
        starts = np.arange(len(near) + 1, dtype=np.int64) * n
        return _listed(starts, np.tile(np.arange(n, dtype=np.int32), len(near)), weights.ravel())

    with one_blas_thread():
        lists = map_threads(tile, range(0, n, rows), threads=threads)
    return _joined(lists, k)


# ----------------------------------------------------------------------------------------------------- invariants
class AdjacencyInvariants(NamedTuple):
    """What the permutation mean and variance of an overlap need to know of one graph.

    Attributes
    ----------
    n : int
        Number of items.
    t : float
        Sum of all weights.
    s1, s2 : float
        Sum of squared weights, and of products of the weights of an edge and of its reverse.
    r2, c2, rc : float
        Sums over items of the squared row sum, the squared column sum, and their product.
    """

    n: int
    t: float
    s1: float
    s2: float
    r2: float
    c2: float
    rc: float


def adjacency_invariants(graph: NeighbourGraph) -> AdjacencyInvariants:
    """Invariants of a neighbour graph, at the cost of one pass over its edges."""
    from calibtest.kernels.neighbours import reciprocal_weight

    weights = graph.edge_weights()
    columns = np.bincount(graph.indices, weights=weights, minlength=graph.n_items)
    total = float(graph.n_items * graph.k)  # every item's weights share out its k places
    return AdjacencyInvariants(
        n=graph.n_items,
        t=total,
        s1=graph.sum_of_squares,
        s2=float(reciprocal_weight(graph.indptr, graph.indices, weights)),
        r2=total * graph.k,
        c2=float(columns @ columns),
        rc=total * graph.k,
    )
