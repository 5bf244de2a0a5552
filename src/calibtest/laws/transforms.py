"""The transforms that claims speak of.

Each takes activations and a generator and returns transformed activations; nothing is modified. There are two tables
because a transform computed in floating point is not quite the transform: a rotation moves every distance by some
rounding, and what was tied no longer is. `TRANSFORMS` draws general members of each group, for data in general
position. `EXACT_TRANSFORMS` draws members that round nothing on whole numbers of modest size (permutations, powers of
two, whole shifts), so that an invariance must hold on tied data too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from calibtest.metrics.claims import TRANSFORMS as KNOWN

__all__ = ["BOTH_SIDES", "EXACT_TRANSFORMS", "TRANSFORMS", "Transform"]

Float = NDArray[np.float64]
Transform = Callable[[Float, np.random.Generator], Float]

BOTH_SIDES = frozenset({"item_permutation"})
"""Transforms that act on both sides at once; apply them with two generators in the same state."""


def _item_permutation(x: Float, rng: np.random.Generator) -> Float:
    return x[rng.permutation(len(x))]


def _unit_permutation(x: Float, rng: np.random.Generator) -> Float:
    return np.ascontiguousarray(x[:, rng.permutation(x.shape[1])])


def _orthogonal(d: int, rng: np.random.Generator) -> Float:
    """Uniform orthogonal matrix, reflections included."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return np.asarray(q * np.sign(np.diag(r)))


def _rotation(x: Float, rng: np.random.Generator) -> Float:
    return np.asarray(x @ _orthogonal(x.shape[1], rng))


def _signed_permutation(x: Float, rng: np.random.Generator) -> Float:
    return np.asarray(_unit_permutation(x, rng) * rng.choice([-1.0, 1.0], size=x.shape[1]))


def _isotropic_scale(x: Float, rng: np.random.Generator) -> Float:
    # six decades either way: what is small beside the data in one unit is large in another
    return x * float(10.0 ** rng.uniform(-6.0, 6.0))


def _isotropic_power(x: Float, rng: np.random.Generator) -> Float:
    return np.ldexp(x, int(rng.integers(-40, 41)))


def _translation(x: Float, rng: np.random.Generator) -> Float:
    spread = np.ptp(x) or 1.0
    return np.asarray(x + rng.uniform(-2.0, 2.0, size=x.shape[1]) * spread)


def _whole_translation(x: Float, rng: np.random.Generator) -> Float:
    return x + rng.integers(-64, 65, size=x.shape[1])


def _invertible_linear(x: Float, rng: np.random.Generator) -> Float:
    stretch = np.exp(rng.uniform(-1.5, 1.5, size=x.shape[1]))  # condition number at most e^3
    return np.asarray((x @ _orthogonal(x.shape[1], rng) * stretch) @ _orthogonal(x.shape[1], rng))


def _unit_scale(x: Float, rng: np.random.Generator) -> Float:
    return np.asarray(x * np.exp(rng.uniform(-2.0, 2.0, size=x.shape[1])))


def _unit_power(x: Float, rng: np.random.Generator) -> Float:
    return np.ldexp(x, rng.integers(-3, 4, size=x.shape[1]))


def _duplicated_units(x: Float, rng: np.random.Generator) -> Float:
    return np.repeat(x, int(rng.integers(2, 5)), axis=1)


def _zero_padding(x: Float, rng: np.random.Generator) -> Float:
    at = int(rng.integers(0, x.shape[1] + 1))
    zeros = np.zeros((len(x), int(rng.integers(1, 5))))
    return np.concatenate((x[:, :at], zeros, x[:, at:]), axis=1)


def _item_scale(x: Float, rng: np.random.Generator) -> Float:
    return np.asarray(x * np.exp(rng.uniform(-2.0, 2.0, size=(len(x), 1))))


def _item_power(x: Float, rng: np.random.Generator) -> Float:
    return np.ldexp(x, rng.integers(-8, 9, size=(len(x), 1)))


def _monotone_distances(x: Float, rng: np.random.Generator) -> Float:
    """Points whose Euclidean distances are a power below 1 of those of `x` (Schoenberg: there are such points)."""
    rows, member = np.unique(x, axis=0, return_inverse=True)  # copies stay copies
    squared = ((rows[:, None] - rows[None]) ** 2).sum(-1)
    powered = (squared / (squared.max() or 1.0)) ** rng.uniform(0.5, 0.9)
    centring = np.eye(len(rows)) - 1.0 / len(rows)
    strength, direction = np.linalg.eigh(-0.5 * centring @ powered @ centring)
    return np.asarray((direction * np.sqrt(np.maximum(strength, 0.0)))[member.ravel()])


TRANSFORMS: Mapping[str, Transform] = {
    "item_permutation": _item_permutation,
    "unit_permutation": _unit_permutation,
    "rotation": _rotation,
    "isotropic_scale": _isotropic_scale,
    "translation": _translation,
    "invertible_linear": _invertible_linear,
    "unit_scale": _unit_scale,
    "duplicated_units": _duplicated_units,
    "zero_padding": _zero_padding,
    "item_scale": _item_scale,
    "monotone_distances": _monotone_distances,
}
"""General members of each group, by the name used in claims."""

EXACT_TRANSFORMS: Mapping[str, Transform] = {
    "item_permutation": _item_permutation,
    "unit_permutation": _unit_permutation,
    "rotation": _signed_permutation,
    "isotropic_scale": _isotropic_power,
    "translation": _whole_translation,
    "invertible_linear": _unit_power,
    "unit_scale": _unit_power,
    "duplicated_units": _duplicated_units,
    "zero_padding": _zero_padding,
    "item_scale": _item_power,
    "monotone_distances": _isotropic_power,
}
"""Members of each group that round nothing on whole numbers."""

assert set(TRANSFORMS) == set(EXACT_TRANSFORMS) == set(KNOWN), "every known transform has a function"
