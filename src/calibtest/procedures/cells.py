"""Every number of a cell of the grid, read from one orbit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibtest.inference.calibration import calibrate_values, chance_corrected, zscores
from calibtest.inference.moments import MomentGrid
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import Alternative, adjusted, monte_carlo_interval, pvalues, single_step
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
    threshold : order statistic that the score must pass at level alpha (two-sided: the upper one)
    lower_threshold : the lower one of a two-sided test, else None
    calibrated : 0 unless significant, else the share of the way from the threshold to the best value
    pvalue : permutation p-value of the cell on its own
    adjusted_pvalue, single_step_pvalue : Westfall-Young p-values over all cells (step-down, single step)
    pvalue_low, pvalue_high : Monte-Carlo interval of ``pvalue`` (equal to it when all relabellings were used)
    uninformative : True where the score is the same under every relabelling
    """

    scores: Float
    chance: Float
    chance_sd: Float
    zscore: Float
    chance_corrected: Float
    threshold: Float
    lower_threshold: Float | None
    calibrated: Float
    pvalue: Float
    adjusted_pvalue: Float
    single_step_pvalue: Float
    pvalue_low: Float
    pvalue_high: Float
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
    tail: Alternative,
    s_max: float | None,
) -> Cells:
    """All cell-wise results of an orbit.

    Parameters
    ----------
    orbit, standardised, moments
        Scores under every relabelling, the same on one scale, and their closed-form moments where there are any.
    claims : Claims
        Claims of the metric.
    alpha : float
        Level.
    tail : {"greater", "less", "two-sided"}
        The tail of the scores that is tested.
    s_max : float or None
        Best value of the score, where the tail leads there.
    """
    top = best_value(claims)
    if moments is not None:
        chance, chance_sd = moments.mean, moments.sd
    else:  # the null rows alone: the observed one is what they are compared with
        rows = orbit.values if orbit.exhaustive else orbit.null
        chance, chance_sd = rows.mean(axis=0), rows.std(axis=0)
    chance_sd = np.where(standardised.uninformative, 0.0, chance_sd)
    values, resolution = orbit.values, orbit.resolution
    found = calibrate_values(values, resolution, alpha=alpha, s_max=s_max, alternative=tail)
    pvalue = pvalues(values, resolution, alternative=tail)
    interval = monte_carlo_interval(
        values, resolution, alternative=tail, coset_size=orbit.coset_size, exhaustive=orbit.exhaustive
    )
    evidence, tolerance = standardised.evidence(tail), standardised.tolerance
    return Cells(
        scores=orbit.observed,
        chance=chance,
        chance_sd=chance_sd,
        zscore=zscores(orbit.observed, chance, chance_sd),
        chance_corrected=np.full(chance.shape, np.nan)
        if top is None
        else chance_corrected(orbit.observed, chance, top),
        threshold=found.threshold,
        lower_threshold=found.lower_threshold,
        calibrated=found.calibrated,
        pvalue=pvalue,
        adjusted_pvalue=adjusted(evidence, tolerance, pvalue),
        single_step_pvalue=adjusted(evidence, tolerance, pvalue, procedure=single_step),
        pvalue_low=np.asarray(pvalue if interval is None else interval.low),
        pvalue_high=np.asarray(pvalue if interval is None else interval.high),
        uninformative=standardised.uninformative,
    )
