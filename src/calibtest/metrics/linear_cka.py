"""Linear centred kernel alignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind
from calibtest.forms.matching import Matching
from calibtest.metrics.base import Metric
from calibtest.metrics.claims import Claims
from calibtest.prepare.centring import centre_columns
from calibtest.prepare.relations import Relation, double_centred, given_kernel, gram
from calibtest.stacks import LayerStack

__all__ = ["LinearCKA"]

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class LinearCKA(Metric):
    """Linear CKA: the cosine of the two centred Gram matrices.

    ``|X'Y|_F^2 / (|X'X|_F |Y'Y|_F)`` with centred columns (Kornblith, Norouzi, Lee and Hinton 2019, equation 4 with
    linear kernels). Its value for unrelated data grows with the effective dimension over the number of items.
    """

    name = "linear_cka"
    summary = "linear centred kernel alignment"
    engine = Matching()
    cost = "n^2 d a layer, n a relabelling and layer pair"
    accepts = frozenset({"activations", "kernel"})
    biased_by_width = True
    claims = Claims.invariant_to(
        "item_permutation", "unit_permutation", "rotation", "isotropic_scale", "translation", "duplicated_units", "zero_padding",
        range=(0.0, 1.0),
    )  # fmt: skip

    def define(self, x: Matrix, y: Matrix) -> float:
        x = x - x.mean(axis=0)
        y = y - y.mean(axis=0)
        norms = np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
        return float(np.linalg.norm(x.T @ y) ** 2 / norms)

    def bare_score(self, left: LayerStack, right: LayerStack) -> float:
        same_metric = type(self).prepare is LinearCKA.prepare  # a subclass may prepare differently
        few_units = max(left.widths + right.widths) < left.n_items
        if not (same_metric and few_units and left.kind == right.kind == "activations"):
            return super().bare_score(left, right)
        # the same number from d x d products, without a relation between all items
        x, y = centre_columns(left.only(), left.name), centre_columns(right.only(), right.name)
        return min(1.0, self.define(x, y))

    def prepare(self, x: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Relation:
        if kind == "kernel":
            return double_centred(given_kernel(x, name), name, dtype=dtype)
        return gram(centre_columns(x, name), name, dtype=dtype)
