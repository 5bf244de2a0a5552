"""The forms alone: cosets by FFT and by histogram, and listed relabellings."""

from __future__ import annotations

from typing import Any

import cases
import pytest


@pytest.mark.parametrize("n", [1021, 1024, 4093, 4096])
@pytest.mark.parametrize("precision", cases.PRECISIONS)
@pytest.mark.benchmark(group="one coset by FFT")
def test_matching_coset(benchmark: Any, n: int, precision: str) -> None:
    lefts, rights = cases.relations(1, n, precision)
    found = benchmark.pedantic(cases.matching, (lefts, rights, cases.cosets(n, 1)), rounds=3, warmup_rounds=1)
    assert found.values.shape == (n, 1, 1)


@pytest.mark.parametrize("n", [1_024, 10_000, 100_000])
@pytest.mark.benchmark(group="one coset by histogram")
def test_overlap_coset(benchmark: Any, n: int) -> None:
    lefts, rights = cases.graphs(1, 1, n)
    found = benchmark.pedantic(cases.overlap, (lefts, rights, cases.cosets(n, 1)), rounds=3, warmup_rounds=1)
    assert found.values.shape == (n, 1, 1)


@pytest.mark.benchmark(group="listed relabellings")
def test_overlap_listed(benchmark: Any) -> None:
    lefts, rights = cases.graphs(24, 32, 1024)
    found = benchmark.pedantic(cases.overlap, (lefts, rights, cases.independent(1024, 199)), rounds=3, warmup_rounds=1)
    assert found.values.shape == (200, 24, 32)


@pytest.mark.benchmark(group="listed relabellings")
def test_matching_listed(benchmark: Any) -> None:
    lefts, rights = cases.relations(4, 1024, "float64")
    found = benchmark.pedantic(cases.matching, (lefts, rights, cases.independent(1024, 49)), rounds=3, warmup_rounds=1)
    assert found.values.shape == (50, 4, 4)
