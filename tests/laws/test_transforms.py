"""Every transform is what its name says, and the exact ones round nothing."""

from __future__ import annotations

import numpy as np
import pytest

from calibtest.laws.transforms import BOTH_SIDES, EXACT_TRANSFORMS, TRANSFORMS
from calibtest.metrics.claims import TRANSFORMS as KNOWN

TABLES = {"general": TRANSFORMS, "exact": EXACT_TRANSFORMS}


def whole(n: int = 9, d: int = 4) -> np.ndarray:
    return np.rint(5 * np.random.default_rng(0).standard_normal((n, d)))


@pytest.mark.parametrize("table", TABLES)
def test_every_known_transform_has_a_function(table: str) -> None:
    assert set(TABLES[table]) == set(KNOWN)
    assert set(KNOWN) >= BOTH_SIDES


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_the_input_is_left_alone_and_seeds_decide(table: str, name: str) -> None:
    x = whole()
    x.flags.writeable = False
    function = TABLES[table][name]
    one, two = (function(x, np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(one, two)
    assert one.dtype == np.float64
    assert len(one) == len(x)
    assert not np.shares_memory(one, x)
    assert any(
        function(x, np.random.default_rng(seed)).shape != x.shape
        or (function(x, np.random.default_rng(seed)) != x).any()
        for seed in range(20)
    ), "it never does anything"


def distances(x: np.ndarray) -> np.ndarray:
    return ((x[:, None] - x[None]) ** 2).sum(-1)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("seed", range(5))
def test_membership(table: str, seed: int) -> None:
    """What each group leaves unchanged."""
    x = whole()
    exact = table == "exact"

    def moved(name: str) -> np.ndarray:
        return TABLES[table][name](x, np.random.default_rng(seed))

    def same(a: np.ndarray, b: np.ndarray) -> None:
        np.testing.assert_allclose(a, b, rtol=0 if exact else 1e-10, atol=0 if exact else 1e-10 * np.abs(b).max())

    same(distances(moved("rotation")), distances(x))
    same(distances(moved("translation")), distances(x))
    same(distances(moved("zero_padding")), distances(x))
    assert np.array_equal(distances(moved("unit_permutation")), distances(x))
    factor = moved("isotropic_scale")[x != 0] / x[x != 0]
    same(factor, np.full(factor.shape, factor[0]))
    copies = moved("duplicated_units")
    assert np.array_equal(copies[:, :: copies.shape[1] // 4], x)
    padded = moved("zero_padding")
    assert np.array_equal(padded[:, padded.any(axis=0)], x)
    assert {tuple(row) for row in moved("item_permutation")} == {tuple(row) for row in x}
    for name, axis in (("unit_scale", 1), ("item_scale", 0)):
        ratio = np.divide(moved(name), x, where=x != 0, out=np.full(x.shape, np.nan))
        same(np.nanmax(ratio, axis=1 - axis), np.nanmin(ratio, axis=1 - axis))
        assert (ratio[x != 0] > 0).all()
    linear = moved("invertible_linear")
    assert np.linalg.matrix_rank(linear) == np.linalg.matrix_rank(x)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_exact_transforms_keep_whole_numbers_in_reach(name: str) -> None:
    """Results stay multiples of a power of two far from the end of the significand, so sums of squares are exact."""
    for seed in range(10):
        moved = EXACT_TRANSFORMS[name](whole(), np.random.default_rng(seed))
        unit = 2.0**-60 if name == "isotropic_scale" else 2.0**-12
        assert (np.rint(moved / unit) * unit == moved).all()
