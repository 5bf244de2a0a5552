"""Sums over the rows of a relation, from which its permutation moments follow, in one pass over memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibtest.kernels import kernel

__all__ = ["centred_sums", "directed_sums"]

_TILE = 32


@kernel
def line_sums(values: NDArray[np.floating], shift: float) -> tuple[float, float, float]:
    """Sum of ``v + shift``, sum of its squares, and largest ``|v|``; four sums side by side keep the processor busy."""
    s0 = s1 = s2 = s3 = 0.0
    q0 = q1 = q2 = q3 = 0.0
    m0 = m1 = m2 = m3 = 0.0
    n = values.shape[0]
    whole = n // 4 * 4
    for j in range(0, whole, 4):
        v0 = np.float64(values[j])
        v1 = np.float64(values[j + 1])
        v2 = np.float64(values[j + 2])
        v3 = np.float64(values[j + 3])
        m0 = max(m0, abs(v0))
        m1 = max(m1, abs(v1))
        m2 = max(m2, abs(v2))
        m3 = max(m3, abs(v3))
        v0 += shift
        v1 += shift
        v2 += shift
        v3 += shift
        s0 += v0
        s1 += v1
        s2 += v2
        s3 += v3
        q0 += v0 * v0
        q1 += v1 * v1
        q2 += v2 * v2
        q3 += v3 * v3
    for j in range(whole, n):
        v0 = np.float64(values[j])
        m0 = max(m0, abs(v0))
        v0 += shift
        s0 += v0
        q0 += v0 * v0
    return (s0 + s1) + (s2 + s3), (q0 + q1) + (q2 + q3), max(max(m0, m1), max(m2, m3))


@kernel
def centred_sums(matrix: NDArray[np.floating], first: int, last: int, level: float, out: NDArray[np.float64]) -> None:
    """Rows `first` to `last` of a doubly centred matrix, and its columns against them.

    `out` receives the sum of squares of ``K - level (I - 1/n)``, the largest entry and the largest row sum of ``K`` in
    absolute value, and the largest difference between an entry and its mirror image to the right of the diagonal.
    """
    n = matrix.shape[0]
    shift = level / n
    squares = 0.0
    largest = 0.0
    row_error = 0.0
    asymmetry = 0.0
    for i in range(first, last):
        before_sum, before_squares, before_largest = line_sums(matrix[i, :i], shift)
        after_sum, after_squares, after_largest = line_sums(matrix[i, i + 1 :], shift)
        own = np.float64(matrix[i, i])
        squares += before_squares + after_squares + (own + shift - level) ** 2
        largest = max(largest, max(abs(own), max(before_largest, after_largest)))
        row_error = max(row_error, abs(before_sum + after_sum + own - (n - 1) * shift))
    for top in range(first, last, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, last)):
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    asymmetry = max(asymmetry, abs(np.float64(matrix[i, j]) - np.float64(matrix[j, i])))
    out[0] = squares
    out[1] = largest
    out[2] = row_error
    out[3] = asymmetry


@kernel
def directed_sums(
    matrix: NDArray[np.floating],
    first: int,
    last: int,
    level: float,
    rows: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Rows `first` to `last` of a zero-diagonal matrix with `level` taken off its off-diagonal entries.

    Row sums go to `rows`; `out` receives the share of these rows in every column sum, then the sum of squares and the
    sum of the products of each entry with its mirror image.
    """
    n = matrix.shape[0]
    out[:] = 0.0
    rows[first:last] = 0.0
    squares = 0.0
    products = 0.0
    for top in range(first, last, _TILE):
        for left in range(0, n, _TILE):
            for i in range(top, min(top + _TILE, last)):
                row_sum = 0.0
                row_squares = 0.0
                row_products = 0.0
                for j in range(left, min(left + _TILE, n)):
                    if j != i:
                        own = np.float64(matrix[i, j]) - level
                        row_sum += own
                        row_squares += own * own
                        row_products += own * (np.float64(matrix[j, i]) - level)
                        out[j] += own
                rows[i] += row_sum
                squares += row_squares
                products += row_products
    out[n] = squares
    out[n + 1] = products
