"""Results to report on, computed once: a grid with one planted pair, and one pair."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from calibtest.errors import CalibtestWarning
from calibtest.procedures.alignment import AlignmentResult, alignment_test
from calibtest.procedures.layers import LayersResult, layers_test
from calibtest.procedures.scores import ScoresResult, alignment_scores
from calibtest.stacks import LayerStack


def planted() -> tuple[LayerStack, LayerStack]:
    rng = np.random.default_rng(7)
    signal = rng.standard_normal((40, 3))
    a = {"first": rng.standard_normal((40, 25)), "second": signal @ rng.standard_normal((3, 6))}
    b = {
        "one": rng.standard_normal((40, 9)),
        "two": signal + 0.3 * rng.standard_normal((40, 3)),
        "three": rng.standard_normal((40, 60)),
    }
    return LayerStack.build(a, name="left"), LayerStack.build(b, name="right")


def tested(a: Any, b: Any, **options: Any) -> LayersResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        return layers_test(a, b, n_resamples=199, rng=0, **options)


def mean_distance(x: Any, y: Any) -> float:
    return float(np.abs(x.mean(axis=1) - y.mean(axis=1)).mean())


@pytest.fixture(scope="session")
def grid() -> LayersResult:
    return tested(*planted())


@pytest.fixture(scope="session")
def distances() -> LayersResult:
    from calibtest.metrics.function import FunctionMetric

    return tested(*planted(), metric=FunctionMetric(mean_distance, larger_is_more_similar=False))


@pytest.fixture(scope="session")
def pair() -> AlignmentResult:
    left, right = planted()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        return alignment_test(left.select("second"), right.select("two"), n_resamples=199, rng=0)


@pytest.fixture(scope="session")
def scores() -> ScoresResult:
    return alignment_scores(*planted())


@pytest.fixture(scope="session")
def quietly() -> Callable[..., LayersResult]:
    """`layers_test` with few relabellings and without warnings."""
    return tested
