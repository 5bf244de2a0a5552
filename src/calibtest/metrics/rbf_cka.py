"""CKA with a Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind
from calibtest.errors import InputError
from calibtest.forms.matching import Matching
from calibtest.metrics.base import Metric
from calibtest.metrics.claims import Claims
from calibtest.prepare.centring import scaled_to_unit
from calibtest.prepare.distances import squared_distances
from calibtest.prepare.relations import Relation, double_centred, gaussian_kernel

__all__ = ["RBFCKA"]

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class RBFCKA(Metric):
    """CKA with the kernel ``exp(-|x - x'|^2 / (2 s^2))`` (Kornblith et al. 2019).

    Parameters
    ----------
    bandwidth : float, optional
        ``s`` in the units of the activations. With a fixed bandwidth the score depends on the scale of the data.
    fraction : float
        Without `bandwidth`, ``s`` is this fraction of the median distance between different items; the value used
        is recorded in the result.
    """

    bandwidth: float | None = None
    fraction: float = 1.0

    name = "rbf_cka"
    summary = "centred kernel alignment with a Gaussian kernel"
    engine = Matching()
    cost = "n^2 d a layer, n a relabelling and layer pair"
    accepts = frozenset({"activations", "distance"})
    biased_by_width = True
    settings = ({}, {"fraction": 0.3}, {"bandwidth": 2.0})

    def __post_init__(self) -> None:
        for field, value in (("bandwidth", self.bandwidth), ("fraction", self.fraction)):
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            if (value is None and field == "fraction") or (value is not None and not (number and 0 < value < np.inf)):
                raise InputError(f"{field} must be a positive number, got {value!r}")

    @property
    def claims(self) -> Claims:
        own = () if self.bandwidth is not None else ("isotropic_scale", "duplicated_units")
        return Claims.invariant_to(
            "item_permutation", "unit_permutation", "rotation", "translation", "zero_padding", *own, range=(0.0, 1.0)
        )

    def define(self, x: Matrix, y: Matrix) -> float:
        def kernel(z: Matrix) -> Matrix:
            squared = ((z[:, None] - z[None]) ** 2).sum(-1)
            s = self.bandwidth or self.fraction * np.median(np.sqrt(squared[np.triu_indices(len(z), 1)]))
            return np.asarray(np.exp(-squared / (2 * s**2)))

        centring = np.eye(len(x)) - 1 / len(x)
        k, l = centring @ kernel(x) @ centring, centring @ kernel(y) @ centring
        return float((k * l).sum() / (np.linalg.norm(k) * np.linalg.norm(l)))

    def prepare(self, x: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Relation:
        if kind == "distance":
            scaled, taken = scaled_to_unit(x)
            squared, exponent = scaled**2, int(taken.item())
        else:
            squared, exponent = squared_distances(x, name)
        own_units = None if self.bandwidth is None else float(np.ldexp(self.bandwidth, -exponent))
        kernel, used = gaussian_kernel(squared, name, bandwidth=own_units, fraction=self.fraction)
        from_activations = kind == "activations"  # other distances need not give a positive kernel
        return double_centred(
            kernel, name, dtype=dtype, definite=from_activations, details={"bandwidth": float(np.ldexp(used, exponent))}
        )
