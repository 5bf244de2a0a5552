"""Relabellings that the caller lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.schemes.relabellings import Explicit, Relabellings

__all__ = ["ExplicitRelabellings"]


@dataclass(frozen=True, eq=False)
class ExplicitRelabellings:
    """A design of the caller's own: an array of relabellings, or a function that draws one.

    The null hypothesis: the listed relabellings of the right-hand items were as likely as the observed order. The
    test is exact when they were drawn independently and uniformly from a group, or are that whole group.

    Parameters
    ----------
    relabellings : (m, n) array of int, or callable ``f(rng, n) -> (n,)``
        Row ``k`` compares left item ``i`` with right item ``relabellings[k, i]``. The identity is added in front
        unless it is the first row already.
    null : str
        The null hypothesis, in one sentence, for the report.
    exhaustive : bool
        True when the array is the whole group, the identity among its rows once, in any place.
    """

    relabellings: NDArray[np.integer] | Callable[[np.random.Generator, int], NDArray[np.integer]]
    null: str = "the listed relabellings of the right-hand items were as likely as the observed order"
    exhaustive: bool = False

    name = "explicit"
    free = False

    def order(self, n: int) -> int:
        """Number of relabellings listed (for a function: the number of permutations, an upper bound)."""
        if callable(self.relabellings):
            import math

            return math.factorial(n)
        return len(self._listed(np.asarray(self.relabellings), n))

    def draw(self, n: int, n_resamples: int, rng: np.random.Generator, *, cosets: bool = True) -> Relabellings:
        if callable(self.relabellings):
            rows: Any = [np.asarray(self.relabellings(rng, n)) for _ in range(n_resamples)]
            for row in rows:
                if row.shape != (n,):
                    raise InputError(f"relabellings(rng, n) must return an array of shape ({n},), got {row.shape}")
            return Explicit(self._listed(np.stack(rows), n), exhaustive=False)
        return Explicit(self._listed(np.asarray(self.relabellings), n), exhaustive=self.exhaustive)

    def _listed(self, rows: NDArray[np.integer], n: int) -> NDArray[np.int64]:
        if rows.ndim != 2 or rows.shape[1] != n or rows.dtype.kind not in "iu" or len(rows) == 0:
            raise InputError(
                f"relabellings must be an array of whole numbers of shape (m, {n}) with m >= 1, got shape {rows.shape} "
                f"and dtype {rows.dtype}"
            )
        listed = rows.astype(np.int64)
        identity = np.arange(n)
        wrong = np.flatnonzero((np.sort(listed, axis=1) != identity).any(axis=1))
        if wrong.size:
            raise InputError(
                f"relabellings must hold a permutation of 0..{n - 1} in every row, but row {wrong[0]} does not "
                f"({wrong.size} rows in all)"
            )
        same = np.flatnonzero((listed == identity).all(axis=1))
        if self.exhaustive:
            if same.size != 1:
                raise InputError(
                    f"relabellings must hold the identity exactly once when exhaustive=True, got it {same.size} times in "
                    f"{len(listed)} rows; list every relabelling of the group once"
                )
            return np.concatenate((identity[None], np.delete(listed, same[0], axis=0)))
        if same.size == 0 or same[0] != 0:
            listed = np.concatenate((identity[None], listed))
        return listed
