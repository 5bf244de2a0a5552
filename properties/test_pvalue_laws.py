"""P-values of the shipped procedures are super-uniform, under nulls chosen to be hard.

Few relabellings, because validity must hold at every number of draws and any flaw in counting shows most with few.
The complete product of metrics, schemes and kinds of draws is measured in ``validation/size``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from calibtest.errors import CalibtestWarning
from calibtest.laws.pvalue_laws import pvalues_are_super_uniform
from calibtest.metrics.registry import get_metric
from calibtest.procedures.alignment import alignment_test
from calibtest.procedures.layers import layers_test
from calibtest.schemes import WithinGroups

N = 8000 if os.environ.get("HYPOTHESIS_PROFILE") == "full" else 1000


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        yield


def ring(n: int) -> np.ndarray:
    """Items evenly spaced on a circle, in order: every cyclic shift of the file is a symmetry of the Gram matrix."""
    angle = 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def ring_against_noise(rng: np.random.Generator) -> float:
    """File order carries all the structure there is: with a shift group in file order all shifts would tie."""
    x, y = ring(20), rng.standard_normal((20, 3))
    return alignment_test(x, y, n_resamples=39, draws="cosets", rng=rng, n_jobs=1).pvalue


def many_copies(rng: np.random.Generator) -> float:
    """Eight distinct rows among 24 items, sorted: neighbours are nothing but ties."""
    x = np.repeat(rng.standard_normal((8, 3)), 3, axis=0)
    y = np.repeat(rng.standard_normal((4, 2)), 6, axis=0)[rng.permutation(24)]
    return alignment_test(x, y, metric=KNN, n_resamples=19, draws="independent", rng=rng, n_jobs=1).pvalue


def search_within_groups(rng: np.random.Generator) -> float:
    """A search over 2 x 3 layers of different widths, studentised by the orbit itself, groups strong on both sides."""
    groups = np.repeat(np.arange(3), 8)
    centres = 5.0 * rng.standard_normal((3, 1))
    a = [centres[groups] + rng.standard_normal((24, d)) for d in (1, 4)]
    b = [centres[groups] + rng.standard_normal((24, d)) for d in (1, 2, 6)]
    found = layers_test(a, b, metric="linear_cka", scheme=WithinGroups(groups), n_resamples=19, rng=rng, n_jobs=1)
    return found.pvalue


KNN = get_metric("mutual_knn", k=4)


@pytest.mark.parametrize(
    "draw_pvalue", [ring_against_noise, many_copies, search_within_groups], ids=lambda f: f.__name__
)
def test_shipped_pvalues_are_super_uniform(draw_pvalue: Callable[[np.random.Generator], float]) -> None:
    pvalues_are_super_uniform(draw_pvalue, np.random.default_rng(20261130), n=N)
