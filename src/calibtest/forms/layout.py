"""The circular diagonals of an (n, n) relation under a group of cyclic shifts.

Entry ``(i, j)`` of a relation stays on its diagonal when both items are shifted along their rings; the diagonals are
what the FFT runs along. A layout lists them as runs of neighbours, cut into blocks of bounded size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "Layout"]

_LONGEST_RUN = 256


@dataclass(frozen=True, eq=False)
class Block:
    """Runs (for ``kernels.diagonals.gather_diagonals``) and the weight of each of their diagonals."""

    runs: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        return int(self.weights.size)


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

    def blocks(self, columns: int) -> list[Block]:
        """All diagonals that touch a ring, in blocks of about `columns` diagonals (never split by a data property)."""
        runs = self._runs()
        first = np.concatenate(([0], np.cumsum(runs[:, 4])))
        block_of = first[:-1] // max(columns, _LONGEST_RUN)
        blocks = []
        for number in np.unique(block_of):
            mine = runs[block_of == number]
            mine[:, 5] = np.concatenate(([0], np.cumsum(mine[:-1, 4])))
            blocks.append(Block(np.ascontiguousarray(mine), self._weights(mine)))
        return blocks

    def _runs(self) -> NDArray[np.int64]:
        """(n_runs, 6) array of runs, each at most `_LONGEST_RUN` diagonals long."""
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
        return _cut(np.concatenate(whole))

    def _weights(self, runs: NDArray[np.int64]) -> NDArray[np.float64]:
        if not self.symmetric:
            return np.ones(int(runs[:, 4].sum()))
        weights = np.full(int(runs[:, 4].sum()), 2.0)
        selfmirrored = (0,) if self.period % 2 else (0, self.period // 2)
        own = runs[(runs[:, 0] == runs[:, 2]) & (runs[:, 3] >= 0)]  # a ring with itself
        for _, _, _, delta, count, at in own:
            for once in selfmirrored:
                if delta <= once < delta + count:
                    weights[at + once - delta] = 1.0
        return weights


def _table(row: object, step: int, column: object, delta: int, count: int) -> NDArray[np.int64]:
    fields = np.broadcast_arrays(*(np.asarray(v, dtype=np.int64) for v in (row, step, column, delta, count, 0)))
    return np.stack([np.atleast_1d(v) for v in fields], axis=1)


def _cut(runs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same runs in pieces of at most `_LONGEST_RUN`."""
    pieces = -(-runs[:, 4] // _LONGEST_RUN)
    owner = np.repeat(np.arange(len(runs)), pieces)
    skipped = (np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)) * _LONGEST_RUN
    cut = runs[owner]
    ring = cut[:, 3] >= 0
    cut[ring, 3] += skipped[ring]
    cut[~ring, 2] += skipped[~ring]
    cut[:, 4] = np.minimum(_LONGEST_RUN, runs[owner, 4] - skipped)
    return cut
