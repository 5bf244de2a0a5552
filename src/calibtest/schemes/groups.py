"""Exchange restricted by groups of items: within them, or of whole groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.schemes.design import Design
from calibtest.schemes.relabellings import Relabellings

__all__ = ["WholeGroups", "WithinGroups"]

Index = NDArray[np.int64]


def _groups_of_items(groups: Any, n: int) -> list[Index]:
    """Items of every group, groups in order of first appearance."""
    if isinstance(groups, str | bytes) or not hasattr(groups, "__len__"):
        raise InputError(
            f"groups must be an array of one label an item (length {n}), got {type(groups).__name__} {groups!r}; pass "
            "the labels themselves"
        )
    if getattr(groups, "ndim", 1) != 1:
        raise InputError(
            f"groups must be 1-D with one label an item, got shape {groups.shape}; pass one column of labels"
        )
    if isinstance(groups, Mapping):
        raise InputError("groups must be a sequence of one label an item, got a mapping; pass its values in item order")
    labels = list(groups)
    if len(labels) != n:
        raise InputError(f"groups must hold one label an item, got {len(labels)} labels for {n} items; check the order")
    missing = [i for i, label in enumerate(labels) if _is_missing(label)]
    if missing:
        raise InputError(
            f"groups lacks labels (NaN or None) for {len(missing)} of {n} items, first for item {missing[0]}; give every item a "
            "group or drop these items from both sides"
        )
    members: dict[Any, list[int]] = {}
    for item, label in enumerate(labels):
        try:
            members.setdefault(label, []).append(item)
        except TypeError:
            raise InputError(f"groups must hold plain labels, got {type(label).__name__} for item {item}") from None
    return [np.asarray(items, dtype=np.int64) for items in members.values()]


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas' NA is neither equal nor unequal to itself
        return True


@dataclass(frozen=True, eq=False)
class WithinGroups:
    """Items change places only with items of their own group.

    The null hypothesis: within every group, the items of the right-hand side are exchangeable given the left-hand
    side; agreement between groups is granted. A significant result is therefore alignment beyond the groups.

    Parameters
    ----------
    groups : (n,) sequence
        Label of every item.
    """

    groups: Any

    name = "within_groups"
    free = False
    null = (
        "within each group the pairing of the items carries no information (agreement between groups is granted): "
        "every order of the right-hand items inside their groups was equally likely"
    )

    def _design(self, n: int) -> Design:
        members = _groups_of_items(self.groups, n)
        if all(len(items) == 1 for items in members):
            raise InputError(
                f"groups puts each of the {n} items into a group of its own, so nothing can change places within groups; "
                "use coarser groups or the scheme 'exchangeable'"
            )
        return Design(tuple(items[:, None] for items in members))

    def order(self, n: int) -> int:
        return self._design(n).order

    def draw(self, n: int, n_resamples: int, rng: np.random.Generator, *, cosets: bool = True) -> Relabellings:
        return self._design(n).draw(n_resamples, rng, cosets=cosets)


@dataclass(frozen=True, eq=False)
class WholeGroups:
    """Groups change places as blocks, each with groups of its own size.

    The null hypothesis: groups of equal size are exchangeable as wholes on the right-hand side given the left-hand
    side; items of a group stay together in their order, so repeats within a group prove nothing.

    Parameters
    ----------
    groups : (n,) sequence
        Label of every item.
    """

    groups: Any

    name = "whole_groups"
    free = False
    null = (
        "the pairing of the groups carries no information: every order of the right-hand groups (moved as blocks, "
        "among groups of equal size) was equally likely"
    )

    def _design(self, n: int) -> Design:
        by_size: dict[int, list[Index]] = {}
        for items in _groups_of_items(self.groups, n):
            by_size.setdefault(len(items), []).append(items)
        design = Design(tuple(np.stack(blocks) for blocks in by_size.values()))
        if design.order == 1:
            raise InputError(
                f"groups has no two groups of the same size (sizes {sorted(by_size)} for {n} items), so no whole group "
                "can change places; use groups of equal size or another scheme"
            )
        return design

    def order(self, n: int) -> int:
        return self._design(n).order

    def draw(self, n: int, n_resamples: int, rng: np.random.Generator, *, cosets: bool = True) -> Relabellings:
        return self._design(n).draw(n_resamples, rng, cosets=cosets)
