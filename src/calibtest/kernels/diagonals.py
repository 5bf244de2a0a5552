"""Loops of the matching form: reading a relation along circular diagonals, and reading it under given relabellings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibtest.kernels import kernel

__all__ = ["Places", "gather_diagonals", "gather_rows"]


class Places(NamedTuple):
    """Places of the rings to read: `first` and those after it, on rings of `period` places.

    With `whole_rows` a row of the relation is copied before its entries are picked, which pays where most of a row is
    wanted: memory is then read in order.
    """

    first: int
    period: int
    whole_rows: bool


@kernel
def pick(row: NDArray[np.floating], wanted: NDArray[np.int64], out: NDArray[np.floating]) -> None:
    """``out[k] = row[wanted[k]]``."""
    for k in range(wanted.shape[0]):
        out[k] = row[wanted[k]]


@kernel
def gather_diagonals(
    matrix: NDArray[np.floating],
    item: NDArray[np.int64],
    runs: NDArray[np.int64],
    places: Places,
    out: NDArray[np.floating],
) -> None:
    """Read runs of neighbouring circular diagonals; place ``first + a`` goes to row ``a`` of every tile of `out`.

    A run is ``(row, row_step, column, delta, count, at)``. Its entries at place ``p`` stand in the matrix row of
    position ``row + row_step * p``; their columns are the positions ``column + (p + delta + k) mod period`` for
    ``k < count``, or ``column + k`` where ``delta`` is -1. They go to columns ``at + k``, counted through the tiles;
    no run crosses the edge of a tile.
    """
    width = out.shape[2]
    kept = np.empty(matrix.shape[1], dtype=matrix.dtype)
    held = -1
    for a in range(out.shape[1]):
        place = places.first + a
        for r in range(runs.shape[0]):
            source = item[runs[r, 0] + runs[r, 1] * place]
            if places.whole_rows and source != held:
                for j in range(kept.shape[0]):
                    kept[j] = matrix[source, j]
                held = source
            column = runs[r, 2]
            count = runs[r, 4]
            tile = runs[r, 5] // width
            line = out[tile, a, runs[r, 5] - tile * width :]
            start = 0
            until_wrap = count
            if runs[r, 3] >= 0:
                start = (place + runs[r, 3]) % places.period
                until_wrap = min(count, places.period - start)
            done = 0
            while done < count:
                wanted = item[column + start : column + start + until_wrap]
                if places.whole_rows:
                    pick(kept, wanted, line[done:])
                else:
                    pick(matrix[source], wanted, line[done:])
                done += until_wrap
                until_wrap = count - done
                start = 0


@kernel
def gather_rows(
    matrix: NDArray[np.floating],
    relabellings: NDArray[np.int64],
    first: int,
    last: int,
    upper: bool,
    out: NDArray[np.floating],
) -> None:
    """``out[m]``: rows `first` to `last` of the relabelled matrix, row after row; from the diagonal on where `upper`."""
    n = matrix.shape[0]
    for m in range(relabellings.shape[0]):
        pi = relabellings[m]
        at = 0
        for i in range(first, last):
            start = i if upper else 0
            pick(matrix[pi[i]], pi[start:], out[m, at:])
            at += n - start
