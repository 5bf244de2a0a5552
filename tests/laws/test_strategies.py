"""The public strategies give what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from calibtest import strategies as calib
from calibtest.errors import InputError
from calibtest.stacks import LayerStack


@given(x=calib.representations(kind="any"))
def test_representations_are_finite_and_vary(x: np.ndarray) -> None:
    assert x.ndim == 2
    assert x.dtype == np.float64
    assert x.flags.c_contiguous
    assert 5 <= len(x) <= 24
    assert 2 <= x.shape[1] <= 8
    assert np.isfinite(x).all()
    assert (x != x[0]).any()


@given(x=calib.representations(n=12, d=st.integers(1, 2), dtype=np.float32, scale=1e-3, offset=7.0))
def test_sizes_dtype_scale_and_offset(x: np.ndarray) -> None:
    assert x.shape[0] == 12
    assert x.shape[1] <= 2
    assert x.dtype == np.float32
    assert np.abs(x - 7.0).max() < 0.1


@given(x=calib.representations(kind="copies"))
def test_copies(x: np.ndarray) -> None:
    assert 2 <= len(np.unique(x, axis=0)) <= max(2, len(x) // 2)


@given(x=calib.representations(rank=1, d=4))
def test_rank(x: np.ndarray) -> None:
    assert np.linalg.matrix_rank(x) == 1


@given(x=calib.representations(kind="constant_units"))
def test_constant_units(x: np.ndarray) -> None:
    constant = (x == x[0]).all(axis=0)
    assert constant.any()
    assert not constant.all()


@given(x=calib.representations(kind="lattice"))
def test_lattice(x: np.ndarray) -> None:
    assert (x == np.rint(x)).all()


@given(x=calib.representations(outliers=4, n=20))
def test_outliers(x: np.ndarray) -> None:
    size = np.linalg.norm(x, axis=1)
    assert size.max() > 1e3 * np.median(size)


@given(pair=calib.paired_representations(kind="any"))
def test_pairs_share_their_items(pair: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = pair
    assert len(x) == len(y)


@settings(max_examples=10)
@given(pair=calib.paired_representations(signal=0.95, n=24, d=st.integers(6, 8)))
def test_pairs_share_signal(pair: tuple[np.ndarray, np.ndarray]) -> None:
    from calibtest import chance_level, get_metric

    x, y = pair
    chance = chance_level("linear_cka", x, y)
    assert get_metric("linear_cka")(x, y) > chance.mean + 2 * chance.sd


@given(stack=calib.layer_stacks(name="B", kind="any"))
def test_stacks(stack: LayerStack) -> None:
    assert stack.name == "B"
    assert 1 <= len(stack) <= 4


@given(data=st.data(), n=st.integers(2, 12))
def test_sets_of_relabellings(data: st.DataObject, n: int) -> None:
    for drawn in (data.draw(calib.listed_relabellings(n)), data.draw(calib.cosets(n))):
        listed = drawn.explicit()
        assert (listed[0] == np.arange(n)).all()
        assert (np.sort(listed, axis=1) == np.arange(n)).all()


def test_a_recipe_is_degenerate_in_one_way() -> None:
    with pytest.raises(InputError, match="at most one"):
        find(calib.representations(rank=1, copies=2), lambda x: True)


def test_recipes_shrink() -> None:
    """The least example of a representation with more than two units is small and simple."""
    quiet = settings(suppress_health_check=list(HealthCheck), database=None)
    least = find(calib.recipes(kind="any"), lambda recipe: recipe.d > 2, settings=quiet)
    assert (least.n, least.d, least.kind, least.amount, least.seed) == (5, 3, "generic", 1, 0)
