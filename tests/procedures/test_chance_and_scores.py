"""`chance_level` and `alignment_scores`: numbers without a test."""

from __future__ import annotations

import itertools
import json
import math
import warnings

import numpy as np
import pytest

from calibtest import CalibtestWarning, alignment_scores, alignment_test, chance_level, get_metric, layers_test
from calibtest.metrics.base import Metric

SETTINGS = [
    get_metric("linear_cka"),
    get_metric("rv"),
    get_metric("debiased_cka"),
    get_metric("rbf_cka"),
    get_metric("rbf_cka", fraction=0.3),
    get_metric("rsa"),
    get_metric("rsa", distance="euclidean", comparison="pearson"),
    get_metric("rsa", distance="cosine"),
    get_metric("mutual_knn", k=2),
    get_metric("mutual_knn", k=3, distance="euclidean"),
]
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_chance_is_the_mean_of_the_definition_over_all_pairings(metric: Metric) -> None:
    x, y = RNG.standard_normal((5, 4)), RNG.standard_normal((5, 3))
    scores = np.array([metric.define(x, y[list(order)]) for order in itertools.permutations(range(5))])
    level = chance_level(metric, x, y)
    assert level.mean == pytest.approx(scores.mean(), abs=1e-12)
    assert level.sd == pytest.approx(scores.std(), abs=1e-9)


@pytest.mark.filterwarnings("ignore::calibtest.CalibtestWarning")
@pytest.mark.parametrize("n", [6, 7])
@pytest.mark.parametrize("tied", [False, True], ids=["ordinary", "tied"])
@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_chance_is_the_mean_of_the_enumerated_null(metric: Metric, tied: bool, n: int) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((n, 4)), rng.standard_normal((n, 3))
    if tied:  # a small lattice: copies of items and equal distances
        x, y = np.rint(x[:, :3]) + np.array([0.0, 3.0, 5.0]), np.rint(y) + np.array([7.0, 0.0, 3.0])
    result = alignment_test(x, y, metric=metric, n_resamples=5040, rng=0)
    assert result.grid.orbit.exhaustive
    values = result.grid.orbit.values[:, 0, 0]
    assert len(values) == math.factorial(n)
    level = chance_level(metric, x, y)
    assert (result.chance, result.chance_sd) == (level.mean, level.sd)
    assert level.mean == pytest.approx(values.mean(), abs=1e-12)
    assert level.sd == pytest.approx(values.std(), abs=1e-10)
    assert level.sd > 1e-3
    assert result.interval is None


@pytest.mark.filterwarnings("ignore:. has only 2 distinct rows")
@pytest.mark.filterwarnings("ignore:X. one item")
@pytest.mark.parametrize("metric", ["linear_cka", "debiased_cka", "rbf_cka", "rsa"])
def test_chance_of_two_valued_layers(metric: str) -> None:
    chosen = get_metric(metric, distance="euclidean", comparison="pearson") if metric == "rsa" else get_metric(metric)
    for n in range(5, 25):
        x = np.outer(np.arange(n) % 2, np.ones(4)) + np.arange(4.0)
        y = np.random.default_rng(n).standard_normal((n, 3))
        level = chance_level(chosen, x, y)
        drawn = alignment_test(x, y, metric=chosen, n_resamples=499, draws="independent", alpha=0.5, rng=n)
        assert abs(drawn.null_distribution.mean() - level.mean) < 5 * level.sd / np.sqrt(drawn.n_resamples) + 1e-12


def test_chance_in_closed_form() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((101, 300)), rng.standard_normal((101, 20))
    x_kernel, y_kernel = ((z - z.mean(0)) @ (z - z.mean(0)).T for z in (x, y))
    effective = [np.trace(k) ** 2 / (k**2).sum() for k in (x_kernel, y_kernel)]
    assert chance_level("linear_cka", x, y).mean == pytest.approx(np.sqrt(np.prod(effective)) / 100, rel=1e-12)
    assert chance_level("mutual_knn", x, y).mean == pytest.approx(10 / 100, rel=1e-12)
    debiased = chance_level("debiased_cka", x, y)
    assert abs(debiased.mean) < 1e-14
    assert debiased.sd == pytest.approx(np.sqrt(2 / (101 * 98)), rel=1e-9)
    rsa = chance_level("rsa", x, y)
    assert abs(rsa.mean) < 1e-14


def test_what_dominates_or_ties_is_told_with_the_chance_level() -> None:
    far = RNG.standard_normal((30, 5))
    far[7] += 500
    with pytest.warns(CalibtestWarning, match=r"X: one item \(row 7\)"):
        chance_level("linear_cka", far, RNG.standard_normal((30, 4)))


def test_chance_does_not_depend_on_the_pairing() -> None:
    x, y = RNG.standard_normal((30, 5)), RNG.standard_normal((30, 4))
    for metric in ("linear_cka", "rsa", "mutual_knn"):
        here, there = chance_level(metric, x, y), chance_level(metric, x, y[RNG.permutation(30)])
        assert here.mean == pytest.approx(there.mean, abs=1e-13)
        assert here.sd == pytest.approx(there.sd, rel=1e-9)


# -------------------------------------------------------------------------------------------------------------- scores
A = {"a": RNG.standard_normal((30, 5)), "b": RNG.standard_normal((30, 50))}
B = {"c": RNG.standard_normal((30, 4)), "d": RNG.standard_normal((30, 8)), "e": RNG.standard_normal((30, 3))}


@pytest.mark.parametrize("metric", ["linear_cka", "debiased_cka", "rbf_cka", "rv", "rsa", "mutual_knn"])
def test_scores_are_the_observed_row_of_the_test(metric: str) -> None:
    scores = alignment_scores(A, B, metric=metric)
    tested = layers_test(A, B, metric=metric, n_resamples=99, rng=0, draws="independent")
    assert (scores.layers_a, scores.layers_b) == (("a", "b"), ("c", "d", "e"))
    np.testing.assert_allclose(scores.scores, tested.scores, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(scores.chance, tested.chance)
    np.testing.assert_array_equal(scores.chance_sd, tested.cells.chance_sd)
    for i, x in enumerate(A.values()):
        for j, y in enumerate(B.values()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibtestWarning)
                assert get_metric(metric)(x, y) == pytest.approx(scores.scores[i, j], abs=1e-13)
            assert chance_level(metric, x, y).mean == pytest.approx(scores.chance[i, j], abs=1e-14)


def test_scores_of_a_callable_have_no_chance_level() -> None:
    scores = alignment_scores(A, B, metric=lambda x, y: float(x.shape[1] + 100 * y.shape[1]))
    np.testing.assert_array_equal(scores.scores, [[405, 805, 305], [450, 850, 350]])
    assert scores.chance is None
    assert scores.to_frame()["chance"].isna().all()


def test_scores_in_frame_json_and_text() -> None:
    scores = alignment_scores(A, B, metric="mutual_knn")
    frame = scores.to_frame()
    assert list(zip(frame["layer_a"], frame["layer_b"], strict=True)) == list(itertools.product("ab", "cde"))
    np.testing.assert_array_equal(frame["score"], scores.scores.ravel())
    np.testing.assert_array_equal(frame["chance"], scores.chance.ravel())
    document = json.loads(scores.to_json())
    assert [cell["score"] for cell in document["cells"]] == scores.scores.ravel().tolist()
    assert document["metric"]["options"]["k"] == 10
    assert "nothing was tested" in repr(scores)


def test_dead_layer_is_skipped_and_listed() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        scores = alignment_scores({**A, "dead": np.zeros((30, 2))}, B)
    assert [(skip.side, skip.layer) for skip in scores.skipped] == [("A", "dead")]
    assert scores.scores.shape == (2, 3)


def test_what_dominates_the_variance_is_told() -> None:
    far = B["d"].copy()
    far[7] += 500
    with pytest.warns(CalibtestWarning, match=r"B \(layer 'd'\): one item \(row 7\)"):
        scores = alignment_scores(A, {**B, "d": far})
    assert any("row 7" in note for note in scores.notes)
