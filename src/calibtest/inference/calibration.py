"""Thresholds and effect sizes on the scale of the statistic, consistent with the p-values to the last draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibtest.errors import InputError
from calibtest.inference.pvalues import Alternative, check_alternative, exceedances

__all__ = [
    "Calibration",
    "calibrate_values",
    "chance_corrected",
    "check_alpha",
    "rejection_count",
    "zscores",
]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """How far the observed values lie beyond the level that chance exceeds with probability alpha.

    Attributes
    ----------
    threshold : (*cells) array of float64
        Order statistic of all rows that the observed value must pass; for a two-sided test the upper one.
    lower_threshold : (*cells) array of float64 or None
        The lower one of a two-sided test, else None.
    calibrated : (*cells) array of float64
        Positive exactly where ``p <= alpha``, else 0. With `s_max` the distance beyond the threshold as a share of the
        way to `s_max`, at most 1; without it that distance itself.
    significant : (*cells) array of bool
        Where ``p <= alpha``.
    """

    threshold: Float
    lower_threshold: Float | None
    calibrated: Float
    significant: NDArray[np.bool_]


def check_alpha(alpha: float) -> float:
    """Return `alpha` as a float when it lies strictly between 0 and 1."""
    is_number = isinstance(alpha, int | float | np.integer | np.floating) and not isinstance(alpha, bool)
    level = float(alpha) if is_number else float("nan")
    if not 0 < level < 1:
        raise InputError(f"alpha must lie strictly between 0 and 1, got {alpha!r}; 0.05 is usual")
    return level


def rejection_count(n_rows: int, alpha: float) -> int:
    """Largest number of rows ``h`` with ``h / n_rows <= alpha``: a test rejects when at most ``h`` rows exceed.

    The quotient is formed exactly as the p-value is, so that rejecting by count and comparing the p-value with alpha
    are one decision even where ``alpha * n_rows`` is a whole number up to rounding.
    """
    return _largest_count(n_rows, alpha, per_row=1)


def _largest_count(n_rows: int, alpha: float, *, per_row: int) -> int:
    count = int(alpha * n_rows / per_row) + 1
    while per_row * count / n_rows > alpha:
        count -= 1
    return count


def calibrate_values(
    values: Float,
    resolution: ArrayLike,
    *,
    alpha: float,
    s_max: ArrayLike | None = None,
    alternative: Alternative = "greater",
) -> Calibration:
    """Calibrated score of every cell; the null is that each row is equally likely to be the observed one.

    With ``T_(1) <= ... <= T_(M)`` all rows, the observed one among them, the threshold is
    ``tau = T_(ceil((1 - alpha) M))``, an order statistic and never interpolated, and the score is
    ``clip((T_0 - tau) / (s_max - tau), 0, 1)``, or ``max(T_0 - tau, 0)`` where no largest value is known. The count of
    exceedances decides whether it is positive, so the score and the p-value never disagree.

    Parameters
    ----------
    values : (M, *cells) array
        Row 0 is observed.
    resolution : array broadcast to `cells`
        Absolute tie tolerance.
    alpha : float
        Level.
    s_max : array broadcast to `cells`, optional
        Value of the statistic at perfect agreement: the largest one, or the smallest for ``alternative="less"``.
    alternative : {"greater", "less", "two-sided"}
        Said of the values themselves. A two-sided score is the distance beyond the nearer of two thresholds, each at
        ``alpha / 2``; it has no `s_max`.

    Raises
    ------
    InputError
        When an observed value lies beyond `s_max`, or `s_max` comes with a two-sided alternative.
    """
    level, known = check_alpha(alpha), check_alternative(alternative)
    if known == "two-sided":
        return _two_sided(values, resolution, level, s_max)
    n_rows = len(values)
    count = rejection_count(n_rows, level)
    rank = n_rows - count - 1 if known == "greater" else count
    threshold = _order_statistic(values, rank)
    towards = 1.0 if known == "greater" else -1.0
    beyond = towards * (values[0] - threshold)
    significant = exceedances(values, resolution, alternative=known) <= count
    if s_max is None:
        scaled = beyond
    else:
        top = np.asarray(s_max, dtype=np.float64)
        _require_reachable(values[0], top, resolution, towards)
        room = towards * (top - threshold)
        # A significant value past the threshold leaves no room only when it is s_max itself up to rounding.
        scaled = np.clip(np.divide(beyond, room, out=np.ones(np.shape(beyond)), where=room > 0), 0.0, 1.0)
    calibrated = np.where(significant, scaled, 0.0)
    return Calibration(threshold, None, calibrated, np.asarray(significant))


def _two_sided(values: Float, resolution: ArrayLike, alpha: float, s_max: ArrayLike | None) -> Calibration:
    if s_max is not None:
        raise InputError(
            "s_max has no meaning for alternative='two-sided', which looks both ways; leave it out or choose "
            "alternative='greater'"
        )
    n_rows = len(values)
    count = _largest_count(n_rows, alpha, per_row=2)
    upper, lower = _order_statistic(values, n_rows - count - 1), _order_statistic(values, count)
    above = exceedances(values, resolution, alternative="greater") <= count
    below = exceedances(values, resolution, alternative="less") <= count
    calibrated = np.where(above, values[0] - upper, np.where(below, lower - values[0], 0.0))
    return Calibration(upper, lower, calibrated, np.asarray(above | below))


def _order_statistic(values: Float, rank: int) -> Float:
    """The value of 0-based `rank` among the rows, cell by cell."""
    return np.array(np.partition(values, rank, axis=0)[rank])


def _require_reachable(observed: Float, top: Float, resolution: ArrayLike, towards: float) -> None:
    if not np.isfinite(top).all():
        raise InputError("s_max must be finite; leave it out for a score without a largest value")
    slack = np.maximum(np.asarray(resolution), 1e-9 * np.abs(top))
    past = towards * (observed - top) > slack
    if past.any():
        worst = float(observed[past].flat[0]) if np.ndim(observed) else float(observed)
        side, extreme = ("above", "largest") if towards > 0 else ("below", "smallest")
        raise InputError(
            f"s_max must be the {extreme} value that the score can take, but the observed value {worst:g} lies {side} "
            f"s_max = {np.broadcast_to(top, np.shape(observed))[past].flat[0]:g}; correct s_max or leave it out"
        )


def chance_corrected(observed: ArrayLike, mean: ArrayLike, s_max: ArrayLike) -> Float:
    """``(T_0 - E_0) / (s_max - E_0)``: 0 at chance, 1 at perfect agreement, negative below chance (kappa-like).

    The same for either orientation. NaN where chance already reaches `s_max`, so that no room is left.
    """
    top, centre = np.asarray(s_max, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    above, room = np.asarray(observed, dtype=np.float64) - centre, top - centre
    return _ratio(above, room, np.abs(room) > 1e-12 * np.maximum(np.abs(top), np.abs(centre)))


def zscores(observed: ArrayLike, mean: ArrayLike, sd: ArrayLike) -> Float:
    """``(T_0 - E_0) / sd_0`` in the direction of the statistic itself; NaN where ``sd_0`` is 0."""
    spread = np.asarray(sd, dtype=np.float64)
    return _ratio(np.asarray(observed, dtype=np.float64) - np.asarray(mean, dtype=np.float64), spread, spread > 0)


def _ratio(top: Float, bottom: Float, defined: ArrayLike) -> Float:
    shape = np.broadcast_shapes(np.shape(top), np.shape(bottom))
    return np.asarray(np.divide(top, bottom, out=np.full(shape, np.nan), where=np.broadcast_to(defined, shape)))
