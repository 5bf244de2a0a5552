"""A plain callable as a metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.metrics.base import Metric
from calibtest.metrics.claims import TRANSFORMS, Claims

__all__ = ["FunctionMetric"]

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """Wrap ``f(x, y) -> float``; it is called again under every relabelling of the items of `y`.

    Parameters
    ----------
    function : callable
        Takes two float arrays of shapes (n, d_x) and (n, d_y).
    larger_is_more_similar : bool
        Pass False for a distance: alignment is then tested in the lower tail.
    label : str, optional
        Name in reports; by default the function's own.
    """

    function: Callable[[Any, Any], float]
    larger_is_more_similar: bool = True
    label: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                f"function must be a callable f(x, y) -> float, got {self.function!r}; pass the function itself"
            )
        if not isinstance(self.larger_is_more_similar, bool | np.bool_):
            raise InputError(
                f"larger_is_more_similar must be True or False, got {self.larger_is_more_similar!r}; False is for distances"
            )

    summary = "a callable of the user's own"
    accepts = frozenset({"activations", "kernel", "distance", "neighbours"})
    least_items = 2

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.label or str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def claims(self) -> Claims:
        """Nothing but the direction: a callable has made no claims."""
        return Claims(
            frozenset(),
            frozenset(TRANSFORMS),
            (-np.inf, np.inf),
            symmetric=False,
            self_value=None,
            larger_is_more_similar=self.larger_is_more_similar,
        )

    def define(self, x: Matrix, y: Matrix) -> float:
        return self.function(x, y)

    def __str__(self) -> str:
        return self.name
