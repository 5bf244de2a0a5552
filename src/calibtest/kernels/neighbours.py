"""Loops of the nearest-neighbour search: unit rows, proposals from tiles of a Gram matrix, and exact decisions.

Two items are compared by the squared distance that :func:`settle` measures: the squares of the coordinate differences,
added in the order of the coordinates. That number depends on the two rows alone, never on where they stand, so the
order of the items cannot change a neighbour list. The tiles only say which pairs are worth measuring.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibtest.kernels import kernel

__all__ = [
    "Rule",
    "candidate_limits",
    "count_candidates",
    "list_candidates",
    "reciprocal_weight",
    "settle",
    "unit_rows",
]


class Rule(NamedTuple):
    """How many neighbours, what a tile may be wrong by, and what counts as a tie.

    A tile's squared distance of items i and j is off by at most ``slack * (|x_i|^2 + |x_j|^2) + underflow``. A measured
    squared distance ties with ``v`` when it differs by at most ``relative * v + 2 * blur * sqrt(v) + blur**2``.
    """

    k: int
    slack: float
    underflow: float
    relative: float
    blur: float


@kernel
def unit_rows(points: NDArray[np.floating], out: NDArray[np.float64]) -> None:
    """Rows divided by their lengths, each from its own entries in their order; a row of zeros stays zero."""
    for i in range(points.shape[0]):
        largest = 0.0
        for f in range(points.shape[1]):
            largest = max(largest, abs(np.float64(points[i, f])))
        if largest == 0.0:
            for f in range(points.shape[1]):
                out[i, f] = 0.0
            continue
        # an exact division by a power of two, in two steps because its inverse may overflow
        exponent = math.frexp(largest)[1]
        half = -exponent // 2
        first = math.ldexp(1.0, half)
        second = math.ldexp(1.0, -exponent - half)
        # compensated, so that the lengths of proportional rows agree to a few units in the last place at any width
        total = 0.0
        lost = 0.0
        for f in range(points.shape[1]):
            scaled = np.float64(points[i, f]) * first * second
            out[i, f] = scaled
            term = scaled * scaled - lost
            grown = total + term
            lost = (grown - total) - term
            total = grown
        length = math.sqrt(total)
        for f in range(points.shape[1]):
            out[i, f] /= length


@kernel
def tie_width(value: float, rule: Rule) -> float:
    """Largest difference from `value` that rounding may have made."""
    return rule.relative * value + 2.0 * rule.blur * math.sqrt(value) + rule.blur * rule.blur


@kernel
def replace_largest(heap: NDArray[np.float64], value: float) -> None:
    """Put a smaller value in the place of the largest, which stands on top of a heap."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= heap.shape[0]:
            break
        if child + 1 < heap.shape[0] and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@kernel
def candidate_limits(
    gram: NDArray[np.floating],
    squares: NDArray[np.float64],
    first: int,
    rule: Rule,
    out: NDArray[np.float64],
) -> None:
    """For each row of the tile (items `first`, ...) a squared distance beyond which no item can be listed.

    It is the k-th smallest upper bound, plus the width of a tie.
    """
    heap = np.empty(rule.k, dtype=np.float64)
    for t in range(gram.shape[0]):
        me = first + t
        for c in range(rule.k):
            heap[c] = np.inf
        for j in range(gram.shape[1]):
            bound = (1.0 + rule.slack) * (squares[me] + squares[j]) - 2.0 * np.float64(gram[t, j])
            if bound < heap[0] and j != me:
                replace_largest(heap, bound)
        farthest = max(heap[0] + rule.underflow, 0.0)
        out[t] = farthest + 2.0 * tie_width(farthest, rule) + rule.underflow


@kernel
def count_candidates(
    gram: NDArray[np.floating],
    squares: NDArray[np.float64],
    first: int,
    rule: Rule,
    limits: NDArray[np.float64],
    out: NDArray[np.int64],
) -> None:
    """Number of items in each row of the tile whose lower bound does not exceed the row's limit."""
    for t in range(gram.shape[0]):
        me = first + t
        count = 0
        for j in range(gram.shape[1]):
            bound = (1.0 - rule.slack) * (squares[me] + squares[j]) - 2.0 * np.float64(gram[t, j])
            count += bound <= limits[t]
        own = (1.0 - rule.slack) * (squares[me] + squares[me]) - 2.0 * np.float64(gram[t, me])
        out[t] = count - (own <= limits[t])


@kernel
def list_candidates(
    gram: NDArray[np.floating],
    squares: NDArray[np.float64],
    first: int,
    rule: Rule,
    limits: NDArray[np.float64],
    out: NDArray[np.int32],
) -> None:
    """The items counted by `count_candidates`, row after row, in ascending order."""
    at = 0
    for t in range(gram.shape[0]):
        me = first + t
        for j in range(gram.shape[1]):
            bound = (1.0 - rule.slack) * (squares[me] + squares[j]) - 2.0 * np.float64(gram[t, j])
            if bound <= limits[t] and j != me:
                out[at] = j
                at += 1


@kernel
def squared_distances(
    points: NDArray[np.float64], me: int, others: NDArray[np.int32], out: NDArray[np.float64]
) -> None:
    """Squared distances of item `me` to `others` by direct differences, each added up in the order of the coordinates.

    Four items go side by side: four independent sums keep the processor busy without changing any of them.
    """
    mine = points[me]
    n = others.shape[0]
    whole = n // 4 * 4
    for c in range(0, whole, 4):
        x0 = points[others[c]]
        x1 = points[others[c + 1]]
        x2 = points[others[c + 2]]
        x3 = points[others[c + 3]]
        s0 = 0.0
        s1 = 0.0
        s2 = 0.0
        s3 = 0.0
        for f in range(mine.shape[0]):
            d0 = mine[f] - x0[f]
            d1 = mine[f] - x1[f]
            d2 = mine[f] - x2[f]
            d3 = mine[f] - x3[f]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
        out[c] = s0
        out[c + 1] = s1
        out[c + 2] = s2
        out[c + 3] = s3
    for c in range(whole, n):
        x = points[others[c]]
        s = 0.0
        for f in range(mine.shape[0]):
            d = mine[f] - x[f]
            s += d * d
        out[c] = s


@kernel
def settle(
    points: NDArray[np.float64],
    first: int,
    rule: Rule,
    starts: NDArray[np.int64],
    candidates: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Weight of every candidate: 1 when it is surely listed, a share of the places left when tied, 0 when too far."""
    k = rule.k
    heap = np.empty(k, dtype=np.float64)
    for t in range(starts.shape[0] - 1):
        low = starts[t]
        high = starts[t + 1]
        if high - low == k:
            for c in range(low, high):
                out[c] = 1.0
            continue
        # the squared distances stand where the weights will be
        squared_distances(points, first + t, candidates[low:high], out[low:high])
        for c in range(k):
            heap[c] = np.inf
        for c in range(low, high):
            if out[c] < heap[0]:
                replace_largest(heap, out[c])
        kth = heap[0]
        width = tie_width(kth, rule)
        n_sure = 0
        n_tied = 0
        for c in range(low, high):
            n_sure += out[c] < kth - width
            n_tied += abs(out[c] - kth) <= width
        share = (k - n_sure) / n_tied
        for c in range(low, high):
            if out[c] < kth - width:
                out[c] = 1.0
            elif abs(out[c] - kth) <= width:
                out[c] = share
            else:
                out[c] = 0.0


@kernel
def reciprocal_weight(indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float64]) -> float:
    """Sum over edges (i, j) of the weight of (i, j) times the weight of (j, i); lists are in ascending order."""
    total = 0.0
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[e])  # unsigned: a signed index may count from the end, and testing that takes time
            low = indptr[j]
            high = indptr[j + np.uint32(1)]
            end = high
            while low < high:
                middle = (low + high) // 2
                if indices[middle] < i:
                    low = middle + 1
                else:
                    high = middle
            if low < end and indices[low] == i:
                total += weights[e] * weights[low]
    return total
