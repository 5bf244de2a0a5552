"""What a null hypothesis allows to be exchanged: classes of interchangeable units of items.

Every scheme of the package is such a design. Free exchange is one class of n units of one item; exchange within
groups is one class a group; exchange of whole groups is one class a group size, whose units are the groups. A
relabelling permutes the units of every class independently.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from calibtest.schemes.relabellings import Cosets, Explicit, Relabellings

__all__ = ["Design"]

Index = NDArray[np.int64]

_LEAST_WORTH = 4.0  # independent relabellings that a coset must be worth


@dataclass(frozen=True, eq=False)
class Design:
    """Classes of interchangeable units.

    Attributes
    ----------
    classes : tuple of (units, size) arrays of int64
        Items of each class; row ``u`` holds the items of unit ``u``. Every item occurs once.
    """

    classes: tuple[Index, ...]

    @property
    def n_items(self) -> int:
        return sum(c.size for c in self.classes)

    @property
    def order(self) -> int:
        """Number of different relabellings, as an exact integer."""
        return math.prod(math.factorial(len(c)) for c in self.classes)

    def period(self) -> int:
        """Length of the rings that shifts act on, 0 where no ring is worth it.

        Rings of `N` units give `N` relabellings at the price of one, but items left over by them stay where they are
        within a coset, which makes its relabellings alike: with a share ``f`` of items moved, about ``(1 - f)^2`` of a
        statistic of pairs is the same throughout a coset, and its `N` relabellings are worth
        ``N / (1 + (N - 1) (1 - f)^2)`` independent ones. The length that is worth most is chosen.
        """
        lengths = {len(c) // parts for c in self.classes for parts in range(1, len(c) // 2 + 1)}
        worth = {length: self._worth(length) for length in lengths}
        best = max(worth, key=lambda length: (worth[length], length), default=0)
        return best if best and worth[best] >= min(_LEAST_WORTH, best) else 0

    def _worth(self, length: int) -> float:
        moved = sum(len(c) // length * length * c.shape[1] for c in self.classes) / self.n_items
        return float(length / (1.0 + (length - 1) * (1.0 - moved) ** 2))

    def draw(self, n_resamples: int, rng: np.random.Generator, *, cosets: bool) -> Relabellings:
        """At least `n_resamples` relabellings beside the identity, or all of them where there are no more than that."""
        if self.order <= n_resamples + 1:
            return self.enumerate()
        period = self.period() if cosets else 0
        if period:
            return self.cosets(-(-(n_resamples + 1) // period), period, rng)
        listed = np.empty((n_resamples + 1, self.n_items), dtype=np.int64)
        listed[0] = np.arange(self.n_items)
        for row in listed[1:]:
            for units in self.classes:
                row[units] = units[rng.permutation(len(units))]
        return Explicit(listed)

    def enumerate(self) -> Explicit:
        """All relabellings, the identity first."""
        orders = product(*(permutations(range(len(units))) for units in self.classes))
        listed = np.empty((self.order, self.n_items), dtype=np.int64)
        for row, chosen in zip(listed, orders, strict=True):
            for units, place in zip(self.classes, chosen, strict=True):
                row[units] = units[list(place)]
        return Explicit(listed, exhaustive=True)

    def cosets(self, n_cosets: int, period: int, rng: np.random.Generator) -> Cosets:
        """`n_cosets` cosets of the group that shifts every class along rings of `period` units.

        The representatives are uniform and independent draws from the design; the first also lays the items out,
        for both sides, so that the order of the file carries nothing.
        """
        representatives = np.empty((n_cosets, self.n_items), dtype=np.int64)
        tracks = sum(len(units) // period * units.shape[1] for units in self.classes)
        for row in representatives:
            shuffled = [units[rng.permutation(len(units))] for units in self.classes]
            rings = [
                part[: len(part) // period * period].reshape(-1, period, part.shape[1]).transpose(0, 2, 1).ravel()
                for part in shuffled
            ]
            rest = [part[len(part) // period * period :].ravel() for part in shuffled]
            row[:] = np.concatenate(rings + rest)
        return Cosets(representatives[0].copy(), tracks, period, representatives)
