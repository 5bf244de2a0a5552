"""What a metric is: a definition, its claims and, where it is fast, a decomposition."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind
from calibtest.errors import CalibtestError, CalibtestWarning, InputError
from calibtest.forms.direct import Direct, Raw
from calibtest.forms.evaluation import Evaluation
from calibtest.metrics.claims import Claims
from calibtest.prepare.diagnose import traits
from calibtest.schemes.relabellings import Explicit, Relabellings
from calibtest.stacks import LayerStack, as_stack, pair

__all__ = ["Form", "Metric"]

Matrix = NDArray[np.floating]


class Form(Protocol):
    """How two prepared states meet under a relabelling.

    `prefers_cosets` says whether the form is faster on cosets of shifts than on relabellings one by one, and
    ``state_bytes(n, dtype)`` how much memory the state of one layer of ``n`` items takes beyond its activations.
    """

    @property
    def prefers_cosets(self) -> bool: ...

    def state_bytes(self, n: int, dtype: DTypeLike) -> int: ...

    def evaluate(
        self,
        lefts: Sequence[Any],
        rights: Sequence[Any],
        relabellings: Relabellings,
        *,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Evaluation: ...


@dataclass(frozen=True)
class Metric(ABC):
    """Base of all metrics: a frozen dataclass whose fields are the hyper-parameters.

    A subclass gives its `name`, its `claims` and ``define``, the textbook formula, slow and obviously right; it is then
    evaluated again under every relabelling. A decomposition (``prepare`` and ``engine``) makes it fast, and the law that
    both agree on every relabelling is checked by machine.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = "no summary"
    cost: ClassVar[str] = "one call a relabelling and layer pair"
    misleads: ClassVar[str] = ""
    accepts: ClassVar[frozenset[Kind]] = frozenset({"activations"})
    least_items: ClassVar[int] = 3
    biased_by_width: ClassVar[bool] = False
    equal_widths: ClassVar[bool] = False
    settings: ClassVar[Sequence[Mapping[str, Any]]] = ({},)
    """Hyper-parameters that the laws are run with (on as few as five items), each variant at least once."""

    @property
    @abstractmethod
    def claims(self) -> Claims:
        """What the metric claims about itself with these hyper-parameters."""

    @abstractmethod
    def define(self, x: Matrix, y: Matrix) -> float:
        """Score of two checked float matrices of shapes (n, d_x) and (n, d_y), straight from the definition."""

    @property
    def engine(self) -> Form:
        """How prepared states meet; without a decomposition ``define`` is called again."""
        return Direct(self.define, label=self.name)

    def prepare(self, x: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Any:
        """State of one layer; `name` opens the sentence of an error."""
        return Raw(np.asarray(x, dtype=None if kind == "neighbours" else dtype), kind)

    def source(self, x: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Any:
        """State of a left-hand layer."""
        return self.prepare(x, name, kind=kind, dtype=dtype)

    def target(self, y: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Any:
        """State of a right-hand layer."""
        return self.prepare(y, name, kind=kind, dtype=dtype)

    def affine(self, left: Any, right: Any) -> tuple[float, float]:
        """Factor and offset that turn the form's value into the score (neither depends on the relabelling)."""
        return 1.0, 0.0

    def check_items(self, n: int, name: str) -> None:
        """Refuse fewer items than the metric can use."""
        if n < self.least_items:
            raise InputError(
                f"{name} has n = {n} item{'s' if n != 1 else ''}, but {self.name} needs at least {self.least_items}; add items"
            )

    def check_kind(self, kind: Kind) -> None:
        """Refuse a kind of layer that the metric cannot use."""
        if kind not in self.accepts:
            raise InputError(
                f"metric {self.name} cannot use layers of kind {kind!r}: it takes {', '.join(sorted(self.accepts))}; "
                "choose another metric or pass activations"
            )

    def check_widths(self, left: LayerStack, right: LayerStack) -> None:
        """Refuse layers of different widths where units are compared by their place."""
        if not self.equal_widths:
            return
        for layer, width in zip(left.names, left.widths, strict=True):
            for other, its_width in zip(right.names, right.widths, strict=True):
                if width != its_width:
                    raise InputError(
                        f"metric {self.name} compares unit with unit, but layer {layer!r} of {left.name} has {width} units "
                        f"and layer {other!r} of {right.name} has {its_width}; compare layers of one width or choose "
                        "another metric"
                    )

    def options(self) -> dict[str, Any]:
        """Hyper-parameters by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __str__(self) -> str:
        given = ", ".join(
            f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default
        )
        return f"{self.name}({given})" if given else self.name

    def __call__(self, x: Any, y: Any) -> float:
        """Bare score of two representations, without a test.

        Parameters
        ----------
        x, y : array_like, shapes (n, d_x) and (n, d_y), or one-layer LayerStack
            Items in rows, the same items in the same order (or with ids).

        Returns
        -------
        float
            The raw score, which grows with chance and (for many metrics) with width; `alignment_test` says how much
            of it is more than that.
        """
        paired = pair(as_stack(x, "X"), as_stack(y, "Y"))
        self.check_widths(paired.left, paired.right)
        for side in (paired.left, paired.right):
            self.check_items(side.n_items, side.name)
            self.check_kind(side.kind)
            if self.biased_by_width and side.kind == "activations" and side.widths[0] > side.n_items:
                warnings.warn(
                    f"{side.name} has more features ({side.widths[0]}) than items ({side.n_items}), which pushes {self.name} "
                    "towards 1 for unrelated data; use alignment_test for its chance level, or a debiased metric",
                    CalibtestWarning,
                    stacklevel=2,
                )
            array = side.only()
            for remark in traits(array).remarks(side.name) if side.kind == "activations" else ():
                warnings.warn(remark, CalibtestWarning, stacklevel=2)
        return self.bare_score(paired.left, paired.right)

    def bare_score(self, left: LayerStack, right: LayerStack) -> float:
        """Score of two checked one-layer stacks over the same items."""
        source = self.source(left.only(), left.name, kind=left.kind)
        target = self.target(right.only(), right.name, kind=right.kind)
        identity = Explicit(np.arange(left.n_items, dtype=np.int64)[None])
        return float(self.evaluate([source], [target], identity).values[0, 0, 0])

    def evaluate(
        self,
        lefts: Sequence[Any],
        rights: Sequence[Any],
        relabellings: Relabellings,
        *,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Evaluation:
        """Scores of every pair of prepared states under every relabelling."""
        raw = self.engine.evaluate(lefts, rights, relabellings, threads=threads, progress=progress)
        found = self.finish(raw, lefts, rights)
        low, high = self.claims.range
        if low == 0.0 and not all(getattr(state, "definite", True) for state in (*lefts, *rights)):
            low = -high  # kernels of the caller's own need not be positive, and then two of them can disagree
        return Evaluation(self.within(found.values, found.resolution, low, high), found.resolution)

    def finish(self, raw: Evaluation, lefts: Sequence[Any], rights: Sequence[Any]) -> Evaluation:
        """From the values of the engine to scores: `affine`, unless a metric does more (a root, an angle)."""
        factor, offset = self.affine_grid(lefts, rights)
        values, resolution = raw.values, np.abs(factor) * raw.resolution
        if (factor != 1.0).any():
            values = values * factor
        if offset.any():
            values = values + offset
        return Evaluation(values, resolution)

    def affine_grid(
        self, lefts: Sequence[Any], rights: Sequence[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(L_a, L_b) factors and offsets of `affine`."""
        both = np.array([[self.affine(left, right) for right in rights] for left in lefts], dtype=np.float64)
        return both[..., 0], both[..., 1]

    def within(self, values: Any, resolution: Any, low: float, high: float) -> Any:
        """`values` with rounding beyond the range taken off; anything more is a fault and is raised."""
        slack = 64 * np.maximum(resolution, 4e-16 * np.maximum(1.0, np.abs(values)))
        if (values < low - slack).any() or (values > high + slack).any():
            raise CalibtestError(
                f"metric {self.name} claims the range [{low}, {high}] but gave {float(np.min(values)):.6g} to "
                f"{float(np.max(values)):.6g}; its claim or its formula is wrong"
            )
        return np.clip(values, low, high)
