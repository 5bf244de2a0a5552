"""Closed-form permutation moments against all permutations, and against chance itself."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from calibtest.errors import InputError
from calibtest.inference.moments import (
    DoublyCentred,
    Invariants,
    ZeroDiagonal,
    moment_grid,
    moments,
)


def without_diagonal(matrix: np.ndarray) -> np.ndarray:
    return matrix - np.diag(np.diag(matrix))


def doubly_centred(x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=0)
    return centred @ centred.T


def u_centred(matrix: np.ndarray) -> np.ndarray:
    n = len(matrix)
    k = without_diagonal(matrix)
    rows = k.sum(axis=1)
    return without_diagonal(k - (rows[:, None] + rows) / (n - 2) + rows.sum() / ((n - 1) * (n - 2)))


def nearest(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    x = rng.normal(size=(n, 2))
    squared = ((x[:, None] - x) ** 2).sum(axis=-1) + np.diag(np.full(n, np.inf))
    graph = np.zeros((n, n))
    np.put_along_axis(graph, np.argsort(squared, axis=1)[:, :k], 1.0, axis=1)
    return graph


def matrices(n: int, seed: int) -> dict[str, tuple[np.ndarray, type[ZeroDiagonal] | type[DoublyCentred]]]:
    rng = np.random.default_rng(seed)
    normal, skewed = rng.normal(size=(n, n)), rng.exponential(size=(n, n))
    found: dict[str, tuple[np.ndarray, type[ZeroDiagonal] | type[DoublyCentred]]] = {
        "directed": (without_diagonal(normal), ZeroDiagonal),
        "directed, skewed, far from 0": (without_diagonal(skewed + 1e4), ZeroDiagonal),
        "symmetric": (without_diagonal(skewed + skewed.T), ZeroDiagonal),
        "antisymmetric": (normal - normal.T, ZeroDiagonal),
        "nearest neighbours": (nearest(rng, n, min(2, n - 1)), ZeroDiagonal),
        "constant": (without_diagonal(np.full((n, n), 0.3)), ZeroDiagonal),
        "zero": (np.zeros((n, n)), ZeroDiagonal),
        "one edge": (np.eye(n, k=1) * (np.arange(n) == 0)[:, None], ZeroDiagonal),
        "gram": (doubly_centred(normal), DoublyCentred),
        "gram of rank 1": (doubly_centred(skewed[:, :1]), DoublyCentred),
        "gram with an outlier": (doubly_centred(normal + 50 * (np.arange(n) == 0)[:, None]), DoublyCentred),
        "saturated": (np.eye(n) - 1 / n, DoublyCentred),
    }
    if n > 3:
        found["u-centred"] = (u_centred(normal + normal.T), ZeroDiagonal)
    return found


def enumerated(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    pi = np.array(list(itertools.permutations(range(len(a)))))
    return np.einsum("ij,pij->p", a, b[pi[:, :, None], pi[:, None, :]])


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_all_permutations(n: int) -> None:
    given = matrices(n, seed=n)
    sums: dict[str, Invariants] = {name: kind.from_dense(matrix) for name, (matrix, kind) in given.items()}
    for left, right in itertools.product(given, repeat=2):
        values = enumerated(given[left][0], given[right][0])
        found = moments(sums[left], sums[right])
        scale = np.linalg.norm(given[left][0]) * np.linalg.norm(given[right][0]) + 1e-300
        assert abs(found.mean - values.mean()) <= 1e-12 * scale, (left, right)
        assert abs(found.sd - values.std()) <= 1e-11 * scale, (left, right)


def test_all_permutations_of_seven_items() -> None:
    given = matrices(7, seed=70)
    for left, right in (
        ("directed", "nearest neighbours"),
        ("gram", "gram with an outlier"),
        ("u-centred", "u-centred"),
    ):
        (a, kind_a), (b, kind_b) = given[left], given[right]
        values = enumerated(a, b)
        found = moments(kind_a.from_dense(a), kind_b.from_dense(b))
        assert found.mean == pytest.approx(values.mean(), rel=1e-10, abs=1e-10 * values.std())
        assert found.sd == pytest.approx(values.std(), rel=1e-10)


def test_random_permutations_of_many_items() -> None:
    rng = np.random.default_rng(1)
    n = 60
    a, b = nearest(rng, n, 5), nearest(rng, n, 5)
    draws = np.array([np.sum(a * b[np.ix_(pi, pi)]) for pi in (rng.permutation(n) for _ in range(4000))])
    found = moments(ZeroDiagonal.from_dense(a), ZeroDiagonal.from_dense(b))
    assert found.mean == pytest.approx(n * 5 * 5 / (n - 1))
    assert abs(draws.mean() - found.mean) < 5 * found.sd / math.sqrt(4000)
    assert draws.std() == pytest.approx(found.sd, rel=0.06)


def test_sums_given_by_hand_agree_with_the_dense_ones() -> None:
    rng = np.random.default_rng(2)
    a = nearest(rng, 30, 4)
    r, c = a.sum(axis=1), a.sum(axis=0)
    by_hand = ZeroDiagonal(30, a.sum(), (a**2).sum(), (a * a.T).sum(), (r**2).sum(), (c**2).sum(), (r * c).sum())
    dense = ZeroDiagonal.from_dense(a)
    other = ZeroDiagonal.from_dense(nearest(rng, 30, 4))
    assert moments(by_hand, other).mean == pytest.approx(moments(dense, other).mean, rel=1e-12)
    assert moments(by_hand, other).variance == pytest.approx(moments(dense, other).variance, rel=1e-12)
    k = doubly_centred(rng.normal(size=(30, 5)))
    plain = DoublyCentred(30, np.trace(k), (k**2).sum(), (np.diag(k) ** 2).sum())
    full = DoublyCentred.from_dense(k)
    assert moments(plain, full).variance == pytest.approx(moments(full, full).variance, rel=1e-12)
    assert moments(plain, full).mean == pytest.approx(moments(full, full).mean, rel=1e-12)


@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3, 1e-120, 1e120])
def test_a_constant_graph_has_no_variance_at_all(weight: float) -> None:
    constant = without_diagonal(np.full((40, 40), weight))
    other = ZeroDiagonal.from_dense(without_diagonal(np.random.default_rng(3).normal(size=(40, 40))))
    assert moments(ZeroDiagonal.from_dense(constant), other).variance == 0.0
    r = constant.sum(axis=1)
    by_hand = ZeroDiagonal(40, constant.sum(), (constant**2).sum(), (constant**2).sum(), *(3 * [(r**2).sum()]))
    assert moments(by_hand, other).variance == 0.0


def test_a_saturated_score_has_no_variance_at_all() -> None:
    """Full-rank canonical correlation: every relabelling gives the same value."""
    q, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(30, 29)) - 0.0)
    centred = np.linalg.qr(q - q.mean(axis=0))[0]
    projection = centred @ centred.T
    found = moments(DoublyCentred.from_dense(projection), DoublyCentred.from_dense(projection))
    assert found.sd <= 1e-13


def test_digits_survive_a_large_common_level() -> None:
    rng = np.random.default_rng(5)
    noise = without_diagonal(rng.normal(size=(25, 25)))
    other = ZeroDiagonal.from_dense(without_diagonal(rng.normal(size=(25, 25))))
    lifted = ZeroDiagonal.from_dense(without_diagonal(noise + 2.0**20))
    assert moments(lifted, other).variance == pytest.approx(
        moments(ZeroDiagonal.from_dense(noise), other).variance, rel=1e-8
    )


def test_debiased_cka_has_the_same_sd_on_any_data() -> None:
    rng = np.random.default_rng(6)
    for n in (4, 10, 50):
        u, v = (u_centred(doubly_centred(rng.exponential(size=(n, 3)))) for _ in range(2))
        found = moments(ZeroDiagonal.from_dense(u), ZeroDiagonal.from_dense(v))
        assert found.sd / (np.linalg.norm(u) * np.linalg.norm(v)) == pytest.approx(
            math.sqrt(2 / (n * (n - 3))), rel=1e-9
        )
        assert found.mean == pytest.approx(0.0, abs=1e-12 * np.linalg.norm(u) * np.linalg.norm(v))


def test_mean_of_cka_is_the_width_confounder() -> None:
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(128, 128)), rng.normal(size=(128, 128))
    k, l = DoublyCentred.from_dense(doubly_centred(x)), DoublyCentred.from_dense(doubly_centred(y))
    expected = moments(k, l).mean / math.sqrt(k.total_frobenius2 * l.total_frobenius2)
    assert expected == pytest.approx(0.5, abs=0.02)
    effective = [side.total_trace**2 / side.total_frobenius2 for side in (k, l)]
    assert expected == pytest.approx(math.sqrt(effective[0] * effective[1]) / 127)


def test_one_of_each_kind() -> None:
    rng = np.random.default_rng(8)
    k, graph = doubly_centred(rng.normal(size=(9, 3))), nearest(rng, 9, 3)
    both = moments(DoublyCentred.from_dense(k), ZeroDiagonal.from_dense(graph))
    off = moments(ZeroDiagonal.from_dense(without_diagonal(k)), ZeroDiagonal.from_dense(graph))
    assert both.mean == pytest.approx(off.mean)
    assert both.variance == pytest.approx(off.variance)


def test_grid() -> None:
    rng = np.random.default_rng(9)
    lefts = [DoublyCentred.from_dense(doubly_centred(rng.normal(size=(12, d)))) for d in (1, 2, 3)]
    rights = lefts[:2]
    grid = moment_grid(lefts, rights)
    assert grid.mean.shape == grid.sd.shape == (3, 2)
    assert grid.mean[2, 1] == moments(lefts[2], rights[1]).mean
    assert grid.sd[2, 1] == moments(lefts[2], rights[1]).sd


def test_integer_boolean_and_single_precision_matrices() -> None:
    graph = nearest(np.random.default_rng(10), 12, 3)
    expected = ZeroDiagonal.from_dense(graph)
    for dtype in (bool, np.int8, np.uint8, np.float32):
        assert ZeroDiagonal.from_dense(graph.astype(dtype)) == expected
    k = doubly_centred(np.random.default_rng(11).normal(size=(12, 3)))
    single = DoublyCentred.from_dense(k.astype(np.float32))
    double = DoublyCentred.from_dense(k)
    assert moments(single, single).mean == pytest.approx(moments(double, double).mean, rel=1e-5)


@pytest.mark.parametrize("rows", [1, 5, 7])
def test_blocks_do_not_matter(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(12)
    a, k = without_diagonal(rng.normal(size=(13, 13))), doubly_centred(rng.normal(size=(13, 4)))
    whole = moments(ZeroDiagonal.from_dense(a), DoublyCentred.from_dense(k))
    monkeypatch.setattr("calibtest.inference.moments._ROWS", rows)
    assert moments(ZeroDiagonal.from_dense(a), DoublyCentred.from_dense(k)).variance == pytest.approx(whole.variance)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ZeroDiagonal.from_dense(np.eye(3)), "3 diagonal entries are not 0"),
        (lambda: ZeroDiagonal.from_dense(np.zeros((3, 4))), "must be square"),
        (lambda: ZeroDiagonal.from_dense(np.zeros((1, 1))), "at least 2 rows"),
        (lambda: ZeroDiagonal.from_dense(np.zeros((3, 3), dtype=complex)), "real numbers"),
        (lambda: ZeroDiagonal(1, 0, 0, 0, 0, 0, 0), "n must be at least 2"),
        (lambda: ZeroDiagonal(5, 0, np.inf, 0, 0, 0, 0), "s1 must be finite"),
        (lambda: DoublyCentred.from_dense(np.ones((4, 4))), "zero row sums"),
        (lambda: DoublyCentred.from_dense(np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])), "must be symmetric"),
        (lambda: DoublyCentred(5, np.nan, 1.0, 1.0), "trace must be finite"),
        (lambda: moments(DoublyCentred(5, 1, 1, 1), DoublyCentred(6, 1, 1, 1)), "n = 5 items and right has n = 6"),
        (lambda: moments(DoublyCentred(5, 9.0, 1.0, 1.0), DoublyCentred(5, 1.0, 1.0, 0.5)), "belong to no matrix"),
    ],
)
def test_bad_calls(call: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()  # type: ignore[operator]
    assert words in str(caught.value)
