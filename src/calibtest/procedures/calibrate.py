"""Calibrate an observed value against null draws that the caller already has."""

from __future__ import annotations

import json
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
    ColumnMaxMean,
    FunctionAggregate,
    Omnibus,
    RowMaxMean,
    StudentizedMax,
    resolve_aggregate,
)
from calibtest.inference.calibration import calibrate_values, chance_corrected, check_alpha, zscores
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import (
    Alternative,
    MonteCarloInterval,
    check_alternative,
    min_pvalue,
    monte_carlo_interval,
    pvalues,
    step_down,
)
from calibtest.inference.standardise import standardise

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CalibrationResult", "calibrate"]

Float = NDArray[np.float64]
Names = Sequence[str] | tuple[Sequence[str], Sequence[str]]

_QUESTION = {
    "greater": "Is the observed value larger than the null draws?",
    "less": "Is the observed value smaller than the null draws?",
    "two-sided": "Is the observed value different from the null draws?",
}
# Values found by arithmetic in double precision differ in their last digits; values stored more coarsely were at best
# rounded once when they were stored.
_COMPUTED_ROUNDING, _STORED_ROUNDING = 100, 4
_EXACT_INTEGERS = 2**53
_LISTED_CELLS = 5


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
    null_mean : float or array of shape S
        Mean of the null draws.
    null_sd : float, array of shape S, or None
        Their standard deviation (divisor ``K - 1``). None, or NaN in an array, for a single draw.
    zscore : float, array of shape S, or None
        ``(statistic - null_mean) / null_sd``. None, or NaN in an array, where the draws do not vary.
    chance_corrected : float, array of shape S, or None
        ``(statistic - null_mean) / (s_max - null_mean)``; None without `s_max`, and None, or NaN in an array, where the
        null mean is `s_max` already.
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
    adjusted : float, array of shape S, or None
        Westfall-Young step-down p-values, adjusted for the search over cells (synchronised draws only).
    omnibus : Omnibus or None
        Test of all cells at once by the aggregate (synchronised draws only).
    names : tuple of tuples of str
        Names of the cells along each axis of S; empty for one number.
    """

    statistic: float | Float
    pvalue: float | Float
    threshold: float | Float
    lower_threshold: float | Float | None
    calibrated: float | Float
    null_distribution: Float
    null_mean: float | Float
    null_sd: float | Float | None
    zscore: float | Float | None
    chance_corrected: float | Float | None
    interval: MonteCarloInterval
    min_pvalue: float
    alpha: float
    alternative: Alternative
    s_max: float | None
    n_resamples: int
    synchronised: bool
    adjusted: float | Float | None
    omnibus: Omnibus | None
    names: tuple[tuple[str, ...], ...]

    def confidence_interval(self) -> MonteCarloInterval:
        """Monte-Carlo interval of the p-value, the same as `interval`."""
        return self.interval

    def to_frame(self) -> pd.DataFrame:
        """One row a cell, with the name of the cell along each axis of the observed array in front."""
        import pandas as pd

        shape = np.shape(self.statistic)
        columns: dict[str, Any] = {}
        axes = ("left", "right") if len(shape) == 2 else ("cell",) if len(shape) == 1 else ()
        labels = np.unravel_index(np.arange(math.prod(shape)), shape) if shape else ()
        for axis, (places, names) in enumerate(zip(labels, self.names, strict=True)):
            title = axes[axis] if axes else f"axis_{axis}"
            columns[title] = [names[int(place)] for place in places]
        for title, cells in self._cells().items():
            columns[title] = np.atleast_1d(np.asarray(cells, dtype=np.float64)).ravel()
        return pd.DataFrame(columns)

    def _cells(self) -> dict[str, float | Float]:
        """The per-cell attributes that this result has, in reporting order."""
        found = {
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "adjusted": self.adjusted,
            "threshold": self.threshold,
            "lower_threshold": self.lower_threshold,
            "calibrated": self.calibrated,
            "null_mean": self.null_mean,
            "null_sd": self.null_sd,
            "zscore": self.zscore,
            "chance_corrected": self.chance_corrected,
            "interval_low": self.interval.low,
            "interval_high": self.interval.high,
        }
        return {title: cells for title, cells in found.items() if cells is not None}

    def to_json(self, *, null: bool = False, indent: int | None = 2) -> str:
        """The result as JSON text; undefined numbers are null.

        Parameters
        ----------
        null : bool
            Whether to write the null draws too.
        indent : int, optional
            Spaces a level, None for one line.
        """
        content: dict[str, Any] = {
            "question": _QUESTION[self.alternative],
            "alternative": self.alternative,
            "alpha": self.alpha,
            "s_max": self.s_max,
            "n_resamples": self.n_resamples,
            "min_pvalue": self.min_pvalue,
            "interval_method": self.interval.method,
            "synchronised": self.synchronised,
            "names": [list(axis) for axis in self.names],
        }
        content |= {title: _plain(cells) for title, cells in self._cells().items()}
        if self.omnibus is not None:
            content["omnibus"] = {
                "aggregate": self.omnibus.aggregate,
                "statistic": self.omnibus.statistic,
                "pvalue": self.omnibus.pvalue,
                "threshold": self.omnibus.threshold,
                "calibrated": self.omnibus.calibrated,
                "min_pvalue": self.omnibus.min_pvalue,
            }
        if null:
            content["null_distribution"] = _plain(self.null_distribution)
        return json.dumps(content, indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        lines = [_QUESTION[self.alternative]]
        lines += self._describe_one() if np.ndim(self.statistic) == 0 else self._describe_cells()
        lines.append(f"  least p possible with {self.n_resamples} draws: {self.min_pvalue:.3g}")
        return "\n".join(lines)

    def _describe_one(self) -> list[str]:
        sd = "one draw" if self.null_sd is None else f"sd {self.null_sd:.4g}"
        z = "z undefined, the draws do not vary" if self.zscore is None else f"z = {self.zscore:.3g}"
        lines = [
            f"  observed {self.statistic:.4g}; null mean {self.null_mean:.4g}, {sd}, {z}",
            f"  p = {self.pvalue:.4g}, Monte-Carlo interval {self.interval!r}",
            f"  {_threshold_words(self)}; calibrated score {self.calibrated:.4g}",
        ]
        if self.chance_corrected is not None:
            lines.append(f"  chance-corrected score {self.chance_corrected:.4g} (0 at chance, 1 at s_max)")
        return lines

    def _describe_cells(self) -> list[str]:
        p = np.asarray(self.pvalue)
        shape = " x ".join(str(size) for size in p.shape)
        lines = [f"  {p.size} cells ({shape}), {self.n_resamples} null draws, alpha = {self.alpha:g}"]
        ranked = p if self.adjusted is None else np.asarray(self.adjusted)
        if self.adjusted is None:
            lines.append(
                f"  p <= alpha in {int((p <= self.alpha).sum())} cells, about {self.alpha * p.size:.3g} expected by "
                "chance alone; these p are not adjusted for the number of cells"
            )
        else:
            lines.append(
                f"  adjusted p <= alpha in {int((ranked <= self.alpha).sum())} cells (Westfall-Young step-down)"
            )
        if self.omnibus is not None:
            lines.append(
                f"  all cells at once: {self.omnibus.aggregate} = {self.omnibus.statistic:.4g}, p = "
                f"{self.omnibus.pvalue:.4g}"
            )
        # The smallest p first, and among equals the larger effect.
        effect = np.zeros(p.size) if self.zscore is None else np.nan_to_num(np.abs(np.asarray(self.zscore)).ravel())
        order = np.lexsort((-effect, ranked.ravel()))
        for flat in order[:_LISTED_CELLS]:
            place = np.unravel_index(int(flat), p.shape)
            label = ", ".join(names[int(i)] for names, i in zip(self.names, place, strict=True))
            adjusted = "" if self.adjusted is None else f", adjusted {ranked[place]:.4g}"
            lines.append(
                f"    {label}: {np.asarray(self.statistic)[place]:.4g}, p = {p[place]:.4g}{adjusted}, calibrated "
                f"{np.asarray(self.calibrated)[place]:.4g}"
            )
        if p.size > _LISTED_CELLS:
            lines.append(f"    ... and {p.size - _LISTED_CELLS} more, see to_frame()")
        return lines


def calibrate(
    observed: ArrayLike,
    null: ArrayLike,
    *,
    alpha: float = 0.05,
    s_max: float | None = None,
    alternative: str = "greater",
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
        draws `adjusted` and `omnibus`.

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
      observed 0.295; null mean 0.155, sd 0.08803, z = 1.59
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
    if aggregate is not None and not synchronised:
        raise InputError(
            "aggregate needs synchronised=True: the maximum over cells can be calibrated only if each null draw used "
            "one relabelling for all cells; pass synchronised=True if it did"
        )
    labels = _labels(names, shape)
    n_draws = len(values) - 1
    still = np.asarray(np.ptp(values[1:], axis=0) <= 2 * resolution)
    _warn(n_draws, level, known, still)

    found = calibrate_values(values, resolution, alpha=level, s_max=top, alternative=known)
    mean = values[1:].mean(axis=0)
    sd = np.where(still, 0.0, values[1:].std(axis=0, ddof=1)) if n_draws > 1 else np.full(shape, np.nan)
    z = zscores(values[0], mean, sd)
    corrected = None if top is None else chance_corrected(values[0], mean, top)
    interval = monte_carlo_interval(values, resolution, alternative=known)
    assert interval is not None  # the draws are never taken to be all relabellings

    adjusted, omnibus = None, None
    if synchronised:
        orbit = Orbit(values.reshape(_grid_shape(values.shape)), resolution.reshape(_grid_shape(values.shape)[1:]))
        standardised = standardise(orbit)
        # "less" asks of a distance what "greater" asks of a similarity: is it beyond chance on the way to s_max?
        sign, asked = (-1, "greater") if known == "less" else (1, known)
        evidence = standardised.evidence(alternative=asked, sign=sign)
        adjusted = step_down(evidence, standardised.tolerance).reshape(shape)
        if aggregate is not None or shape:
            chosen = _aggregate(aggregate, shape)
            aggregated = chosen(orbit, standardised=standardised, alternative=asked, sign=sign)
            omnibus = aggregated.calibrate(orbit, alpha=level, s_max=top)

    return CalibrationResult(
        statistic=_cell(values[0]),
        pvalue=_cell(pvalues(values, resolution, alternative=known)),
        threshold=_cell(found.threshold),
        lower_threshold=None if found.lower_threshold is None else _cell(found.lower_threshold),
        calibrated=_cell(found.calibrated),
        null_distribution=values[1:],
        null_mean=_cell(mean),
        null_sd=_defined(sd),
        zscore=_defined(z),
        chance_corrected=None if corrected is None else _defined(corrected),
        interval=interval,
        min_pvalue=min_pvalue(len(values), known),
        alpha=level,
        alternative=known,
        s_max=top,
        n_resamples=n_draws,
        synchronised=bool(synchronised),
        adjusted=None if adjusted is None else _cell(adjusted),
        omnibus=omnibus,
        names=labels,
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


def _warn(n_draws: int, alpha: float, alternative: Alternative, still: NDArray[np.bool_]) -> None:
    smallest = min_pvalue(n_draws + 1, alternative)
    if smallest > alpha:
        needed = math.ceil((2 if alternative == "two-sided" else 1) / alpha - 1e-9) - 1
        warnings.warn(
            f"{n_draws} null draws cannot give a p-value below {smallest:.4g}, which is above alpha = {alpha:g}; use "
            f"at least {needed} draws",
            CalibtestWarning,
            stacklevel=3,
        )
    if still.any() and n_draws > 1:
        where = (
            "the null draws do not vary"
            if still.ndim == 0
            else f"the null draws of {int(still.sum())} cells do not vary"
        )
        warnings.warn(
            f"{where}, so their z-score is undefined; check that each draw relabelled the items",
            CalibtestWarning,
            stacklevel=3,
        )


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
    if isinstance(chosen, RowMaxMean | ColumnMaxMean) and len(shape) != 2:
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


def _defined(values: Float) -> float | Float | None:
    """As `_cell`, with None for one undefined number."""
    cell = _cell(values)
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _plain(cells: float | Float) -> Any:
    """Numbers and nested lists of numbers, with None where undefined."""
    if isinstance(cells, float | int):
        return cells if math.isfinite(cells) else None
    array = np.asarray(cells)
    if np.isfinite(array).all():
        return array.tolist()
    plain = array.astype(object)
    plain[~np.isfinite(array)] = None
    return plain.tolist()


def _threshold_words(result: CalibrationResult) -> str:
    if result.lower_threshold is None:
        return f"threshold at alpha = {result.alpha:g}: {result.threshold:.4g}"
    return f"thresholds at alpha = {result.alpha:g}: {result.lower_threshold:.4g} and {result.threshold:.4g}"
