"""Calibration of a value against null draws that the caller brings."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

from calibtest.errors import CalibtestWarning, InputError
from calibtest.inference.aggregates import FunctionAggregate, RowMaxMean
from calibtest.procedures.calibrate import calibrate

THIRTY = [i / 100 for i in range(1, 31)]


@pytest.fixture(autouse=True)
def _unexpected_warnings_are_errors() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def cells(n_draws: int = 99, shape: tuple[int, ...] = (3, 4), seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    null = rng.normal(size=(n_draws, *shape))
    observed = rng.normal(size=shape)
    observed.flat[0] = 9.0
    return observed, null


# ------------------------------------------------------------------------------------------------------- worked numbers


def test_second_largest_of_thirty_one() -> None:
    result = calibrate(0.295, THIRTY, alpha=0.05)
    assert result.pvalue == 2 / 31
    assert result.calibrated == 0.0
    assert result.threshold == 0.295
    assert result.min_pvalue == 1 / 31
    assert result.n_resamples == 30
    assert result.chance == pytest.approx(0.155)
    assert result.chance_sd == pytest.approx(np.std(THIRTY))
    assert result.zscore == pytest.approx((0.295 - 0.155) / np.std(THIRTY))
    assert isinstance(result.pvalue, float)
    assert result.adjusted_pvalue is None
    assert result.omnibus is None
    assert result.null_distribution.shape == (30,)


def test_beyond_every_draw() -> None:
    result = calibrate(0.65, THIRTY, s_max=1.0)
    assert result.pvalue == 1 / 31
    assert result.threshold == 0.30
    assert result.calibrated == pytest.approx(0.5)
    assert result.chance_corrected == pytest.approx((0.65 - 0.155) / (1 - 0.155))


def test_a_distance() -> None:
    result = calibrate(0.005, THIRTY, alternative="less", s_max=0.0)
    assert result.pvalue == 1 / 31
    assert result.threshold == 0.01
    assert result.calibrated == pytest.approx(0.5)


def test_two_sided() -> None:
    null = np.arange(99.0)
    for observed in (-1.0, 99.0):
        result = calibrate(observed, null, alternative="two-sided")
        assert result.pvalue == 0.02
        assert result.calibrated > 0
        assert result.lower_threshold is not None
        assert "thresholds at" in repr(result)
    assert calibrate(40.0, null, alternative="two-sided").calibrated == 0


@pytest.mark.parametrize("n_draws", [19, 20, 30, 99, 150])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_score_and_p_agree_along_the_whole_null(n_draws: int, alpha: float) -> None:
    warnings.simplefilter("ignore", CalibtestWarning)
    null = [i / 1000 for i in range(1, n_draws + 1)]
    for place in range(2 * n_draws + 3):
        result = calibrate(place / 2000, null, alpha=alpha)
        assert (result.calibrated > 0) == (result.pvalue <= alpha)
        assert result.pvalue > 0


# ----------------------------------------------------------------------------------------------------- ties and rounding


def test_ties_and_rounding() -> None:
    warnings.simplefilter("ignore", CalibtestWarning)
    assert calibrate(0.3, [0.1 + 0.2, 0.1, 0.1]).pvalue == 2 / 4
    assert calibrate(0.1 + 0.2, [0.3, 0.1, 0.1]).pvalue == 2 / 4
    assert calibrate(0.3, np.array([0.3, 0.1, 0.1], dtype=np.float32)).pvalue == 2 / 4
    assert calibrate(np.float32(0.3), [0.3, 0.1, 0.1]).pvalue == 2 / 4
    assert calibrate(5, [5, 4, 3]).pvalue == 2 / 4
    assert calibrate(0.0, [1e-18, -1e-18, 0.5]).pvalue == 1.0


def test_a_null_that_does_not_vary() -> None:
    with pytest.warns(CalibtestWarning, match="do not vary"):
        result = calibrate(0.9, [0.5] * 30)
    assert np.isnan(result.zscore)
    assert result.chance_sd == 0.0
    assert result.pvalue == 1 / 31
    assert "z undefined" in repr(result)
    with pytest.warns(CalibtestWarning, match="do not vary"):
        assert calibrate(0.5, [0.5] * 30).pvalue == 1.0


def test_one_draw() -> None:
    with pytest.warns(CalibtestWarning, match=r"1 null draws cannot give a p-value below 0\.5"):
        result = calibrate(1.0, [0.0])
    assert result.chance_sd == 0.0
    assert np.isnan(result.zscore)
    assert json.loads(result.to_json())["zscore"] is None


def test_too_few_draws_for_the_level() -> None:
    with pytest.warns(CalibtestWarning, match=r"below 0\.1, which is above alpha = 0\.05; use at least 19 draws"):
        calibrate(1.0, np.arange(9.0))
    with pytest.warns(CalibtestWarning, match="at least 39 draws"):
        calibrate(1.0, np.arange(19.0), alternative="two-sided")
    calibrate(1.0, np.arange(19.0))


# -------------------------------------------------------------------------------------------------------------- many cells


def test_each_cell_alone_is_the_single_number() -> None:
    observed, null = cells()
    grid = calibrate(observed, null, s_max=10.0)
    for i in range(3):
        for j in range(4):
            one = calibrate(observed[i, j], null[:, i, j], s_max=10.0)
            for field in ("statistic", "pvalue", "threshold", "calibrated", "chance", "chance_sd", "zscore"):
                assert np.asarray(getattr(grid, field))[i, j] == pytest.approx(getattr(one, field), rel=1e-12)
            assert np.asarray(grid.interval.low)[i, j] == one.interval.low
    assert grid.adjusted_pvalue is None
    assert grid.omnibus is None
    assert "not adjusted" in repr(grid)


@pytest.mark.parametrize("shape", [(1,), (5,), (3, 4), (2, 3, 2)])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_synchronised_draws_give_adjusted_p_and_an_omnibus(shape: tuple[int, ...], alternative: str) -> None:
    observed, null = cells(shape=shape)
    result = calibrate(observed, null, synchronised=True, alternative=alternative)
    adjusted = np.asarray(result.adjusted_pvalue)
    assert adjusted.shape == shape
    assert (adjusted >= np.asarray(result.pvalue)).all()
    assert result.omnibus is not None
    assert result.omnibus.aggregate == "studentized_max"
    if alternative == "two-sided":  # the search takes |z|, a cell twice its smaller tail
        assert result.omnibus.pvalue <= adjusted.min()
    else:
        assert result.omnibus.pvalue == adjusted.min()
    assert (result.omnibus.calibrated > 0) == (result.omnibus.pvalue <= 0.05)
    if alternative != "less":
        assert result.omnibus.pvalue == 0.01


def test_one_number_needs_no_omnibus() -> None:
    result = calibrate(0.295, THIRTY, synchronised=True)
    assert result.omnibus is None
    assert result.adjusted_pvalue == result.pvalue


@pytest.mark.parametrize("aggregate", ["max", "mean", "row_max_mean", "column_max_mean", "top_3", "studentized_max"])
def test_named_aggregates(aggregate: str) -> None:
    observed, null = cells()
    result = calibrate(observed, null, synchronised=True, aggregate=aggregate, s_max=10.0)
    assert result.omnibus is not None
    assert result.omnibus.aggregate == aggregate
    assert (result.omnibus.calibrated > 0) == (result.omnibus.pvalue <= 0.05)
    distance = calibrate(-observed, -null, synchronised=True, aggregate=aggregate, s_max=-10.0, alternative="less")
    assert distance.omnibus is not None
    assert distance.omnibus.pvalue == result.omnibus.pvalue
    assert distance.omnibus.calibrated == pytest.approx(result.omnibus.calibrated)


@pytest.mark.parametrize("shape", [(), (6,), (2, 3), (2, 3, 2)])
def test_the_callers_function_sees_the_callers_shape(shape: tuple[int, ...]) -> None:
    observed, null = cells(shape=shape) if shape else (np.array(9.0), np.arange(50.0) / 10)
    seen = []

    def total(values: np.ndarray) -> np.ndarray:
        seen.append(values.shape[1:])
        return values.reshape(len(values), -1).sum(axis=1)

    result = calibrate(observed, null, synchronised=True, aggregate=total)
    assert set(seen) == {shape}
    assert result.omnibus is not None
    assert result.omnibus.aggregate == "total"
    sums = null.reshape(len(null), -1).sum(axis=1)
    assert result.omnibus.pvalue == (1 + (sums >= observed.sum()).sum()) / (len(null) + 1)
    assert calibrate(observed, null, synchronised=True, aggregate=FunctionAggregate(total)).omnibus is not None


def test_a_planted_cell_is_found_and_the_level_is_kept_elsewhere() -> None:
    observed, null = cells(199)
    result = calibrate(observed, null, synchronised=True)
    adjusted = np.asarray(result.adjusted_pvalue)
    assert adjusted.flat[0] == 1 / 200
    assert (adjusted.ravel()[1:] > 0.05).all()


def test_family_wise_level_of_the_default_omnibus() -> None:
    rng = np.random.default_rng(11)
    p = []
    for _ in range(400):
        draws = rng.normal(size=(20, 6)) @ np.diag([1, 1, 5, 20, 0.1, 1]) + rng.normal(size=(20, 1))
        omnibus = calibrate(draws[0], draws[1:], synchronised=True).omnibus
        assert omnibus is not None
        p.append(omnibus.pvalue)
    assert min(p) == 0.05
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)


def test_some_cells_do_not_vary() -> None:
    observed, null = cells()
    null[:, 1, 1] = observed[1, 1] = 0.5
    with pytest.warns(CalibtestWarning, match="null draws of 1 cells do not vary"):
        result = calibrate(observed, null, synchronised=True)
    assert np.isnan(np.asarray(result.zscore)).sum() == 1
    assert np.asarray(result.adjusted_pvalue)[1, 1] == 1.0
    assert result.notes == (
        "the null draws of 1 cells do not vary, so their z-score is undefined; check that each draw relabelled the items",
    )
    assert json.loads(result.to_json())["zscore"][1][1] is None


# -------------------------------------------------------------------------------------------------------------- reporting


def test_frame() -> None:
    observed, null = cells(shape=(2, 3))
    frame = calibrate(observed, null, synchronised=True, names=(["a", "b"], ["x", "y", "z"])).to_frame()
    assert list(frame["left"]) == ["a", "a", "a", "b", "b", "b"]
    assert list(frame["right"]) == ["x", "y", "z"] * 2
    assert np.array_equal(frame["statistic"], observed.ravel())
    assert list(frame) == [
        "left", "right", "statistic", "chance", "chance_sd", "zscore", "chance_corrected", "threshold", "calibrated",
        "pvalue", "pvalue_low", "pvalue_high", "pvalue_adjusted",
    ]  # fmt: skip
    two_sided = calibrate(observed, null, alternative="two-sided").to_frame()
    assert {"lower_threshold"} == set(two_sided) - set(frame)
    assert {"pvalue_adjusted"} == set(frame) - set(two_sided)
    assert list(calibrate(observed[0], null[:, 0], names=["x", "y", "z"]).to_frame()["cell"]) == ["x", "y", "z"]
    assert len(calibrate(0.295, THIRTY).to_frame()) == 1
    assert "axis_2" in calibrate(*cells(shape=(2, 2, 2))).to_frame()


def test_json() -> None:
    observed, null = cells(shape=(2, 3))
    found = json.loads(calibrate(observed, null, synchronised=True).to_json())
    assert found["schema"] == "calibtest/calibration/1"
    assert found["question"] == "Is the observed value larger than the null draws?"
    assert "exchangeable" in found["null"]
    assert {"notes", "versions"} <= set(found)
    assert found["interval"]["confidence"] == 0.95
    assert np.shape(found["pvalue_adjusted"]) == (2, 3)
    assert np.shape(found["pvalue"]) == (2, 3)
    assert found["omnibus"]["aggregate"] == "studentized_max"
    assert "null_distribution" not in found
    with_null = json.loads(calibrate(0.295, THIRTY).to_json(null=True))
    assert with_null["null_distribution"] == THIRTY


def test_a_person_can_read_it() -> None:
    observed, null = cells()
    text = repr(calibrate(observed, null, synchronised=True, names=(list("abc"), list("wxyz"))))
    assert "12 cells (3 x 4), 99 null draws" in text
    assert "studentized_max" in text
    assert "a, w: 9, p = 0.01, adjusted 0.01" in text
    assert "and 7 more" in text
    assert max(len(line) for line in text.splitlines()) < 140


def test_results_cannot_be_changed_and_inputs_are_not() -> None:
    observed, null = cells()
    kept = observed.copy(), null.copy()
    result = calibrate(observed, null, synchronised=True)
    assert np.array_equal(observed, kept[0])
    assert np.array_equal(null, kept[1])
    for field in ("statistic", "pvalue", "null_distribution"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(result, field)[0] = 0
    with pytest.raises(AttributeError):
        result.pvalue = 0.0  # type: ignore[misc]


# ------------------------------------------------------------------------------------------------------------- bad calls

NAN = float("nan")


@pytest.mark.parametrize(
    ("observed", "null", "options", "words"),
    [
        (0.5, [0.1, NAN, NAN, 0.3], {}, ["null", "2 NaN", "out of 4", "never counted as evidence"]),
        (0.5, [NAN] * 99, {}, ["null", "99 NaN"]),
        (0.5, [0.1, float("inf")], {}, ["null", "1 infinite"]),
        (NAN, [0.1, 0.2], {}, ["observed", "1 NaN"]),
        ([0.5, NAN], np.zeros((9, 2)), {}, ["observed", "1 NaN", "out of 2"]),
        (0.5, [0.1, None], {}, ["null", "1 NaN"]),
        (0.5, [], {}, ["null is empty"]),
        ([], np.zeros((5, 0)), {}, ["observed is empty"]),
        (0.5, 0.3, {}, ["null must have shape (K,)"]),
        (0.5, np.zeros((5, 2)), {}, ["null must have shape (K,)", "got shape (5, 2)"]),
        ([0.5, 0.6], np.zeros(2), {}, ["null must have shape (K, 2)", "got shape (2,)"]),
        (np.zeros((2, 3)), np.zeros((9, 3, 2)), {}, ["null must have shape (K, 2, 3)", "first axis"]),
        (0.5, [[0.1], [0.1, 0.2]], {}, ["null", "rectangular"]),
        (0.5, ["0.1", "0.2"], {}, ["null must hold real numbers"]),
        (0.5, [0.1 + 0j], {}, ["null must hold real numbers", "complex"]),
        (0.5, [object()], {}, ["null must hold real numbers"]),
        (0.5, np.ma.array([0.1, 0.2], mask=[0, 1]), {}, ["null", "1 masked"]),
        (0.5, THIRTY, {"alpha": 0}, ["alpha", "between 0 and 1"]),
        (0.5, THIRTY, {"alpha": 5}, ["alpha", "got 5"]),
        (0.5, THIRTY, {"alpha": "x"}, ["alpha"]),
        (0.5, THIRTY, {"alternative": "bigger"}, ["alternative", "'two-sided'"]),
        (0.5, THIRTY, {"s_max": 0.4}, ["s_max", "0.5 lies above"]),
        (0.1, THIRTY, {"s_max": 0.2}, ["s_max", "null holds 0.3"]),
        (0.1, THIRTY, {"s_max": 0.05, "alternative": "less"}, ["s_max", "smallest", "null holds 0.01"]),
        (0.5, THIRTY, {"s_max": NAN}, ["s_max", "finite"]),
        (0.5, THIRTY, {"s_max": [1, 1]}, ["s_max", "one number"]),
        (0.5, THIRTY, {"s_max": 1.0, "alternative": "two-sided"}, ["s_max", "two-sided"]),
        (0.5, THIRTY, {"aggregate": "max"}, ["synchronised=True", "one relabelling for all cells"]),
        ([0.5], np.zeros((30, 1)), {"aggregate": "row_max_mean", "synchronised": True}, ["two-dimensional"]),
        ([0.5], np.zeros((30, 1)), {"aggregate": RowMaxMean(), "synchronised": True}, ["two-dimensional"]),
        ([0.5], np.zeros((30, 1)), {"aggregate": "best", "synchronised": True}, ["'studentized_max'"]),
        (0.5, THIRTY, {"names": ["a"]}, ["names", "one number"]),
        ([0.5, 0.6], np.zeros((30, 2)), {"names": ["a"]}, ["names must fit", "(1,)"]),
        ([0.5, 0.6], np.zeros((30, 2)), {"names": "ab"}, ["names must be a sequence of 2 str"]),
        (np.zeros((2, 2)), np.zeros((30, 2, 2)), {"names": ["ab", "cd"]}, ["names must be 2 sequences"]),
    ],
)
def test_bad_calls(observed: Any, null: Any, options: dict[str, Any], words: list[str]) -> None:
    warnings.simplefilter("ignore", CalibtestWarning)
    with pytest.raises(InputError) as caught:
        calibrate(observed, null, **options)
    for word in words:
        assert word in str(caught.value)
    assert isinstance(caught.value, ValueError)
