"""The chance level of a score: the width correction on its own."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from calibtest.errors import CalibtestWarning, InputError
from calibtest.metrics.base import Metric
from calibtest.metrics.registry import resolve_metric
from calibtest.procedures.comparison import compare
from calibtest.procedures.notes import data_notes
from calibtest.schemes.exchangeable import Exchangeable
from calibtest.stacks import as_stack

__all__ = ["ChanceLevel", "chance_level"]


@dataclass(frozen=True)
class ChanceLevel:
    """Exact mean and standard deviation of a score over all permutations of the items.

    Attributes
    ----------
    mean, sd : float
        In the units of the score.
    """

    mean: float
    sd: float


def chance_level(metric: str | Metric, x: Any, y: Any) -> ChanceLevel:
    """How large is the score of these two representations when their items are paired at random?

    The mean and sd are over all n! pairings of the items, in closed form, so nothing is drawn. For linear CKA the mean
    is ``sqrt(b_x b_y) / (n - 1)`` with effective dimensions ``b``; for mutual k-nearest neighbours it is
    ``k / (n - 1)`` (without ties) at any width; for debiased CKA it is 0.

    Parameters
    ----------
    metric : str or Metric
        A metric with a closed form (CKA, RV, RSA, mutual k-nearest neighbours).
    x, y : array_like, shapes (n, d_x) and (n, d_y), or one-layer LayerStack
        Activations.

    Returns
    -------
    ChanceLevel

    Raises
    ------
    InputError
        When the metric has no closed form (use `alignment_test`, which estimates it from the draws).

    Warns
    -----
    CalibtestWarning
        When one item or unit dominates, or items have ties.

    Examples
    --------
    >>> import numpy as np, calibtest
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((101, 300)), rng.standard_normal((101, 300))
    >>> round(calibtest.chance_level("linear_cka", x, y).mean, 2)  # unrelated, and yet
    0.75
    >>> round(calibtest.chance_level("mutual_knn", x, y).mean, 2)
    0.1
    """
    chosen = resolve_metric(metric)
    left, right = as_stack(x, "X"), as_stack(y, "Y")
    for side in (left, right):
        if len(side) != 1:
            raise InputError(
                f"chance_level compares one layer with one, but {side.name} has {len(side)} layers; use alignment_scores for a grid"
            )
    comparison = compare(left, right, chosen, skip_undefined=False)
    moments = comparison.moments(Exchangeable())
    if moments is None:
        raise InputError(
            f"metric {chosen.name} has no closed-form chance level; alignment_test estimates it from its draws"
        )
    for note in data_notes(comparison, None):
        warnings.warn(note, CalibtestWarning, stacklevel=2)
    return ChanceLevel(float(moments.mean[0, 0]), float(moments.sd[0, 0]))
