"""Mutual k-nearest-neighbour overlap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind
from calibtest.errors import InputError
from calibtest.forms.overlap import Overlap
from calibtest.metrics.base import Metric
from calibtest.metrics.claims import Claims
from calibtest.prepare.centring import require_varied
from calibtest.prepare.neighbours import (
    NeighbourGraph,
    neighbour_graph,
    neighbour_graph_from_distances,
    neighbour_graph_from_lists,
)

__all__ = ["MutualKNN"]

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class MutualKNN(Metric):
    """Share of an item's `k` nearest neighbours that the two representations have in common.

    The mean over items of ``|N_x(i) & N_y(i)| / k`` (Huh, Cheung, Wang and Isola 2024, equation 11). Items tied at the
    k-th place share the remaining places equally, so the score depends neither on the order of the items nor on how
    a sort breaks ties; with ties the overlap is divided by ``sqrt(<A, A> <B, B>)`` (which is ``n k`` without), so a
    representation has score 1 with itself. Chance is ``k / (n - 1)`` without ties, at any width.

    Parameters
    ----------
    k : int
        Number of neighbours, ``1 <= k < n``.
    distance : {"cosine", "euclidean"}
        Distance that ranks the neighbours.
    """

    k: int = 10
    distance: Literal["cosine", "euclidean"] = "cosine"

    name = "mutual_knn"
    summary = "overlap of the k nearest neighbours"
    engine = Overlap()
    cost = "n^2 d a layer, k^2 a relabelling and layer pair"
    accepts = frozenset({"activations", "distance", "neighbours"})
    settings = ({"k": 1}, {"k": 3}, {"k": 1, "distance": "euclidean"}, {"k": 3, "distance": "euclidean"})

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            raise InputError(f"k must be a whole number of at least 1, got {self.k!r}")
        if self.distance not in ("cosine", "euclidean"):
            raise InputError(f"distance must be 'cosine' or 'euclidean', got {self.distance!r}")

    @property
    def claims(self) -> Claims:
        own = ("item_scale",) if self.distance == "cosine" else ("translation", "monotone_distances")
        return Claims.invariant_to(
            "item_permutation", "unit_permutation", "rotation", "isotropic_scale", "duplicated_units", "zero_padding", *own,
            range=(0.0, 1.0),
        )  # fmt: skip

    def define(self, x: Matrix, y: Matrix) -> float:
        def membership(z: Matrix) -> Matrix:
            if self.distance == "cosine":
                z = z / np.linalg.norm(z, axis=1, keepdims=True)
            distances = ((z[:, None] - z[None]) ** 2).sum(-1)
            np.fill_diagonal(distances, np.inf)
            last = np.sort(distances, axis=1)[:, self.k - 1, None]
            slack = 1e-12 * last + (1e-30 if self.distance == "cosine" else 0.0)
            sure = distances < last - slack
            tied = (np.abs(distances - last) <= slack) & ~sure
            shares = (self.k - sure.sum(1, keepdims=True)) / tied.sum(1, keepdims=True)
            return np.asarray(sure + tied * shares)

        a, b = membership(x), membership(y)
        return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))

    def prepare(
        self, x: Matrix, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64
    ) -> NeighbourGraph:
        if kind == "neighbours":
            if x.shape[1] != self.k:
                raise InputError(f"k = {self.k}, but {name} lists {x.shape[1]} neighbours an item; pass k={x.shape[1]}")
            return neighbour_graph_from_lists(np.asarray(x, dtype=np.int64), name=name)
        if kind == "distance":
            return neighbour_graph_from_distances(np.asarray(x, dtype=np.float64), self.k, name=name)
        require_varied(x, name)
        return neighbour_graph(x, self.k, distance=self.distance, name=name)

    def affine(self, left: NeighbourGraph, right: NeighbourGraph) -> tuple[float, float]:
        return 1.0 / math.sqrt(left.sum_of_squares * right.sum_of_squares), 0.0
