"""Is a p-value super-uniform? A test of the test, with a known and tiny false-alarm rate.

A p-value is valid when ``P(p <= a) <= a`` for every level ``a`` under the null hypothesis. Here the null is simulated
and the rejections counted, in two stages: many levels are looked at with a lenient limit, and only a level that is
flagged is looked at again, alone, with fresh data. Both stages have to fail, so the probability that a valid procedure
fails is the product of two small ones, at about the cost of the first stage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.laws.violation import LawViolation

__all__ = ["LEVELS", "SuperUniformity", "least_excessive_count", "pvalues_are_super_uniform", "super_uniformity"]

LEVELS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)
"""Levels at which rejections are counted."""

DrawPValue = Callable[[np.random.Generator], float]


def least_excessive_count(n: int, level: float, false_alarm: float) -> int:
    """Least count ``c`` with ``P(Bin(n, level) >= c) <= false_alarm``.

    Parameters
    ----------
    n : int
        Number of simulated p-values.
    level : float
        Level, the largest rejection probability of a valid test.
    false_alarm : float
        Probability that may be spent on complaining about a valid test.
    """
    from scipy.stats import binom

    count = int(binom.isf(false_alarm, n, level)) + 1
    # isf inverts up to rounding; step to the exact boundary
    while count > 0 and binom.sf(count - 2, n, level) <= false_alarm:
        count -= 1
    while binom.sf(count - 1, n, level) > false_alarm:
        count += 1
    return count


@dataclass(frozen=True, eq=False)
class SuperUniformity:
    """Outcome of `super_uniformity`.

    Attributes
    ----------
    holds : bool
        False when the procedure was shown to reject too often, or returned something that is no p-value.
    reason : str
        One sentence.
    levels : tuple of float
        Levels looked at.
    pvalues : (n,) array
        P-values of the first stage, up to the first invalid one.
    counts, limits : tuple of int
        Rejections at each level in the first stage, and the counts that flag a level.
    flagged : float or None
        Level that was looked at again.
    second_count, second_limit : int or None
        Rejections at that level with fresh data, and the count that fails it.
    n, n_second : int
        Number of p-values of the two stages.
    false_alarm : float
        Upper bound of the probability that a valid procedure fails.
    """

    holds: bool
    reason: str
    levels: tuple[float, ...]
    pvalues: NDArray[np.float64]
    counts: tuple[int, ...]
    limits: tuple[int, ...]
    flagged: float | None
    second_count: int | None
    second_limit: int | None
    n: int
    n_second: int
    false_alarm: float
    stage_alarm: float = field(repr=False)

    def power(self, level: float, truth: float) -> float:
        """Probability that a test which rejects with probability `truth` at `level` fails there.

        A lower bound of the probability that the check fails at all, when no lower level is excessive.

        Parameters
        ----------
        level : float
            One of `levels`.
        truth : float
            Its true rejection probability, more than `level` for an invalid test.
        """
        from scipy.stats import binom

        first = binom.sf(self.limits[self.levels.index(level)] - 1, self.n, truth)
        second = binom.sf(least_excessive_count(self.n_second, level, self.stage_alarm) - 1, self.n_second, truth)
        return float(first * second)

    def detectable(self, level: float, *, power: float = 0.95) -> float:
        """Least true rejection probability at `level` that fails with probability `power`."""
        low, high = level, 1.0
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (low, middle) if self.power(level, middle) >= power else (middle, high)
        return high

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        at = f"at {0.05:g}" if 0.05 in self.levels else f"at {self.levels[0]:g}"
        level = 0.05 if 0.05 in self.levels else self.levels[0]
        sees = f"; would find a true rejection rate of {self.detectable(level):.3f} {at} in 95 % of runs"
        return f"SuperUniformity({verdict}: {self.reason}{sees}; false alarm at most {self.false_alarm:.1g})"


def super_uniformity(
    draw_pvalue: DrawPValue,
    rng: np.random.Generator,
    *,
    n: int = 4000,
    levels: Sequence[float] = LEVELS,
    stage_alarm: float = 1e-3,
    progress: Callable[[float], None] | None = None,
) -> SuperUniformity:
    """Does a procedure reject true null hypotheses no more often than it says?

    The null of the check: ``P(p <= a) <= a`` at every level ``a``.

    Parameters
    ----------
    draw_pvalue : callable
        Takes a generator, simulates one data set under the procedure's null hypothesis, and returns its p-value. Each
        call gets a generator of its own.
    rng : numpy.random.Generator
        Source of those generators.
    n : int
        P-values in the first stage; the second, if there is one, takes twice as many.
    levels : sequence of float
        Levels at which rejections are counted.
    stage_alarm : float
        False-alarm probability of each stage; that of the check is its square.
    progress : callable, optional
        Told the share of the first stage that is done.

    Returns
    -------
    SuperUniformity

    Notes
    -----
    Stage 1 flags a level when at least ``c`` of `n` p-values are at most that level, with ``c`` the least count of
    probability at most ``stage_alarm`` divided by the number of levels for a binomial variable. Stage 2 looks at the
    first flagged level alone, with ``2 n`` fresh p-values and the whole of ``stage_alarm``. With the defaults, a true
    rejection rate of .075 at .05 is found with probability .999 and .065 with .70. A p-value that is NaN, not positive,
    or above 1 fails at once.
    """
    asked = tuple(float(level) for level in levels)
    if n < 1 or not asked or not all(0 < level < 1 for level in asked):
        raise InputError(
            f"n must be at least 1 and levels must lie strictly between 0 and 1, got n = {n} and levels = {asked}"
        )
    limits = tuple(least_excessive_count(n, level, stage_alarm / len(asked)) for level in asked)

    def outcome(
        holds: bool, reason: str, first: NDArray[np.float64], again: tuple[float, int, int] | None
    ) -> SuperUniformity:
        flagged, count, limit = (None, None, None) if again is None else again
        return SuperUniformity(
            holds, reason, asked, first, _counts(first, asked), limits, flagged, count, limit, n, 2 * n, stage_alarm**2, stage_alarm
        )  # fmt: skip

    first, invalid = _simulate(draw_pvalue, rng, n, progress)
    if invalid is not None:
        return outcome(False, invalid, first, None)
    excessive = [
        level for level, count, limit in zip(asked, _counts(first, asked), limits, strict=True) if count >= limit
    ]
    if not excessive:
        return outcome(True, f"no level is exceeded among {n:,} null data sets", first, None)
    level = excessive[0]
    limit = least_excessive_count(2 * n, level, stage_alarm)
    fresh, invalid = _simulate(draw_pvalue, rng, 2 * n, None)
    if invalid is not None:
        return outcome(False, invalid, first, None)
    count = _counts(fresh, (level,))[0]
    counted = f"{count:,} of {2 * n:,} fresh null data sets have p <= {level:g} ({count / (2 * n):.4f})"
    if count >= limit:
        return outcome(False, f"{counted}, where a valid test has fewer than {limit:,}", first, (level, count, limit))
    return outcome(True, f"level {level:g} was flagged and looked at again: {counted}", first, (level, count, limit))


def _counts(pvalues: NDArray[np.float64], levels: Sequence[float]) -> tuple[int, ...]:
    return tuple(int(np.count_nonzero(pvalues <= level)) for level in levels)


def _simulate(
    draw_pvalue: DrawPValue, rng: np.random.Generator, n: int, progress: Callable[[float], None] | None
) -> tuple[NDArray[np.float64], str | None]:
    """P-values, and what is wrong with the last one, if anything is."""
    found = np.empty(n, dtype=np.float64)
    for number in range(n):
        value = found[number] = float(draw_pvalue(rng.spawn(1)[0]))
        if math.isnan(value) or not 0.0 < value <= 1.0:
            return found[
                : number + 1
            ], f"data set {number} has p = {value}, but a p-value lies above 0 and is at most 1"
        if progress is not None and (number + 1) % max(1, n // 100) == 0:
            progress((number + 1) / n)
    return found, None


def pvalues_are_super_uniform(draw_pvalue: DrawPValue, rng: np.random.Generator, *, n: int = 4000) -> None:
    """Raise unless `super_uniformity` holds."""
    found = super_uniformity(draw_pvalue, rng, n=n)
    if not found.holds:
        raise LawViolation("super-uniformity", found.reason, outcome=found)
