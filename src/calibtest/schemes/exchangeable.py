"""Free exchange of all items."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibtest.schemes.design import Design
from calibtest.schemes.relabellings import Relabellings

__all__ = ["Exchangeable"]


@dataclass(frozen=True)
class Exchangeable:
    """All items may change places.

    The null hypothesis: the items of the right-hand side are exchangeable given the left-hand side.
    """

    name = "exchangeable"
    free = True
    null = "the pairing of the items carries no information: every order of the right-hand items was equally likely"

    def order(self, n: int) -> int:
        return math.factorial(n)

    def draw(self, n: int, n_resamples: int, rng: np.random.Generator, *, cosets: bool = True) -> Relabellings:
        return Design((np.arange(n, dtype=np.int64)[:, None],)).draw(n_resamples, rng, cosets=cosets)
