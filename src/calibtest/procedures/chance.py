"""The chance level of a score: the width correction on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibtest.errors import InputError
from calibtest.metrics.base import Metric
from calibtest.metrics.registry import resolve_metric
from calibtest.procedures.comparison import compare
from calibtest.schemes.exchangeable import Exchangeable
from calibtest.stacks import LayerStack

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
    comparison = compare(LayerStack.build(x, name="X"), LayerStack.build(y, name="Y"), chosen, skip_undefined=False)
    moments = comparison.moments(Exchangeable())
    if moments is None:
        raise InputError(
            f"metric {chosen.name} has no closed-form chance level; alignment_test estimates it from its draws"
        )
    if moments.mean.size != 1:
        raise InputError("chance_level compares one layer with one; use alignment_scores for a grid")
    return ChanceLevel(float(moments.mean[0, 0]), float(moments.sd[0, 0]))
