"""Hypothesis strategies for representations: what a property test of an alignment metric should be fed.

Structure and seed: a strategy draws a small recipe (numbers of items and units, the kind of data, a seed) and numpy
builds the array from it. That is fast, shrinks to few items and few units, and reaches the data that break metrics and
that random floats never are: copies, lattices, missing rank, constant units, huge offsets, tiny scales, outliers.

>>> from hypothesis import given
>>> from calibtest.strategies import paired_representations
>>> @given(paired_representations(kind="degenerate"))
... def check(pair):
...     x, y = pair
...     assert len(x) == len(y)
>>> check()
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from calibtest.errors import InputError
from calibtest.schemes.relabellings import Cosets, Explicit
from calibtest.stacks import LayerStack

__all__ = [
    "DEGENERATE",
    "DataKind",
    "Recipe",
    "cosets",
    "layer_stacks",
    "listed_relabellings",
    "paired_representations",
    "recipes",
    "representations",
]

Matrix = NDArray[np.floating[Any]]
DataKind = Literal[
    "generic", "copies", "low_rank", "constant_units", "lattice", "huge_offset", "tiny_scale", "huge_scale", "outliers",
    "clusters", "whitened",
]  # fmt: skip
"""Kinds of data; all but the first are degenerate in one way."""

DEGENERATE: tuple[DataKind, ...] = tuple(kind for kind in get_args(DataKind) if kind != "generic")

Size = int | st.SearchStrategy[int]

_ITEMS = st.integers(5, 24)
_UNITS = st.integers(2, 8)
_LAYERS = st.integers(1, 4)


@dataclass(frozen=True)
class Recipe:
    """What an array is built from; small, readable in a failing example, and shrinkable.

    Attributes
    ----------
    n, d : int
        Items and units.
    kind : str
        One of `DataKind`.
    amount : int
        How much of it: copies an item, rank, levels of a lattice, powers of ten of an offset, and so on.
    seed : int
        Seed of the noise.
    scale, offset : float
        Factor on all entries and constant added to them, last.
    """

    n: int
    d: int
    kind: DataKind
    amount: int
    seed: int
    scale: float = 1.0
    offset: float = 0.0

    def build(
        self, *, signal: NDArray[np.float64] | None = None, share: float = 0.0, dtype: DTypeLike = np.float64
    ) -> Matrix:
        """The array of shape (n, d); `share` of its variance is a random projection of `signal`."""
        rng = np.random.default_rng(self.seed)
        x = rng.standard_normal((self.n, self.d))
        if signal is not None and share > 0.0:
            shared = signal @ rng.standard_normal((signal.shape[1], self.d)) / np.sqrt(signal.shape[1])
            x = np.sqrt(1.0 - share) * x + np.sqrt(share) * shared
        x = self._degrade(x, rng)
        return np.ascontiguousarray((x * self.scale + self.offset).astype(dtype))

    def _degrade(self, x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        n, d, amount = self.n, self.d, self.amount
        if self.kind == "copies":  # at least two different rows
            owner = rng.integers(0, max(2, n // (1 + amount)), size=n)
            owner[:2] = 0, 1
            return np.asarray(x[rng.permutation(owner)])
        if self.kind == "low_rank":
            rank = min(amount, d)
            return np.asarray(x[:, :rank] @ rng.standard_normal((rank, d)))
        if self.kind == "constant_units":
            x[:, rng.permutation(d)[: min(amount, d - 1)]] = rng.integers(-3, 4)
            return x
        if self.kind == "lattice":
            whole = np.rint(x * amount)
            whole[0, 0] = whole[1:, 0].max() + 1.0  # not constant
            return np.asarray(whole)
        if self.kind == "huge_offset":
            return np.asarray(x + 10.0 ** (1 + amount) * np.sign(rng.standard_normal(d)))
        if self.kind in ("tiny_scale", "huge_scale"):
            return np.asarray(x * 10.0 ** ((-1 if self.kind == "tiny_scale" else 1) * 30 * amount))
        if self.kind == "outliers":
            x[rng.integers(0, n, size=1 + amount // 3)] *= 10.0 ** (1 + amount)
            return x
        if (
            self.kind == "whitened"
        ):  # all directions equally strong; with n - 1 units or more, all items equally far apart
            directions, strengths, units = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
            kept = strengths > 1e-6 * strengths[0]
            return np.asarray(directions[:, kept] @ units[kept] * np.sqrt(n))
        if self.kind == "clusters":  # far apart, tight inside
            centres = 100.0 * rng.standard_normal((1 + amount, d))
            return np.asarray(centres[rng.integers(0, 1 + amount, size=n)] + 10.0**-amount * x)
        return x


def _size(size: Size) -> st.SearchStrategy[int]:
    return st.just(size) if isinstance(size, int) else size


@st.composite
def recipes(  # noqa: D417 - callers do not pass `draw`
    draw: st.DrawFn,
    *,
    n: Size = _ITEMS,
    d: Size = _UNITS,
    kind: DataKind | Literal["degenerate", "any"] = "generic",
    rank: int | None = None,
    copies: int | None = None,
    outliers: int | None = None,
    scale: float = 1.0,
    offset: float = 0.0,
) -> Recipe:
    """Recipes of arrays.

    Parameters
    ----------
    n, d : int or strategy of int
        Items and units.
    kind : str
        One of `DataKind`, ``"degenerate"`` for any but the generic one, or ``"any"``.
    rank, copies, outliers : int, optional
        Fix the kind, and how much of it: the rank, the number of copies an item, the power of ten of outlying rows.
    scale, offset : float
        Factor on all entries and constant added to them.
    """
    asked: tuple[tuple[DataKind, int | None], ...] = (("low_rank", rank), ("copies", copies), ("outliers", outliers))
    fixed = [(name, amount) for name, amount in asked if amount is not None]
    if len(fixed) > 1:
        raise InputError("at most one of rank, copies and outliers may be given; a recipe is degenerate in one way")
    chosen: DataKind
    if fixed:
        chosen, amount = fixed[0]
    else:
        among = {"degenerate": DEGENERATE, "any": get_args(DataKind)}
        chosen = draw(st.sampled_from(among[kind])) if kind in among else cast(DataKind, kind)
        amount = draw(st.integers(1, 4))
    return Recipe(draw(_size(n)), draw(_size(d)), chosen, amount, draw(st.integers(0, 2**16)), scale, offset)


@st.composite
def representations(
    draw: st.DrawFn,
    *,
    n: Size = _ITEMS,
    d: Size = _UNITS,
    kind: DataKind | Literal["degenerate", "any"] = "generic",
    rank: int | None = None,
    copies: int | None = None,
    outliers: int | None = None,
    scale: float = 1.0,
    offset: float = 0.0,
    dtype: DTypeLike = np.float64,
) -> Matrix:
    """One representation, an (n, d) array that is not constant; parameters as in `recipes`, and the dtype."""
    recipe = draw(recipes(n=n, d=d, kind=kind, rank=rank, copies=copies, outliers=outliers, scale=scale, offset=offset))
    return recipe.build(dtype=dtype)


@st.composite
def paired_representations(  # noqa: D417
    draw: st.DrawFn,
    *,
    n: Size = _ITEMS,
    d: Size = _UNITS,
    kind: DataKind | Literal["degenerate", "any"] = "generic",
    signal: float | None = None,
    same_width: bool = False,
    scale: float = 1.0,
    offset: float = 0.0,
    dtype: DTypeLike = np.float64,
) -> tuple[Matrix, Matrix]:
    """Two representations of the same items, each with a width and (if degenerate) a kind of its own.

    Parameters
    ----------
    n, d, kind, scale, offset, dtype
        As in `representations`.
    signal : float, optional
        Share of variance, from 0 to 1, that both sides take from the same two hidden variables; drawn if not given.
    same_width : bool
        Whether both sides have one width.
    """
    items = draw(_size(n))
    share = draw(st.sampled_from([0.0, 0.5, 0.9])) if signal is None else signal
    width = draw(_size(d)) if same_width else d
    one, two = (draw(recipes(n=items, d=width, kind=kind, scale=scale, offset=offset)) for _ in range(2))
    hidden = np.random.default_rng(one.seed + 1).standard_normal((items, 2))
    return one.build(signal=hidden, share=share, dtype=dtype), two.build(signal=hidden, share=share, dtype=dtype)


@st.composite
def layer_stacks(
    draw: st.DrawFn,
    *,
    n: Size = _ITEMS,
    d: Size = _UNITS,
    layers: Size = _LAYERS,
    kind: DataKind | Literal["degenerate", "any"] = "generic",
    name: str = "A",
    dtype: DTypeLike = np.float64,
) -> LayerStack:
    """A stack of layers of different widths over the same items."""
    items = draw(_size(n))
    built = {f"layer{i}": draw(recipes(n=items, d=d, kind=kind)).build(dtype=dtype) for i in range(draw(_size(layers)))}
    return LayerStack.build(built, name=name)


@st.composite
def listed_relabellings(draw: st.DrawFn, n: int, *, most: int = 6) -> Explicit:
    """A list of relabellings of `n` items, the identity first."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    count = draw(st.integers(1, most))
    return Explicit(np.stack([np.arange(n), *(rng.permutation(n) for _ in range(count))]).astype(np.int64))


@st.composite
def cosets(draw: st.DrawFn, n: int, *, most: int = 3) -> Cosets:
    """Cosets on any layout of `n` items: one ring of all, several rings, some items on no ring."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    tracks = draw(st.integers(1, max(1, n // 2)))
    period = draw(st.integers(2, n // tracks)) if n // tracks >= 2 else 1
    order = rng.permutation(n).astype(np.int64)
    others = [rng.permutation(n) for _ in range(draw(st.integers(0, most - 1)))]
    return Cosets(order, tracks, period, np.stack([order, *others]).astype(np.int64))
