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
    cache: dict[int, Invariants | None] = {}
    for state in (*lefts, *rights):
        if id(state) not in cache:
            cache[id(state)] = _invariants(state)
    left = [cache[id(state)] for state in lefts]
    right = [cache[id(state)] for state in rights]
    if any(found is None for found in (*left, *right)):
        return None
    return moment_grid([f for f in left if f is not None], [f for f in right if f is not None])


def _invariants(state: Any) -> Invariants | None:
    if isinstance(state, Relation):
        return (ZeroDiagonal if state.zero_diagonal else DoublyCentred).from_dense(state.matrix)
    if isinstance(state, NeighbourGraph):
        return ZeroDiagonal(*adjacency_invariants(state))
    return None
