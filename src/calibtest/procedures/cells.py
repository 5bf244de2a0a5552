"""Every number of a cell of the grid, read from one orbit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibtest.inference.calibration import calibrate_orbit, chance_corrected, zscores
from calibtest.inference.moments import MomentGrid
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import orbit_interval, orbit_pvalues, single_step, step_down
from calibtest.inference.standardise import Standardised
from calibtest.metrics.claims import Claims

__all__ = ["Cells", "best_value", "read_cells"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """Numbers of a grid of layer pairs; every array has shape (L_a, L_b).

    Attributes
    ----------
    scores : observed scores
    chance, chance_sd : mean and sd of the score over relabellings (closed form where there is one)
    zscore : ``(score - chance) / chance_sd``; NaN where the score never varies
    chance_corrected : ``(score - chance) / (best value - chance)``; NaN for scores without a best value
    threshold : order statistic that the score must pass at level alpha
    calibrated : 0 unless significant, else the share of the way from the threshold to the best value
    pvalue : permutation p-value of the cell on its own
    adjusted_pvalue, single_step_pvalue : Westfall-Young p-values over all cells (step-down, single step)
    interval_low, interval_high : Monte-Carlo interval of ``pvalue`` (equal to it when all relabellings were used)
    uninformative : True where the score is the same under every relabelling
    """

    scores: Float
    chance: Float
    chance_sd: Float
    zscore: Float
    chance_corrected: Float
    threshold: Float
    calibrated: Float
    pvalue: Float
    adjusted_pvalue: Float
    single_step_pvalue: Float
    interval_low: Float
    interval_high: Float
    uninformative: NDArray[np.bool_]


def best_value(claims: Claims) -> float | None:
    """Score at perfect agreement, or None where there is no such value."""
    extreme = claims.range[1] if claims.larger_is_more_similar else claims.range[0]
    return extreme if np.isfinite(extreme) else None


def read_cells(
    orbit: Orbit,
    standardised: Standardised,
    moments: MomentGrid | None,
    claims: Claims,
    *,
    alpha: float,
    alternative: str,
) -> Cells:
    """All cell-wise results of an orbit."""
    sign = 1 if claims.larger_is_more_similar else -1
    top = best_value(claims)
    if moments is not None:
        chance, chance_sd = moments.mean, moments.sd
    else:  # the null rows alone: the observed one is what they are compared with
        rows = orbit.values if orbit.exhaustive else orbit.null
        chance, chance_sd = rows.mean(axis=0), rows.std(axis=0)
    chance_sd = np.where(standardised.uninformative, 0.0, chance_sd)
    found = calibrate_orbit(
        orbit, alpha=alpha, s_max=None if alternative == "two-sided" else top, alternative=alternative, sign=sign
    )
    pvalue = orbit_pvalues(orbit, alternative=alternative, sign=sign)
    evidence = standardised.evidence(alternative=alternative, sign=sign)
    interval = orbit_interval(orbit, alternative=alternative, sign=sign)
    return Cells(
        scores=orbit.observed,
        chance=chance,
        chance_sd=chance_sd,
        zscore=zscores(orbit.observed, chance, chance_sd),
        chance_corrected=np.full(chance.shape, np.nan)
        if top is None
        else chance_corrected(orbit.observed, chance, top),
        threshold=found.threshold,
        calibrated=found.calibrated,
        pvalue=pvalue,
        adjusted_pvalue=_at_least(pvalue, step_down(evidence, standardised.tolerance), evidence[0]),
        single_step_pvalue=_at_least(pvalue, single_step(evidence, standardised.tolerance), evidence[0]),
        interval_low=np.asarray(pvalue if interval is None else interval.low),
        interval_high=np.asarray(pvalue if interval is None else interval.high),
        uninformative=standardised.uninformative,
    )


def _at_least(pvalue: Float, adjusted: Float, evidence: Float) -> Float:
    """Adjusted p-values that are nowhere below the cell's own, and still never fall from strong cells to weak ones.

    A one-sided adjusted p-value never is; a two-sided one (by the largest ``|z|``) can be, because a cell's own two-sided
    p-value is twice its smaller tail.
    """
    order = np.argsort(-evidence, axis=None, kind="stable")
    raised = np.empty(adjusted.size)
    raised[order] = np.maximum.accumulate(np.maximum(pvalue, adjusted).ravel()[order])
    return raised.reshape(adjusted.shape)
