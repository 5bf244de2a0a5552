"""Debiased linear CKA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind
from calibtest.forms.matching import Matching
from calibtest.metrics.base import Metric
from calibtest.metrics.claims import Claims
from calibtest.prepare.centring import centre_columns
from calibtest.prepare.products import gram_matrix
from calibtest.prepare.relations import Relation, given_kernel, u_centred

__all__ = ["DebiasedCKA"]

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class DebiasedCKA(Metric):
    """Debiased linear CKA: the cosine of the two U-centred Gram matrices.

    The ratio of unbiased HSIC estimates (Song et al. 2012, equation 5; U-centring: Szekely and Rizzo 2014). Its
    permutation mean is exactly 0 and its permutation sd ``sqrt(2 / (n (n - 3)))`` whatever the data; it may be
    negative, and is returned as it is. Needs at least 4 items.
    """

    name = "debiased_cka"
    summary = "linear CKA from unbiased HSIC estimates"
    engine = Matching()
    cost = "n^2 d a layer, n a relabelling and layer pair"
    accepts = frozenset({"activations", "kernel"})
    least_items = 4
    claims = Claims.invariant_to(
        "item_permutation", "unit_permutation", "rotation", "isotropic_scale", "translation", "duplicated_units", "zero_padding",
        range=(-1.0, 1.0),
    )  # fmt: skip

    def define(self, x: Matrix, y: Matrix) -> float:
        def hsic(k: Matrix, l: Matrix) -> float:
            n = len(k)
            k, l = k * (1 - np.eye(n)), l * (1 - np.eye(n))
            product = np.trace(k @ l) + k.sum() * l.sum() / ((n - 1) * (n - 2)) - 2 * (k.sum(0) @ l.sum(0)) / (n - 2)
            return float(product / (n * (n - 3)))

        x, y = x - x.mean(axis=0), y - y.mean(axis=0)
        k, l = x @ x.T, y @ y.T
        return hsic(k, l) / float(np.sqrt(hsic(k, k) * hsic(l, l)))

    def prepare(self, x: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Relation:
        if kind == "kernel":
            return u_centred(given_kernel(x, name), name, dtype=dtype)
        return u_centred(gram_matrix(centre_columns(x, name)), name, dtype=dtype)
