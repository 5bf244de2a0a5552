"""The circular diagonals of an (n, n) relation under a group of cyclic shifts.

Entry ``(i, j)`` of a relation stays on its diagonal when both items are shifted along their rings; the diagonals are
what the FFT runs along. A layout lists them as runs of neighbours and deals them out to tiles of columns that are
narrow enough for a transform to stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "Layout"]

_TILE_ENTRIES = 2**16  # real numbers in a tile: half a megabyte in double precision
_NARROWEST = 64


@dataclass(frozen=True, eq=False)
class Block:
    """Tiles of diagonals that are held in memory together.

    Attributes
    ----------
    runs : (n_runs, 6) array of int64
        Runs for ``kernels.diagonals.gather_diagonals``, none across the edge of a tile.
    weights : (tiles, width) array of float64
        How often each diagonal counts; 0 where a column of the last tile is not used.
    """

    runs: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def tiles(self) -> int:
        return int(self.weights.shape[0])

    @property
    def width(self) -> int:
        return int(self.weights.shape[1])


@dataclass(frozen=True)
class Layout:
    """Diagonals of relations on `n_items` items laid on `tracks` rings of `period` places, the rest fixed.

    For symmetric relations a diagonal and its mirror image have the same correlations, so only one of the two is
    listed, with weight 2.
    """

    n_items: int
    tracks: int
    period: int
    symmetric: bool

    @property
    def first_fixed(self) -> int:
        return self.tracks * self.period

    def blocks(self, columns: int) -> Iterator[Block]:
        """All diagonals that touch a ring, in blocks of about `columns` diagonals, the least being one tile."""
        runs = self._runs()
        total = int(runs[:, 4].sum())
        width = _tile_width(total, self.period)
        runs = _cut(runs, width)
        runs[:, 5] = np.cumsum(runs[:, 4]) - runs[:, 4]
        tiles = -(-total // width)
        together = max(1, columns // width)
        for first in range(0, tiles, together):
            count = min(together, tiles - first)
            mine = (runs[:, 5] >= first * width) & (runs[:, 5] < (first + count) * width)
            chosen = runs[mine]
            chosen[:, 5] -= first * width
            yield Block(chosen, self._weights(chosen, count * width).reshape(count, width))

    def _runs(self) -> NDArray[np.int64]:
        """(n_runs, 6) array of whole runs, those that read the same row of a relation side by side."""
        n, q, period, fixed = self.n_items, self.tracks, self.period, self.first_fixed
        base = np.arange(q, dtype=np.int64) * period
        whole: list[NDArray[np.int64]] = []
        if self.symmetric:
            left, right = np.triu_indices(q, 1)
            whole.append(_table(base, 1, base, 0, period // 2 + 1))
        else:
            left, right = np.divmod(np.arange(q * q), q)
        whole.append(_table(base[left], 1, base[right], 0, period))
        if fixed < n:
            whole.append(_table(base, 1, fixed, -1, n - fixed))
            if not self.symmetric:
                rest = np.arange(fixed, n, dtype=np.int64)
                whole.append(_table(np.repeat(rest, q), 0, np.tile(base, n - fixed), 0, 1))
        runs = np.concatenate(whole)
        return runs[np.argsort(runs[:, 0], kind="stable")]

    def _weights(self, runs: NDArray[np.int64], columns: int) -> NDArray[np.float64]:
        weights = np.zeros(columns)
        weights[: int(runs[:, 4].sum())] = 2.0 if self.symmetric else 1.0
        if not self.symmetric:
            return weights
        selfmirrored = (0,) if self.period % 2 else (0, self.period // 2)
        own = runs[(runs[:, 0] == runs[:, 2]) & (runs[:, 3] >= 0)]  # a ring with itself
        for once in selfmirrored:
            inside = (own[:, 3] <= once) & (once < own[:, 3] + own[:, 4])
            weights[own[inside, 5] + once - own[inside, 3]] = 1.0
        return weights


def _tile_width(columns: int, period: int) -> int:
    """Even number of columns in a tile; twice an odd number, so that rows do not all fall on the same cache lines."""
    most = max(_NARROWEST, _TILE_ENTRIES // period)
    tiles = -(-columns // most)
    return 2 * (-(-columns // (2 * tiles)) | 1)


def _table(row: object, step: int, column: object, delta: int, count: int) -> NDArray[np.int64]:
    fields = np.broadcast_arrays(*(np.asarray(v, dtype=np.int64) for v in (row, step, column, delta, count, 0)))
    return np.stack([np.atleast_1d(v) for v in fields], axis=1)


def _cut(runs: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The same runs, cut wherever the columns counted from the first are a multiple of `width`."""
    ends = np.cumsum(runs[:, 4])
    starts = ends - runs[:, 4]
    pieces = (ends - 1) // width - starts // width + 1
    owner = np.repeat(np.arange(len(runs)), pieces)
    tile = starts[owner] // width + np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    first = np.maximum(starts[owner], tile * width)
    last = np.minimum(ends[owner], (tile + 1) * width)
    cut = runs[owner]
    skipped = first - starts[owner]
    ring = cut[:, 3] >= 0
    cut[ring, 3] += skipped[ring]
    cut[~ring, 2] += skipped[~ring]
    cut[:, 4] = last - first
    return cut
