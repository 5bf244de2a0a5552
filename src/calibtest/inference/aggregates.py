"""One number for a whole grid of layers, calibrated against its own null.

Whatever was searched over is calibrated as a whole: the same aggregate is taken of every row of the orbit, each row
being one relabelling applied to all cells, and the observed aggregate is compared with those. Calibrating the cells
first and aggregating afterwards is not valid: the best of many p-values is small by luck.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibtest.errors import InputError
from calibtest.inference.calibration import calibrate_values
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import (
    Alternative,
    MonteCarloInterval,
    min_pvalue,
    monte_carlo_interval,
    pvalues,
)
from calibtest.inference.standardise import Standardised

__all__ = [
    "Aggregate",
    "Aggregated",
    "ColumnMaxMean",
    "FunctionAggregate",
    "InCellUnits",
    "Max",
    "Mean",
    "Omnibus",
    "RowMaxMean",
    "StudentizedMax",
    "TopMean",
    "resolve_aggregate",
]

Float = NDArray[np.float64]
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Omnibus:
    """Test of a whole grid at once; the null is that no cell carries any signal.

    Attributes
    ----------
    aggregate : str
        What was taken of every row.
    statistic, pvalue : float
        Observed aggregate and its permutation p-value.
    threshold : float
        Order statistic that the observed aggregate must pass at level `alpha` (the upper one if two-sided).
    calibrated : float
        Positive exactly when ``pvalue <= alpha``.
    null_distribution : (M - 1,) array of float64
        The aggregate of every null row.
    alternative : {"greater", "less", "two-sided"}
        The tail that was tested, said of the aggregate itself.
    alpha, min_pvalue : float
        Level, and the least p-value that this number of rows can give.
    interval : MonteCarloInterval or None
        Monte-Carlo interval of the p-value, None when the rows are all there are.
    """

    aggregate: str
    statistic: float
    pvalue: float
    threshold: float
    calibrated: float
    null_distribution: Float
    alternative: Alternative
    alpha: float
    min_pvalue: float
    interval: MonteCarloInterval | None

    def __repr__(self) -> str:
        return (
            f"Omnibus({self.aggregate} = {self.statistic:.4g}, p = {self.pvalue:.4g}, threshold {self.threshold:.4g} "
            f"at alpha = {self.alpha:g}, calibrated {self.calibrated:.4g}, {self.null_distribution.size} null rows)"
        )


@dataclass(frozen=True, eq=False)
class Aggregated:
    """An aggregate of every row of an orbit.

    Attributes
    ----------
    values : (M,) array of float64
        Row 0 is observed.
    resolution : float
        Absolute tie tolerance.
    alternative : {"greater", "less", "two-sided"}
        The tail of `values` that answers the question asked of the cells.
    name : str
        Name of the aggregate.
    keeps_scale : bool
        Whether the aggregate is in the units of the cells, so that their value at perfect agreement is its own too.
    best : (int, int) or None
        Row and column of the observed cell that the aggregate singles out; None where it speaks of several cells.
    """

    values: Float
    resolution: float
    alternative: Alternative
    name: str
    keeps_scale: bool = False
    best: tuple[int, int] | None = None

    def pvalue(self) -> float:
        """Permutation p-value of the observed aggregate; the null is that no cell carries any signal."""
        return float(pvalues(self.values, self.resolution, alternative=self.alternative))

    def calibrate(self, orbit: Orbit, *, alpha: float, s_max: float | None = None) -> Omnibus:
        """Compare the observed aggregate with its own null.

        Parameters
        ----------
        orbit : Orbit
            The orbit that the aggregate was taken of; it says how its rows were drawn.
        alpha : float
            Level.
        s_max : float, optional
            Value of the cells at perfect agreement, where the tail leads there; used only where `keeps_scale`.
        """
        top = s_max if self.keeps_scale else None
        found = calibrate_values(self.values, self.resolution, alpha=alpha, s_max=top, alternative=self.alternative)
        interval = monte_carlo_interval(
            self.values,
            self.resolution,
            alternative=self.alternative,
            coset_size=orbit.coset_size,
            exhaustive=orbit.exhaustive,
        )
        return Omnibus(
            aggregate=self.name,
            statistic=float(self.values[0]),
            pvalue=self.pvalue(),
            threshold=float(found.threshold),
            calibrated=float(found.calibrated),
            null_distribution=self.values[1:],
            alternative=self.alternative,
            alpha=alpha,
            min_pvalue=min_pvalue(len(self.values), self.alternative),
            interval=interval,
        )


@runtime_checkable
class Aggregate(Protocol):
    """Turns every row of an orbit into one number, the same way for every row."""

    @property
    def name(self) -> str:
        """Name used in reports and by `resolve_aggregate`."""

    def __call__(self, orbit: Orbit, standardised: Standardised, tail: Alternative, sign: int = 1) -> Aggregated:
        """Aggregate the orbit.

        Parameters
        ----------
        orbit : Orbit
            Grid values under every relabelling.
        standardised : Standardised
            The same orbit with its cells on one scale.
        tail : {"greater", "less", "two-sided"}
            The tail of the cells that speaks against the null.
        sign : {1, -1}
            -1 when smaller values are more similar; it says which cell is the best one when both tails count.
        """


@dataclass(frozen=True)
class StudentizedMax:
    """Largest standardised cell: every cell in units of its own permutation mean and sd, then the maximum.

    Raw maxima favour wide layers, whose chance level is high. On the standardised scale a narrow layer pair that
    exceeds its own chance level by 6 sd beats a wide one that exceeds its by 2. One-sided it is the largest ``z`` in
    the direction of the tail, two-sided the largest ``|z|``; larger is always stronger.
    """

    @property
    def name(self) -> str:
        """``"studentized_max"``."""
        return "studentized_max"

    def __call__(self, orbit: Orbit, standardised: Standardised, tail: Alternative, sign: int = 1) -> Aggregated:
        """Aggregate the orbit; see `Aggregate`."""
        z = standardised.z
        upper, lower = z.max(axis=(1, 2)), -z.min(axis=(1, 2))
        largest = np.maximum(upper, lower) if tail == "two-sided" else upper if tail == "greater" else lower
        strength = np.abs(z[0]) if tail == "two-sided" else z[0] if tail == "greater" else -z[0]
        return Aggregated(largest, standardised.tolerance, "greater", self.name, best=_largest_cell(strength))


@dataclass(frozen=True)
class InCellUnits:
    """An aggregate in the units of the cells, such as `Max` or `Mean`.

    Attributes
    ----------
    name : str
        Name used in reports and by `resolve_aggregate`.
    reduce : callable
        From (M, L_a, L_b) values, in which larger is what the question looks for, to (M,) numbers. No number moves by
        more than the cells do.
    singles_out : bool
        Whether the number of a row is the value of its largest cell.
    grid : bool
        Whether rows and columns mean something to it, so that a plain list of cells will not do.
    """

    name: str
    reduce: Callable[[Float], Float] = field(repr=False, compare=False)
    singles_out: bool = field(default=False, repr=False)
    grid: bool = field(default=False, repr=False)

    def __call__(self, orbit: Orbit, standardised: Standardised, tail: Alternative, sign: int = 1) -> Aggregated:
        """Aggregate the orbit; see `Aggregate`."""
        # The best cell is the one that the question looks for: the smallest of distances, and of "less similar" the
        # least similar. A two-sided question looks for the most similar cell and asks whether that one is unusual.
        seeks_small = tail == "less" or (tail == "two-sided" and sign == -1)
        values = -self.reduce(-orbit.values) if seeks_small else self.reduce(orbit.values)
        resolution = float(orbit.resolution.max())
        if resolution == 0 and not np.array_equal(values, np.rint(values)):
            resolution = 4 * _EPS * float(np.abs(orbit.values).max())
        best = _largest_cell(-orbit.observed if seeks_small else orbit.observed) if self.singles_out else None
        return Aggregated(values, resolution, tail, self.name, keeps_scale=True, best=best)


def Max() -> InCellUnits:
    """Best raw cell of the grid. Wide layers win it by chance; use it to compare with published numbers."""
    return InCellUnits("max", _max, singles_out=True)


def Mean() -> InCellUnits:
    """Mean over all cells: signal spread thinly over the grid."""
    return InCellUnits("mean", _mean)


def RowMaxMean() -> InCellUnits:
    """Mean over the left layers of each one's best right layer."""
    return InCellUnits("row_max_mean", _row_max_mean, grid=True)


def ColumnMaxMean() -> InCellUnits:
    """Mean over the right layers of each one's best left layer."""
    return InCellUnits("column_max_mean", _column_max_mean, grid=True)


def TopMean(m: int) -> InCellUnits:
    """Mean of the `m` best cells of the grid, from 1 to all; its name is ``"top_m"`` with the number in place of m."""
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
        raise InputError(f"m must be a whole number of cells, at least 1, got {m!r}; for example 'top_5'")
    return InCellUnits(f"top_{m}", partial(_top_mean, m=int(m)))


# Functions of the module, not lambdas, so that an aggregate can be sent to another process.
def _max(cells: Float) -> Float:
    return np.asarray(cells.max(axis=(1, 2)))


def _mean(cells: Float) -> Float:
    return np.asarray(cells.mean(axis=(1, 2)))


def _row_max_mean(cells: Float) -> Float:
    return np.asarray(cells.max(axis=2).mean(axis=1))


def _column_max_mean(cells: Float) -> Float:
    return np.asarray(cells.max(axis=1).mean(axis=1))


def _top_mean(cells: Float, *, m: int) -> Float:
    flat = cells.reshape(len(cells), -1)
    n_cells = flat.shape[1]
    if m > n_cells:
        raise InputError(f"m = {m} best cells were asked for, but the grid has {n_cells}; use at most 'top_{n_cells}'")
    # Sorted, so that the sum does not depend on where in the grid the best cells lie.
    top = np.partition(flat, n_cells - m, axis=1)[:, n_cells - m :]
    return np.asarray(np.sort(top, axis=1).mean(axis=1))


def _largest_cell(cells: Float) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(cells)), cells.shape)
    return int(row), int(column)


@dataclass(frozen=True)
class FunctionAggregate:
    """A function of the caller's own.

    Attributes
    ----------
    function : callable
        Takes the (M, L_a, L_b) values, in the units of the statistic, and returns (M,) numbers, one a row. It must
        treat all rows alike: row 0 is the observed grid, and a choice made by looking at that row alone (say, its best
        cell) would make the p-value invalid. This is checked by calling it with the rows in two other orders as well.
    resolution : float, optional
        Absolute tie tolerance of the returned numbers. By default the sum of the cells' resolutions, and no less than
        the rounding of the numbers themselves.
    """

    function: Callable[[Float], ArrayLike] = field(repr=True)
    resolution: float | None = None

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(getattr(self.function, "__name__", repr(self.function)))

    def __call__(self, orbit: Orbit, standardised: Standardised, tail: Alternative, sign: int = 1) -> Aggregated:
        """Aggregate the orbit; see `Aggregate`."""
        values = self._evaluate(orbit.values)
        rounding = 100 * _EPS * float(np.abs(values).max())
        resolution = max(float(orbit.resolution.sum()), rounding) if self.resolution is None else self.resolution
        for order in _other_orders(len(values)):
            rearranged = orbit.values[order]
            rearranged.flags.writeable = False
            if (np.abs(self._evaluate(rearranged) - values[order]) <= max(resolution, 1e4 * rounding)).all():
                continue
            raise InputError(
                f"aggregate {self.name!r} gives a row another value when the rows come in another order, but its "
                "p-value is valid only if every row (row 0 is the observed one) is treated alike; make it the same "
                "deterministic function of every row"
            )
        return Aggregated(values, resolution, tail, self.name)

    def _evaluate(self, values: Float) -> Float:
        try:
            result = np.asarray(self.function(values), dtype=np.float64)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"aggregate {self.name!r} failed on values of shape {values.shape}: {error}; it must take them and "
                f"return {len(values)} numbers, one a row"
            ) from error
        if result.shape != values.shape[:1]:
            raise InputError(
                f"aggregate {self.name!r} must return one number a row, shape {values.shape[:1]}, got shape "
                f"{result.shape}; reduce the last two axes, for example with values.max(axis=(1, 2))"
            )
        bad = int((~np.isfinite(result)).sum())
        if bad:
            raise InputError(
                f"aggregate {self.name!r} returned {bad} values that are not finite (NaN or inf) for {len(result)} "
                "rows; an undefined value is never counted as evidence, so make it finite for every row"
            )
        return result


def _other_orders(n_rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Two orders of the rows that put others than row 0 in front."""
    rows = np.arange(n_rows)
    return rows[::-1], np.roll(rows, n_rows // 2)


_BY_NAME: dict[str, Aggregate] = {
    aggregate.name: aggregate for aggregate in (StudentizedMax(), Max(), Mean(), RowMaxMean(), ColumnMaxMean())
}
_MAKERS: tuple[object, ...] = (Max, Mean, RowMaxMean, ColumnMaxMean, TopMean)


def resolve_aggregate(aggregate: str | Aggregate | Callable[[Float], ArrayLike]) -> Aggregate:
    """The aggregate meant by a name, a function of the values, or an aggregate itself.

    Parameters
    ----------
    aggregate : str, callable or Aggregate
        ``"studentized_max"``, ``"max"``, ``"mean"``, ``"row_max_mean"``, ``"column_max_mean"``, ``"top_5"`` (any
        number), a function from (M, L_a, L_b) values to (M,) numbers, or an `Aggregate`.
    """
    if isinstance(aggregate, str):
        if aggregate in _BY_NAME:
            return _BY_NAME[aggregate]
        numbered = re.fullmatch(r"top_(\d+)", aggregate)
        if numbered:
            return TopMean(int(numbered[1]))
        known = ", ".join(repr(name) for name in _BY_NAME)
        raise InputError(f"aggregate must be one of {known}, 'top_5' (any number) or a function, got {aggregate!r}")
    if isinstance(aggregate, type) or any(aggregate is maker for maker in _MAKERS):
        name = getattr(aggregate, "__name__", "")
        raise InputError(f"aggregate must be an aggregate itself, got {name}, which makes one; write {name}()")
    if isinstance(aggregate, Aggregate) and callable(aggregate):
        return aggregate
    if callable(aggregate):
        return FunctionAggregate(aggregate)
    raise InputError(
        f"aggregate must be a name, a function of the values or an Aggregate, got {type(aggregate).__name__}; for "
        "example 'studentized_max'"
    )
