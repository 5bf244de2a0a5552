"""Thresholds and scores, and that they say the same thing as the p-value at every level."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from calibtest.errors import InputError
from calibtest.inference.calibration import (
    calibrate_values,
    chance_corrected,
    check_alpha,
    rejection_count,
    zscores,
)
from calibtest.inference.pvalues import pvalues

THIRTY = np.array([i / 100 for i in range(1, 31)])
ALPHAS = [0.001, 0.01, 1 - 0.99, 0.025, 0.05, 1 - 0.95, 0.1, 1 - 0.9, 0.3 - 0.2, 0.2, 1 / 3, 0.5, 0.7, 0.999]


def test_worked_numbers() -> None:
    rows = np.concatenate([[0.295], THIRTY])
    found = calibrate_values(rows, 0.0, alpha=0.05)
    # 31 rows: ceil(.95 * 31) = 30, and the thirtieth of them is the observed value itself.
    assert found.threshold == 0.295
    assert found.calibrated == 0.0
    assert not found.significant
    assert pvalues(rows, 0.0) == 2 / 31
    beyond = calibrate_values(np.concatenate([[0.65], THIRTY]), 0.0, alpha=0.05, s_max=1.0)
    assert beyond.threshold == 0.30
    assert beyond.calibrated == pytest.approx(0.5)
    assert beyond.significant


def test_without_a_largest_value_the_score_is_the_distance_itself() -> None:
    found = calibrate_values(np.concatenate([[0.65], THIRTY]), 0.0, alpha=0.05)
    assert found.calibrated == pytest.approx(0.35)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("distinct", [2, 5, 10**6])
def test_positive_score_means_p_at_most_alpha(alternative: str, distinct: int) -> None:
    rng = np.random.default_rng(distinct)
    for n_rows in [*range(2, 45), 99, 100, 101, 200, 1000]:
        values = rng.integers(0, distinct, size=(n_rows, 60)).astype(float)
        # Half of the cells are near one end, where the decision is made.
        values[0, :30] = np.sort(values[:, :30], axis=0)[rng.integers(0, min(n_rows, 6), 30) * -1, np.arange(30)]
        p = pvalues(values, 0.0, alternative=alternative)
        for alpha in [*ALPHAS, 1 / n_rows, 2 / n_rows, 0.9999 / n_rows]:
            if not 0 < alpha < 1:
                continue
            found = calibrate_values(values, 0.0, alpha=alpha, alternative=alternative)
            assert np.array_equal(found.calibrated > 0, p <= alpha)
            assert np.array_equal(found.significant, p <= alpha)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_positive_score_means_p_at_most_alpha_with_rounding_and_a_largest_value(alternative: str) -> None:
    rng = np.random.default_rng(7)
    sign = 1 if alternative == "greater" else -1
    for n_rows in (20, 40, 100):
        # Ties blurred by less than the resolution; the observed value among the largest.
        values = rng.integers(0, 4, size=(n_rows, 200)) + 1e-13 * rng.standard_normal((n_rows, 200))
        values[0] = rng.integers(2, 5, size=200)
        values *= sign
        p = pvalues(values, 1e-12, alternative=alternative)
        for alpha in ALPHAS:
            found = calibrate_values(values, 1e-12, alpha=alpha, s_max=4.0 * sign, alternative=alternative)
            assert np.array_equal(found.calibrated > 0, p <= alpha)
            assert (found.calibrated <= 1).all()


def test_the_threshold_is_the_stated_order_statistic() -> None:
    rng = np.random.default_rng(8)
    for n_rows in (19, 20, 21, 31, 100, 151):
        values = rng.normal(size=n_rows)
        for percent in (1, 5, 10, 50):
            rank = math.ceil((1 - Fraction(percent, 100)) * n_rows)
            found = calibrate_values(values, 0.0, alpha=percent / 100)
            assert found.threshold == np.sort(values)[rank - 1]
            assert rejection_count(n_rows, percent / 100) == n_rows - rank


@pytest.mark.parametrize("n_rows", [1, 2, 7, 20, 1000, 123_457, 10**7, 10**9])
def test_rejection_count_is_the_comparison_of_p_with_alpha(n_rows: int) -> None:
    for alpha in [*ALPHAS, 1e-9, 3 / n_rows if n_rows > 3 else 0.4]:
        count = rejection_count(n_rows, alpha)
        assert 0 <= count <= n_rows
        assert count / n_rows <= alpha
        assert (count + 1) / n_rows > alpha


def test_two_sided_thresholds_are_beyond_both_ends() -> None:
    values = np.concatenate([[50.0], np.arange(99.0)])
    found = calibrate_values(values, 0.0, alpha=0.1, alternative="two-sided")
    assert found.lower_threshold is not None
    assert (float(found.lower_threshold), float(found.threshold)) == (5.0, 93.0)
    low = calibrate_values(np.concatenate([[-3.0], np.arange(99.0)]), 0.0, alpha=0.1, alternative="two-sided")
    assert low.lower_threshold is not None
    assert low.calibrated == float(low.lower_threshold) + 3.0


def test_a_distance_is_the_negated_similarity_in_its_own_units() -> None:
    rng = np.random.default_rng(9)
    values = rng.normal(size=(60, 2, 3)) + 5.0
    values[0, 0] = 0.5
    ours = calibrate_values(values, 1e-12, alpha=0.05, s_max=0.0, alternative="less")
    twin = calibrate_values(-values, 1e-12, alpha=0.05, s_max=0.0)
    assert np.array_equal(ours.threshold, -twin.threshold)
    assert np.array_equal(ours.calibrated, twin.calibrated)
    assert np.array_equal(ours.calibrated > 0, pvalues(values, 1e-12, alternative="less") <= 0.05)
    assert ours.calibrated.max() > 0


def test_perfect_agreement_scores_one_even_without_room() -> None:
    values = np.concatenate([[1.0], np.full(30, 1.0 - 1e-9)])
    assert calibrate_values(values, 1e-12, alpha=0.05, s_max=1.0).calibrated == 1.0
    above = np.concatenate([[1.0 + 1e-15], np.full(30, 1.0)])  # s_max itself up to rounding
    assert calibrate_values(above, 1e-16, alpha=0.05, s_max=1.0).calibrated == 1.0
    assert calibrate_values(above, 1e-14, alpha=0.05, s_max=1.0).calibrated == 0.0


def test_effect_sizes() -> None:
    assert chance_corrected(0.6, 0.2, 1.0) == pytest.approx(0.5)
    assert chance_corrected(0.1, 0.2, 1.0) == pytest.approx(-0.125)
    assert chance_corrected(2.0, 8.0, 0.0) == pytest.approx(0.75)  # a distance of 2 where chance gives 8
    assert np.isnan(chance_corrected(1.0, 1.0, 1.0))
    assert zscores(3.0, 1.0, 0.5) == 4.0
    assert np.isnan(zscores(3.0, 1.0, 0.0))
    assert np.allclose(zscores([1.0, 2.0], [0.0, 0.0], [1.0, 0.0]), [1.0, np.nan], equal_nan=True)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, float("nan"), "five", None, [0.05, 0.1]])
def test_bad_alpha(alpha: object) -> None:
    with pytest.raises(InputError, match="alpha must lie strictly between 0 and 1"):
        check_alpha(alpha)  # type: ignore[arg-type]


def test_bad_s_max() -> None:
    rows = np.concatenate([[0.65], THIRTY])
    with pytest.raises(InputError, match=r"s_max must be the largest .* 0\.65 lies above s_max = 0\.5"):
        calibrate_values(rows, 0.0, alpha=0.05, s_max=0.5)
    with pytest.raises(InputError, match=r"s_max must be the smallest .* lies below s_max = 0\.7"):
        calibrate_values(rows, 0.0, alpha=0.05, s_max=0.7, alternative="less")
    with pytest.raises(InputError, match="s_max must be finite"):
        calibrate_values(rows, 0.0, alpha=0.05, s_max=np.inf)
    with pytest.raises(InputError, match="looks both ways"):
        calibrate_values(rows, 0.0, alpha=0.05, s_max=1.0, alternative="two-sided")
