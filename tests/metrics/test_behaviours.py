"""What each metric promises beyond its definition: scales, widths, ties, precomputed input, precision, memory."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest

from calibtest import CalibtestWarning, InputError, LayerStack, alignment_scores, alignment_test, get_metric
from calibtest.metrics.base import Metric
from calibtest.metrics.linear_cka import LinearCKA

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 5))
Y = X[:, :3] + RNG.standard_normal((30, 3))

SETTINGS = [
    get_metric("linear_cka"),
    get_metric("rv"),
    get_metric("debiased_cka"),
    get_metric("rbf_cka"),
    get_metric("rbf_cka", fraction=0.4),
    get_metric("rbf_cka", bandwidth=1.5),
    get_metric("rsa"),
    get_metric("rsa", comparison="pearson"),
    get_metric("rsa", distance="cosine"),
    get_metric("rsa", distance="euclidean"),
    get_metric("mutual_knn"),
    get_metric("mutual_knn", k=1),
    get_metric("mutual_knn", k=29),
    get_metric("mutual_knn", k=4, distance="euclidean"),
]
SCALE_FREE = [metric for metric in SETTINGS if "isotropic_scale" in metric.claims.invariant]
ORIGIN_FREE = [metric for metric in SETTINGS if "translation" in metric.claims.invariant]


def distances(x: np.ndarray) -> np.ndarray:
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))


@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_score_is_the_definition_on_every_path(metric: Metric) -> None:
    expected = metric.define(X, Y)
    assert metric(X, Y) == pytest.approx(expected, abs=1e-12)
    assert alignment_scores(X, Y, metric=metric).scores[0, 0] == pytest.approx(expected, abs=1e-12)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*same score under every relabelling")
        result = alignment_test(X, Y, metric=metric, n_resamples=59, rng=0)
    assert result.statistic == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("metric", SCALE_FREE, ids=str)
def test_scale_of_the_activations_does_not_matter_at_any_size(metric: Metric, factor: float) -> None:
    assert metric(factor * X, Y) == pytest.approx(metric(X, Y), abs=1e-12)


@pytest.mark.parametrize("metric", ORIGIN_FREE, ids=str)
def test_huge_offset_costs_no_more_digits_than_it_must(metric: Metric) -> None:
    whole = np.rint(64 * X)
    assert metric(whole + 2.0**30, Y) == pytest.approx(metric(whole, Y), abs=1e-9)


@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_least_number_of_items_is_enough(metric: Metric) -> None:
    n = metric.least_items
    small = get_metric("mutual_knn", k=2, distance=metric.options()["distance"]) if "k" in metric.options() else metric
    assert np.isfinite(small(X[: max(n, 3), :3], Y[: max(n, 3)]))


@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_single_precision_is_close_and_gives_the_same_answer(metric: Metric) -> None:
    how = {"metric": metric, "n_resamples": 119, "rng": 0}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*same score under every relabelling")
        exact = alignment_test(X, Y, **how)
        fast = alignment_test(X, Y, precision="float32", **how)
    np.testing.assert_allclose(fast.grid.orbit.values, exact.grid.orbit.values, rtol=0, atol=1e-5)
    assert fast.pvalue == exact.pvalue
    assert fast.grid.orbit.resolution.max() < 1e-4
    stored = alignment_test(X.astype(np.float32), Y.astype(np.float32), n_resamples=119, rng=0)
    assert stored.statistic == pytest.approx(get_metric("linear_cka")(X, Y), abs=1e-6)


def test_rv_is_linear_cka() -> None:
    rv, cka = (alignment_test(X, Y, metric=name, n_resamples=99, rng=0) for name in ("rv", "linear_cka"))
    np.testing.assert_array_equal(rv.null_distribution, cka.null_distribution)


def test_debiased_cka_may_be_negative_and_has_chance_zero() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((12, 6)), np.random.default_rng(101).standard_normal((12, 6))
    assert get_metric("debiased_cka")(x, y) == pytest.approx(-0.08128641057, abs=1e-10)
    result = alignment_test(x, y, metric="debiased_cka", n_resamples=99, rng=0)
    assert abs(result.chance) < 1e-15
    assert result.chance_sd == pytest.approx(np.sqrt(2 / (12 * 9)), rel=1e-12)


def test_width_raises_raw_cka_its_chance_level_follows_and_the_others_stay() -> None:
    rng = np.random.default_rng(0)
    narrow = rng.standard_normal((60, 5)), rng.standard_normal((60, 5))
    wide = rng.standard_normal((60, 2000)), rng.standard_normal((60, 2000))
    low, high = (alignment_scores(*pair) for pair in (narrow, wide))
    assert low.scores[0, 0] < 0.2
    assert high.scores[0, 0] > 0.9
    for found in (low, high):
        assert abs(found.scores - found.chance)[0, 0] < 4 * found.chance_sd[0, 0]
    for pair in (narrow, wide):
        assert abs(get_metric("debiased_cka").define(*pair)) < 0.1
        assert alignment_scores(*pair, metric="mutual_knn").chance[0, 0] == pytest.approx(10 / 59)


def test_more_features_than_items_is_told_by_a_bare_score() -> None:
    wide = RNG.standard_normal((30, 31))
    with pytest.warns(CalibtestWarning, match=r"Y has more features \(31\) than items \(30\)"):
        get_metric("linear_cka")(X, wide)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        get_metric("linear_cka")(X, wide[:, :30])
        get_metric("debiased_cka")(X, wide)
        get_metric("mutual_knn")(X, wide)


@pytest.mark.parametrize(("row", "column"), [(4, None), (None, 2)])
def test_what_dominates_the_variance_is_told_by_a_bare_score_and_by_a_test(row: int | None, column: int | None) -> None:
    changed = X.copy()
    if row is None:
        changed[:, column] *= 1000
    else:
        changed[row] += 1000
    message = r"Y: one item \(row 4\)" if row is not None else r"Y: one feature \(column 2\)"
    with pytest.warns(CalibtestWarning, match=message):
        get_metric("linear_cka")(X, changed)
    with pytest.warns(CalibtestWarning, match=message):
        result = alignment_test(X, changed, n_resamples=99, rng=0)
    assert any(message.replace("\\", "") in note for note in result.notes)


# --------------------------------------------------------------------------------------------------- precomputed input
@pytest.mark.parametrize(
    ("metric", "kind", "make"),
    [
        (get_metric("linear_cka"), "kernel", lambda z: z @ z.T),
        (get_metric("rv"), "kernel", lambda z: (z - z.mean(0)) @ (z - z.mean(0)).T),
        (get_metric("debiased_cka"), "kernel", lambda z: z @ z.T),
        (get_metric("rbf_cka", fraction=0.7), "distance", distances),
        (get_metric("rbf_cka", bandwidth=1.5), "distance", distances),
        (get_metric("rsa", distance="correlation"), "distance", lambda z: 1 - np.corrcoef(z)),
        (get_metric("rsa", distance="euclidean", comparison="pearson"), "distance", distances),
        (get_metric("mutual_knn", k=4, distance="euclidean"), "distance", distances),
        (get_metric("mutual_knn", k=4, distance="euclidean"), "neighbours",
         lambda z: np.argsort(distances(z) + np.diag(np.full(30, np.inf)), axis=1)[:, :4]),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value) if isinstance(value, Metric) else "",
)  # fmt: skip
@pytest.mark.parametrize("draws", ["cosets", "independent"])
def test_precomputed_layers_give_the_test_of_the_activations(metric: Metric, kind: str, make, draws: str) -> None:
    left, right = (LayerStack.build(make(z), name=n, kind=kind) for z, n in ((X, "K"), (Y, "L")))
    how = {"metric": metric, "n_resamples": 149, "rng": 0, "draws": draws}
    ready, own = alignment_test(left, right, **how), alignment_test(X, Y, **how)
    np.testing.assert_allclose(ready.grid.orbit.values, own.grid.orbit.values, rtol=0, atol=1e-9)
    assert ready.pvalue == own.pvalue
    assert metric(left, Y) == pytest.approx(metric(X, Y), abs=1e-9)  # one side may be precomputed


# ------------------------------------------------------------------------------------------------------ single metrics
def test_bandwidth_is_recorded_in_the_units_of_the_data() -> None:
    upper = np.triu_indices(30, 1)
    result = alignment_test(1e6 * X, Y, metric=get_metric("rbf_cka", fraction=0.5), n_resamples=99, rng=0)
    chosen = result.provenance.chosen_from_data
    assert chosen["X::0"]["bandwidth"] == pytest.approx(0.5e6 * np.median(distances(X)[upper]), rel=1e-12)
    assert chosen["Y::0"]["bandwidth"] == pytest.approx(0.5 * np.median(distances(Y)[upper]), rel=1e-12)
    fixed = get_metric("rbf_cka", bandwidth=2.0)
    assert fixed(2 * X, 2 * Y) == pytest.approx(get_metric("rbf_cka", bandwidth=1.0)(X, Y), abs=1e-12)
    assert fixed(2 * X, Y) != pytest.approx(fixed(X, Y), abs=1e-3)


def test_neighbours_without_ties_are_counted() -> None:
    result = alignment_test(X, Y, metric=get_metric("mutual_knn", k=4), n_resamples=299, rng=0)
    counts = 120 * result.grid.orbit.values
    np.testing.assert_allclose(counts, np.rint(counts), rtol=0, atol=1e-12)
    assert result.chance == pytest.approx(4 / 29, rel=1e-12)
    assert (result.grid.orbit.resolution < 1e-12).all()


def test_all_other_items_as_neighbours_say_nothing() -> None:
    with pytest.warns(CalibtestWarning, match="same score under every relabelling"):
        result = alignment_test(X, Y, metric=get_metric("mutual_knn", k=29), n_resamples=99, rng=0)
    assert result.statistic == 1.0
    assert result.pvalue == 1.0
    assert result.calibrated == 0.0
    assert result.grid.cells.uninformative.all()
    assert np.isnan(result.zscore)


@pytest.mark.filterwarnings("ignore:. has only 9 distinct rows")
@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_ties_are_shared_told_and_independent_of_item_order(distance: str) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.integers(1, 4, (40, 2)).astype(float) for _ in range(2))
    metric = get_metric("mutual_knn", k=5, distance=distance)
    score = metric(x, y)
    for _ in range(5):
        order = rng.permutation(40)
        assert metric(x[order], y[order]) == pytest.approx(score, abs=1e-14)
    assert metric(x, x) == pytest.approx(1.0, abs=1e-14)
    with pytest.warns(CalibtestWarning, match="have ties at the k-th neighbour"):
        result = alignment_test(x, y, metric=metric, n_resamples=199, rng=0)
    assert result.chance > 5 / 39  # shared places raise the level of chance
    assert result.chance == pytest.approx(result.null_distribution.mean(), abs=6 * result.chance_sd / np.sqrt(199))


def test_rsa_spearman_sees_ranks_only() -> None:
    metric = get_metric("rsa", distance="euclidean")
    d = distances(X)
    left, bent = (LayerStack.build(z, name="D", kind="distance") for z in (d, d**8))
    right = LayerStack.build(distances(Y), name="E", kind="distance")
    assert metric(left, right) == pytest.approx(metric(bent, right), abs=1e-14)
    pearson = get_metric("rsa", distance="euclidean", comparison="pearson")
    assert abs(pearson(left, right) - pearson(bent, right)) > 0.01


def test_linear_cka_of_many_items_needs_no_relation_between_all_items() -> None:
    rng = np.random.default_rng(46)
    x = rng.standard_normal((60_000, 8))
    y = x[:, :4] + rng.standard_normal((60_000, 4))
    xc, yc = x - x.mean(0), y - y.mean(0)
    expected = np.linalg.norm(xc.T @ yc) ** 2 / (np.linalg.norm(xc.T @ xc) * np.linalg.norm(yc.T @ yc))
    tracemalloc.start()
    score = get_metric("linear_cka")(x, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert score == pytest.approx(expected, abs=1e-12)
    assert peak < 100e6


def test_relation_computed_in_floating_point_is_used_without_a_warning() -> None:
    relation = 1 - np.corrcoef(X)
    assert (relation != relation.T).any()
    assert np.diag(relation).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alignment_test(LayerStack.build(relation, name="D", kind="distance"), Y, metric="rsa", n_resamples=99, rng=0)


def test_a_single_precision_relation_has_unit_norm_at_any_size() -> None:
    x = np.random.default_rng(0).standard_normal((4000, 3))
    state = LinearCKA().prepare(x, "X", dtype=np.float32)
    assert state.matrix.dtype == np.float32
    assert np.linalg.norm(state.matrix.astype(np.float64)) == pytest.approx(1.0, abs=1e-6)


def test_a_subclass_that_prepares_differently_has_one_score() -> None:
    class OfRanks(LinearCKA):
        name = "of_ranks"

        def prepare(self, x, name, **options):  # type: ignore[no-untyped-def]
            return super().prepare(np.argsort(np.argsort(x, axis=0), axis=0).astype(float), name, **options)

    rng = np.random.default_rng(1)
    x, y = np.exp(rng.standard_normal((30, 3))), np.exp(rng.standard_normal((30, 4)))
    tested = alignment_test(x, y, metric=OfRanks(), n_resamples=19, rng=0).statistic
    assert OfRanks()(x, y) == pytest.approx(tested, abs=1e-12)
    assert OfRanks()(x, y) != pytest.approx(LinearCKA()(x, y), abs=1e-6)


def test_distances_given_as_a_kernel_are_refused_by_their_looks() -> None:
    x = np.random.default_rng(0).standard_normal((20, 3))
    distances = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    stack = LayerStack.build(distances, name="A", kind="kernel")
    for metric in ("linear_cka", "debiased_cka"):
        with pytest.raises(InputError, match="looks like distances"):
            alignment_test(stack, stack, metric=metric, n_resamples=19)


def test_kernels_that_are_not_positive_may_disagree() -> None:
    x = np.random.default_rng(0).standard_normal((20, 3))
    kernel = LayerStack.build(x @ x.T, name="A", kind="kernel")
    opposite = LayerStack.build(-(x @ x.T), name="B", kind="kernel")
    assert alignment_test(kernel, opposite, n_resamples=19).statistic == pytest.approx(-1.0)


@pytest.mark.parametrize(("metric", "kind"), [("linear_cka", "kernel"), ("rsa", "distance"), ("rbf_cka", "distance")])
@pytest.mark.parametrize("factor", [1e-200, 1e155])
def test_precomputed_relations_may_have_any_scale(metric: str, kind: str, factor: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 20, 3))
    own = [z @ z.T if kind == "kernel" else np.sqrt(((z[:, None] - z[None]) ** 2).sum(-1)) for z in (x, y)]
    scores = []
    for scale in (1.0, factor):
        a, b = (LayerStack.build(z * scale, name="A", kind=kind) for z in own)  # type: ignore[arg-type]
        scores.append(alignment_test(a, b, metric=metric, n_resamples=19, rng=0).statistic)
    assert scores[0] == pytest.approx(scores[1], rel=1e-12)
