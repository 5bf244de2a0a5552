"""Laws of a form: engines agree, and neither threads nor the company of other layers change a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibtest.forms.evaluation import Evaluation
from calibtest.laws.violation import LawViolation
from calibtest.metrics.base import Form
from calibtest.schemes.relabellings import Cosets, Explicit, Relabellings

__all__ = ["cosets_equal_listing", "grids_do_not_matter", "subsets_do_not_matter", "threads_do_not_matter"]


def _require_equal(law: str, what: str, found: Evaluation, expected: Evaluation) -> None:
    """To the resolution, exactly where it is 0."""
    difference = np.abs(found.values - expected.values)
    allowed = np.maximum(found.resolution, expected.resolution)
    if not (difference <= allowed).all():
        m, a, b = (int(i) for i in np.unravel_index(int(np.argmax(difference - allowed)), difference.shape))
        raise LawViolation(
            law,
            f"{what}: {found.values[m, a, b]:.17g} against {expected.values[m, a, b]:.17g} for layers ({a}, {b}) under "
            f"relabelling {m} (resolution {allowed[a, b]:.2g})",
            relabelling=m, cell=(a, b), difference=float(difference[m, a, b]),
        )  # fmt: skip


def cosets_equal_listing(form: Form, lefts: Sequence[Any], rights: Sequence[Any], cosets: Cosets) -> None:
    """Evaluating a set of cosets at once gives what evaluating its relabellings one by one gives."""
    at_once = form.evaluate(lefts, rights, cosets, threads=1)
    listed = form.evaluate(lefts, rights, Explicit(cosets.explicit()), threads=1)
    _require_equal("cosets equal their listing", "all shifts at once and one by one differ", at_once, listed)


def threads_do_not_matter(
    form: Form,
    lefts: Sequence[Any],
    rights: Sequence[Any],
    relabellings: Relabellings,
    *,
    threads: Sequence[int] = (2, 3),
) -> None:
    """The number of threads changes no bit of any value."""
    alone = form.evaluate(lefts, rights, relabellings, threads=1)
    for number in threads:
        together = form.evaluate(lefts, rights, relabellings, threads=number)
        if not np.array_equal(alone.values, together.values):
            worst = float(np.abs(alone.values - together.values).max())
            raise LawViolation(
                "threads do not matter",
                f"{number} threads change a value by {worst:.2g}",
                threads=number,
                difference=worst,
            )


def grids_do_not_matter(form: Form, lefts: Sequence[Any], rights: Sequence[Any], relabellings: Relabellings) -> None:
    """A pair of layers has the same values alone as in a grid."""
    grid = form.evaluate(lefts, rights, relabellings, threads=1)
    for a, left in enumerate(lefts):
        for b, right in enumerate(rights):
            alone = form.evaluate([left], [right], relabellings, threads=1)
            cell = Evaluation(grid.values[:, a : a + 1, b : b + 1], grid.resolution[a : a + 1, b : b + 1])
            _require_equal("grids do not matter", f"the pair ({a}, {b}) differs alone", alone, cell)


def subsets_do_not_matter(
    form: Form, lefts: Sequence[Any], rights: Sequence[Any], listed: Explicit, rng: np.random.Generator
) -> None:
    """A relabelling has the same values in whatever set, and at whatever place of it, it is evaluated."""
    whole = form.evaluate(lefts, rights, listed, threads=1)
    some = np.flatnonzero(rng.random(len(listed)) < 0.5)
    some = rng.permutation(np.append(some, 0))
    part = form.evaluate(lefts, rights, Explicit(listed.indices[some]), threads=1)
    _require_equal("subsets do not matter", "another set", part, Evaluation(whole.values[some], whole.resolution))
