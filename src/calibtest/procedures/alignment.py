"""Are two representations aligned beyond chance?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import CalibtestWarning
from calibtest.inference.aggregates import Max
from calibtest.inference.calibration import check_alpha
from calibtest.inference.pvalues import MonteCarloInterval, check_alternative
from calibtest.metrics.base import Metric
from calibtest.metrics.registry import resolve_metric
from calibtest.procedures.comparison import Draws, Precision, check_resamples, check_workers, compare
from calibtest.procedures.layers import LayersResult, run
from calibtest.procedures.provenance import Provenance
from calibtest.schemes.protocol import Scheme
from calibtest.schemes.resolve import resolve_scheme
from calibtest.stacks import LayerStack

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["AlignmentResult", "alignment_test"]


@dataclass(frozen=True, eq=False)
class AlignmentResult:
    """Result of `alignment_test`: one pair of representations.

    Attributes
    ----------
    statistic : float
        Observed raw score.
    pvalue : float
        Permutation p-value, never 0.
    null_distribution : (M - 1,) array
        Scores under the relabellings.
    chance, chance_sd : float
        Mean and sd of the score over relabellings: exact where there is a closed form, else from the draws.
    chance_corrected : float
        ``(score - chance) / (best value - chance)``; NaN for a score without a best value.
    zscore : float
        ``(score - chance) / chance_sd``; NaN where the score never varies.
    threshold : float
        Order statistic of all relabellings that the score must pass at level `alpha`.
    calibrated : float
        Positive exactly when ``pvalue <= alpha``: the share of the way from the threshold to the best value.
    interval : MonteCarloInterval or None
        Monte-Carlo interval of the p-value; None when all relabellings were used.
    min_pvalue : float
        Least p-value that the design can give.
    grid : LayersResult
        The same result as a 1 x 1 grid, with the orbit.
    """

    statistic: float
    pvalue: float
    null_distribution: NDArray[np.float64]
    chance: float
    chance_sd: float
    chance_corrected: float
    zscore: float
    threshold: float
    calibrated: float
    interval: MonteCarloInterval | None
    min_pvalue: float
    grid: LayersResult

    @property
    def n_resamples(self) -> int:
        """Number of relabellings beside the identity."""
        return self.grid.n_resamples

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the data and the design."""
        return self.grid.notes

    @property
    def provenance(self) -> Provenance:
        """Metric, scheme, relabellings, seed, versions and digests of the inputs."""
        return self.grid.provenance

    @property
    def alternative(self) -> str:
        """The alternative that was tested."""
        return self.grid.alternative

    @property
    def alpha(self) -> float:
        """Level of the threshold and of the calibrated score."""
        return self.grid.alpha

    def to_frame(self) -> pd.DataFrame:
        """One row, with the columns of `LayersResult.to_frame`."""
        return self.grid.to_frame()

    def to_json(self, *, null: bool = False) -> str:
        """The result as a JSON document; with `null` the null distribution too."""
        from calibtest.report.document import alignment_document

        return alignment_document(self, null=null)

    def plot(self) -> Figure:
        """Histogram of the null distribution with the observed score and the threshold."""
        from calibtest.report.draw import draw_alignment

        return draw_alignment(self)

    def __repr__(self) -> str:
        from calibtest.report.text import alignment_text

        return alignment_text(self)


def alignment_test(
    x: Any,
    y: Any,
    *,
    metric: str | Metric | Callable[[Any, Any], float] = "linear_cka",
    scheme: str | Scheme | None = None,
    groups: Any = None,
    n_resamples: int = 9999,
    alternative: str = "greater",
    alpha: float = 0.05,
    draws: Draws | None = None,
    precision: Precision = "float64",
    rng: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> AlignmentResult:
    """Are two representations aligned beyond chance?

    The null hypothesis says that the pairing of the items carries no information: under the scheme, every relabelling
    of the items of `y` was as likely as the observed one.

    Parameters
    ----------
    x, y : array_like, shapes (n, d_x) and (n, d_y), or one-layer LayerStack
        Activations: items in rows, the same items on both sides (paired by id where both have ids).
    metric : str, Metric or callable ``f(x, y) -> float``
        Score of the pair; see `metrics`.
    scheme, groups, n_resamples, alternative, alpha, draws, precision, rng, n_jobs, progress
        As in `layers_test`.

    Returns
    -------
    AlignmentResult

    Raises
    ------
    InputError
        When the input cannot be used, or the score is undefined (a constant representation).

    References
    ----------
    Phipson and Smyth (2010) on p-values that are never zero; Groeger, Wen and Brbic (2026) on calibrated similarity.

    Examples
    --------
    Unrelated noise, wider than it has items, has a high raw score; its chance level is just as high.

    >>> import numpy as np, calibtest
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((50, 400)), rng.standard_normal((50, 400))
    >>> result = calibtest.alignment_test(x, y, n_resamples=999, rng=0)
    >>> round(result.statistic, 2), round(result.chance, 2), result.calibrated
    (0.89, 0.89, 0.0)
    """
    chosen = resolve_metric(metric)
    plan = resolve_scheme(scheme, groups)
    level, direction, asked = check_alpha(alpha), check_alternative(alternative), check_resamples(n_resamples)
    check_workers(n_jobs, progress)
    left, right = _one_layer(x, "X"), _one_layer(y, "Y")
    comparison = compare(left, right, chosen, precision=precision, skip_undefined=False)
    grid = run(
        comparison,
        Max(),
        plan,
        n_resamples=asked,
        alternative=direction,
        alpha=level,
        draws=draws,
        rng=rng,
        n_jobs=n_jobs,
        progress=progress,
    )
    for note in grid.notes:
        warnings.warn(note, CalibtestWarning, stacklevel=2)
    cells, omnibus = grid.cells, grid.omnibus
    return AlignmentResult(
        statistic=float(cells.scores[0, 0]),
        pvalue=float(cells.pvalue[0, 0]),
        null_distribution=grid.orbit.null[:, 0, 0],
        chance=float(cells.chance[0, 0]),
        chance_sd=float(cells.chance_sd[0, 0]),
        chance_corrected=float(cells.chance_corrected[0, 0]),
        zscore=float(cells.zscore[0, 0]),
        threshold=float(cells.threshold[0, 0]),
        calibrated=float(cells.calibrated[0, 0]),
        interval=omnibus.interval,
        min_pvalue=omnibus.min_pvalue,
        grid=grid,
    )


def _one_layer(obj: Any, name: str) -> LayerStack:
    stack = LayerStack.build(obj, name=obj.name if isinstance(obj, LayerStack) else name)
    stack.only()
    return stack
