"""Sets of relabellings as values: an explicit list, or cosets of a cyclic group.

A relabelling ``pi`` acts on the right-hand side: item ``i`` on the left is compared with item ``pi[i]`` on the right.
Row 0 of every set is the identity, so the observed value is part of every orbit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cosets", "Explicit", "Relabellings"]

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Explicit:
    """Relabellings listed one by one.

    Attributes
    ----------
    indices : (M, n) array of int64
        One relabelling a row; row 0 is the identity.
    exhaustive : bool
        True when the rows are all the relabellings that the scheme allows.
    """

    indices: Index
    exhaustive: bool = False

    @property
    def n_items(self) -> int:
        return int(self.indices.shape[1])

    def __len__(self) -> int:
        return int(self.indices.shape[0])

    @property
    def coset_size(self) -> None:
        return None

    def explicit(self) -> Index:
        """(M, n) array of the relabellings."""
        return self.indices


@dataclass(frozen=True, eq=False)
class Cosets:
    """The union of `R` right cosets of a cyclic group of `period` shifts.

    Items are laid out on positions ``0 .. n-1``. The first ``tracks * period`` positions are `tracks` rings of
    `period` places; a shift by ``s`` moves every ring by ``s`` places at once and leaves the other positions alone.
    Relabelling number ``r * period + s`` maps the item ``order[p]`` to ``representatives[r][shift_s(p)]``.

    Attributes
    ----------
    order : (n,) array of int64
        The item on each position, the same for both sides.
    tracks, period : int
        Number of rings and number of places on a ring.
    representatives : (R, n) array of int64
        ``representatives[0]`` equals `order`, so relabelling 0 is the identity.
    """

    order: Index
    tracks: int
    period: int
    representatives: Index

    exhaustive: bool = False

    @property
    def n_items(self) -> int:
        return int(self.order.size)

    @property
    def n_cosets(self) -> int:
        return int(self.representatives.shape[0])

    @property
    def coset_size(self) -> int:
        return self.period

    def __len__(self) -> int:
        return self.n_cosets * self.period

    def shift(self, s: int) -> Index:
        """(n,) array: the position that each position moves to under a shift by `s`."""
        moved = np.arange(self.n_items)
        ring = moved[: self.tracks * self.period].reshape(self.tracks, self.period)
        ring[...] = np.roll(ring, -s, axis=1)
        return moved

    def explicit(self) -> Index:
        """(R * period, n) array of the same relabellings, in the same order."""
        listed = np.empty((self.n_cosets, self.period, self.n_items), dtype=np.int64)
        for s in range(self.period):
            listed[:, s, self.order] = self.representatives[:, self.shift(s)]
        return listed.reshape(len(self), self.n_items)


Relabellings = Explicit | Cosets
