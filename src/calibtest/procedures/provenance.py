"""Where a result comes from: enough to run it again and to notice that an input has changed."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from calibtest.arrays import Kind
from calibtest.procedures.comparison import Comparison
from calibtest.schemes.protocol import Scheme
from calibtest.stacks import LayerStack

__all__ = ["Input", "Provenance", "provenance", "versions"]


@dataclass(frozen=True, eq=False)
class Input:
    """One side of a comparison: what it was, without what it held.

    Attributes
    ----------
    name : str
        What the side is called.
    kind : str
        What its layers hold.
    source : str or None
        File or folder that it came from.
    widths : dict of str to int
        Width of every layer.
    """

    name: str
    kind: Kind
    source: str | None
    widths: dict[str, int]
    _held: LayerStack | dict[str, str] = field(repr=False)

    @classmethod
    def of(cls, stack: LayerStack) -> Input:
        """The side that `stack` is."""
        return cls(stack.name, stack.kind, stack.source, dict(zip(stack.names, stack.widths, strict=True)), stack)

    def digests(self) -> dict[str, str]:
        """SHA-256 of every layer (computed when asked for)."""
        return self._held.digests() if isinstance(self._held, LayerStack) else dict(self._held)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: digests in place of the activations."""
        return {**vars(self), "_held": self.digests()}


@dataclass(frozen=True, eq=False)
class Provenance:
    """Origin of a result.

    Attributes
    ----------
    metric : str
        Metric with its hyper-parameters.
    options : dict
        Hyper-parameters by name.
    chosen_from_data : dict
        What preparation took from the data (bandwidths), by layer.
    scheme, null : str
        Name of the scheme and its null hypothesis in one sentence.
    relabellings : str
        Number and kind of relabellings.
    seed : int or str
        Seed, or a description of the caller's generator.
    n_items : int
        Number of items.
    versions : dict of str to str
        Versions of Python and of the packages that took part.
    inputs : (Input, Input)
        The two sides.
    """

    metric: str
    options: dict[str, Any]
    chosen_from_data: dict[str, dict[str, float]]
    scheme: str
    null: str
    relabellings: str
    seed: int | str
    n_items: int
    versions: dict[str, str]
    inputs: tuple[Input, Input]

    def digests(self) -> dict[str, dict[str, str]]:
        """SHA-256 of every layer, by side (computed when asked for)."""
        left, right = self.inputs
        return {f"a:{left.name}": left.digests(), f"b:{right.name}": right.digests()}


def provenance(comparison: Comparison, scheme: Scheme, relabellings: str, seed: int | str) -> Provenance:
    """Provenance of a test on `comparison`."""
    return Provenance(
        metric=str(comparison.metric),
        options=comparison.metric.options(),
        chosen_from_data=comparison.details(),
        scheme=scheme.name,
        null=scheme.null,
        relabellings=relabellings,
        seed=seed,
        n_items=comparison.n_items,
        versions=versions(),
        inputs=(Input.of(comparison.paired.left), Input.of(comparison.paired.right)),
    )


@cache
def versions() -> dict[str, str]:
    """Versions of Python, calibtest and the numerical packages."""
    found = {"python": platform.python_version()}
    for name in ("calibtest", "numpy", "scipy", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
