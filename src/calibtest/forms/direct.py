"""The direct form: call a function again under every relabelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind, reordered
from calibtest.errors import RAISED_BY, InputError
from calibtest.forms.evaluation import Evaluation
from calibtest.schemes.relabellings import Relabellings

__all__ = ["Direct", "Raw"]

_CHUNKS = 32


@dataclass(frozen=True, eq=False)
class Raw:
    """An unprepared layer and what its entries mean."""

    array: NDArray[Any]
    kind: Kind = "activations"

    def relabelled(self, pi: NDArray[np.int64]) -> NDArray[Any]:
        """The layer with its items in another order: rows, and columns too where columns are items."""
        return reordered(self.array, self.kind, pi)


@dataclass(frozen=True)
class Direct:
    """Evaluate ``function(x, y[pi])`` for every pair of layers and every relabelling."""

    function: Callable[[Any, Any], float]
    label: str

    prefers_cosets = False

    def state_bytes(self, n: int, dtype: DTypeLike) -> int:
        """Nothing beyond the layer itself."""
        return 0

    def evaluate(
        self,
        lefts: Sequence[Raw],
        rights: Sequence[Raw],
        relabellings: Relabellings,
        *,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Evaluation:
        """Values under every relabelling; with `threads` above 1, in that many joblib processes."""
        listed = relabellings.explicit()
        parts = np.array_split(listed, max(1, min(_CHUNKS, len(listed))))
        found: list[NDArray[np.float64]] = []
        if threads is None or threads == 1:
            results = (_values(self, lefts, rights, part) for part in parts)
        else:
            import joblib

            # the arrays are sent as they are: a memory map would reach the function read-only
            run = joblib.Parallel(n_jobs=threads, return_as="generator", max_nbytes=None)
            results = run(joblib.delayed(_values)(self, lefts, rights, part) for part in parts)
        for part in results:
            found.append(part)
            if progress is not None:
                progress(len(found) / len(parts))
        values = np.concatenate(found)
        bad = np.count_nonzero(np.isnan(values))
        if bad:
            raise InputError(
                f"metric {self.label} returned NaN for {bad} of {values.size} "
                "evaluations, and an undefined value is no evidence; make it defined on every relabelling of the items"
            )
        scale = np.abs(values).max(axis=0, initial=0.0)
        return Evaluation(values, 100.0 * float(np.finfo(np.float64).eps) * scale)


def _values(
    form: Direct, lefts: Sequence[Raw], rights: Sequence[Raw], listed: NDArray[np.int64]
) -> NDArray[np.float64]:
    values = np.empty((len(listed), len(lefts), len(rights)))
    for m, pi in enumerate(listed):
        for b, right in enumerate(rights):
            y = right.relabelled(pi)
            for a, left in enumerate(lefts):
                values[m, a, b] = _called(form, left.array, y)
    return values


def _called(form: Direct, x: NDArray[Any], y: NDArray[Any]) -> float:
    try:
        value = form.function(x, y)
    except Exception as error:  # the caller's own error reaches the caller, with a word on where it came from
        error.add_note(f"{RAISED_BY} {form.label} on arrays of shapes {x.shape} and {y.shape}")
        raise
    return _number(form.label, value)


def _number(label: str, value: Any) -> float:
    try:
        if np.ndim(value) == 0:
            return float(value)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"metric {label} must return one number, got {type(value).__name__}; return a float, such as the mean over units"
    )
