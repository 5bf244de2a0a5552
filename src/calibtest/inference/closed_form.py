"""Closed-form moments of a grid of prepared states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibtest.inference.moments import DoublyCentred, Invariants, MomentGrid, ZeroDiagonal, moment_grid
from calibtest.prepare.neighbours import NeighbourGraph, adjacency_invariants
from calibtest.prepare.relations import Relation

__all__ = ["closed_form_moments"]


def closed_form_moments(lefts: Sequence[Any], rights: Sequence[Any]) -> MomentGrid | None:
    """Permutation mean and sd of the matching value of every pair of states; None where there is no closed form."""
    found = [known for known in map(_invariants, (*lefts, *rights)) if known is not None]
    if len(found) < len(lefts) + len(rights):
        return None
    return moment_grid(found[: len(lefts)], found[len(lefts) :])


def _invariants(state: Any) -> Invariants | None:
    if isinstance(state, Relation):
        return (ZeroDiagonal if state.zero_diagonal else DoublyCentred).from_dense(state.matrix)
    if isinstance(state, NeighbourGraph):
        return ZeroDiagonal(*adjacency_invariants(state))
    return None
