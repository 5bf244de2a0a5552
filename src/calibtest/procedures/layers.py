"""Which layers of two models agree, after everything that was searched?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import CalibtestWarning
from calibtest.inference.aggregates import Aggregate, Omnibus, resolve_aggregate
from calibtest.inference.calibration import check_alpha
from calibtest.inference.moments import MomentGrid
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import Alternative, MonteCarloInterval, check_alternative, flipped
from calibtest.inference.standardise import Standardised, standardise
from calibtest.metrics.base import Metric
from calibtest.metrics.registry import resolve_metric
from calibtest.parallel import use_threads
from calibtest.procedures.cells import Cells, best_value, read_cells
from calibtest.procedures.comparison import (
    Draws,
    Precision,
    Skipped,
    check_resamples,
    check_workers,
    compare,
    describe,
    draw,
    seeded,
    verify_null,
)
from calibtest.procedures.notes import data_notes, design_notes
from calibtest.procedures.provenance import Provenance, provenance
from calibtest.schemes.protocol import Scheme
from calibtest.schemes.resolve import resolve_scheme
from calibtest.stacks import LayerStack, as_stack

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["LayersResult", "layers_test"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LayersResult:
    """Result of `layers_test`.

    Attributes
    ----------
    layers_a, layers_b : tuple of str
        Names of the compared layers, left (rows of every grid) and right (columns).
    cells : Cells
        (L_a, L_b) grids: scores, chance levels, z, thresholds, calibrated scores, p-values.
    omnibus : Omnibus
        Test of the whole search: statistic, p-value and null distribution of the aggregate.
    best : (str, str) or None
        The pair of layers that the aggregate singles out; None for an aggregate that speaks of several pairs, such as
        ``"mean"``.
    skipped : tuple of Skipped
        Layers without a defined score, and why.
    notes : tuple of str
        What a reader must know about the data and the design.
    provenance : Provenance
        Metric, scheme, relabellings, seed, versions and digests of the inputs.
    orbit : Orbit
        Scores under every relabelling, (M, L_a, L_b), row 0 observed.
    moments : MomentGrid or None
        Closed-form chance mean and sd, where there are any.
    null_check : float or None
        Largest deviation of a null mean from its closed form, in standard errors of independent draws.
    metric : Metric
        The score that was tested.
    alpha : float
        Level of thresholds and calibrated scores.
    alternative : {"greater", "less", "two-sided"}
        The question, said of similarity.
    evidence : (L_a, L_b) array
        Studentised scores in the direction of the question; the largest is the strongest evidence.
    """

    layers_a: tuple[str, ...]
    layers_b: tuple[str, ...]
    cells: Cells
    omnibus: Omnibus
    best: tuple[str, str] | None
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    provenance: Provenance
    orbit: Orbit
    moments: MomentGrid | None
    null_check: float | None
    metric: Metric
    alpha: float
    alternative: Alternative
    evidence: Float

    # ---- the search as a whole
    @property
    def statistic(self) -> float:
        """Observed value of the aggregate."""
        return self.omnibus.statistic

    @property
    def pvalue(self) -> float:
        """p-value of the whole search; the null says that no pair of layers is aligned."""
        return self.omnibus.pvalue

    @property
    def null_distribution(self) -> Float:
        """(M - 1,) aggregates under the relabellings."""
        return self.omnibus.null_distribution

    @property
    def min_pvalue(self) -> float:
        """Least p-value that the design can give."""
        return self.omnibus.min_pvalue

    @property
    def interval(self) -> MonteCarloInterval | None:
        """Monte-Carlo interval of `pvalue`; None when all relabellings were used."""
        return self.omnibus.interval

    @property
    def n_resamples(self) -> int:
        """Number of relabellings beside the identity."""
        return self.orbit.n_resamples

    # ---- grids
    @property
    def scores(self) -> Float:
        """(L_a, L_b) observed scores."""
        return self.cells.scores

    @property
    def chance(self) -> Float:
        """(L_a, L_b) mean scores over relabellings."""
        return self.cells.chance

    @property
    def chance_sd(self) -> Float:
        """(L_a, L_b) standard deviations of the scores over relabellings."""
        return self.cells.chance_sd

    @property
    def chance_corrected(self) -> Float:
        """(L_a, L_b) ``(score - chance) / (best value - chance)``."""
        return self.cells.chance_corrected

    @property
    def zscore(self) -> Float:
        """(L_a, L_b) ``(score - chance) / chance_sd``."""
        return self.cells.zscore

    @property
    def threshold(self) -> Float:
        """(L_a, L_b) scores that must be passed at level alpha (two-sided: the upper ones)."""
        return self.cells.threshold

    @property
    def lower_threshold(self) -> Float | None:
        """(L_a, L_b) lower thresholds of a two-sided test, else None."""
        return self.cells.lower_threshold

    @property
    def calibrated(self) -> Float:
        """(L_a, L_b) calibrated scores, positive exactly where the cell's own p is at most alpha."""
        return self.cells.calibrated

    @property
    def cell_pvalue(self) -> Float:
        """(L_a, L_b) p-values of every pair on its own, not adjusted for the search."""
        return self.cells.pvalue

    @property
    def adjusted_pvalue(self) -> Float:
        """(L_a, L_b) p-values adjusted for the search over all pairs (Westfall-Young step-down)."""
        return self.cells.adjusted_pvalue

    def aggregate(self, how: str | Aggregate | Callable[[Float], Float]) -> Omnibus:
        """The whole search judged by another aggregate, from the same relabellings.

        Parameters
        ----------
        how : str, Aggregate or callable
            ``"studentized_max"``, ``"max"``, ``"mean"``, ``"row_max_mean"``, ``"column_max_mean"``, ``"top_m"`` (such
            as ``"top_5"``), or a callable from (M, L_a, L_b) scores to (M,) numbers. Choose it before looking:
            reporting the best of several aggregates is a search of its own.

        Returns
        -------
        Omnibus
        """
        sign = self.metric.claims.sign
        aggregated = resolve_aggregate(how)(
            self.orbit, _standardised(self.orbit, self.moments), flipped(self.alternative, sign), sign
        )
        return aggregated.calibrate(
            self.orbit, alpha=self.alpha, s_max=_best_value_towards(self.alternative, self.metric)
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a pair of layers, the strongest first.

        Returns
        -------
        pandas.DataFrame
            Columns ``layer_a, layer_b, score, chance, chance_sd, zscore, chance_corrected, threshold, calibrated,
            pvalue, pvalue_low, pvalue_high, pvalue_adjusted, informative``, and after ``threshold`` a
            ``lower_threshold`` where the test was two-sided.
        """
        from calibtest.report.table import layers_frame

        return layers_frame(self)

    def to_json(self, *, null: bool = False) -> str:
        """The result as a JSON document; with `null` the null distribution of the aggregate too."""
        from calibtest.report.document import layers_document

        return layers_document(self, null=null)

    def plot(self) -> Figure:
        """Heatmaps of raw score, chance level and calibrated score side by side."""
        from calibtest.report.draw import draw_layers

        return draw_layers(self)

    def __repr__(self) -> str:
        from calibtest.report.text import layers_text

        return layers_text(self)


def layers_test(
    a: Any,
    b: Any,
    *,
    metric: str | Metric | Callable[[Any, Any], float] = "linear_cka",
    aggregate: str | Aggregate | Callable[[Float], Float] = "studentized_max",
    scheme: str | Scheme | None = None,
    groups: Any = None,
    n_resamples: int = 9999,
    alternative: Alternative = "greater",
    alpha: float = 0.05,
    draws: Draws | None = None,
    precision: Precision = "float64",
    rng: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> LayersResult:
    """Which layers of two models are aligned beyond chance, after searching all pairs?

    The null hypothesis says that the pairing of the items carries no information about any pair of layers: under the
    scheme, every relabelling of the right-hand items was as likely as the observed one. One relabelling is applied to
    all layers at a time, so the p-value of the search and the adjusted p-values account for everything searched.

    Parameters
    ----------
    a, b : LayerStack, dict of str to array, list of arrays, or one (n, L, d) or (n, d) array
        Activations of the two models: items in rows, the same items on both sides (paired by id where both have ids).
    metric : str, Metric or callable ``f(x, y) -> float``
        Score of a pair of layers; see `metrics`.
    aggregate : str, Aggregate or callable
        What the search reports: ``"studentized_max"`` (default) compares layers on the scale of their own chance
        level; the raw ``"max"`` favours wide layers and is there for comparison with published numbers.
    scheme : str or Scheme, optional
        ``"exchangeable"`` (default), ``"within_groups"``, ``"whole_groups"``, ``"circular"`` or a scheme object.
    groups : (n,) sequence, optional
        Group of every item, for the schemes that use groups.
    n_resamples : int
        Least number of relabellings beside the identity. Cosets come in multiples of the number of items, and a
        design with no more relabellings than this is enumerated; the number used is in the result.
    alternative : {"greater", "less", "two-sided"}
        ``"greater"``: more similar than chance (for a distance: smaller).
    alpha : float
        Level of thresholds and calibrated scores.
    draws : {"cosets", "independent"}, optional
        Kind of relabellings; by default cosets of cyclic shifts where the metric is faster with them.
    precision : {"float64", "float32"}
        Precision of relations between items; float32 is faster and widens the tie tolerance.
    rng : int or numpy.random.Generator, optional
        Seed; recorded in the result.
    n_jobs : int, optional
        Threads (for a callable metric: processes). Results do not depend on it.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    LayersResult

    Raises
    ------
    InputError
        When the input cannot be used; the sentence says what to do.

    Notes
    -----
    Per-cell adjusted p-values are Westfall-Young: exact when no pair is aligned; when some are, control for the others
    needs subset pivotality (the joint null of a subset of pairs does not depend on the rest).

    References
    ----------
    Westfall and Young (1993), Resampling-Based Multiple Testing. Groeger, Wen and Brbic (2026), on calibrated
    similarity. Ramdas, Barber, Candes and Tibshirani (2023), arXiv 2204.13581, on cosets.

    Examples
    --------
    >>> import numpy as np, calibtest
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.standard_normal((60, 4))
    >>> a = {"early": rng.standard_normal((60, 30)), "late": signal @ rng.standard_normal((4, 8))}
    >>> b = {"early": rng.standard_normal((60, 50)), "late": signal + 0.5 * rng.standard_normal((60, 4))}
    >>> result = calibtest.layers_test(a, b, n_resamples=999, rng=0)
    >>> result.best
    ('late', 'late')
    >>> result.pvalue < 0.01  # after searching all four pairs
    True
    """
    return run(
        as_stack(a, "A", layers_axis=True),
        as_stack(b, "B", layers_axis=True),
        metric=metric,
        aggregate=aggregate,
        scheme=scheme,
        groups=groups,
        n_resamples=n_resamples,
        alternative=alternative,
        alpha=alpha,
        draws=draws,
        precision=precision,
        rng=rng,
        n_jobs=n_jobs,
        progress=progress,
    )


def run(
    a: LayerStack,
    b: LayerStack,
    *,
    metric: str | Metric | Callable[[Any, Any], float],
    aggregate: str | Aggregate | Callable[[Float], Float],
    scheme: str | Scheme | None,
    groups: Any,
    n_resamples: int,
    alternative: Alternative,
    alpha: float,
    draws: Draws | None,
    precision: Precision,
    rng: Any,
    n_jobs: int | None,
    progress: Callable[[float], None] | None,
    skip_undefined: bool = True,
) -> LayersResult:
    """Check, draw, evaluate, read and warn: what every test of two stacks does (called by a public function)."""
    chosen, how, plan = resolve_metric(metric), resolve_aggregate(aggregate), resolve_scheme(scheme, groups)
    level, asked = check_alpha(alpha), check_resamples(n_resamples)
    tail = flipped(check_alternative(alternative), chosen.claims.sign)
    check_workers(n_jobs, progress)
    with use_threads(n_jobs):
        comparison = compare(a, b, chosen, precision=precision, skip_undefined=skip_undefined)
        generator, seed = seeded(rng)
        relabellings = draw(plan, comparison, asked, generator, draws)
        orbit = comparison.orbit(relabellings, threads=n_jobs, progress=progress)
        moments = comparison.moments(plan)
        null_check = None if moments is None or orbit.n_resamples < 1 else verify_null(orbit, moments)
        standardised = _standardised(orbit, moments)
        s_max = _best_value_towards(alternative, chosen)
        cells = read_cells(orbit, standardised, moments, chosen.claims, alpha=level, tail=tail, s_max=s_max)
        aggregated = how(orbit, standardised, tail, chosen.claims.sign)
        omnibus = aggregated.calibrate(orbit, alpha=level, s_max=s_max)
        notes = data_notes(comparison, plan)
    names_a, names_b = tuple(comparison.lefts), tuple(comparison.rights)
    notes += design_notes(omnibus.min_pvalue, level, plan, comparison.n_items)
    if cells.uninformative.any():
        notes.append(
            f"{int(cells.uninformative.sum())} of {cells.uninformative.size} layer pairs have the same score under every "
            "relabelling and carry no evidence (their calibrated score is 0)"
        )
    for note in notes:
        warnings.warn(note, CalibtestWarning, stacklevel=3)
    return LayersResult(
        layers_a=names_a,
        layers_b=names_b,
        cells=cells,
        omnibus=omnibus,
        best=None if aggregated.best is None else (names_a[aggregated.best[0]], names_b[aggregated.best[1]]),
        skipped=comparison.skipped,
        notes=tuple(notes),
        provenance=provenance(comparison, plan, describe(relabellings), seed),
        orbit=orbit,
        moments=moments,
        null_check=null_check,
        metric=chosen,
        alpha=level,
        alternative=alternative,
        evidence=_evidence(standardised, tail),
    )


def _standardised(orbit: Orbit, moments: MomentGrid | None) -> Standardised:
    if moments is None:
        return standardise(orbit)
    # never below the rounding of the statistic: a constant cell is recognised by its orbit
    return standardise(orbit, mean=moments.mean, sd=np.maximum(moments.sd, orbit.resolution))


def _evidence(standardised: Standardised, tail: Alternative) -> Float:
    """Row 0 of the evidence, as a copy: a view would keep the whole orbit of z-scores alive."""
    return np.array(standardised.evidence(tail)[0])


def _best_value_towards(alternative: Alternative, metric: Metric) -> float | None:
    """Score at perfect agreement, to which only the way to more similarity leads."""
    return best_value(metric.claims) if alternative == "greater" else None
