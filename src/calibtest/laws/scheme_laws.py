"""Laws of a set of relabellings and of the scheme that draws it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibtest.laws.violation import LawViolation
from calibtest.schemes.protocol import Scheme
from calibtest.schemes.relabellings import Cosets, Relabellings

__all__ = [
    "cosets_are_closed",
    "drawn_evenly",
    "groups_are_respected",
    "is_a_set_of_relabellings",
    "listing_equals_definition",
]

Index = NDArray[np.int64]


def is_a_set_of_relabellings(relabellings: Relabellings) -> None:
    """Every row is a permutation of the items, the first one is the identity, and the length is as stated."""
    listed = relabellings.explicit()
    n = relabellings.n_items
    if listed.shape != (len(relabellings), n):
        raise LawViolation("relabellings", f"{len(relabellings)} of {n} items were promised, got shape {listed.shape}")
    wrong = np.flatnonzero((np.sort(listed, axis=1) != np.arange(n)).any(axis=1))
    if wrong.size:
        raise LawViolation("relabellings", f"row {wrong[0]} is no permutation", row=listed[wrong[0]])
    if not (listed[0] == np.arange(n)).all():
        raise LawViolation(
            "relabellings", "row 0 is not the identity, so the observed value is not in its orbit", row=listed[0]
        )
    if relabellings.exhaustive and len(np.unique(listed, axis=0)) != len(listed):
        raise LawViolation("relabellings", "a set that says it holds all relabellings repeats one")


def groups_are_respected(
    relabellings: Relabellings,
    groups: Sequence[Any] | NDArray[Any],
    structure: Literal["within_groups", "whole_groups"],
) -> None:
    """Items stay in their group, or groups move as blocks that keep the order of their items."""
    labels = np.unique(np.asarray(groups), return_inverse=True)[1]
    listed = relabellings.explicit()
    if structure == "within_groups":
        if (labels[listed] != labels).any():
            raise LawViolation("groups", "an item left its group")
        return
    members = [np.flatnonzero(labels == g) for g in range(labels.max() + 1)]
    whole = {tuple(items.tolist()) for items in members}
    for pi in listed:
        for items in members:
            if tuple(pi[items].tolist()) not in whole:
                raise LawViolation("groups", f"the group of items {items.tolist()} did not move as a block", row=pi)


def listing_equals_definition(cosets: Cosets) -> None:
    """``explicit()`` lists what the docstring of `Cosets` defines, position by position."""
    n, q, period = cosets.n_items, cosets.tracks, cosets.period
    listed = cosets.explicit()
    for r in range(cosets.n_cosets):
        for s in range(period):
            for p in range(n):
                ring, place = divmod(p, period)
                moved = ring * period + (place + s) % period if ring < q else p
                expected = cosets.representatives[r, moved]
                if listed[r * period + s, cosets.order[p]] != expected:
                    raise LawViolation(
                        "listing of cosets",
                        f"relabelling {r * period + s} takes item {cosets.order[p]} to "
                        f"{listed[r * period + s, cosets.order[p]]}, not to {expected}",
                    )


def cosets_are_closed(cosets: Cosets) -> None:
    """The first coset is a cyclic group that holds the identity, and every coset is closed under it.

    In symbols: with ``c`` the relabelling number 1, number ``r * period + s`` followed on the left by ``c**t`` is number
    ``r * period + (s + t) mod period``. That is what makes all rows of the orbit alike.
    """
    period = cosets.period
    listed = cosets.explicit().reshape(cosets.n_cosets, period, cosets.n_items)
    if not (listed[0, 0] == np.arange(cosets.n_items)).all():
        raise LawViolation("closure of cosets", "the identity is not the first relabelling of the first coset")
    for t, shift in enumerate(listed[0]):
        composed = listed[:, :, shift]  # first the shift, then the relabelling
        if not (composed == np.roll(listed, -t, axis=1)).all():
            raise LawViolation("closure of cosets", f"a coset is not closed under the shift by {t}", shift=shift)


def drawn_evenly(
    scheme: Scheme,
    n: int,
    rng: np.random.Generator,
    *,
    cosets: bool,
    n_resamples: int,
    row: int = -1,
    n_sets: int | None = None,
    false_alarm: float = 1e-6,
) -> None:
    """Over many draws of a set, one of its rows is every relabelling of the design about equally often.

    Parameters
    ----------
    scheme : Scheme
        With a small design.
    n : int
        Number of items.
    rng : numpy.random.Generator
        Source of the draws.
    cosets : bool
        Whether sets of cosets are drawn, or independent relabellings.
    n_resamples : int
        Less than the size of the design, so that sets are drawn and not enumerated.
    row : int
        Which row: any that is not in the first coset (the last one, by default). Rows of one set depend on each other,
        so only one is counted.
    n_sets : int, optional
        Number of sets; by default 40 for each relabelling of the design.
    false_alarm : float
        Probability that the chi-square test complains about an even draw.
    """
    from scipy.stats import chi2

    size = scheme.order(n)
    total = 40 * size if n_sets is None else n_sets
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(total):
        drawn = scheme.draw(n, n_resamples, rng, cosets=cosets)
        counts[tuple(drawn.explicit()[row].tolist())] += 1
    if len(counts) > size:
        raise LawViolation("evenness", f"{len(counts)} different relabellings of a design that has {size}")
    expected = total / size
    statistic = math.fsum((count - expected) ** 2 / expected for count in counts.values())
    statistic += expected * (size - len(counts))  # those that never came
    limit = float(chi2.isf(false_alarm, size - 1))
    if statistic > limit:
        raise LawViolation(
            "evenness",
            f"{total} draws of {scheme.name} fall unevenly on the {size} relabellings (chi-square {statistic:.1f}, limit "
            f"{limit:.1f} at {false_alarm:g}; {size - len(counts)} never came)",
            counts=counts,
        )
