"""What is timed: the same data and the same calls for the benchmarks and for the record."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import calibtest
from calibtest.forms.matching import Matching
from calibtest.forms.overlap import Overlap
from calibtest.prepare.neighbours import NeighbourGraph, neighbour_graph_from_lists
from calibtest.prepare.relations import Relation
from calibtest.schemes.exchangeable import Exchangeable
from calibtest.schemes.relabellings import Relabellings

SEED = 20261130
METRICS = ("linear_cka", "mutual_knn")
PRECISIONS = ("float64", "float32")

Array = NDArray[Any]


def layers(n_layers: int, n: int, d: int, precision: str, *, seed: int = SEED) -> tuple[list[Array], list[Array]]:
    """Two lists of layers of independent standard normal activations."""
    rng = np.random.default_rng(seed)
    made = [rng.standard_normal((n, d)).astype(precision) for _ in range(2 * n_layers)]
    return made[:n_layers], made[n_layers:]


def observed_grid(a: list[Array], b: list[Array], metric: str, precision: str) -> Any:
    """Raw scores of all pairs, no relabelling."""
    return calibtest.alignment_scores(a, b, metric=metric, precision=precision)


def whole_test(a: list[Array], b: list[Array], metric: str, precision: str, n_resamples: int) -> Any:
    """The test that a user runs: everything from the arrays to the result."""
    return calibtest.layers_test(a, b, metric=metric, precision=precision, n_resamples=n_resamples, rng=0)


def bare_linear_cka(x: Array, y: Array) -> float:
    """The statistic alone, once, by the fastest formula for n > d: three d x d products."""
    x = x - x.mean(axis=0)
    y = y - y.mean(axis=0)
    return float(np.linalg.norm(x.T @ y) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)))


def whole_pair_test(x: Array, y: Array, precision: str, n_resamples: int = 9999) -> Any:
    """Test of one pair of layers with linear CKA."""
    return calibtest.alignment_test(x, y, precision=precision, n_resamples=n_resamples, rng=0)


def relations(n_layers: int, n: int, precision: str) -> tuple[list[Relation], list[Relation]]:
    """Symmetric relations of unit norm, to time the form alone."""
    rng = np.random.default_rng(SEED)
    made = []
    for _ in range(2 * n_layers):
        matrix = rng.standard_normal((n, n))
        matrix += matrix.T.copy()
        matrix /= np.linalg.norm(matrix)
        made.append(Relation(matrix.astype(precision), zero_diagonal=False))
    return made[:n_layers], made[n_layers:]


def graphs(n_left: int, n_right: int, n: int, k: int = 10) -> tuple[list[NeighbourGraph], list[NeighbourGraph]]:
    """Random neighbour lists: item numbers drawn without replacement, none its own neighbour."""
    rng = np.random.default_rng(SEED)
    made = []
    for _ in range(n_left + n_right):
        steps = np.sort(rng.integers(0, n - k, size=(n, k)), axis=1) + np.arange(k)  # k different steps from 0 to n - 2
        made.append(neighbour_graph_from_lists((np.arange(n)[:, None] + 1 + steps) % n))
    return made[:n_left], made[n_left:]


def cosets(n: int, n_cosets: int) -> Relabellings:
    """That many cosets of `n` relabellings."""
    return Exchangeable().draw(n, n_cosets * n - 1, np.random.default_rng(SEED))


def independent(n: int, n_resamples: int) -> Relabellings:
    """Relabellings listed one by one."""
    return Exchangeable().draw(n, n_resamples, np.random.default_rng(SEED), cosets=False)


def matching(lefts: list[Relation], rights: list[Relation], relabellings: Relabellings) -> Any:
    """The dense form alone."""
    return Matching().evaluate(lefts, rights, relabellings)


def overlap(lefts: list[NeighbourGraph], rights: list[NeighbourGraph], relabellings: Relabellings) -> Any:
    """The sparse form alone."""
    return Overlap().evaluate(lefts, rights, relabellings)
