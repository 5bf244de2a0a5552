"""One pair of layers, n = 10,000, d = 768: the bare statistic once, and the whole test with 9,999 relabellings."""

from __future__ import annotations

from typing import Any

import cases
import pytest


@pytest.fixture(scope="module", params=cases.PRECISIONS)
def data(request: Any) -> Any:
    (x,), (y,) = cases.layers(1, 10_000, 768, request.param)
    return request.param, x, y


@pytest.mark.benchmark(group="pair")
def test_bare_statistic(benchmark: Any, data: Any) -> None:
    _, x, y = data
    assert 0 < benchmark.pedantic(cases.bare_linear_cka, (x, y), rounds=5, warmup_rounds=1) < 1


@pytest.mark.benchmark(group="pair")
def test_whole_test(benchmark: Any, data: Any) -> None:
    precision, x, y = data
    found = benchmark.pedantic(cases.whole_pair_test, (x, y, precision), rounds=2)
    assert found.statistic == pytest.approx(cases.bare_linear_cka(x, y), rel=1e-4)
