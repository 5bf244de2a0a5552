"""A plain callable as a metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind
from calibtest.errors import InputError
from calibtest.forms.direct import Direct, Raw
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
            raise InputError(f"function must be a callable f(x, y) -> float, got {self.function!r}")
        if not isinstance(self.larger_is_more_similar, bool | np.bool_):
            raise InputError(f"larger_is_more_similar must be True or False, got {self.larger_is_more_similar!r}")

    summary = "a callable of the user's own"
    cost = "one call a relabelling and layer pair"
    accepts = frozenset({"activations", "kernel", "distance", "neighbours"})
    least_items = 2

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.label or str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def form(self) -> Direct:  # type: ignore[override]
        return Direct(self.function)

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
        return float(self.function(x, y))

    def prepare(self, x: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Raw:
        return Raw(np.asarray(x, dtype=dtype if kind != "neighbours" else None), kind)

    def __str__(self) -> str:
        return self.name
