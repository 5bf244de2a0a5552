"""Define, then decompose: the fast path is the textbook formula, on every relabelling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibtest.laws.metric_laws import decomposition_equals_definition, precomputed_agrees
from calibtest.metrics.base import Metric
from calibtest.metrics.registry import get_metric
from calibtest.prepare.distances import pairwise_distances
from calibtest.strategies import cosets, listed_relabellings, paired_representations

# scales at which a textbook formula overflows are left to the laws that do not need one
COMPUTABLE = ("copies", "low_rank", "constant_units", "lattice", "huge_offset", "outliers", "clusters")

seeds = st.integers(0, 2**16)


@given(data=st.data())
def test_generic(metric: Metric, data: st.DataObject) -> None:
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, d=st.integers(3, 8)))
    sets = st.one_of(listed_relabellings(len(x), most=3), cosets(len(x), most=2))
    rng = np.random.default_rng(data.draw(seeds))
    decomposition_equals_definition(metric, x, y, data.draw(sets), rng)


@given(data=st.data())
def test_degenerate(metric: Metric, data: st.DataObject, defined) -> None:
    kind = data.draw(st.sampled_from(COMPUTABLE))
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, d=st.integers(3, 8), kind=kind))
    sets = st.one_of(listed_relabellings(len(x), most=3), cosets(len(x), most=2))
    rng = np.random.default_rng(data.draw(seeds))
    with defined():
        decomposition_equals_definition(metric, x, y, data.draw(sets), rng)


def gram(x: np.ndarray) -> np.ndarray:
    return (x @ x.T + (x @ x.T).T) / 2  # a product is symmetric only up to rounding


@pytest.mark.parametrize("name", ["linear_cka", "rv", "debiased_cka"])
@given(data=st.data())
def test_a_kernel_stands_for_its_activations(name: str, data: st.DataObject) -> None:
    x, y = data.draw(paired_representations())
    precomputed_agrees(get_metric(name), x, y, gram, "kernel", data.draw(cosets(len(x))))


@pytest.mark.parametrize(
    "metric_with_distance",
    [
        get_metric("rsa", distance="euclidean", comparison="pearson"),
        get_metric("rsa", distance="euclidean", comparison="spearman"),
        get_metric("mutual_knn", k=2, distance="euclidean"),
        get_metric("rbf_cka"),
    ],
    ids=str,
)
@given(data=st.data())
def test_distances_stand_for_their_activations(metric_with_distance: Metric, data: st.DataObject) -> None:
    x, y = data.draw(paired_representations())
    precomputed_agrees(
        metric_with_distance,
        x,
        y,
        lambda z: pairwise_distances(z, "Z", "euclidean"),
        "distance",
        data.draw(cosets(len(x))),
    )
