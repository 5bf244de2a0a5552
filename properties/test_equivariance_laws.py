"""The law everything rests on: the score of relabelled data is the score of relabelled states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from calibtest.laws.metric_laws import equivariance, scores
from calibtest.metrics.base import Metric
from calibtest.metrics.registry import get_metric
from calibtest.schemes.relabellings import Explicit
from calibtest.strategies import (
    DEGENERATE,
    DataKind,
    cosets,
    listed_relabellings,
    paired_representations,
    representations,
)

MORE = settings(max_examples=2 * settings().max_examples)


@given(data=st.data())
def test_generic(metric: Metric, data: st.DataObject) -> None:
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, d=st.integers(3, 8)))
    equivariance(metric, x, y, data.draw(cosets(len(x))), most=3)


@MORE
@given(data=st.data())
def test_degenerate(metric: Metric, data: st.DataObject, defined) -> None:
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, kind="degenerate"))
    sets = st.one_of(listed_relabellings(len(x)), cosets(len(x)))
    with defined():
        equivariance(metric, x, y, data.draw(sets), most=3)


@given(data=st.data())
def test_single_precision(metric: Metric, data: st.DataObject) -> None:
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, d=st.integers(3, 8), dtype=np.float32))
    equivariance(metric, x, y, data.draw(cosets(len(x))), precision="float32", most=3)


@pytest.mark.parametrize("kind", ["copies", "outliers", "lattice"])
@given(data=st.data())
def test_copies_are_tied(metric: Metric, kind: DataKind, data: st.DataObject, defined) -> None:
    """Exchanging identical items is no change, so it must tie with the observed value."""
    y = data.draw(representations(kind=kind))
    y = y[np.sort(np.random.default_rng(len(y)).integers(0, len(y), size=len(y)))]
    x = data.draw(representations(n=len(y)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    _, group = np.unique(y, axis=0, return_inverse=True)
    exchanges = [np.arange(len(y))]
    for _ in range(8):
        pi = np.arange(len(y))
        for g in range(group.max() + 1):
            items = np.flatnonzero(group.ravel() == g)
            pi[items] = rng.permutation(items)
        exchanges.append(pi)
    with defined():
        orbit = scores(metric, x, y, Explicit(np.stack(exchanges)))
        assert np.ptp(orbit.values) <= orbit.resolution.max()


def kernel(x: NDArray[np.float64]) -> NDArray[np.float64]:
    product = x @ x.T
    return np.asarray((product + product.T) / 2)


def distance(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)))


def neighbours(x: NDArray[np.float64]) -> NDArray[np.int64]:
    apart = distance(x)
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1, kind="stable")[:, :3]


PRECOMPUTED = [
    (get_metric("linear_cka"), kernel, "kernel"),
    (get_metric("debiased_cka"), kernel, "kernel"),
    (get_metric("rsa"), distance, "distance"),
    (get_metric("rbf_cka"), distance, "distance"),
    (get_metric("mutual_knn", k=3), distance, "distance"),
    (get_metric("mutual_knn", k=3), neighbours, "neighbours"),
]


@pytest.mark.parametrize(("chosen", "precompute", "kind"), PRECOMPUTED, ids=lambda v: getattr(v, "__name__", str(v)))
@given(data=st.data())
def test_precomputed(chosen: Metric, precompute, kind, data: st.DataObject, defined) -> None:
    """Rows AND columns are relabelled, and item numbers inside neighbour lists too."""
    x, y = data.draw(paired_representations(kind=data.draw(st.sampled_from(("generic", *DEGENERATE[:4])))))
    with defined():
        equivariance(chosen, precompute(x), precompute(y), data.draw(cosets(len(x))), kind=kind, most=3)
