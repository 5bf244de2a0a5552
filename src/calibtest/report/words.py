"""The sentences and numbers that every report shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from calibtest.procedures.calibrate import CalibrationResult
    from calibtest.procedures.layers import LayersResult

__all__ = [
    "CALIBRATION_NULL",
    "answer",
    "best_cell",
    "by_strength",
    "calibration_question",
    "column",
    "n_pairs",
    "number",
    "plain_table",
    "probability",
    "question",
    "setting",
    "side_names",
    "uncertainty",
    "visible",
    "with_threshold",
]

_BEYOND = {
    "greater": "more alike than chance makes them",
    "less": "less alike than chance makes them",
    "two-sided": "more or less alike than chance makes them",
}
_FOUND = {
    "greater": "agree beyond chance",
    "less": "agree less than chance",
    "two-sided": "agree more or less than chance",
}
_MISSED = {
    "greater": "alignment beyond chance",
    "less": "alignment below chance",
    "two-sided": "departure from chance",
}
_ASKED_OF_DRAWS = {
    "greater": "Is the observed value larger than the null draws?",
    "less": "Is the observed value smaller than the null draws?",
    "two-sided": "Is the observed value different from the null draws?",
}
CALIBRATION_NULL = "the observed value and the null draws are exchangeable: each was as likely to be the observed one"
_SIGNIFICANT = 4


def number(value: float, digits: int = _SIGNIFICANT) -> str:
    """One number with so many significant digits; a dash where it is undefined."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else f"{value:g}"
    return f"{value:.{digits}g}"


def probability(p: float) -> str:
    """A p-value with two significant digits, and never rounded to 0."""
    return f"{p:.2g}"


def column(values: Iterable[float], digits: int = _SIGNIFICANT) -> list[str]:
    """Numbers of one column with the same number of decimals, so that they can be compared down the column."""
    given = [float(value) for value in values]
    largest = max((abs(value) for value in given if math.isfinite(value)), default=0.0)
    if largest != 0.0 and not 1e-3 <= largest < 1e7:
        return [number(value, digits) for value in given]
    decimals = digits - 1 if largest == 0.0 else min(max(digits - 1 - math.floor(math.log10(largest)), 0), 6)
    # adding 0.0 turns a rounded -0.0 into 0.0
    return [
        f"{round(value, decimals) + 0.0:.{decimals}f}" if math.isfinite(value) else number(value) for value in given
    ]


def side_names(result: LayersResult) -> tuple[str, str]:
    """What the two sides are called."""
    left, right = result.provenance.inputs
    return left.name, right.name


def n_pairs(result: LayersResult) -> int:
    """Number of layer pairs that were compared."""
    return len(result.layers_a) * len(result.layers_b)


def question(result: LayersResult) -> str:
    """What was asked."""
    a, b = side_names(result)
    if n_pairs(result) == 1:
        return f"Are {a} and {b} {_BEYOND[result.alternative]}?"
    return f"Which layers of {a} and {b} are {_BEYOND[result.alternative]}?"


def calibration_question(result: CalibrationResult) -> str:
    """What was asked of the caller's own draws."""
    return _ASKED_OF_DRAWS[result.alternative]


def answer(result: LayersResult) -> str:
    """What was found, in one sentence, with the p-value of everything that was searched."""
    a, b = side_names(result)
    pairs = n_pairs(result)
    searched = "" if pairs == 1 else f" after searching {pairs:,} pairs of layers"
    if result.pvalue <= result.alpha:
        return f"{a} and {b} {_FOUND[result.alternative]}: p = {probability(result.pvalue)}{searched}."
    return (
        f"No {_MISSED[result.alternative]} was found between {a} and {b}: p = {probability(result.pvalue)}{searched}."
    )


def uncertainty(result: LayersResult) -> str:
    """How well the p-value itself is known, and the least that it could have been."""
    least = f"the least that could come out is {probability(result.min_pvalue)}"
    if result.interval is None:
        return f"p is exact (all relabellings were used); {least}"
    interval = result.interval
    low, high = float(interval.low), float(interval.high)
    return (
        f"Monte-Carlo interval of p: {probability(low)} to {probability(high)} ({100 * interval.confidence:g} %, "
        f"{interval.method}); {least}"
    )


def with_threshold(result: LayersResult) -> str:
    """The statistic of the search beside the value that it had to pass."""
    omnibus = result.omnibus
    return f"{omnibus.aggregate} {number(omnibus.statistic)}, against {number(omnibus.threshold)} at alpha = {result.alpha:g}"


def setting(result: LayersResult) -> str:
    """Metric, items, grid and relabellings in one line."""
    origin = result.provenance
    grid = f"{len(result.layers_a)} x {len(result.layers_b)} layers"
    direction = "" if result.metric.claims.larger_is_more_similar else " (smaller is more similar)"
    return f"{origin.metric}{direction}, {origin.n_items:,} items, {grid}, {origin.scheme}: {origin.relabellings}, seed {origin.seed}"


def by_strength(result: LayersResult) -> NDArray[np.intp]:
    """Flat numbers of the cells, the strongest evidence first, equal ones in reading order."""
    return np.argsort(-result.evidence.ravel(), kind="stable")


def best_cell(result: LayersResult) -> tuple[int, int] | None:
    """Row and column of the pair that the search singles out, if it does."""
    if result.best is None:
        return None
    return result.layers_a.index(result.best[0]), result.layers_b.index(result.best[1])


def visible(name: str) -> str:
    """A name with its control characters spelled out, so that it can be shown on a terminal and in a figure."""
    return name if name.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 2, indent: str = "  ") -> list[str]:
    """Lines of an aligned table; the first `left` columns are flush left, the others flush right."""
    table = [list(header), *([visible(text) for text in row] for row in rows)]
    widths = [max(len(row[at]) for row in table) for at in range(len(header))]
    return [
        indent
        + "  ".join(
            text.ljust(width) if at < left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
