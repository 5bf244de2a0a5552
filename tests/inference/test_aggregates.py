"""Aggregates of a grid: slow twins, validity with few rows, orientation, and bad ones."""

from __future__ import annotations

import pickle
from typing import get_args

import numpy as np
import pytest

from calibtest.errors import InputError
from calibtest.inference.aggregates import (
    Aggregate,
    Aggregated,
    ColumnMaxMean,
    FunctionAggregate,
    Max,
    Mean,
    RowMaxMean,
    StudentizedMax,
    TopMean,
    resolve_aggregate,
)
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import Alternative, flipped, single_step
from calibtest.inference.standardise import standardise

NAMES = ["studentized_max", "max", "mean", "row_max_mean", "column_max_mean", "top_5"]


def random_orbit(n_rows: int = 40, seed: int = 0, **options: object) -> Orbit:
    rng = np.random.default_rng(seed)
    scale, level = rng.exponential(size=(3, 4)) + 0.1, rng.normal(size=(3, 4))
    return Orbit(rng.normal(size=(n_rows, 3, 4)) * scale + level, np.full((3, 4), 1e-12), **options)  # type: ignore[arg-type]


def taken(aggregate: Aggregate, orbit: Orbit, alternative: Alternative = "greater", sign: int = 1) -> Aggregated:
    """The aggregate of an orbit, `alternative` said of similarity."""
    return aggregate(orbit, standardise(orbit), flipped(alternative, sign), sign)


def naive(name: str, rows: np.ndarray, alternative: str, sign: int) -> list[float]:
    """Row by row, in the way that the name says."""
    direction = sign if alternative != "less" else -sign
    mean, sd = rows.mean(axis=0), rows.std(axis=0)
    out = []
    for row in rows:
        if name == "studentized_max":
            z = direction * (row - mean) / sd
            out.append(max((abs(z) if alternative == "two-sided" else z).ravel()))
            continue
        cells = [[direction * v for v in line] for line in row]
        flat = sorted(v for line in cells for v in line)
        value = {
            "max": flat[-1],
            "mean": sum(flat) / len(flat),
            "row_max_mean": sum(max(line) for line in cells) / len(cells),
            "column_max_mean": sum(max(line[j] for line in cells) for j in range(4)) / 4,
            "top_5": sum(flat[-5:]) / 5,
        }[name]
        out.append(direction * value)
    return out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("sign", [1, -1])
def test_equals_the_slow_twin(name: str, alternative: Alternative, sign: int) -> None:
    orbit = random_orbit()
    found = taken(resolve_aggregate(name), orbit, alternative, sign)
    expected = np.array(naive(name, orbit.values, alternative, sign))
    assert np.allclose(found.values, expected, rtol=1e-12, atol=1e-12)
    assert found.name == name
    if name == "studentized_max":
        assert found.alternative == "greater"
        hits = sum(v >= expected[0] - 1e-9 for v in expected)
    elif alternative == "two-sided":
        assert found.alternative == "two-sided"
        hits = min(2 * min(sum(expected >= expected[0] - 1e-9), sum(expected <= expected[0] + 1e-9)), 40)
    else:
        small = (alternative == "less") == (sign == 1)
        assert found.alternative == ("less" if small else "greater")
        hits = sum(v <= expected[0] + 1e-9 if small else v >= expected[0] - 1e-9 for v in expected)
    assert found.pvalue() == hits / 40


@pytest.mark.parametrize("name", [*NAMES, "function"])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("n_rows", [2, 3, 20])
def test_super_uniform_whichever_row_is_the_observed_one(name: str, alternative: Alternative, n_rows: int) -> None:
    aggregate = resolve_aggregate((lambda v: v.max(axis=2).min(axis=1)) if name == "function" else name)
    for seed in range(5):
        values = random_orbit(n_rows, seed).values
        p = []
        for i in range(n_rows):
            rows = np.concatenate([values[i : i + 1], np.delete(values, i, axis=0)])
            p.append(taken(aggregate, Orbit(rows, np.full((3, 4), 1e-12)), alternative).pvalue())
        ranks = np.sort(np.array(p)) * n_rows
        assert (ranks >= np.arange(1, n_rows + 1) - 1e-9).all()


def test_standardising_by_the_null_rows_alone_would_reject_too_often() -> None:
    """Why the observed row is part of its own yardstick: the test is shown able to fail."""
    n_rows, rejected = 3, []
    for seed in range(200):
        values = np.random.default_rng(seed).normal(size=(n_rows, 4, 5))
        mean, sd = values[1:].mean(axis=0), values[1:].std(axis=0)
        z = ((values - mean) / sd).max(axis=(1, 2))
        rejected.append((z >= z[0]).mean() <= 1 / n_rows)
    assert np.mean(rejected) > 0.9  # a third would be right
    proper = [
        taken(
            StudentizedMax(), Orbit(np.random.default_rng(seed).normal(size=(n_rows, 4, 5)), np.zeros((4, 5)))
        ).pvalue()
        <= 1 / n_rows + 1e-12
        for seed in range(200)
    ]
    assert np.mean(proper) < 0.45


def test_studentized_max_finds_the_narrow_layer_that_the_raw_max_misses() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(200, 1, 2)) * [0.003, 0.05] + [0.97, 0.1]
    values[0] = [[0.968, 0.76]]
    orbit = Orbit(values, np.zeros((1, 2)))
    assert taken(Max(), orbit).pvalue() > 0.05
    assert taken(StudentizedMax(), orbit).pvalue() == 1 / 200


def test_closed_form_moments_reach_the_studentized_max() -> None:
    orbit = random_orbit()
    mean, sd = np.ones((3, 4)), np.full((3, 4), 2.0)
    found = StudentizedMax()(orbit, standardise(orbit, mean=mean, sd=sd), "greater")
    assert np.allclose(found.values, ((orbit.values - 1) / 2).max(axis=(1, 2)))


def test_an_uninformative_cell_stays_out_of_the_search() -> None:
    values = np.array(random_orbit().values)
    values[:, 2, 3] = 5.0
    orbit = Orbit(values, np.full((3, 4), 1e-12))
    found = taken(StudentizedMax(), orbit)
    assert np.isfinite(found.values).all()
    assert found.best != (2, 3)
    without = np.delete(values.reshape(40, -1), 11, axis=1)
    z = (without - without.mean(axis=0)) / without.std(axis=0)
    assert np.allclose(found.values, np.maximum(z.max(axis=1), 0.0))  # the cell that says nothing has z = 0
    assert taken(StudentizedMax(), Orbit(np.ones((10, 2, 2)), np.zeros((2, 2)))).pvalue() == 1.0


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_maximum_singles_out_its_cell_and_a_mean_none(alternative: Alternative, sign: int) -> None:
    for seed in range(10):
        orbit = random_orbit(seed=seed)
        raw = taken(Max(), orbit, alternative, sign)
        assert raw.best is not None
        assert orbit.observed[raw.best] == raw.values[0]
        studentised = taken(StudentizedMax(), orbit, alternative, sign)
        assert studentised.best is not None
        evidence = standardise(orbit).evidence(flipped(alternative, sign))
        assert evidence[0][studentised.best] == studentised.values[0] == evidence[0].max()
    for name in ("mean", "row_max_mean", "column_max_mean", "top_5"):
        assert taken(resolve_aggregate(name), orbit, alternative, sign).best is None
    assert taken(FunctionAggregate(lambda v: v.max(axis=(1, 2))), orbit, alternative, sign).best is None


def test_the_omnibus_p_is_the_least_single_step_p() -> None:
    for seed in range(20):
        orbit = random_orbit(seed=seed)
        scaled = standardise(orbit)
        for tail in get_args(Alternative):
            omnibus = StudentizedMax()(orbit, scaled, tail).pvalue()
            assert omnibus == single_step(scaled.evidence(tail), scaled.tolerance).min()


def test_ties_between_cells_of_counts_are_kept() -> None:
    # Means of counts over a factor: equal sums must stay equal whatever the order of the cells.
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 30, size=(1, 3, 4))
    values = np.stack([rng.permutation(counts.ravel()).reshape(3, 4) for _ in range(50)]) / 70.0
    orbit = Orbit(values, np.zeros((3, 4)))
    for name in ("mean", "max", "top_5"):
        assert taken(resolve_aggregate(name), orbit).pvalue() == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_calibration_of_the_aggregate(name: str) -> None:
    for seed in range(30):
        orbit = random_orbit(60, seed, coset_size=20)
        found = taken(resolve_aggregate(name), orbit)
        for alpha in (0.05, 0.2, 0.5):
            omnibus = found.calibrate(orbit, alpha=alpha, s_max=100.0)
            assert (omnibus.calibrated > 0) == (omnibus.pvalue <= alpha)
            assert omnibus.threshold in found.values
            assert omnibus.null_distribution.size == 59
            assert omnibus.statistic == found.values[0]
            assert omnibus.min_pvalue == 1 / 60
            assert omnibus.interval is not None
            assert "3 cosets" in omnibus.interval.method
            assert omnibus.aggregate in repr(omnibus)
            assert (omnibus.calibrated < 0.2) or name == "studentized_max"  # a share of the way to 100


def test_an_enumerated_orbit_has_no_interval() -> None:
    orbit = random_orbit(exhaustive=True)
    assert taken(Max(), orbit).calibrate(orbit, alpha=0.05).interval is None


# ------------------------------------------------------------------------------------------------------ the caller's own


def test_a_function_sees_the_values_in_their_own_units() -> None:
    orbit = random_orbit()

    def median(values: np.ndarray) -> np.ndarray:
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
        return np.asarray(np.median(values, axis=(1, 2)))

    found = taken(resolve_aggregate(median), orbit, sign=-1)
    assert found.name == "median"
    assert found.alternative == "less"
    assert np.array_equal(found.values, np.median(orbit.values, axis=(1, 2)))
    assert taken(FunctionAggregate(median, resolution=0.25), orbit).resolution == 0.25


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda v: v.max(), "one number a row, shape (40,), got shape ()"),
        (lambda v: v.max(axis=0), "one number a row"),
        (lambda v: v.max(axis=2), "one number a row"),
        (lambda v: np.where(v.mean(axis=(1, 2)) > 0, np.nan, 1.0), "not finite (NaN or inf) for 40 rows"),
        (lambda v: ["a"] * len(v), "must take them and return 40 numbers"),
        # The cell is chosen by looking at the observed row: the classical circular analysis.
        (lambda v: v.reshape(len(v), -1)[:, v[0].argmax()], "every row (row 0 is the observed one) is treated alike"),
        (lambda v: np.random.default_rng().random(len(v)), "deterministic"),
    ],
)
def test_bad_functions(function: object, words: str) -> None:
    values = np.random.default_rng(1).normal(size=(40, 3, 4))
    with pytest.raises(InputError) as caught:
        taken(resolve_aggregate(function), Orbit(values, np.zeros((3, 4))))  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_names_and_reprs() -> None:
    for aggregate in (StudentizedMax(), Max(), Mean(), RowMaxMean(), ColumnMaxMean(), TopMean(7)):
        assert isinstance(aggregate, Aggregate)
        assert resolve_aggregate(aggregate.name) == aggregate
        assert resolve_aggregate(aggregate) is aggregate
        assert pickle.loads(pickle.dumps(aggregate)) == aggregate
    assert TopMean(3) != TopMean(4)
    assert repr(TopMean(3)) == "InCellUnits(name='top_3')"
    assert repr(Max()) == "InCellUnits(name='max')"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("maximum", "'studentized_max', 'max'"),
        ("top_", "'top_5' (any number)"),
        ("top_0", "at least 1"),
        (3, "a name, a function of the values or an Aggregate, got int"),
        (Max, "write Max()"),
        (StudentizedMax, "write StudentizedMax()"),
    ],
)
def test_unknown_aggregates(given: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve_aggregate(given)  # type: ignore[arg-type]
    assert words in str(caught.value)


@pytest.mark.parametrize("m", [0, -1, 2.5, True, "3"])
def test_bad_top(m: object) -> None:
    with pytest.raises(InputError, match="whole number of cells"):
        TopMean(m)  # type: ignore[arg-type]


def test_more_best_cells_than_cells() -> None:
    with pytest.raises(InputError, match="the grid has 12"):
        taken(TopMean(13), random_orbit())
    assert np.allclose(taken(TopMean(12), random_orbit()).values, taken(Mean(), random_orbit()).values)


@pytest.mark.parametrize("name", ["max", "mean", "row_max_mean", "column_max_mean", "top_2"])
def test_a_raw_aggregate_within_the_resolution_of_the_observed_one_is_a_tie(name: str) -> None:
    values = np.zeros((4, 2, 2))
    values[0] = 1.0
    values[1] = 1.0 - 5e-4  # less than the resolution below
    orbit = Orbit(values, np.full((2, 2), 1e-3))
    assert resolve_aggregate(name)(orbit, standardise(orbit), "greater").pvalue() == 2 / 4
