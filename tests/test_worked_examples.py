"""Numbers that can be checked by hand, by another implementation, or by theory."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibtest
from calibtest import alignment_scores, alignment_test, chance_level, get_metric, layers_test
from calibtest.errors import CalibtestWarning
from calibtest.schemes import ExplicitRelabellings
from calibtest.stacks import LayerStack

Matrix = np.ndarray

X = np.array([[4.0, 1.0], [1.0, 4.0], [1.0, 1.0]])
R90 = np.array([[0.0, 1.0], [-1.0, 0.0]])
Y = 3.0 * X @ R90
Z = np.array([[3.0, 3.0], [3.0, 1.0], [0.0, 2.0]])


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Three items are few and 2,048 units are wide; that is the point here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        yield


# ----------------------------------------------------------------------------------------------------- by hand
@pytest.mark.parametrize("name", ["linear_cka", "rv"])
def test_a_rotated_and_scaled_copy_is_the_same_representation(name: str) -> None:
    assert get_metric(name)(X, Y) == pytest.approx(1.0, abs=1e-14)
    assert get_metric(name)(X, Z) == pytest.approx(0.6, abs=1e-14)


def test_the_same_units_say_something_else() -> None:
    """Correlation unit by unit is 0 for the rotated copy: it compares coordinates, not representations."""

    def same_index_correlation(x: Matrix, y: Matrix) -> float:
        return float(np.mean([np.corrcoef(x[:, u], y[:, u])[0, 1] for u in range(x.shape[1])]))

    found = alignment_test(X, Y, metric=same_index_correlation, rng=0)
    assert found.statistic == pytest.approx(0.0, abs=1e-14)


def test_gram_feature_and_spectral_form_of_cka_agree() -> None:
    metric = get_metric("linear_cka")
    by_gram = metric(
        LayerStack.build(X @ X.T, name="X", kind="kernel"), LayerStack.build(Z @ Z.T, name="Z", kind="kernel")
    )
    by_feature = metric.define(X, Z)
    (u, s, _), (v, t, _) = (np.linalg.svd(m - m.mean(0), full_matrices=False) for m in (X, Z))
    by_spectrum = np.sum(np.outer(s**2, t**2) * (u.T @ v) ** 2) / np.sqrt(np.sum(s**4) * np.sum(t**4))
    assert [by_gram, by_feature, by_spectrum] == pytest.approx([0.6, 0.6, 0.6], abs=1e-14)


def test_one_far_probe_makes_anything_alike() -> None:
    far = np.array([[20.0, 20.0]])
    assert get_metric("linear_cka")(np.vstack([X, far]), np.vstack([Z, far])) == pytest.approx(0.998, abs=5e-4)


def test_cka_hears_the_loudest_direction() -> None:
    """Gram spectra (100, 1) that share only the first direction, and (10000, 0.0001) against (1, 1)."""
    basis = np.linalg.qr(np.hstack([np.ones((6, 1)), np.random.default_rng(0).standard_normal((6, 3))]))[0][:, 1:]
    first, second, third = basis.T

    def with_spectrum(*parts: tuple[float, Matrix]) -> Matrix:
        return np.stack([np.sqrt(power) * direction for power, direction in parts], axis=1)

    metric = get_metric("linear_cka")
    loud = metric(with_spectrum((100.0, first), (1.0, second)), with_spectrum((100.0, first), (1.0, third)))
    assert loud == pytest.approx(10000 / 10001, abs=1e-12)
    steep = metric(with_spectrum((10000.0, first), (0.0001, second)), with_spectrum((1.0, first), (1.0, second)))
    assert steep == pytest.approx(0.7071, abs=5e-5)


def test_distances_of_three_items_in_reverse_order() -> None:
    """Distances of X: 3 sqrt 2, 3, 3; of Z: 2, sqrt 10, sqrt 10: the farthest pair of one is the closest of the other."""
    for comparison in ("pearson", "spearman"):
        assert get_metric("rsa", distance="euclidean", comparison=comparison)(X, Z) == pytest.approx(-1.0, abs=1e-14)


def test_nearest_neighbours_on_a_line() -> None:
    """Points 0, 1, 3, 7: the nearest neighbours are 1, 0, 1, 2 (items); of 0, 6, 7, 9: 1, 2, 1, 2. Three of four agree."""
    x, y = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([[0.0], [6.0], [7.0], [9.0]])
    assert get_metric("mutual_knn", k=1, distance="euclidean")(x, y) == 3 / 4
    # 2 is tied between 1 and 3 here and counts one half for each; the overlap is divided by sqrt(4 * 3.5)
    tied = np.array([[0.0], [1.0], [3.0], [5.0]])
    assert get_metric("mutual_knn", k=1, distance="euclidean")(x, tied) == pytest.approx(3.5 / np.sqrt(14.0), abs=1e-15)


# ------------------------------------------------------------------------------------- by other implementations
ORACLES: dict[str, Any] = json.loads((Path(__file__).parent / "oracles.json").read_text())


@pytest.mark.parametrize("case", ORACLES["values"], ids=lambda c: f"{c['data']}-{c['metric']}-{c['options']}")
def test_public_implementations_agree(case: dict[str, Any]) -> None:
    x, y = (np.array(ORACLES["data"][case["data"]][side]) for side in ("X", "Y"))
    metric = get_metric(case["metric"], **case["options"])
    assert metric(x, y) == pytest.approx(case["value"], abs=1e-12)
    assert metric.define(x, y) == pytest.approx(case["value"], abs=1e-12)


# --------------------------------------------------------------------------------------------------- by theory
def enumerated(metric: Any, x: Matrix, y: Matrix) -> Matrix:
    """Scores under all n! relabellings."""
    everything = ExplicitRelabellings(np.array(list(permutations(range(len(x))))), exhaustive=True)
    return alignment_test(x, y, metric=metric, scheme=everything, rng=0).grid.orbit.values[:, 0, 0]


@pytest.mark.parametrize(
    "metric",
    [
        "linear_cka",
        "debiased_cka",
        get_metric("rbf_cka", fraction=0.5),
        get_metric("rsa", distance="euclidean"),
        get_metric("mutual_knn", k=2, distance="euclidean"),
    ],
    ids=str,
)
@pytest.mark.parametrize("tied", [False, True])
def test_the_chance_level_is_the_mean_over_all_relabellings(metric: Any, tied: bool) -> None:
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((6, 3)), rng.standard_normal((6, 2))
    if tied:
        x[1], y[3:] = x[0], np.rint(y[3:])
    values = enumerated(metric, x, y)
    expected = chance_level(metric, x, y)
    assert expected.mean == pytest.approx(values.mean(), abs=1e-13)
    assert expected.sd == pytest.approx(values.std(), abs=1e-13)


def test_the_width_confounder_in_closed_form() -> None:
    """``E[CKA] = sqrt(b_x b_y) / (n - 1)``, and its variance (Kazi-Aoual et al. 1995)."""
    rng = np.random.default_rng(1)
    n, x, y = 30, rng.standard_normal((30, 12)) * np.arange(1, 13), rng.standard_normal((30, 50))

    def invariants(m: Matrix) -> tuple[float, float]:
        k = (m - m.mean(0)) @ (m - m.mean(0)).T
        b, d, q = np.trace(k) ** 2 / np.sum(k**2), np.sum(np.diag(k) ** 2), np.sum(k**2)
        return b, (n - 1) / ((n - 3) * (n - 1 - b)) * (n * (n + 1) * d / q - (n - 1) * (b + 2))

    (bx, tx), (by, ty) = invariants(x), invariants(y)
    variance = 2 * (n - 1 - bx) * (n - 1 - by) / ((n + 1) * (n - 1) ** 2 * (n - 2))
    variance *= 1 + (n - 3) / (2 * n * (n - 1)) * tx * ty
    found = chance_level("linear_cka", x, y)
    assert found.mean == pytest.approx(np.sqrt(bx * by) / (n - 1), rel=1e-12)
    assert found.sd == pytest.approx(np.sqrt(variance), rel=1e-10)


def test_debiased_cka_has_one_chance_level_for_all_data() -> None:
    rng = np.random.default_rng(2)
    for d in (2, 40):
        found = chance_level("debiased_cka", rng.standard_normal((20, d)), rng.standard_normal((20, 3)) ** 3)
        assert found.mean == pytest.approx(0.0, abs=1e-14)
        assert found.sd == pytest.approx(np.sqrt(2 / (20 * 17)), rel=1e-12)


def test_whitened_features_have_chance_d_over_n() -> None:
    """``E |C|_F^2 = d_x d_y / (n - 1)`` for whitened features: the chance of CKA, times ``sqrt(d_x d_y)``."""
    rng = np.random.default_rng(3)
    n, dx, dy = 40, 6, 11

    def whitened(d: int) -> Matrix:
        m = rng.standard_normal((n, d))
        return np.asarray(np.linalg.qr(m - m.mean(0))[0])

    chance = chance_level("linear_cka", whitened(dx), whitened(dy)).mean
    assert chance * np.sqrt(dx * dy) == pytest.approx(dx * dy / (n - 1), rel=1e-12)


@pytest.mark.parametrize(("distinct", "expected"), [(2, 0.495), (4, 0.242), (None, 10 / 99)])
def test_the_chance_of_mutual_knn_is_above_k_over_n_with_ties(distinct: int | None, expected: float) -> None:
    rng = np.random.default_rng(4)

    def side() -> Matrix:
        if distinct is None:
            return np.asarray(rng.standard_normal((100, 5)))
        return rng.permutation(np.arange(100) % distinct)[:, None] * np.ones((1, 3)) + 1.0

    found = chance_level(get_metric("mutual_knn", k=10, distance="euclidean"), side(), side())
    assert found.mean == pytest.approx(expected, abs=5e-4)


def test_mutual_knn_has_the_same_chance_at_any_width() -> None:
    rng = np.random.default_rng(5)
    for d in (3, 300):
        found = chance_level(get_metric("mutual_knn", k=10), rng.standard_normal((64, d)), rng.standard_normal((64, d)))
        assert found.mean == pytest.approx(10 / 63, rel=1e-13)


def test_overlap_of_one_item_is_hypergeometric() -> None:
    """Mean over items of a hypergeometric count with variance ``k^2 (n-1-k)^2 / ((n-1)^2 (n-2))``."""
    rng = np.random.default_rng(6)
    n, k = 30, 5
    x, y = rng.standard_normal((n, 4)), rng.standard_normal((n, 4))

    def overlap_of_item_0(a: Matrix, b: Matrix) -> float:
        def neighbours(m: Matrix) -> set[int]:
            return set((1 + np.argsort(((m[1:] - m[0]) ** 2).sum(1))[:k]).tolist())

        return float(len(neighbours(a) & neighbours(b)))

    counts = alignment_test(
        x, y, metric=overlap_of_item_0, n_resamples=4000, draws="independent", rng=0
    ).null_distribution
    variance = k**2 * (n - 1 - k) ** 2 / ((n - 1) ** 2 * (n - 2))
    assert counts.mean() == pytest.approx(k**2 / (n - 1), abs=5 * np.sqrt(variance / 4000))
    assert counts.var() == pytest.approx(variance, rel=0.12)


# ------------------------------------------------------------------------------------------------ by simulation
@pytest.mark.parametrize(("d", "measured"), [(128, 0.4996), (512, 0.8011), (2048, 0.9410)])
def test_gaussian_noise_has_cka_of_width(d: int, measured: float) -> None:
    """``sqrt(d_x d_y / ((n + d_x) (n + d_y)))`` at n = 128."""
    rng, n = np.random.default_rng(d), 128
    drawn = [alignment_scores(rng.standard_normal((n, d)), rng.standard_normal((n, d))).scores[0, 0] for _ in range(4)]
    assert np.mean(drawn) == pytest.approx(d / (n + d), abs=0.004)
    assert np.mean(drawn) == pytest.approx(measured, abs=0.004)


@pytest.mark.parametrize("r", [0.3, 0.8])
def test_gaussian_signal_has_cka_of_signal_and_width(r: float) -> None:
    """About ``(d + r^2 n) / (d + n)`` where the population value is ``r^2``."""
    rng, n, d = np.random.default_rng(7), 256, 256
    drawn = []
    for _ in range(4):
        shared = rng.standard_normal((n, d))
        x, y = (np.sqrt(r) * shared + np.sqrt(1 - r) * rng.standard_normal((n, d)) for _ in range(2))
        drawn.append(alignment_scores(x, y).scores[0, 0])
    assert np.mean(drawn) == pytest.approx((d + r**2 * n) / (d + n), abs=0.01)


@pytest.mark.parametrize(("n_layers", "repeats", "measured"), [(2, 60, 0.8961), (8, 12, 0.9040)])
def test_the_best_of_many_unrelated_layers_climbs(n_layers: int, repeats: int, measured: float) -> None:
    """Mean raw maximum over L x L independent layers, n = 32, d = 256."""
    rng = np.random.default_rng(n_layers)
    best = []
    for _ in range(repeats):
        a, b = ([rng.standard_normal((32, 256)) for _ in range(n_layers)] for _ in range(2))
        best.append(alignment_scores(a, b, n_jobs=1).scores.max())
    assert np.mean(best) == pytest.approx(measured, abs=0.0025)


def test_the_studentised_maximum_finds_the_narrow_pair() -> None:
    """Widths 8, 64, 512 at n = 100: raw chance levels from .07 to .84, and a signal in the narrowest pair alone."""
    rng = np.random.default_rng(8)
    signal = rng.standard_normal((100, 8))
    a = [signal, *(rng.standard_normal((100, d)) for d in (64, 512))]
    b = [signal + 1.5 * rng.standard_normal((100, 8)), *(rng.standard_normal((100, d)) for d in (64, 512))]
    found = layers_test(a, b, metric="linear_cka", n_resamples=999, rng=0)
    assert found.chance[0, 0] == pytest.approx(8 / 108, abs=0.02)
    assert found.chance[2, 2] == pytest.approx(512 / 612, abs=0.02)
    assert found.best == ("0", "0")
    assert found.pvalue <= 0.001
    assert found.aggregate("max").pvalue > 0.05


def test_bare_scores_and_tests_are_one_number() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.standard_normal((20, 4)), rng.standard_normal((20, 6))
    for name in calibtest.metrics():
        metric = get_metric(name)
        assert metric(x, y) == pytest.approx(
            alignment_test(x, y, metric=metric, n_resamples=19, rng=0).statistic, abs=1e-13
        )
