"""The orbit: what it refuses, and that it cannot be changed afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from calibtest.errors import InputError
from calibtest.inference.orbit import Orbit


def test_properties() -> None:
    values = np.arange(24.0).reshape(4, 2, 3)
    orbit = Orbit(values, np.zeros((2, 3)), coset_size=2)
    assert orbit.n_resamples == 3
    assert orbit.shape == (2, 3)
    assert np.array_equal(orbit.observed, values[0])
    assert np.array_equal(orbit.null, values[1:])
    assert repr(orbit) == "Orbit(4 relabellings drawn in 2 cosets of 2, grid 2 x 3)"
    assert "enumerated" in repr(Orbit(values, 0.0, exhaustive=True))  # type: ignore[arg-type]


def test_is_read_only_and_leaves_the_callers_array_writable() -> None:
    values = np.zeros((3, 1, 1))
    orbit = Orbit(values, np.zeros((1, 1)))
    with pytest.raises(ValueError, match="read-only"):
        orbit.values[0] = 1.0
    values[1] = 5.0  # the caller's array stays the caller's


def test_a_single_row_is_fine_when_it_is_all_there_is() -> None:
    assert Orbit(np.zeros((1, 1, 1)), np.zeros((1, 1)), exhaustive=True).n_resamples == 0


def test_an_undefined_value_is_counted_and_located() -> None:
    values = np.zeros((5, 2, 3))
    values[3, 1, 2] = np.nan
    values[4, 0, 1] = np.inf
    with pytest.raises(
        InputError, match=r"2 of the 30 values .* \(1 NaN\), the first in cell \(1, 2\) under relabelling 3"
    ):
        Orbit(values, np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("values", "resolution", "options", "words"),
    [
        (np.zeros((5, 2)), 0.0, {}, "shape (relabellings, left layers, right layers)"),
        (np.zeros((0, 2, 2)), 0.0, {}, "at least one value"),
        (np.zeros((1, 2, 2)), 0.0, {}, "draw at least 1 relabelling"),
        (np.zeros((5, 2, 2)), np.zeros(2), {}, "shape of the grid, (2, 2), got (2,)"),
        (np.zeros((5, 2, 2)), -1.0, {}, "at least 0"),
        (np.zeros((5, 2, 2)), np.nan, {}, "finite"),
        (np.zeros((5, 2, 2)), 0.0, {"coset_size": 2}, "divide the 5 rows"),
        (np.zeros((5, 2, 2)), 0.0, {"coset_size": 0}, "at least 1"),
    ],
)
def test_bad_orbits(values: np.ndarray, resolution: object, options: dict[str, int], words: str) -> None:
    with pytest.raises(InputError) as caught:
        Orbit(values, resolution, **options)  # type: ignore[arg-type]
    assert words in str(caught.value)
