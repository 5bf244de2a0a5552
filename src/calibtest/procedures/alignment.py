"""Are two representations aligned beyond chance?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibtest.inference.pvalues import Alternative, MonteCarloInterval
from calibtest.metrics.base import Metric
from calibtest.procedures.comparison import Draws, Precision
from calibtest.procedures.layers import LayersResult, run
from calibtest.procedures.provenance import Provenance
from calibtest.schemes.protocol import Scheme
from calibtest.stacks import as_stack

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["AlignmentResult", "alignment_test"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AlignmentResult:
    """Result of `alignment_test`: one pair of representations.

    Attributes
    ----------
    grid : LayersResult
        The same result as a 1 x 1 grid, with the orbit. Everything else is read from it.
    """

    grid: LayersResult

    @property
    def statistic(self) -> float:
        """Observed raw score."""
        return _only(self.grid.scores)

    @property
    def pvalue(self) -> float:
        """Permutation p-value, never 0."""
        return _only(self.grid.cell_pvalue)

    @property
    def null_distribution(self) -> Float:
        """(M - 1,) scores under the relabellings."""
        return self.grid.orbit.null[:, 0, 0]

    @property
    def chance(self) -> float:
        """Mean of the score over relabellings: exact where there is a closed form, else from the draws."""
        return _only(self.grid.chance)

    @property
    def chance_sd(self) -> float:
        """Standard deviation of the score over relabellings, found as `chance` is."""
        return _only(self.grid.chance_sd)

    @property
    def chance_corrected(self) -> float:
        """``(score - chance) / (best value - chance)``; NaN for a score without a best value."""
        return _only(self.grid.chance_corrected)

    @property
    def zscore(self) -> float:
        """``(score - chance) / chance_sd``; NaN where the score never varies."""
        return _only(self.grid.zscore)

    @property
    def threshold(self) -> float:
        """Order statistic of all relabellings that the score must pass at level `alpha` (two-sided: the upper one)."""
        return _only(self.grid.threshold)

    @property
    def lower_threshold(self) -> float | None:
        """The lower threshold of a two-sided test, else None."""
        lower = self.grid.lower_threshold
        return None if lower is None else _only(lower)

    @property
    def calibrated(self) -> float:
        """Positive exactly when ``pvalue <= alpha``: the share of the way from the threshold to the best value."""
        return _only(self.grid.calibrated)

    @property
    def interval(self) -> MonteCarloInterval | None:
        """Monte-Carlo interval of the p-value; None when all relabellings were used."""
        return self.grid.interval

    @property
    def min_pvalue(self) -> float:
        """Least p-value that the design can give."""
        return self.grid.min_pvalue

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
    def alternative(self) -> Alternative:
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
    alternative: Alternative = "greater",
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
    left, right = as_stack(x, "X"), as_stack(y, "Y")
    left.only()
    right.only()
    return AlignmentResult(
        run(
            left,
            right,
            metric=metric,
            aggregate="max",
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
            skip_undefined=False,
        )
    )


def _only(cells: Float) -> float:
    return float(cells[0, 0])
