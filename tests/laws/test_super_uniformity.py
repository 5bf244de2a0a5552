"""The check of p-values: its limits, its false alarms and its power are what the binomial distribution says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from calibtest.errors import InputError
from calibtest.laws.pvalue_laws import LEVELS, least_excessive_count, pvalues_are_super_uniform, super_uniformity
from calibtest.laws.violation import LawViolation

RNG = np.random.default_rng


@pytest.mark.parametrize(
    ("n", "level", "false_alarm", "count"),
    [
        (4000, 0.05, 1e-3 / 6, 252),
        (4000, 0.01, 1e-3 / 6, 65),
        (8000, 0.05, 1e-3, 462),
        (8000, 0.01, 1e-3, 110),
        (1, 0.5, 0.5, 1),
        (1, 0.5, 0.4, 2),  # one p-value can never be too many
        (3, 0.5, 0.125, 3),
    ],
)
def test_limits(n: int, level: float, false_alarm: float, count: int) -> None:
    assert least_excessive_count(n, level, false_alarm) == count


@pytest.mark.parametrize("n", [1, 7, 400, 4001])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("false_alarm", [1e-6, 1e-3 / 6, 0.2])
def test_limits_are_the_least_that_keep_the_false_alarm(n: int, level: float, false_alarm: float) -> None:
    count = least_excessive_count(n, level, false_alarm)
    assert binom.sf(count - 1, n, level) <= false_alarm < binom.sf(count - 2, n, level)


@pytest.fixture(scope="module")
def uniform():
    return super_uniformity(lambda rng: 1.0 - rng.random(), RNG(0))


def test_uniform_pvalues_hold(uniform) -> None:
    assert uniform.holds
    assert uniform.n == 4000
    assert uniform.n_second == 8000
    assert uniform.false_alarm == pytest.approx(1e-6)
    assert uniform.levels == LEVELS
    assert uniform.pvalues.shape == (4000,)
    assert all(count < limit for count, limit in zip(uniform.counts, uniform.limits, strict=True))


@pytest.mark.parametrize(
    ("level", "truth", "power"), [(0.05, 0.075, 0.999), (0.05, 0.065, 0.70), (0.01, 0.02, 0.96), (0.05, 0.05, 0.0)]
)
def test_power(uniform, level: float, truth: float, power: float) -> None:
    assert uniform.power(level, truth) == pytest.approx(power, abs=5e-3)


def test_the_outcome_says_what_it_could_have_found(uniform) -> None:
    detectable = uniform.detectable(0.05)
    assert uniform.power(0.05, detectable) == pytest.approx(0.95, abs=1e-3)
    assert f"{detectable:.3f}" in repr(uniform)
    assert "holds" in repr(uniform)


def test_measured_power_is_the_stated_power(uniform) -> None:
    """A test that rejects with probability .065 at .05 fails in about seven of ten runs."""

    def lenient(rng: np.random.Generator) -> float:
        return 0.05 if rng.random() < 0.065 else 1.0

    caught = sum(not super_uniformity(lenient, RNG(seed), n=500, stage_alarm=1e-2).holds for seed in range(60))
    stated = super_uniformity(lambda rng: 1.0, RNG(0), n=500, stage_alarm=1e-2).power(0.05, 0.065)
    assert abs(caught / 60 - stated) < 4 * np.sqrt(stated * (1 - stated) / 60)


def test_a_flagged_level_is_looked_at_again_alone() -> None:
    """Bad luck in the first stage is forgiven by the second."""
    calls = 0

    def unlucky_at_first(rng: np.random.Generator) -> float:
        nonlocal calls
        calls += 1
        return 0.01 if calls <= 100 else 1.0

    found = super_uniformity(unlucky_at_first, RNG(0), n=1000)
    assert found.holds
    assert found.flagged == 0.01
    assert found.second_count == 0
    assert found.second_limit == least_excessive_count(2000, 0.01, 1e-3)
    assert calls == 3000
    assert "looked at again" in found.reason


def test_an_invalid_value_in_the_second_stage_fails() -> None:
    calls = 0

    def later_nan(rng: np.random.Generator) -> float:
        nonlocal calls
        calls += 1
        return 0.001 if calls <= 400 else float("nan")

    found = super_uniformity(later_nan, RNG(0), n=400)
    assert not found.holds
    assert "nan" in found.reason


def test_a_failure_carries_its_evidence() -> None:
    with pytest.raises(LawViolation, match="super-uniformity") as caught:
        pvalues_are_super_uniform(lambda rng: 0.04, RNG(0), n=300)
    outcome = caught.value.evidence["outcome"]
    assert outcome.flagged == 0.05
    assert outcome.second_count == 600
    assert "FAILS" in repr(outcome)


def test_data_sets_are_reproducible_and_different() -> None:
    def draw(rng: np.random.Generator) -> float:
        return 1.0 - rng.random()

    one, two, other = (super_uniformity(draw, RNG(seed), n=200).pvalues for seed in (3, 3, 4))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
    assert np.unique(one).size == 200


def test_progress_is_told() -> None:
    told: list[float] = []
    super_uniformity(lambda rng: 1.0, RNG(0), n=50, progress=told.append)
    assert told[-1] == 1.0
    assert told == sorted(told)


@pytest.mark.parametrize("how", [{"n": 0}, {"levels": ()}, {"levels": (0.0,)}, {"levels": (0.05, 1.0)}])
def test_bad_calls(how) -> None:
    with pytest.raises(InputError, match="n must be at least 1"):
        super_uniformity(lambda rng: 1.0, RNG(0), **how)
