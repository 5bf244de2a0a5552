"""Representational similarity analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind
from calibtest.errors import InputError
from calibtest.forms.matching import Matching
from calibtest.metrics.base import Metric
from calibtest.metrics.claims import Claims
from calibtest.prepare.centring import power_of_two_scaled
from calibtest.prepare.distances import pairwise_distances
from calibtest.prepare.relations import Relation, standardised

__all__ = ["RSA"]

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class RSA(Metric):
    """Correlation of the two representational dissimilarity matrices (Kriegeskorte, Mur and Bandettini 2008).

    Parameters
    ----------
    distance : {"correlation", "cosine", "euclidean"}
        Distance between the vectors of two items.
    comparison : {"spearman", "pearson"}
        Correlation over the pairs of different items.
    """

    distance: Literal["correlation", "cosine", "euclidean"] = "correlation"
    comparison: Literal["spearman", "pearson"] = "spearman"

    name = "rsa"
    summary = "correlation of dissimilarity matrices"
    engine = Matching()
    cost = "n^2 d a layer (and a sort of n^2 distances), n a relabelling and layer pair"
    accepts = frozenset({"activations", "distance"})
    settings = tuple(
        {"distance": distance, "comparison": comparison}
        for distance in ("correlation", "cosine", "euclidean")
        for comparison in ("spearman", "pearson")
    )

    def __post_init__(self) -> None:
        if self.distance not in ("correlation", "cosine", "euclidean"):
            raise InputError(f"distance must be 'correlation', 'cosine' or 'euclidean', got {self.distance!r}")
        if self.comparison not in ("spearman", "pearson"):
            raise InputError(f"comparison must be 'spearman' or 'pearson', got {self.comparison!r}")

    @property
    def claims(self) -> Claims:
        own: tuple[str, ...] = {
            "correlation": ("item_scale",),
            "cosine": ("item_scale", "rotation", "zero_padding"),
            "euclidean": ("rotation", "translation", "zero_padding"),
        }[self.distance]
        if (self.distance, self.comparison) == ("euclidean", "spearman"):
            own += ("monotone_distances",)
        return Claims.invariant_to(
            "item_permutation", "unit_permutation", "isotropic_scale", "duplicated_units", *own, range=(-1.0, 1.0)
        )

    def define(self, x: Matrix, y: Matrix) -> float:
        from scipy.spatial.distance import pdist
        from scipy.stats import pearsonr, spearmanr

        a, b = pdist(x, self.distance), pdist(y, self.distance)
        return float((spearmanr(a, b) if self.comparison == "spearman" else pearsonr(a, b)).statistic)

    def prepare(self, x: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Relation:
        if kind == "distance":
            distances = power_of_two_scaled(x)
        else:
            distances = pairwise_distances(x, name, self.distance)
        return standardised(distances, name, ranks=self.comparison == "spearman", dtype=dtype)
