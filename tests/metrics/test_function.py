"""A callable as a metric."""

from __future__ import annotations

import json

import numpy as np
import pytest

from calibtest import FunctionMetric, InputError, LayerStack, alignment_test, get_metric, layers_test
from calibtest.metrics.base import Metric

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4))
Y = X[:, :3] + 2.0 * RNG.standard_normal((30, 3))


def root_mean_square(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.sqrt(((x - y) ** 2).mean()))


SETTINGS = [
    get_metric("linear_cka"),
    get_metric("rv"),
    get_metric("debiased_cka"),
    get_metric("rbf_cka", fraction=0.5),
    get_metric("rsa"),
    get_metric("rsa", distance="euclidean", comparison="pearson"),
    get_metric("mutual_knn", k=4),
    get_metric("mutual_knn", k=4, distance="euclidean"),
]


@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_definition_as_a_callable_gives_the_same_test(metric: Metric) -> None:
    how = {"n_resamples": 99, "rng": 3, "draws": "independent"}
    fast = alignment_test(X, Y, metric=metric, **how)
    slow = alignment_test(X, Y, metric=metric.define, **how)
    assert slow.statistic == pytest.approx(fast.statistic, abs=1e-12)
    np.testing.assert_allclose(slow.null_distribution, fast.null_distribution, rtol=0, atol=1e-12)
    assert slow.pvalue == fast.pvalue


def test_grid_of_a_callable_is_the_grid_of_its_pairs() -> None:
    a, b = {"x": X, "x2": X**2}, {"y": Y, "y2": Y**2, "noise": RNG.standard_normal((30, 3))}
    define = get_metric("linear_cka").define
    slow = layers_test(a, b, metric=define, n_resamples=49, draws="independent", rng=0)
    fast = layers_test(a, b, metric="linear_cka", n_resamples=49, draws="independent", rng=0)
    np.testing.assert_allclose(slow.orbit.values, fast.orbit.values, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(slow.cells.pvalue, fast.cells.pvalue)
    assert slow.moments is None  # nobody knows a closed form of a callable
    assert fast.moments is not None


def test_processes_change_nothing() -> None:
    def product(x: np.ndarray, y: np.ndarray) -> float:
        y -= y.mean(axis=0)  # every call gets a copy of its own
        return float((x[:, :3] * y).sum())

    one, two = (alignment_test(X, Y, metric=product, n_resamples=199, rng=1, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.null_distribution, two.null_distribution)


@pytest.mark.parametrize("jobs", [1, 2])
def test_left_side_cannot_be_changed(jobs: int) -> None:
    def greedy(x: np.ndarray, y: np.ndarray) -> float:
        x *= 1.1
        return float((x[:, :3] * y).sum())

    with pytest.raises(ValueError, match="read-only"):
        alignment_test(X, Y, metric=greedy, n_resamples=99, rng=1, n_jobs=jobs)


def test_distance_is_tested_in_its_lower_tail() -> None:
    metric = FunctionMetric(root_mean_square, larger_is_more_similar=False)
    same = alignment_test(X, X, metric=metric, n_resamples=99, rng=0)
    assert same.statistic == 0.0
    assert same.pvalue == 1 / 100
    assert same.zscore < -5
    assert same.threshold < same.null_distribution.mean()
    assert same.calibrated == pytest.approx(same.threshold - same.statistic)
    assert np.isnan(same.chance_corrected)  # no best value is known of a callable
    told_wrong = alignment_test(X, X, metric=root_mean_square, n_resamples=99, rng=0)
    assert told_wrong.pvalue == 1.0
    assert told_wrong.calibrated == 0.0
    opposite = alignment_test(X, X, metric=metric, alternative="less", n_resamples=99, rng=0)
    assert opposite.pvalue == 1.0


def test_report_says_the_direction() -> None:
    metric = FunctionMetric(root_mean_square, larger_is_more_similar=False)
    result = alignment_test(X, X, metric=metric, n_resamples=19, draws="independent", rng=0)
    assert "smaller is more similar" in " ".join(repr(result).split())
    assert json.loads(result.to_json())["metric"]["larger_is_more_similar"] is False


def test_names() -> None:
    class Scorer:
        def __call__(self, x: np.ndarray, y: np.ndarray) -> float:
            return 0.0

    assert str(FunctionMetric(root_mean_square)) == "root_mean_square"
    assert FunctionMetric(root_mean_square, label="RMS").name == "RMS"
    assert FunctionMetric(Scorer()).name == "Scorer"
    assert alignment_test(X, Y, metric=root_mean_square_of_three, n_resamples=19, rng=0).provenance.metric == (
        "root_mean_square_of_three"
    )


def root_mean_square_of_three(x: np.ndarray, y: np.ndarray) -> float:
    return root_mean_square(x[:, :3], y)


def test_bare_score_calls_the_function_once_with_the_data() -> None:
    seen = []

    def spy(x: np.ndarray, y: np.ndarray) -> float:
        seen.append((x, y))
        return 0.25

    assert FunctionMetric(spy)(X, Y) == 0.25
    ((x, y),) = seen
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


def test_left_side_is_never_relabelled_and_the_right_side_always_as_a_whole() -> None:
    rows = {row.tobytes() for row in Y}
    orders = []

    def spy(x: np.ndarray, y: np.ndarray) -> float:
        np.testing.assert_array_equal(x, X)
        assert {row.tobytes() for row in np.ascontiguousarray(y)} == rows
        orders.append(y[:, 0].copy())
        return 0.0

    with pytest.warns(UserWarning, match="same score under every relabelling"):
        alignment_test(X, Y, metric=spy, n_resamples=20, rng=0)
    assert len(orders) == 21
    np.testing.assert_array_equal(orders[0], Y[:, 0])
    assert len({order.tobytes() for order in orders}) == 21


@pytest.mark.parametrize("kind", ["kernel", "distance"])
def test_precomputed_relations_are_relabelled_in_rows_and_columns(kind: str) -> None:
    def relation(z: np.ndarray) -> np.ndarray:
        return z @ z.T if kind == "kernel" else np.sqrt(((z[:, None] - z[None]) ** 2).sum(-1))

    def product(k: np.ndarray, l: np.ndarray) -> float:
        np.testing.assert_array_equal(l, l.T)  # rows alone would break the symmetry
        return float((k * l).sum())

    left, right = (LayerStack.build(relation(z), name=n, kind=kind) for z, n in ((X, "K"), (Y, "L")))
    ready = alignment_test(left, right, metric=product, n_resamples=49, rng=0)
    own = alignment_test(X, Y, metric=lambda x, y: product(relation(x), relation(y)), n_resamples=49, rng=0)
    np.testing.assert_allclose(ready.null_distribution, own.null_distribution, rtol=1e-12)


def test_neighbour_lists_are_relabelled_in_rows_and_entries() -> None:
    def lists(z: np.ndarray) -> np.ndarray:
        squared = ((z[:, None] - z[None]) ** 2).sum(-1)
        np.fill_diagonal(squared, np.inf)
        return np.argsort(squared, axis=1)[:, :3]

    def shared(a: np.ndarray, b: np.ndarray) -> float:
        assert b.dtype.kind == "i"
        return sum(len(set(s) & set(t)) for s, t in zip(a.tolist(), b.tolist(), strict=True)) / a.size

    left, right = (LayerStack.build(lists(z), name=n, kind="neighbours") for z, n in ((X, "N"), (Y, "M")))
    ready = alignment_test(left, right, metric=shared, n_resamples=49, rng=0)
    own = alignment_test(X, Y, metric=lambda x, y: shared(lists(x), lists(y)), n_resamples=49, rng=0)
    np.testing.assert_array_equal(ready.null_distribution, own.null_distribution)
    assert ready.statistic == own.statistic


def test_undefined_relabelling_is_an_error_and_no_evidence() -> None:
    def moody(x: np.ndarray, y: np.ndarray) -> float:
        return 0.01 if np.array_equal(y[:3], Y[:3]) else float("nan")

    with pytest.raises(InputError, match="NaN for 99 of 100"):
        alignment_test(X, Y, metric=moody, n_resamples=99, rng=0)


def test_numbers_of_any_kind_are_taken() -> None:
    for value in (1, np.float32(1.0), np.int64(1), np.array(1.0), True):
        with pytest.warns(UserWarning, match="same score"):
            assert (
                alignment_test(X, Y, metric=lambda x, y, v=value: v, n_resamples=9, rng=0, alpha=0.2).statistic == 1.0
            )
