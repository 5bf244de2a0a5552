"""What a scheme is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from calibtest.schemes.relabellings import Relabellings

__all__ = ["Scheme"]


@runtime_checkable
class Scheme(Protocol):
    """A null hypothesis and the relabellings that it makes equally likely."""

    @property
    def name(self) -> str:
        """Name used in reports and on the command line."""
        ...

    @property
    def null(self) -> str:
        """The null hypothesis, in one sentence."""
        ...

    @property
    def free(self) -> bool:
        """True when every permutation of the items is allowed, so that closed-form moments apply."""
        ...

    def order(self, n: int) -> int:
        """Number of different relabellings of `n` items."""
        ...

    def draw(self, n: int, n_resamples: int, rng: np.random.Generator, *, cosets: bool = True) -> Relabellings:
        """At least `n_resamples` relabellings beside the identity, or all of them where there are no more."""
        ...
