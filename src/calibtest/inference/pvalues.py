"""P-values from an orbit: exceedance counts, their Monte-Carlo interval, and adjustment for the search over cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibtest.errors import InputError

__all__ = [
    "Alternative",
    "MonteCarloInterval",
    "adjusted",
    "check_alternative",
    "check_sign",
    "exceedances",
    "flipped",
    "min_pvalue",
    "monte_carlo_interval",
    "pvalues",
    "single_step",
    "step_down",
]

Float = NDArray[np.float64]
Count = NDArray[np.int64]
Alternative = Literal["greater", "less", "two-sided"]

# Rows handled at a time by the step-down procedure: a block of cells stays in cache and no second orbit is allocated.
_BLOCK = 1 << 17

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class MonteCarloInterval:
    """Confidence interval of the p-value that all relabellings together would give.

    Attributes
    ----------
    low, high : float or array of float64
        Limits, one pair a cell.
    method : str
        How the limits were found and what they take for granted.
    confidence : float
        Confidence level.
    """

    low: float | Float
    high: float | Float
    method: str
    confidence: float = _CONFIDENCE

    def __repr__(self) -> str:
        if isinstance(self.low, float) and isinstance(self.high, float):
            return f"[{self.low:.3g}, {self.high:.3g}] ({100 * self.confidence:g} %, {self.method})"
        return f"MonteCarloInterval(arrays of shape {np.shape(self.low)}, {100 * self.confidence:g} %, {self.method})"


def check_alternative(alternative: str) -> Alternative:
    """Return `alternative` when it is one of the three known words."""
    if alternative not in get_args(Alternative):
        raise InputError(
            f"alternative must be 'greater', 'less' or 'two-sided', got {alternative!r}; 'greater' asks for more "
            "similarity than chance"
        )
    return alternative  # type: ignore[return-value]


def check_sign(sign: int) -> int:
    """Return `sign` when it is +1 (larger is more similar) or -1 (smaller is more similar)."""
    if sign not in (1, -1):
        raise InputError(f"sign must be +1 (larger is more similar) or -1 (smaller is more similar), got {sign!r}")
    return int(sign)


def flipped(alternative: Alternative, sign: int) -> Alternative:
    """The tail of the raw values that answers `alternative`, which is said of similarity.

    For a distance (`sign` = -1) "more similar" means "less distant".
    """
    known = check_alternative(alternative)
    if check_sign(sign) == 1 or known == "two-sided":
        return known
    return "less" if known == "greater" else "greater"


def exceedances(values: Float, resolution: ArrayLike, *, alternative: Literal["greater", "less"] = "greater") -> Count:
    """Count the rows at least as extreme as row 0, row 0 included.

    Parameters
    ----------
    values : (M, *cells) array
        Row 0 is observed.
    resolution : array broadcast to `cells`
        Absolute tolerance: a row short of the observed value by no more than this is a tie and counts.
    alternative : {"greater", "less"}
        Which end is extreme.

    Returns
    -------
    (*cells) array of int64
        Counts from 1 to M.
    """
    return np.asarray(np.count_nonzero(_extreme(values, resolution, alternative), axis=0), dtype=np.int64)


def _extreme(values: Float, resolution: ArrayLike, alternative: Literal["greater", "less"]) -> NDArray[np.bool_]:
    # The limit is formed once from the observed row, so row 0 itself always reaches it.
    if alternative == "greater":
        return np.asarray(values >= values[0] - resolution)
    return np.asarray(values <= values[0] + resolution)


def pvalues(values: Float, resolution: ArrayLike, *, alternative: Alternative = "greater") -> Float:
    """Permutation p-value of every cell; the null is that each row is equally likely to be the observed one.

    ``p = (number of rows at least as extreme as row 0, itself included) / M``: with sampled rows this is
    ``(1 + hits) / (K + 1)`` (Phipson & Smyth 2010), with all rows the exact p. It is never 0. The two-sided p is twice
    the smaller one-sided p, at most 1.

    Parameters
    ----------
    values : (M, *cells) array
        Row 0 is observed.
    resolution : array broadcast to `cells`
        Absolute tie tolerance.
    alternative : {"greater", "less", "two-sided"}
        Said of the values themselves.

    Returns
    -------
    (*cells) array of float64
    """
    known = check_alternative(alternative)
    return _share(_tail_counts(values, resolution, known), len(values), known)


def _tail_counts(values: Float, resolution: ArrayLike, alternative: Alternative) -> Count:
    """Exceedances of the tested tail; for a two-sided test those of the smaller tail."""
    if alternative != "two-sided":
        return exceedances(values, resolution, alternative=alternative)
    upper = exceedances(values, resolution, alternative="greater")
    lower = exceedances(values, resolution, alternative="less")
    return np.minimum(upper, lower)


def _share(counts: Count, n_rows: int, alternative: Alternative) -> Float:
    doubled = 2 * counts if alternative == "two-sided" else counts
    return np.asarray(np.minimum(doubled / n_rows, 1.0))


def min_pvalue(n_rows: int, alternative: Alternative = "greater") -> float:
    """Least p-value that `n_rows` relabellings, the observed one included, can give."""
    smallest = 2 / n_rows if check_alternative(alternative) == "two-sided" else 1 / n_rows
    return min(1.0, smallest)


def monte_carlo_interval(
    values: Float,
    resolution: ArrayLike,
    *,
    alternative: Alternative = "greater",
    coset_size: int | None = None,
    exhaustive: bool = False,
) -> MonteCarloInterval | None:
    """95 % interval for the p-value that more relabellings would settle on; None when the rows are all there are.

    Independent draws give a Clopper-Pearson interval for the share of null rows at least as extreme as the observed
    one. Rows of one coset depend on each other, so with two or more cosets the number of draws is first divided by the
    design effect: the variance of that share between cosets over the variance that independent draws would have, never
    taken below 1. One coset cannot show its own dependence; its shifts are treated as independent and the method says
    so.

    Parameters
    ----------
    values : (M, *cells) array
        Row 0 is observed.
    resolution : array broadcast to `cells`
        Absolute tie tolerance.
    alternative : {"greater", "less", "two-sided"}
        Said of the values themselves. Two-sided limits are twice those of the smaller tail.
    coset_size : int, optional
        Rows in a coset.
    exhaustive : bool
        Whether the rows are all relabellings.
    """
    known = check_alternative(alternative)
    if exhaustive or len(values) == 1:
        return None
    if known == "two-sided":
        upper = _extreme(values, resolution, "greater")
        lower = _extreme(values, resolution, "less")
        hits = np.where(np.count_nonzero(upper, axis=0) <= np.count_nonzero(lower, axis=0), upper, lower)
    else:
        hits = _extreme(values, resolution, known)
    n_draws = len(values) - 1
    counts = np.count_nonzero(hits[1:], axis=0)
    n_cosets = 1 if coset_size is None else len(values) // coset_size
    effect: Float = np.ones(hits.shape[1:])
    if coset_size is None or coset_size == 1:
        method = "Clopper-Pearson, independent draws"
    elif n_cosets == 1:
        method = "Clopper-Pearson, the shifts of one coset treated as independent"
    else:
        effect = _design_effect(hits, coset_size)
        method = f"Clopper-Pearson at the effective number of draws, from the spread between {n_cosets} cosets"
    low, high = _clopper_pearson(counts / effect, n_draws / effect)
    if known == "two-sided":
        low, high = np.minimum(2 * low, 1.0), np.minimum(2 * high, 1.0)
    if low.ndim == 0:
        return MonteCarloInterval(float(low), float(high), method)
    return MonteCarloInterval(low, high, method)


def _design_effect(hits: NDArray[np.bool_], coset_size: int) -> Float:
    """Variance of the exceedance share between cosets over that of independent draws, at least 1."""
    n_cosets = len(hits) // coset_size
    by_coset = np.count_nonzero(hits.reshape(n_cosets, coset_size, *hits.shape[1:]), axis=1).astype(np.float64)
    sizes = np.full((n_cosets,) + (1,) * (hits.ndim - 1), float(coset_size))
    by_coset[0] -= hits[0]  # the observed row is no null draw
    sizes[0] -= 1.0
    overall = by_coset.sum(axis=0) / sizes.sum()
    between = (sizes * (by_coset / sizes - overall) ** 2).sum(axis=0) / (n_cosets - 1)
    binomial = overall * (1 - overall)
    ratio = np.divide(between, binomial, out=np.ones_like(between), where=binomial > 0)
    # Full dependence within a coset leaves one draw a coset; a larger ratio is chance.
    return np.asarray(np.clip(ratio, 1.0, float(coset_size)))


def _clopper_pearson(hits: Float, draws: Float) -> tuple[Float, Float]:
    from scipy.special import betaincinv

    tail = (1 - _CONFIDENCE) / 2
    hits, draws = np.asarray(hits, dtype=np.float64), np.asarray(draws, dtype=np.float64)
    misses = draws - hits
    # The beta quantiles degenerate at no hits and at no misses, where the limits are 0 and 1.
    some_hits, some_misses = np.where(hits > 0, hits, 1.0), np.where(misses > 0, misses, 1.0)
    low = np.where(hits > 0, betaincinv(some_hits, misses + 1, tail), 0.0)
    high = np.where(misses > 0, betaincinv(hits + 1, some_misses, 1 - tail), 1.0)
    return low, high


def single_step(evidence: Float, tolerance: float) -> Float:
    """Westfall-Young single-step adjusted p-values; the null is that no cell carries any signal.

    Every cell is compared with the distribution of the largest cell of a row. The rows must come from one relabelling
    for all cells, and the cells must be on a common scale (studentised).

    Parameters
    ----------
    evidence : (M, *cells) array
        Larger is stronger; row 0 is observed.
    tolerance : float
        Absolute tie tolerance of the evidence.

    Returns
    -------
    (*cells) array of float64
        Adjusted p-values, never 0.
    """
    n_rows = len(evidence)
    flat = evidence.reshape(n_rows, -1)
    largest = np.sort(flat.max(axis=1))
    counts = n_rows - np.searchsorted(largest, flat[0] - tolerance, side="left")
    return np.asarray(counts / n_rows).reshape(evidence.shape[1:])


def step_down(evidence: Float, tolerance: float) -> Float:
    """Westfall-Young step-down adjusted p-values; the null of a cell is that it carries no signal.

    Cells are taken from the strongest to the weakest, and each is compared with the largest of itself and all weaker
    cells, so no cell gets a larger p-value than under the single step. Exact when no cell carries signal; control in
    the presence of true signals elsewhere needs subset pivotality (the joint distribution of the null cells does not
    depend on the others).

    Parameters
    ----------
    evidence : (M, *cells) array
        Larger is stronger; row 0 is observed. One relabelling a row, the same for all cells; cells studentised.
    tolerance : float
        Absolute tie tolerance of the evidence.

    Returns
    -------
    (*cells) array of float64
        Adjusted p-values, never 0 and never decreasing from the strongest cell to the weakest.
    """
    n_rows = len(evidence)
    flat = evidence.reshape(n_rows, -1)
    weakest_first = np.argsort(flat[0], kind="stable")
    limits = flat[0, weakest_first] - tolerance
    counts = np.zeros(limits.size, dtype=np.int64)
    block = max(1, _BLOCK // limits.size)
    for start in range(0, n_rows, block):
        rows = flat[start : start + block, weakest_first]
        np.maximum.accumulate(rows, axis=1, out=rows)
        counts += np.count_nonzero(rows >= limits, axis=0)
    strongest_first = np.maximum.accumulate(counts[::-1])
    raised = np.empty(limits.size)
    raised[weakest_first[::-1]] = strongest_first / n_rows
    return raised.reshape(evidence.shape[1:])


def adjusted(
    evidence: Float, tolerance: float, pvalue: Float, *, procedure: Callable[[Float, float], Float] = step_down
) -> Float:
    """Westfall-Young p-values that are nowhere below the cell's own, and never fall from strong cells to weak ones.

    A one-sided adjusted p-value never is below it; a two-sided one (by the largest ``|z|``) can be, because a cell's
    own two-sided p-value is twice its smaller tail.

    Parameters
    ----------
    evidence : (M, *cells) array
        Larger is stronger; row 0 is observed. One relabelling a row, the same for all cells; cells studentised.
    tolerance : float
        Absolute tie tolerance of the evidence.
    pvalue : (*cells) array
        p-value of every cell on its own.
    procedure : callable
        `step_down` or `single_step`.

    Returns
    -------
    (*cells) array of float64
    """
    raised = np.maximum(pvalue, procedure(evidence, tolerance)).ravel()
    strongest_first = np.argsort(-evidence[0], axis=None, kind="stable")
    raised[strongest_first] = np.maximum.accumulate(raised[strongest_first])
    return raised.reshape(evidence.shape[1:])
