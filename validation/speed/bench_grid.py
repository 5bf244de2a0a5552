"""A grid of 12 x 12 layers, n = 1,024, d = 768: the observed grid alone, and the whole test."""

from __future__ import annotations

from typing import Any

import cases
import pytest


@pytest.fixture(scope="module", params=cases.PRECISIONS)
def data(request: Any) -> Any:
    return request.param, cases.layers(12, 1024, 768, request.param)


@pytest.mark.parametrize("metric", cases.METRICS)
@pytest.mark.benchmark(group="grid")
def test_observed_grid(benchmark: Any, data: Any, metric: str) -> None:
    precision, (a, b) = data
    found = benchmark.pedantic(cases.observed_grid, (a, b, metric, precision), rounds=5, warmup_rounds=1)
    assert found.scores.shape == (12, 12)


@pytest.mark.parametrize("n_resamples", [999, 9999])
@pytest.mark.parametrize("metric", cases.METRICS)
@pytest.mark.benchmark(group="grid")
def test_whole_test(benchmark: Any, data: Any, metric: str, n_resamples: int) -> None:
    precision, (a, b) = data
    found = benchmark.pedantic(cases.whole_test, (a, b, metric, precision, n_resamples), rounds=5, warmup_rounds=1)
    assert found.n_resamples >= n_resamples
    assert found.pvalue > 0
