"""Cells on a common scale."""

from __future__ import annotations

import numpy as np
import pytest

from calibtest.errors import InputError
from calibtest.inference.orbit import Orbit
from calibtest.inference.standardise import standardise


def grid(n_rows: int = 30, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 3, 4)) * rng.exponential(size=(3, 4)) + 10 * rng.normal(size=(3, 4))


def test_mean_and_sd_of_all_rows() -> None:
    values = grid()
    found = standardise(Orbit(values, np.zeros((3, 4))))
    assert np.allclose(found.z, (values - values.mean(axis=0)) / values.std(axis=0), rtol=1e-12, atol=1e-12)
    assert np.allclose(found.z.mean(axis=0), 0, atol=1e-12)
    assert np.allclose(found.sd, values.std(axis=0))


def test_including_the_observed_row_is_one_increasing_function_of_the_null_z() -> None:
    values = grid(20)
    values[0] += np.linspace(-4, 4, 12).reshape(3, 4)
    n_null = len(values) - 1
    null_z = (values[0] - values[1:].mean(axis=0)) / values[1:].std(axis=0)
    included = standardise(Orbit(values, np.zeros((3, 4)))).z[0]
    assert np.allclose(included, np.sqrt(n_null) * null_z / np.sqrt(n_null + 1 + null_z**2))
    assert included.argmax() == null_z.argmax()
    assert np.array_equal(np.argsort(included, axis=None), np.argsort(null_z, axis=None))


def test_closed_form_moments_are_used_as_given() -> None:
    values = grid()
    mean, sd = np.full((3, 4), 1.5), np.full((3, 4), 0.5)
    found = standardise(Orbit(values, np.full((3, 4), 1e-6)), mean=mean, sd=sd)
    assert np.allclose(found.z, (values - 1.5) / 0.5)
    assert np.allclose(found.resolution, 2e-6, rtol=1e-6)
    assert found.tolerance == found.resolution.max()


def test_a_cell_that_never_varies_is_uninformative_and_scores_zero() -> None:
    values = grid()
    values[:, 1, 2] = 0.7 + 1e-13 * np.random.default_rng(1).standard_normal(30)
    orbit = Orbit(values, np.full((3, 4), 1e-12))
    for options in ({}, {"mean": np.zeros((3, 4)), "sd": np.ones((3, 4))}):
        found = standardise(orbit, **options)
        assert found.uninformative.sum() == 1
        assert found.uninformative[1, 2]
        assert (found.z[:, 1, 2] == 0).all()
        assert found.resolution[1, 2] == 0


def test_evidence_points_into_the_tail() -> None:
    found = standardise(Orbit(grid(), np.zeros((3, 4))))
    assert np.array_equal(found.evidence(), found.z)
    assert np.array_equal(found.evidence("less"), -found.z)
    assert np.array_equal(found.evidence("two-sided"), np.abs(found.z))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mean": 0.0}, "sd is missing"),
        ({"sd": 1.0}, "mean is missing"),
        ({"mean": np.zeros(5), "sd": 1.0}, "mean must fit the grid of shape (3, 4)"),
        ({"mean": np.nan, "sd": 1.0}, "mean must be finite"),
        ({"mean": 0.0, "sd": 0.0}, "sd must be positive wherever the values vary"),
    ],
)
def test_bad_moments(options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        standardise(Orbit(grid(), np.zeros((3, 4))), **options)  # type: ignore[arg-type]
    assert words in str(caught.value)
