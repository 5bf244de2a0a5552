"""Loops of the matching form: reading a relation along circular diagonals, and reading it under given relabellings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibtest.kernels import kernel

__all__ = ["gather_diagonals", "gather_full", "gather_upper"]


@kernel
def gather_diagonals(
    matrix: NDArray[np.floating],
    item: NDArray[np.int64],
    runs: NDArray[np.int64],
    out: NDArray[np.floating],
) -> None:
    """Read runs of neighbouring circular diagonals; place ``a`` of the ring goes to row ``a`` of `out`.

    A run is ``(row, row_step, column, delta, count, at)``. Its entries at place ``a`` stand in the matrix row of
    position ``row + row_step * a``; their columns are the positions ``column + (a + delta + k) mod period`` for
    ``k < count``, or ``column + k`` where ``delta`` is -1. They go to ``out[a, at + k]``.
    """
    period = out.shape[0]
    for a in range(period):
        for r in range(runs.shape[0]):
            row = matrix[item[runs[r, 0] + runs[r, 1] * a]]
            column = runs[r, 2]
            delta = runs[r, 3]
            count = runs[r, 4]
            at = runs[r, 5]
            if delta < 0:
                for k in range(count):
                    out[a, at + k] = row[item[column + k]]
            else:
                start = a + delta
                if start >= period:
                    start -= period
                until_wrap = min(count, period - start)
                for k in range(until_wrap):
                    out[a, at + k] = row[item[column + start + k]]
                for k in range(until_wrap, count):
                    out[a, at + k] = row[item[column + start + k - period]]


@kernel
def gather_upper(
    matrix: NDArray[np.floating],
    relabellings: NDArray[np.int64],
    first: int,
    last: int,
    out: NDArray[np.floating],
) -> None:
    """``out[m]``: rows `first` to `last` of the relabelled upper triangle (diagonal included), row after row."""
    n = matrix.shape[0]
    for m in range(relabellings.shape[0]):
        pi = relabellings[m]
        at = 0
        for i in range(first, last):
            row = matrix[pi[i]]
            for j in range(i, n):
                out[m, at] = row[pi[j]]
                at += 1


@kernel
def gather_full(
    matrix: NDArray[np.floating],
    relabellings: NDArray[np.int64],
    first: int,
    last: int,
    out: NDArray[np.floating],
) -> None:
    """``out[m]``: rows `first` to `last` of the relabelled matrix, row after row."""
    n = matrix.shape[0]
    for m in range(relabellings.shape[0]):
        pi = relabellings[m]
        at = 0
        for i in range(first, last):
            row = matrix[pi[i]]
            for j in range(n):
                out[m, at] = row[pi[j]]
                at += 1
