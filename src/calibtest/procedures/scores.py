"""The observed grid alone: raw scores and chance levels, without a test."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import CalibtestWarning
from calibtest.metrics.base import Metric
from calibtest.metrics.registry import resolve_metric
from calibtest.parallel import use_threads
from calibtest.procedures.comparison import Precision, Skipped, check_workers, compare
from calibtest.procedures.notes import data_notes
from calibtest.schemes.exchangeable import Exchangeable
from calibtest.schemes.relabellings import Explicit
from calibtest.stacks import as_stack

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ScoresResult", "alignment_scores"]


@dataclass(frozen=True, eq=False)
class ScoresResult:
    """Raw scores of all pairs of layers.

    Attributes
    ----------
    layers_a, layers_b : tuple of str
        Names of the layers.
    scores : (L_a, L_b) array
        Raw scores.
    chance, chance_sd : (L_a, L_b) array or None
        Mean and sd of the score over free relabellings of the items, where there is a closed form.
    metric, skipped, notes
        As in `LayersResult`.
    """

    layers_a: tuple[str, ...]
    layers_b: tuple[str, ...]
    scores: NDArray[np.float64]
    chance: NDArray[np.float64] | None
    chance_sd: NDArray[np.float64] | None
    metric: Metric
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a pair of layers: ``layer_a, layer_b, score, chance, chance_sd``."""
        from calibtest.report.table import scores_frame

        return scores_frame(self)

    def to_json(self) -> str:
        """The scores as a JSON document."""
        from calibtest.report.document import scores_document

        return scores_document(self)

    def __repr__(self) -> str:
        from calibtest.report.text import scores_text

        return scores_text(self)


def alignment_scores(
    a: Any,
    b: Any,
    *,
    metric: str | Metric | Callable[[Any, Any], float] = "linear_cka",
    precision: Precision = "float64",
    n_jobs: int | None = None,
) -> ScoresResult:
    """Raw scores of all pairs of layers, with their chance level where it has a closed form.

    No hypothesis is tested: raw scores grow with chance, with width and with the number of pairs looked at.

    Parameters
    ----------
    a, b, metric, precision, n_jobs
        As in `layers_test`.

    Returns
    -------
    ScoresResult

    Examples
    --------
    >>> import numpy as np, calibtest
    >>> x = np.random.default_rng(0).standard_normal((40, 5))
    >>> calibtest.alignment_scores(x, x).scores
    array([[1.]])
    """
    chosen = resolve_metric(metric)
    check_workers(n_jobs, None)
    left, right = as_stack(a, "A", layers_axis=True), as_stack(b, "B", layers_axis=True)
    with use_threads(n_jobs):
        comparison = compare(left, right, chosen, precision=precision)
        identity = Explicit(np.arange(comparison.n_items, dtype=np.int64)[None])
        scores = comparison.scores(identity, threads=n_jobs).values[0]
        moments = comparison.moments(Exchangeable())
        notes = tuple(data_notes(comparison, None))
    for note in notes:
        warnings.warn(note, CalibtestWarning, stacklevel=2)
    return ScoresResult(
        layers_a=tuple(comparison.lefts),
        layers_b=tuple(comparison.rights),
        scores=scores,
        chance=None if moments is None else moments.mean,
        chance_sd=None if moments is None else moments.sd,
        metric=chosen,
        skipped=comparison.skipped,
        notes=notes,
    )
