"""`layers_test`: a search over pairs of layers, and everything that is read from its one orbit."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from calibtest import (
    CalibtestError,
    CalibtestWarning,
    Exchangeable,
    FunctionMetric,
    LayersResult,
    LayerStack,
    alignment_test,
    get_metric,
    layers_test,
)
from calibtest.inference.aggregates import TopMean
from calibtest.inference.moments import MomentGrid
from calibtest.inference.orbit import Orbit
from calibtest.procedures.comparison import verify_null

RNG = np.random.default_rng(0)
N = 40
A = {
    "early": RNG.standard_normal((N, 30)),
    "middle": RNG.standard_normal((N, 100)),
    "late": RNG.standard_normal((N, 4)),
}
B = {"in": RNG.standard_normal((N, 60)), "out": A["late"][:, :3] + 1.2 * RNG.standard_normal((N, 3))}
CELL = (2, 1)  # where the signal is


def distance(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x[:, :3] / np.abs(x).max() - y[:, :3] / np.abs(y).max()).mean())


@pytest.fixture(scope="module")
def result() -> LayersResult:
    return layers_test(A, B, n_resamples=399, rng=0)


# ----------------------------------------------------------------------------------------------------------- the cells
def test_grid_is_found(result: LayersResult) -> None:
    assert (result.layers_a, result.layers_b) == (("early", "middle", "late"), ("in", "out"))
    assert result.best == ("late", "out")
    assert result.pvalue == result.min_pvalue == 1 / 400
    assert np.argmax(result.zscore) == np.ravel_multi_index(CELL, (3, 2))
    assert np.argmax(result.scores) != np.argmax(result.zscore)  # the widest pair has the largest raw score
    define = get_metric("linear_cka").define
    expected = [[define(x, y) for y in B.values()] for x in A.values()]
    np.testing.assert_allclose(result.scores, expected, rtol=0, atol=1e-12)


def test_cells_are_read_from_the_orbit(result: LayersResult) -> None:
    values, tolerance = result.orbit.values, result.orbit.resolution
    np.testing.assert_array_equal(result.scores, values[0])
    np.testing.assert_array_equal(result.cells.pvalue, (values >= values[0] - tolerance).mean(axis=0))
    np.testing.assert_array_equal(result.threshold, np.sort(values, axis=0)[379])  # ceil(0.95 * 400) - 1
    beyond = np.clip((values[0] - result.threshold) / (1 - result.threshold), 0, 1)
    np.testing.assert_allclose(result.calibrated, np.where(result.cells.pvalue <= 0.05, beyond, 0), rtol=0, atol=1e-15)
    np.testing.assert_allclose(result.zscore, (result.scores - result.chance) / result.cells.chance_sd)
    np.testing.assert_allclose(result.chance_corrected, (result.scores - result.chance) / (1 - result.chance))


@pytest.mark.parametrize("metric", ["linear_cka", "debiased_cka", "mutual_knn", "rsa", "callable"])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_numbers_of_a_result_agree_with_each_other(metric: str, alternative: str) -> None:
    chosen: Any = FunctionMetric(distance, larger_is_more_similar=False) if metric == "callable" else metric
    for alpha in (0.05, 0.3):
        found = layers_test(A, B, metric=chosen, alternative=alternative, alpha=alpha, n_resamples=119, rng=1)
        cells = found.cells
        np.testing.assert_array_equal(found.calibrated > 0, cells.pvalue <= alpha)
        assert (cells.pvalue >= found.min_pvalue).all()
        assert (cells.adjusted_pvalue >= cells.pvalue).all()
        assert (cells.single_step_pvalue >= cells.adjusted_pvalue).all()
        at = found.layers_a.index(found.best[0]), found.layers_b.index(found.best[1])
        assert cells.single_step_pvalue[at] == cells.single_step_pvalue.min()
        if alternative != "two-sided":  # the search takes |z|, a cell twice its smaller tail
            assert found.pvalue == cells.single_step_pvalue.min() == cells.adjusted_pvalue.min()
        assert (cells.pvalue_low <= cells.pvalue).all()
        assert (cells.pvalue <= cells.pvalue_high).all()
        assert (found.omnibus.calibrated > 0) == (found.pvalue <= alpha)


@pytest.mark.parametrize("metric", ["linear_cka", "callable"])
def test_two_sided_score_is_the_distance_from_the_nearer_threshold(metric: str) -> None:
    chosen: Any = FunctionMetric(distance, larger_is_more_similar=False) if metric == "callable" else metric
    found = layers_test(A, B, metric=chosen, alternative="two-sided", alpha=0.3, n_resamples=119, rng=1)
    assert found.lower_threshold is not None
    beyond = np.maximum(found.scores - found.threshold, found.lower_threshold - found.scores)
    np.testing.assert_array_equal(found.calibrated, np.where(found.cell_pvalue <= 0.3, beyond, 0.0))
    assert found.calibrated.any()
    np.testing.assert_array_equal(found.to_frame()["lower_threshold"].min(), found.lower_threshold.min())
    assert json.loads(found.to_json())["cells"][0]["lower_threshold"] == found.lower_threshold[0, 0]
    assert layers_test(A, B, n_resamples=19, rng=1).lower_threshold is None


@pytest.mark.parametrize("metric", ["linear_cka", "callable"])
def test_best_value_of_a_score_plays_no_part_away_from_it(metric: str) -> None:
    chosen: Any = FunctionMetric(distance, larger_is_more_similar=False) if metric == "callable" else metric
    found = layers_test(A, B, metric=chosen, alternative="less", alpha=0.6, n_resamples=119, rng=1)
    beyond = found.metric.claims.sign * (found.threshold - found.scores)
    np.testing.assert_array_equal(found.calibrated, np.where(found.cell_pvalue <= 0.6, beyond, 0.0))
    assert found.calibrated.any()


def test_grids_of_the_result_are_those_of_its_cells(result: LayersResult) -> None:
    for name in ("scores", "chance", "chance_sd", "chance_corrected", "zscore", "threshold", "calibrated"):
        assert getattr(result, name) is getattr(result.cells, name)
    assert result.cell_pvalue is result.cells.pvalue
    assert result.adjusted_pvalue is result.cells.adjusted_pvalue
    z = (result.scores - result.moments.mean) / result.moments.sd
    np.testing.assert_allclose(result.evidence, z, rtol=1e-9)


def test_step_down_never_grows_with_strength(result: LayersResult) -> None:
    strongest_first = np.argsort(-result.zscore, axis=None)
    assert (np.diff(result.cells.adjusted_pvalue.ravel()[strongest_first]) >= 0).all()
    assert (result.cells.adjusted_pvalue < result.cells.single_step_pvalue).any()


# ---------------------------------------------------------------------------------------------------------- aggregates
AGGREGATES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "max": lambda v: v.max(axis=(1, 2)),
    "mean": lambda v: v.mean(axis=(1, 2)),
    "row_max_mean": lambda v: v.max(axis=2).mean(axis=1),
    "column_max_mean": lambda v: v.max(axis=1).mean(axis=1),
    "top_2": lambda v: np.sort(v.reshape(len(v), -1), axis=1)[:, -2:].mean(axis=1),
}


@pytest.mark.parametrize("name", AGGREGATES)
def test_every_aggregate_comes_from_the_one_pass(result: LayersResult, name: str) -> None:
    expected = AGGREGATES[name](result.orbit.values)
    omnibus = result.aggregate(name)
    assert omnibus.aggregate == name
    assert omnibus.statistic == pytest.approx(expected[0], abs=1e-14)
    np.testing.assert_allclose(omnibus.null_distribution, expected[1:], rtol=0, atol=1e-14)
    assert omnibus.pvalue == (expected >= expected[0] - 1e-12).mean()
    direct = layers_test(A, B, aggregate=name, n_resamples=399, rng=0)
    assert (direct.statistic, direct.pvalue, direct.omnibus.calibrated) == (
        omnibus.statistic,
        omnibus.pvalue,
        omnibus.calibrated,
    )
    by_callable = result.aggregate(AGGREGATES[name])
    assert by_callable.pvalue == omnibus.pvalue
    assert by_callable.statistic == omnibus.statistic


def test_studentised_maximum_is_the_largest_z(result: LayersResult) -> None:
    assert result.omnibus.aggregate == "studentized_max"
    assert result.statistic == pytest.approx(result.zscore.max(), rel=1e-12)
    z = (result.orbit.values - result.moments.mean) / result.moments.sd
    np.testing.assert_allclose(result.null_distribution, z[1:].max(axis=(1, 2)), rtol=1e-9)
    again = result.aggregate("studentized_max")
    assert (again.statistic, again.pvalue) == (result.statistic, result.pvalue)


def test_aggregates_may_be_objects(result: LayersResult) -> None:
    assert result.aggregate(TopMean(2)).pvalue == result.aggregate("top_2").pvalue


def test_aggregates_of_several_pairs_single_out_none() -> None:
    for aggregate in ("mean", "top_2", AGGREGATES["max"]):
        found = layers_test(A, B, aggregate=aggregate, n_resamples=79, rng=0)
        assert found.best is None
        assert json.loads(found.to_json())["best"] is None
        assert "best pair" not in repr(found)
        assert len(found.plot().axes) == 5


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("larger_is_more_similar", [True, False])
def test_best_is_the_cell_of_the_raw_maximum(alternative: str, larger_is_more_similar: bool) -> None:
    metric: Any = "linear_cka" if larger_is_more_similar else FunctionMetric(distance, larger_is_more_similar=False)
    found = layers_test(A, B, metric=metric, aggregate="max", alternative=alternative, n_resamples=79, rng=0)
    at = found.layers_a.index(found.best[0]), found.layers_b.index(found.best[1])
    assert found.scores[at] == found.statistic
    seeks_similar = alternative != "less"
    assert found.statistic == (found.scores.max() if seeks_similar == larger_is_more_similar else found.scores.min())


def test_narrow_layer_is_found_by_the_studentised_maximum_and_hidden_from_the_raw_one() -> None:
    widths, runs = (8, 64, 512), 10
    found, hidden = 0, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        a = [rng.standard_normal((100, width)) for width in widths]
        b = [rng.standard_normal((100, width)) for width in widths]
        b[0] = 0.45 * a[0] + b[0]
        result = layers_test(a, b, n_resamples=99, rng=seed)
        found += result.pvalue <= 0.05 and result.best == ("0", "0")
        hidden += result.aggregate("max").pvalue > 0.05
    assert found >= 9
    assert hidden >= 7


def test_search_over_noise_is_paid_for() -> None:
    smallest, whole = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = ([rng.standard_normal((30, 6)) for _ in range(6)] for _ in range(2))
        result = layers_test(a, b, n_resamples=119, rng=seed)
        smallest.append(result.cells.pvalue.min())
        whole.append(result.pvalue)
    assert np.mean(np.array(smallest) <= 0.05) > 0.5  # the best of 36 cells looks significant on its own
    assert np.sum(np.array(whole) <= 0.05) <= 4  # 20 runs at 5 %: more than 4 have probability .003


# ------------------------------------------------------------------------------------------------------ skipped layers
def test_dead_layer_is_skipped_listed_and_told() -> None:
    with pytest.warns(CalibtestWarning, match="layer 'dead' of B was skipped: .*constant"):
        result = layers_test(A, {"in": B["in"], "dead": np.zeros((N, 4)), "out": B["out"]}, n_resamples=99, rng=0)
    (skip,) = result.skipped
    assert (skip.side, skip.layer) == ("B", "dead")
    assert "constant" in skip.reason
    assert any("'dead'" in note for note in result.notes)
    assert result.layers_b == ("in", "out")
    without = layers_test(A, B, n_resamples=99, rng=0)
    np.testing.assert_array_equal(result.orbit.values, without.orbit.values)
    assert result.pvalue == without.pvalue
    assert "dead" in repr(result)


def test_nan_layer_is_an_error_and_not_skipped() -> None:
    broken = B["in"].copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"B\['dead'\] has 1 non-finite value"):
        layers_test(A, {"in": B["in"], "dead": broken}, n_resamples=99)


def test_saturated_pair_is_reported_and_does_not_win() -> None:
    metric = get_metric("mutual_knn", k=2)
    x = np.eye(4)[:, :3] + 1.0  # with k = n - 1 every neighbour list is complete
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = layers_test([x[:3]], [x[:3] ** 2], metric=metric, n_resamples=99, rng=0)
    assert result.cells.uninformative.all()
    assert result.pvalue == 1.0
    assert result.statistic == 0.0
    assert any("carry no evidence" in str(warning.message) for warning in caught)


# -------------------------------------------------------------------------------------------------------------- inputs
def test_layers_may_come_in_any_container() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((N, 3, 7)), rng.standard_normal((N, 2, 5))
    expected = layers_test(a, b, n_resamples=79, rng=0)
    assert expected.layers_a == ("0", "1", "2")
    lists = [a[:, i] for i in range(3)], [b[:, j] for j in range(2)]
    for same_a, same_b in (
        lists,
        (tuple(lists[0]), {str(j): layer for j, layer in enumerate(lists[1])}),
        (LayerStack.build(lists[0], name="A"), LayerStack.build(b, name="B", layers_axis=True)),
        (dict(enumerate(lists[0])), b),
    ):
        found = layers_test(same_a, same_b, n_resamples=79, rng=0)
        np.testing.assert_array_equal(found.orbit.values, expected.orbit.values)
        assert (found.layers_a, found.layers_b) == (expected.layers_a, expected.layers_b)


def test_one_matrix_is_one_layer() -> None:
    found = layers_test(A["late"], B, n_resamples=79, rng=0)
    whole = layers_test(A, B, n_resamples=79, rng=0)
    np.testing.assert_allclose(found.orbit.values, whole.orbit.values[:, 2:], rtol=0, atol=1e-13)


def test_cell_does_not_depend_on_what_else_is_searched() -> None:
    alone = layers_test({"late": A["late"]}, {"out": B["out"]}, n_resamples=399, rng=0)
    together = layers_test(A, B, n_resamples=399, rng=0)
    np.testing.assert_allclose(alone.orbit.values[:, 0, 0], together.orbit.values[(slice(None), *CELL)], atol=1e-13)
    assert alone.cells.pvalue[0, 0] == together.cells.pvalue[CELL]


def test_names_of_stacks_are_the_names_in_the_result() -> None:
    left = LayerStack.build(A, name="ViT")
    right = LayerStack.build({**B, "dead": np.ones((N, 2))}, name="BERT")
    with pytest.warns(CalibtestWarning, match="layer 'dead' of BERT"):
        result = layers_test(left, right, n_resamples=79, rng=0)
    assert "ViT and BERT" in repr(result)
    assert set(result.provenance.digests()) == {"a:ViT", "b:BERT"}


# ------------------------------------------------------------------------------------------------------------ sameness
@pytest.mark.parametrize("metric", ["linear_cka", "rsa", "mutual_knn"])
@pytest.mark.parametrize("draws", ["cosets", "independent"])
def test_threads_change_nothing(metric: str, draws: str) -> None:
    one, two = (layers_test(A, B, metric=metric, draws=draws, n_resamples=399, rng=0, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.orbit.values, two.orbit.values)
    np.testing.assert_array_equal(one.cells.adjusted_pvalue, two.cells.adjusted_pvalue)


def test_both_kinds_of_draws_agree_on_what_they_estimate() -> None:
    cosets, independent = (
        layers_test(A, B, draws=draws, n_resamples=3999, rng=0) for draws in ("cosets", "independent")
    )
    error = 5 * cosets.cells.chance_sd / np.sqrt(4000)
    for found in (cosets, independent):
        assert (np.abs(found.orbit.null.mean(axis=0) - found.chance) < error).all()
        np.testing.assert_allclose(found.orbit.null.std(axis=0), found.cells.chance_sd, rtol=0.1)
    np.testing.assert_allclose(cosets.threshold, independent.threshold, rtol=0.1)


@pytest.mark.parametrize("metric", ["linear_cka", "debiased_cka", "rbf_cka", "rv", "rsa", "mutual_knn"])
@pytest.mark.parametrize("draws", ["cosets", "independent"])
def test_draws_are_checked_against_the_closed_form(metric: str, draws: str) -> None:
    result = layers_test(A, B, metric=metric, draws=draws, n_resamples=1999, rng=0)
    assert result.null_check is not None
    assert result.null_check < 5
    deviation = np.abs(result.orbit.null.mean(axis=0) - result.moments.mean) / result.moments.sd
    assert result.null_check == pytest.approx(deviation.max() * np.sqrt(result.n_resamples))


def test_draws_that_cannot_come_from_the_null_are_refused() -> None:
    rng = np.random.default_rng(0)
    moments = MomentGrid(np.zeros((1, 1)), np.ones((1, 1)))
    for coset_size, off in ((None, 12.0), (100, 120.0)):  # only whole cosets count as independent
        values = rng.standard_normal((10_000, 1, 1))
        fine = Orbit(values + 0.8 * off, np.zeros((1, 1)), coset_size=coset_size)
        assert verify_null(fine, moments) == pytest.approx(0.8 * off * np.sqrt(9999), rel=0.01)
        with pytest.raises(CalibtestError, match="standard deviations of the score from its exact value"):
            verify_null(Orbit(values + off, np.zeros((1, 1)), coset_size=coset_size), moments)


def test_warnings_point_at_the_line_of_the_caller() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layers_test(A, B, n_resamples=9, rng=0, draws="independent")
        alignment_test(A["early"], B["in"], n_resamples=9, rng=0, draws="independent")
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_no_closed_form_no_check() -> None:
    grouped = layers_test(A, B, scheme="within_groups", groups=np.arange(N) % 4, n_resamples=99, rng=0)
    assert grouped.moments is None
    assert grouped.null_check is None
    np.testing.assert_allclose(grouped.chance, grouped.orbit.null.mean(axis=0))
    np.testing.assert_allclose(grouped.cells.chance_sd, grouped.orbit.null.std(axis=0))


def test_single_precision_gives_the_same_answer() -> None:
    exact, fast = (layers_test(A, B, precision=p, n_resamples=399, rng=0) for p in ("float64", "float32"))
    np.testing.assert_allclose(fast.orbit.values, exact.orbit.values, rtol=0, atol=1e-5)
    np.testing.assert_allclose(fast.cells.pvalue, exact.cells.pvalue, rtol=0, atol=2 / 400)
    assert fast.best == exact.best


def test_progress_runs_from_nothing_to_the_end() -> None:
    for metric in ("linear_cka", "mutual_knn", distance):
        for draws in ("cosets", "independent"):
            shares: list[float] = []
            layers_test(A, B, metric=metric, draws=draws, n_resamples=399, rng=0, n_jobs=1, progress=shares.append)
            assert shares
            assert shares == sorted(shares)
            assert shares[0] >= 0
            assert shares[-1] == pytest.approx(1.0)


# ------------------------------------------------------------------------------------------------------------- reports
COLUMNS = {
    "score": "scores",
    "chance": "chance",
    "chance_sd": "chance_sd",
    "zscore": "zscore",
    "chance_corrected": "chance_corrected",
    "threshold": "threshold",
    "calibrated": "calibrated",
    "pvalue": "pvalue",
    "pvalue_low": "pvalue_low",
    "pvalue_high": "pvalue_high",
    "pvalue_adjusted": "adjusted_pvalue",
}


def test_frame_has_every_pair_the_strongest_first(result: LayersResult) -> None:
    frame = result.to_frame()
    assert len(frame) == 6
    assert tuple(frame.loc[0, ["layer_a", "layer_b"]]) == result.best
    assert (frame["zscore"].diff().dropna() <= 0).all()
    for _, row in frame.iterrows():
        at = result.layers_a.index(row["layer_a"]), result.layers_b.index(row["layer_b"])
        for column, field in COLUMNS.items():
            assert row[column] == getattr(result.cells, field)[at], column
        assert row["informative"] == (not result.cells.uninformative[at])


def test_json_has_every_pair_to_the_last_bit(result: LayersResult) -> None:
    document = json.loads(result.to_json(null=True))
    assert document["omnibus"]["pvalue"] == result.pvalue
    assert document["omnibus"]["statistic"] == result.statistic
    np.testing.assert_array_equal(document["omnibus"]["null_distribution"], result.null_distribution)
    assert (document["best"]["layer_a"], document["best"]["layer_b"]) == result.best
    assert len(document["cells"]) == 6
    for cell in document["cells"]:
        at = result.layers_a.index(cell["layer_a"]), result.layers_b.index(cell["layer_b"])
        for column, field in COLUMNS.items():
            assert cell[column] == getattr(result.cells, field)[at], column
    assert "null_distribution" not in json.loads(result.to_json())["omnibus"]


def test_undefined_numbers_become_null_in_json() -> None:
    metric = FunctionMetric(lambda x, y: float(x.sum() + y.sum()), label="total")
    with pytest.warns(CalibtestWarning, match="carry no evidence"):
        result = layers_test(A, B, metric=metric, n_resamples=19, rng=0)
    document = json.loads(result.to_json())
    assert document["cells"][0]["zscore"] is None
    assert document["metric"]["name"] == "total"


def test_result_survives_pickling(result: LayersResult) -> None:
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.orbit.values, result.orbit.values)
    assert again.to_json() == result.to_json()
    assert repr(again) == repr(result)
    assert again.aggregate("studentized_max").pvalue == result.pvalue


def test_pickles_and_results_hold_no_second_orbit_and_no_activations() -> None:
    a, b = np.ones((N, 20_000)) * RNG.standard_normal((N, 1)) + RNG.standard_normal((N, 20_000)), B["out"]
    result = layers_test(a, b, n_resamples=999, rng=0)
    assert result.orbit.values.nbytes < len(pickle.dumps(result)) < result.orbit.values.nbytes + a.nbytes // 100
    again = pickle.loads(pickle.dumps(result)).provenance
    assert again.digests() == result.provenance.digests()
    assert again.digests()["a:A"] == LayerStack.build(a, name="A").digests()


def test_relabellings_are_counted_only_when_the_level_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    monkeypatch.setattr(Exchangeable, "order", lambda self, n: counted.append(n) or 24)
    layers_test(A, B, n_resamples=99, rng=0)
    assert counted == []
    with pytest.warns(CalibtestWarning, match="24 distinct permutations"):
        layers_test(A, B, n_resamples=9, rng=0, draws="independent")
    assert counted == [N]


def test_result_is_frozen_and_its_arrays_cannot_be_changed(result: LayersResult) -> None:
    with pytest.raises(AttributeError):
        result.best = ("early", "in")  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        result.orbit.values[0] = 0.0
