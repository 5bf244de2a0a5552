"""Threads and BLAS: what a call asks for it gives back."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import calibtest
from calibtest.parallel import default_threads, map_threads, one_blas_thread, use_threads


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("metric", ["linear_cka", "mutual_knn", "rsa"])
def test_a_call_leaves_the_threads_of_blas_as_they_were(metric: str) -> None:
    layers = list(np.random.default_rng(0).standard_normal((3, 40, 8)))
    calibtest.layers_test(layers, layers, metric=metric, n_resamples=39, rng=0)  # loads what it needs
    before = blas_threads()
    for seed in range(5):
        calibtest.layers_test(layers, layers, metric=metric, n_resamples=39, rng=seed)
        assert blas_threads() == before


def test_the_limit_holds_inside_and_across_overlapping_callers() -> None:
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with one_blas_thread():
            inside.set()
            leave.wait()

    other = threading.Thread(target=first)
    other.start()
    inside.wait()
    with one_blas_thread():
        assert set(blas_threads()) == {1}
        leave.set()
        other.join()
        assert set(blas_threads()) == {1}  # the last to go takes it off
    assert blas_threads() == before


def test_use_threads_rules_the_block_and_this_thread_alone() -> None:
    outside = default_threads()
    with use_threads(3):
        assert default_threads() == 3
        with use_threads(None):
            assert default_threads() == 3
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(default_threads).result() == outside
    assert default_threads() == outside


def test_one_thread_means_the_calling_thread() -> None:
    with use_threads(1):
        assert set(map_threads(lambda _: threading.get_ident(), range(5))) == {threading.get_ident()}


def test_nested_splits_make_no_more_threads() -> None:
    def inner(_: int) -> set[int]:
        return {threading.get_ident(), *map_threads(lambda _: threading.get_ident(), range(3), threads=3)}

    assert all(len(found) == 1 for found in map_threads(inner, range(4), threads=2))


def test_results_come_in_the_order_of_the_items() -> None:
    assert map_threads(lambda item: item * 2, range(50), threads=4) == [2 * item for item in range(50)]
