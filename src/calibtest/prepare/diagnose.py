"""What in the data itself could mislead a reader of a score: one item, one unit, copies, serial order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Traits", "traits"]

_DOMINANT = 0.9


@dataclass(frozen=True)
class Traits:
    """Traits of one layer of activations.

    Attributes
    ----------
    n_items, n_distinct : int
        Number of rows, and of different rows.
    top_item, top_item_share : int, float
        The row that holds most of the variance, and its share.
    top_unit, top_unit_share : int, float
        The column that holds most of the variance, and its share (0 with fewer than three columns).
    lag_one : float
        Correlation of neighbouring rows in the order of the file.
    """

    n_items: int
    n_distinct: int
    top_item: int
    top_item_share: float
    top_unit: int
    top_unit_share: float
    lag_one: float

    @property
    def one_item_dominates(self) -> bool:
        return self.top_item_share > _DOMINANT

    @property
    def one_unit_dominates(self) -> bool:
        return self.top_unit_share > _DOMINANT

    def remarks(self, where: str) -> list[str]:
        """Sentences on what dominates the layer; `where` names it."""
        if self.one_item_dominates:
            return [
                f"{where}: one item (row {self.top_item}) holds {self.top_item_share:.0%} of the variance, so scores "
                "that use distances or inner products are about that outlier; look at it, or use a neighbour metric"
            ]
        if self.one_unit_dominates:
            return [
                f"{where}: one feature (column {self.top_unit}) holds {self.top_unit_share:.0%} of the variance, so the "
                "score is about that feature; z-score the units or remove it to see the others"
            ]
        return []


def traits(x: NDArray[np.floating]) -> Traits:
    """Traits of activations of shape (n, d)."""
    scale = float(np.abs(x).max())
    centred = np.asarray(x, dtype=np.float64) / (scale if scale > 0 else 1.0)
    centred -= centred.mean(axis=0)
    by_item = np.einsum("ij,ij->i", centred, centred)
    by_unit = np.einsum("ij,ij->j", centred, centred)
    total = float(by_item.sum()) or 1.0
    neighbours = float(np.einsum("ij,ij->", centred[1:], centred[:-1]))
    item, unit = int(by_item.argmax()), int(by_unit.argmax())
    return Traits(
        n_items=len(x),
        n_distinct=_distinct_rows(x, by_item),
        top_item=item,
        top_item_share=float(by_item[item]) / total,
        top_unit=unit,
        top_unit_share=float(by_unit[unit]) / total if x.shape[1] > 2 else 0.0,
        lag_one=neighbours / total,
    )


def _distinct_rows(x: NDArray[np.floating], lengths: NDArray[np.float64]) -> int:
    """Number of different rows; rows of different length (from the mean) are different, which settles most."""
    if np.unique(lengths).size == len(x):
        return len(x)
    raw = np.ascontiguousarray(x + 0.0)  # -0.0 and 0.0 are the same value
    return int(np.unique(raw.view(np.dtype((np.void, raw.dtype.itemsize * raw.shape[1])))).size)
