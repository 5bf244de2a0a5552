"""P-values, their Monte-Carlo intervals and Westfall-Young adjustment, beside slow and obvious twins."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from calibtest.errors import InputError
from calibtest.inference.pvalues import (
    Alternative,
    adjusted,
    exceedances,
    flipped,
    min_pvalue,
    monte_carlo_interval,
    pvalues,
    single_step,
    step_down,
)

LEVELS = np.arange(1, 100) / 100


def super_uniform(p: np.ndarray) -> bool:
    """Whether no level is exceeded when every entry of `p` is equally likely."""
    return bool(all((p <= a).mean() <= a + 1e-12 for a in [*LEVELS, *np.unique(p)]))


def each_row_observed(values: np.ndarray) -> list[np.ndarray]:
    """The orbit as it looks when each of its rows in turn is the observed one."""
    return [np.concatenate([values[i : i + 1], np.delete(values, i, axis=0)]) for i in range(len(values))]


# ---------------------------------------------------------------------------------------------------- p of one cell


def test_the_observed_row_counts_so_p_is_never_zero() -> None:
    values = np.array([10.0, 1.0, 2.0, 3.0])
    assert pvalues(values, 0.0) == 0.25
    assert pvalues(values, 0.0, alternative="less") == 1.0
    assert pvalues(values, 0.0, alternative="two-sided") == 0.5


def test_ties_count_against_the_observed_value() -> None:
    values = np.array([2.0, 2.0, 1.0, 3.0])
    assert exceedances(values, 0.0) == 3
    assert exceedances(values, 0.0, alternative="less") == 3
    assert pvalues(values, 0.0, alternative="two-sided") == 1.0


def test_rounding_does_not_split_ties_and_the_tolerance_is_absolute() -> None:
    tiny = 1e-17
    values = np.array([tiny, 0.0, -tiny, 0.3])  # an observed value of almost 0: nothing relative would help
    assert pvalues(values, 1e-15) == 1.0
    assert pvalues(values, 0.0) == 0.5
    assert pvalues(np.array([0.3, 0.1 + 0.2 - 1e-16, 0.1]), 1e-14) == 2 / 3


def test_equals_counting_by_hand_in_every_cell() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, size=(40, 3, 4)).astype(float)
    for i in range(3):
        for j in range(4):
            column = list(values[:, i, j])
            up = sum(v >= column[0] for v in column)
            down = sum(v <= column[0] for v in column)
            assert pvalues(values, 0.0)[i, j] == up / 40
            assert pvalues(values, 0.0, alternative="less")[i, j] == down / 40
            assert pvalues(values, 0.0, alternative="two-sided")[i, j] == min(1.0, 2 * min(up, down) / 40)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("distinct", [2, 4, 1000])
def test_super_uniform_whichever_row_is_the_observed_one(alternative: str, distinct: int) -> None:
    rng = np.random.default_rng(distinct)
    for n_rows in (2, 3, 20, 37):
        values = rng.integers(0, distinct, size=n_rows).astype(float)
        p = np.array([float(pvalues(rows, 0.0, alternative=alternative)) for rows in each_row_observed(values)])
        assert super_uniform(p)
        assert p.min() > 0
        assert p.max() <= 1


def test_orientation_of_a_distance() -> None:
    assert flipped("greater", -1) == "less"
    assert flipped("less", -1) == "greater"
    assert flipped("two-sided", -1) == "two-sided"
    values = np.array([1.0, 5.0, 6.0, 0.5])
    for alternative in get_args(Alternative):
        assert pvalues(values, 0.0, alternative=flipped(alternative, -1)) == pvalues(
            -values, 0.0, alternative=alternative
        )


def test_least_p() -> None:
    assert min_pvalue(100) == 0.01
    assert min_pvalue(100, "two-sided") == 0.02
    assert min_pvalue(1, "two-sided") == 1.0


@pytest.mark.parametrize("word", ["larger", "Greater", "", None])
def test_unknown_alternative(word: str) -> None:
    with pytest.raises(InputError, match="'greater', 'less' or 'two-sided'"):
        pvalues(np.arange(3.0), 0.0, alternative=word)


def test_unknown_sign() -> None:
    with pytest.raises(InputError, match=r"sign must be \+1"):
        flipped("greater", 0)


# ---------------------------------------------------------------------------------------------- Monte-Carlo intervals


def binomial_cdf(k: int, n: int, p: float) -> float:
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


def test_independent_draws_give_clopper_pearson() -> None:
    values = np.concatenate([[30.5], np.arange(40.0)])  # 9 of 40 null draws reach it
    interval = monte_carlo_interval(values, 0.0)
    assert interval is not None
    assert isinstance(interval.low, float)
    assert isinstance(interval.high, float)
    assert 1 - binomial_cdf(8, 40, interval.low) == pytest.approx(0.025)
    assert binomial_cdf(9, 40, interval.high) == pytest.approx(0.025)
    assert interval.low < float(pvalues(values, 0.0)) < interval.high
    assert "independent draws" in interval.method
    assert "[0.108, 0.385]" in repr(interval)


def test_no_hits_and_all_hits() -> None:
    none = monte_carlo_interval(np.array([1.0, *np.zeros(19)]), 0.0)
    every = monte_carlo_interval(np.zeros(20), 0.0)
    assert none is not None
    assert every is not None
    assert none.low == 0.0
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 19))
    assert every.high == 1.0
    assert every.low == pytest.approx(0.025 ** (1 / 19))


def test_an_enumeration_has_no_monte_carlo_error() -> None:
    assert monte_carlo_interval(np.arange(20.0), 0.0, exhaustive=True) is None


def test_one_coset_is_labelled_as_such() -> None:
    interval = monte_carlo_interval(np.arange(20.0), 0.0, coset_size=20)
    assert interval is not None
    assert "one coset treated as independent" in interval.method


def test_dependence_within_cosets_widens_the_interval() -> None:
    rng = np.random.default_rng(1)
    lifted = rng.normal(size=(10, 1)) + 0.1 * rng.normal(size=(10, 50))
    independent = rng.normal(size=(10, 50))
    lifted[0, 0] = independent[0, 0] = 0.5
    widths = {}
    for name, rows in {"lifted": lifted, "independent": independent}.items():
        as_cosets = monte_carlo_interval(rows.ravel(), 0.0, coset_size=50)
        as_draws = monte_carlo_interval(rows.ravel(), 0.0)
        assert as_cosets is not None
        assert as_draws is not None
        widths[name] = (as_cosets.high - as_cosets.low) / (as_draws.high - as_draws.low)
        assert "10 cosets" in as_cosets.method
    assert widths["lifted"] > 3
    assert 1 <= widths["independent"] < 1.5


def test_intervals_of_a_grid_are_those_of_its_cells() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(60, 2, 3))
    for alternative in get_args(Alternative):
        grid = monte_carlo_interval(values, np.zeros((2, 3)), alternative=alternative, coset_size=20)
        assert grid is not None
        p = pvalues(values, 0.0, alternative=alternative)
        assert (grid.low <= p).all()
        assert (p <= np.asarray(grid.high) + 1e-12).all()
        for i in range(2):
            for j in range(3):
                one = monte_carlo_interval(values[:, i, j], 0.0, alternative=alternative, coset_size=20)
                assert one is not None
                assert one.low == np.asarray(grid.low)[i, j]
                assert one.high == np.asarray(grid.high)[i, j]


def test_coverage_of_the_interval() -> None:
    rng = np.random.default_rng(3)
    draws = rng.random((400, 50))
    observed = 0.8  # the exact p is 0.2
    covered = 0
    for row in draws:
        interval = monte_carlo_interval(np.concatenate([[observed], row]), 0.0)
        assert interval is not None
        covered += bool(interval.low <= 0.2 <= interval.high)
    assert covered >= 0.95 * 400


# ------------------------------------------------------------------------------------------------------ Westfall-Young


def naive_single_step(evidence: np.ndarray, tolerance: float) -> np.ndarray:
    rows = evidence.reshape(len(evidence), -1)
    p = [sum(max(row) >= own - tolerance for row in rows) / len(rows) for own in rows[0]]
    return np.array(p).reshape(evidence.shape[1:])


def naive_step_down(evidence: np.ndarray, tolerance: float) -> np.ndarray:
    rows = evidence.reshape(len(evidence), -1)
    order = sorted(range(rows.shape[1]), key=lambda cell: -rows[0][cell])
    p, largest_so_far = np.empty(rows.shape[1]), 0.0
    for place, cell in enumerate(order):
        hits = sum(max(row[c] for c in order[place:]) >= rows[0][cell] - tolerance for row in rows)
        largest_so_far = max(largest_so_far, hits / len(rows))
        p[cell] = largest_so_far
    return p.reshape(evidence.shape[1:])


@pytest.mark.parametrize("distinct", [3, 10, 10_000])
@pytest.mark.parametrize("shape", [(30, 2, 3), (7, 1, 1), (2, 4, 5)])
def test_adjusted_p_equal_their_slow_twins(distinct: int, shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(distinct)
    evidence = rng.integers(0, distinct, size=shape).astype(float)
    for tolerance in (0.0, 0.5, 1.0):
        assert np.array_equal(single_step(evidence, tolerance), naive_single_step(evidence, tolerance))
        assert np.array_equal(step_down(evidence, tolerance), naive_step_down(evidence, tolerance))


def test_step_down_lies_between_the_cells_own_p_and_the_single_step() -> None:
    rng = np.random.default_rng(4)
    evidence = rng.normal(size=(200, 4, 5))
    evidence[0, 0] += 3.0
    own, down, single = pvalues(evidence, 0.0), step_down(evidence, 0.0), single_step(evidence, 0.0)
    assert (own <= down).all()
    assert (down <= single).all()
    assert (down < single).any()
    strongest = np.unravel_index(evidence[0].argmax(), (4, 5))
    assert down[strongest] == single[strongest] == single.min()


@pytest.mark.parametrize("procedure", [step_down, single_step])
@pytest.mark.parametrize("tail", get_args(Alternative))
def test_adjusted_p_are_never_below_the_cells_own_and_rise_towards_weak_cells(procedure, tail) -> None:
    raised = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.standard_normal((30, 3, 4)) ** 3 * 0.3 + rng.standard_normal((30, 3, 4))
        evidence = {"greater": values, "less": -values, "two-sided": np.abs(values)}[tail]
        own, plain = pvalues(values, 0.0, alternative=tail), procedure(evidence, 0.0)
        found = adjusted(evidence, 0.0, own, procedure=procedure)
        assert (found >= own).all()
        assert (found >= plain).all()
        strongest_first = np.argsort(-evidence[0], axis=None)
        assert (np.diff(found.ravel()[strongest_first]) >= 0).all()
        if tail != "two-sided":
            assert np.array_equal(found, plain)
        raised += int((found > plain).any())
    assert (raised > 0) == (tail == "two-sided")


def test_blocks_do_not_change_the_step_down(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = np.random.default_rng(5).normal(size=(57, 3, 3))
    whole = step_down(evidence, 1e-9)
    monkeypatch.setattr("calibtest.inference.pvalues._BLOCK", 40)
    assert np.array_equal(step_down(evidence, 1e-9), whole)


def test_the_least_adjusted_p_is_super_uniform() -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(size=(25, 3, 4)) * rng.exponential(size=(3, 4))
    smallest = [float(step_down(rows, 0.0).min()) for rows in each_row_observed(values)]
    assert super_uniform(np.array(smallest))
