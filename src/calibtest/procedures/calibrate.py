"""Calibrate an observed value against null draws that the caller already has."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibtest.errors import CalibtestWarning, InputError
from calibtest.inference.aggregates import (
    Aggregate,
    FunctionAggregate,
    InCellUnits,
    Omnibus,
    StudentizedMax,
    resolve_aggregate,
)
from calibtest.inference.calibration import calibrate_values, chance_corrected, check_alpha, zscores
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import (
    Alternative,
    MonteCarloInterval,
    adjusted,
    check_alternative,
    min_pvalue,
    monte_carlo_interval,
    pvalues,
)
from calibtest.inference.standardise import standardise

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CalibrationResult", "calibrate"]

Float = NDArray[np.float64]
Names = Sequence[str] | tuple[Sequence[str], Sequence[str]]

# Values found by arithmetic in double precision differ in their last digits; values stored more coarsely were at best
# rounded once when they were stored.
_COMPUTED_ROUNDING, _STORED_ROUNDING = 100, 4
_EXACT_INTEGERS = 2**53


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationResult:
    """An observed value, or an array of them, compared with null draws.

    Attributes that belong to a cell are floats when the observed value is one number, and arrays of its shape ``S``
    otherwise.

    Attributes
    ----------
    statistic : float or array of shape S
        The observed value.
    pvalue : float or array of shape S
        ``(1 + hits) / (K + 1)``; two-sided twice the smaller tail. Never 0. Not adjusted for the number of cells.
    threshold : float or array of shape S
        Order statistic of the observed and null values together that the observed value must pass (two-sided: the
        upper one).
    lower_threshold : float, array of shape S, or None
        The lower threshold of a two-sided test.
    calibrated : float or array of shape S
        Positive exactly where ``pvalue <= alpha``.
    null_distribution : (K, *S) array
        The null draws.
    chance, chance_sd : float or array of shape S
        Mean and standard deviation (divisor K) of the null draws.
    zscore : float or array of shape S
        ``(statistic - chance) / chance_sd``; NaN where the draws do not vary.
    chance_corrected : float or array of shape S
        ``(statistic - chance) / (s_max - chance)``; NaN without `s_max`, and where chance is `s_max` already.
    interval : MonteCarloInterval
        Where the p-value would settle with more draws; it takes the draws as independent.
    min_pvalue : float
        Least p-value that K draws can give.
    alpha : float
        Level.
    alternative : {"greater", "less", "two-sided"}
        The tail that was tested.
    s_max : float or None
        Value of the score at perfect agreement.
    n_resamples : int
        Number of null draws, K.
    synchronised : bool
        Whether each draw used one relabelling for all cells.
    adjusted_pvalue : float, array of shape S, or None
        Westfall-Young step-down p-values, adjusted for the search over cells (synchronised draws only).
    omnibus : Omnibus or None
        Test of all cells at once by the aggregate (synchronised draws only).
    names : tuple of tuples of str
        Names of the cells along each axis of S; empty for one number.
    notes : tuple of str
        What a reader must know about the draws.
    """

    statistic: float | Float
    pvalue: float | Float
    threshold: float | Float
    lower_threshold: float | Float | None
    calibrated: float | Float
    null_distribution: Float
    chance: float | Float
    chance_sd: float | Float
    zscore: float | Float
    chance_corrected: float | Float
    interval: MonteCarloInterval
    min_pvalue: float
    alpha: float
    alternative: Alternative
    s_max: float | None
    n_resamples: int
    synchronised: bool
    adjusted_pvalue: float | Float | None
    omnibus: Omnibus | None
    names: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a cell, with the name of the cell along each axis of the observed array in front."""
        from calibtest.report.table import calibration_frame

        return calibration_frame(self)

    def to_json(self, *, null: bool = False) -> str:
        """The result as a JSON document; with `null` the null draws too."""
        from calibtest.report.document import calibration_document

        return calibration_document(self, null=null)

    def __repr__(self) -> str:
        from calibtest.report.text import calibration_text

        return calibration_text(self)


def calibrate(
    observed: ArrayLike,
    null: ArrayLike,
    *,
    alpha: float = 0.05,
    s_max: float | None = None,
    alternative: Alternative = "greater",
    aggregate: str | Aggregate | Callable[[Float], ArrayLike] | None = None,
    synchronised: bool = False,
    names: Names | None = None,
) -> CalibrationResult:
    """How far does an observed score exceed what the same procedure gives by chance?

    The null is that the observed value and the null draws are exchangeable: computed in the same way, from data in
    which the pairing of the items carries no information. The p-value is the rank of the observed value among all of
    them, and the calibrated score is its distance beyond their ``1 - alpha`` order statistic.

    Parameters
    ----------
    observed : number or array of shape S
        The score, or an array of scores (one a cell, for instance a grid of layers).
    null : array of shape (K, *S)
        The same scores under K relabellings, each computed in the same way as `observed`.
    alpha : float
        Level of the threshold.
    s_max : float, optional
        Value of the score at perfect agreement (1 for CKA): the largest value, or for ``alternative="less"`` the
        smallest. The calibrated score is then a share of the way from the threshold to `s_max`.
    alternative : {"greater", "less", "two-sided"}
        Which values speak against the null: larger, smaller (for a distance), or both.
    aggregate : str, callable or Aggregate, optional
        One number for all cells, tested against its own null: ``"studentized_max"`` (default for synchronised draws of
        an array of scores), ``"max"``, ``"mean"``, ``"row_max_mean"``, ``"column_max_mean"``, ``"top_5"``, or a
        function from the (K + 1, *S) values, observed first, to K + 1 numbers.
    synchronised : bool
        Whether each null draw used one relabelling for all cells. Only then does a row of `null` say how cells vary
        together, which adjusted p-values and aggregates need.
    names : sequence of str, optional
        Names of the cells; for a two-dimensional S a pair of sequences, left and right.

    Returns
    -------
    CalibrationResult
        With `statistic`, `pvalue`, `threshold`, `calibrated`, `null_distribution`, `interval`, and for synchronised
        draws `adjusted_pvalue` and `omnibus`.

    Raises
    ------
    InputError
        When a value is not finite, shapes do not fit, alpha is out of range, or an aggregate is asked of draws that
        were not synchronised.

    Warns
    -----
    CalibtestWarning
        When K draws cannot reach alpha, or when the null draws of a cell do not vary.

    Notes
    -----
    With ``T_(1) <= ... <= T_(K+1)`` the observed and null values together,
    ``p = (1 + #{T_k >= T_0}) / (K + 1)``, ``tau = T_(ceil((1 - alpha)(K + 1)))`` and the calibrated score is
    ``clip((T_0 - tau) / (s_max - tau), 0, 1)``, or ``max(T_0 - tau, 0)`` without `s_max`. Both count the same rows, so
    the score is positive exactly when ``p <= alpha``. Values that differ by rounding alone are ties.

    It misleads when `null` was not made by the procedure that made `observed`: draws from other data, a layer chosen on
    the observed data but held fixed in the draws, or draws that were themselves selected. Adjusted p-values are exact
    when no cell carries signal; control for the other cells when some do needs subset pivotality.

    References
    ----------
    Groeger, F., Wen, S., & Brbic, M. (2026). Revisiting the Platonic Representation Hypothesis: an Aristotelian view.
    Algorithms 1 and 2.
    Phipson, B., & Smyth, G. K. (2010). Permutation p-values should never be zero. Stat. Appl. Genet. Mol. Biol. 9(1).
    Westfall, P. H., & Young, S. S. (1993). Resampling-based multiple testing. Wiley.

    Examples
    --------
    A score of 0.295 beside thirty null draws from 0.01 to 0.30:

    >>> from calibtest.procedures.calibrate import calibrate
    >>> result = calibrate(0.295, [i / 100 for i in range(1, 31)], s_max=1.0)
    >>> result
    Is the observed value larger than the null draws?
      observed 0.295; chance 0.155, sd 0.08655, z = 1.62
      p = 0.06452, Monte-Carlo interval [0.000844, 0.172] (95 %, Clopper-Pearson, independent draws)
      threshold at alpha = 0.05: 0.295; calibrated score 0
      chance-corrected score 0.1657 (0 at chance, 1 at s_max)
      least p possible with 30 draws: 0.0323

    One draw reaches the observed value, so p = 2/31: the score is not beyond chance at the 5 % level, although it is
    1.6 sd above the mean of the draws; and the interval says that thirty draws are too few to be sure either way.
    """
    level, known = check_alpha(alpha), check_alternative(alternative)
    values, resolution = _rows(observed, null)
    shape = values.shape[1:]
    top = _checked_s_max(s_max, values, known)
    if not isinstance(synchronised, bool | np.bool_):
        raise InputError(
            f"synchronised must be True or False, got {synchronised!r}; True declares that each null draw used one "
            "relabelling for all cells"
        )
    if aggregate is not None and not synchronised:
        raise InputError(
            "aggregate needs synchronised=True: the maximum over cells can be calibrated only if each null draw used "
            "one relabelling for all cells; pass synchronised=True if it did"
        )
    labels = _labels(names, shape)
    n_draws = len(values) - 1
    still = np.asarray(np.ptp(values[1:], axis=0) <= 2 * resolution)
    notes = _notes(n_draws, level, known, still)
    for note in notes:
        warnings.warn(note, CalibtestWarning, stacklevel=2)

    found = calibrate_values(values, resolution, alpha=level, s_max=top, alternative=known)
    pvalue = pvalues(values, resolution, alternative=known)
    chance = values[1:].mean(axis=0)
    chance_sd = np.where(still, 0.0, values[1:].std(axis=0))
    interval = monte_carlo_interval(values, resolution, alternative=known)
    assert interval is not None  # the draws are never taken to be all relabellings

    adjusted_pvalue, omnibus = None, None
    if synchronised:
        grid = _grid_shape(values.shape)
        orbit = Orbit(values.reshape(grid), resolution.reshape(grid[1:]))
        standardised = standardise(orbit)
        adjusted_pvalue = adjusted(standardised.evidence(known), standardised.tolerance, pvalue.reshape(grid[1:]))
        if aggregate is not None or shape:
            # a score that is tested for being small is taken for a distance: its best cell is the smallest
            sign = -1 if known == "less" else 1
            omnibus = _aggregate(aggregate, shape)(orbit, standardised, known, sign).calibrate(
                orbit, alpha=level, s_max=top
            )

    return CalibrationResult(
        statistic=_cell(values[0]),
        pvalue=_cell(pvalue),
        threshold=_cell(found.threshold),
        lower_threshold=None if found.lower_threshold is None else _cell(found.lower_threshold),
        calibrated=_cell(found.calibrated),
        null_distribution=values[1:],
        chance=_cell(chance),
        chance_sd=_cell(chance_sd),
        zscore=_cell(zscores(values[0], chance, chance_sd)),
        chance_corrected=_cell(np.full(shape, np.nan) if top is None else chance_corrected(values[0], chance, top)),
        interval=interval,
        min_pvalue=min_pvalue(len(values), known),
        alpha=level,
        alternative=known,
        s_max=top,
        n_resamples=n_draws,
        synchronised=bool(synchronised),
        adjusted_pvalue=None if adjusted_pvalue is None else _cell(adjusted_pvalue.reshape(shape)),
        omnibus=omnibus,
        names=labels,
        notes=tuple(notes),
    )


def _rows(observed: ArrayLike, null: ArrayLike) -> tuple[Float, Float]:
    """The observed and null values in one (K + 1, *S) array, and the tie tolerance of every cell."""
    raw_observed, raw_null = _numbers(observed, "observed"), _numbers(null, "null")
    shape = raw_observed.shape
    if raw_observed.size == 0:
        raise InputError(f"observed is empty (shape {shape}); pass at least one value")
    if raw_null.ndim == 0 or raw_null.shape[1:] != shape:
        wanted = "(K,)" if not shape else "(K, " + ", ".join(str(size) for size in shape) + ")"
        raise InputError(
            f"null must have shape {wanted}, one row a draw, to go with observed of shape {shape}, got shape "
            f"{raw_null.shape}; put the draws along the first axis"
        )
    if len(raw_null) == 0:
        raise InputError("null is empty; pass at least one null draw, and at least 19 to reach p = 0.05")
    values = np.concatenate([raw_observed[None].astype(np.float64), raw_null.astype(np.float64)])
    _require_finite(values[0], "observed")
    _require_finite(values[1:], "null")
    largest = np.abs(values).max(axis=0)
    resolution = np.asarray(_relative_rounding(raw_observed.dtype, raw_null.dtype) * largest)
    whole = raw_observed.dtype.kind in "iub" and raw_null.dtype.kind in "iub"
    if whole:
        resolution = np.where(largest <= _EXACT_INTEGERS, 0.0, resolution)
    values.flags.writeable = False
    return values, resolution


def _numbers(given: ArrayLike, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(given)
    except ValueError:
        raise InputError(f"{name} must be a rectangular array of numbers, got rows of different lengths") from None
    if array.dtype == object:
        # Numbers kept as Python objects (Decimal, None among floats) are read as floats, None as NaN.
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"{name} must hold real numbers, got Python objects of other types; convert it to a float array first"
            ) from None
    if isinstance(given, np.ma.MaskedArray) and np.ma.getmaskarray(given).any():
        raise InputError(
            f"{name} has {int(np.ma.getmaskarray(given).sum())} masked values; a missing value has no rank, so find "
            "out why it is missing and fill it in"
        )
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold real numbers, got dtype {array.dtype}; convert it to a float array first")
    return array


def _require_finite(values: Float, name: str) -> None:
    n_nan, n_inf = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    if n_nan or n_inf:
        raise InputError(
            f"{name} has {n_nan} NaN and {n_inf} infinite values out of {values.size}; an undefined value has no rank "
            "and is never counted as evidence, so find out why the score failed there"
        )


def _relative_rounding(*dtypes: np.dtype[Any]) -> float:
    computed = _COMPUTED_ROUNDING * float(np.finfo(np.float64).eps)
    stored = [
        _STORED_ROUNDING * float(np.finfo(dtype).eps) for dtype in dtypes if dtype.kind == "f" and dtype.itemsize < 8
    ]
    return max(computed, *stored) if stored else computed


def _checked_s_max(s_max: float | None, values: Float, alternative: Alternative) -> float | None:
    if s_max is None:
        return None
    try:
        top = float(s_max)
    except (TypeError, ValueError):
        raise InputError(f"s_max must be one number, the same for all cells, got {s_max!r}") from None
    if not math.isfinite(top):
        raise InputError(f"s_max must be finite, got {top}; leave it out for a score without a largest value")
    slack = 1e-9 * max(1.0, abs(top))
    if alternative != "less" and float(values[1:].max()) > top + slack:
        raise InputError(
            f"s_max must be the largest value that the score can take, but null holds {float(values[1:].max()):g} and "
            f"s_max = {top:g}; correct s_max or leave it out"
        )
    if alternative == "less" and float(values[1:].min()) < top - slack:
        raise InputError(
            f"s_max must be the smallest value that the score can take when alternative='less', but null holds "
            f"{float(values[1:].min()):g} and s_max = {top:g}; correct s_max or leave it out"
        )
    return top


def _notes(n_draws: int, alpha: float, alternative: Alternative, still: NDArray[np.bool_]) -> list[str]:
    notes = []
    smallest = min_pvalue(n_draws + 1, alternative)
    if smallest > alpha:
        needed = math.ceil((2 if alternative == "two-sided" else 1) / alpha - 1e-9) - 1
        notes.append(
            f"{n_draws} null draws cannot give a p-value below {smallest:.4g}, which is above alpha = {alpha:g}; use "
            f"at least {needed} draws"
        )
    if still.any() and n_draws > 1:
        where = (
            "the null draws do not vary"
            if still.ndim == 0
            else f"the null draws of {int(still.sum())} cells do not vary"
        )
        notes.append(f"{where}, so their z-score is undefined; check that each draw relabelled the items")
    return notes


def _labels(names: Names | None, shape: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    if names is None:
        return tuple(tuple(str(i) for i in range(size)) for size in shape)
    if not shape:
        raise InputError("names are for the cells of an array, but observed is one number; leave names out")
    given: Any = [names] if len(shape) == 1 else names
    if isinstance(names, str) or len(given) != len(shape) or any(isinstance(axis, str) for axis in given):
        raise InputError(
            f"names must be {len(shape)} sequences of str, one for each axis of observed, got {names!r}; for example "
            "names=(['layer 1', 'layer 2'], ['layer 1'])"
            if len(shape) > 1
            else f"names must be a sequence of {shape[0]} str, got {names!r}; for example names=['layer 1', 'layer 2']"
        )
    labels = tuple(tuple(str(name) for name in axis) for axis in given)
    sizes = tuple(len(axis) for axis in labels)
    if sizes != shape:
        raise InputError(
            f"names must fit observed of shape {shape}, got {sizes} names; give one name a row and a column"
        )
    return labels


def _grid_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """(rows, left, right): a two-dimensional grid as it is, anything else as one long row of cells."""
    if len(shape) == 3:
        return shape[0], shape[1], shape[2]
    return shape[0], 1, math.prod(shape[1:])


def _aggregate(aggregate: str | Aggregate | Callable[[Float], ArrayLike] | None, shape: tuple[int, ...]) -> Aggregate:
    chosen = StudentizedMax() if aggregate is None else resolve_aggregate(aggregate)
    if isinstance(chosen, InCellUnits) and chosen.grid and len(shape) != 2:
        raise InputError(
            f"aggregate {chosen.name!r} needs a two-dimensional observed, left layers by right layers, got shape "
            f"{shape}; use 'max' or 'mean' instead"
        )
    if isinstance(chosen, FunctionAggregate) and len(shape) != 2:
        return _reshaped(chosen, shape)
    return chosen


def _reshaped(chosen: FunctionAggregate, shape: tuple[int, ...]) -> FunctionAggregate:
    """The caller's function, handed the values in the caller's own shape."""

    def function(values: Float) -> ArrayLike:
        return chosen.function(values.reshape(len(values), *shape))

    function.__name__ = chosen.name
    return FunctionAggregate(function, chosen.resolution)


def _cell(values: ArrayLike) -> float | Float:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        return float(array)
    array = array.view()
    array.flags.writeable = False
    return array
