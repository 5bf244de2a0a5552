"""The matching form against three plain loops, over every layout of rings and fixed places."""

from __future__ import annotations

import numpy as np
import pytest

from calibtest.forms import layout, matching
from calibtest.forms.matching import Matching
from calibtest.prepare.relations import Relation
from calibtest.schemes import Circular, Cosets, Exchangeable, Explicit, WholeGroups, WithinGroups
from calibtest.schemes.relabellings import Relabellings

Matrix = np.ndarray


def relation(n: int, rng: np.random.Generator, *, symmetric: bool = True, dtype: type = np.float64) -> Relation:
    matrix = rng.standard_normal((n, n))
    if symmetric:
        matrix = matrix + matrix.T
    return Relation((matrix / np.linalg.norm(matrix)).astype(dtype), zero_diagonal=False, symmetric=symmetric)


def naive(lefts: list[Relation], rights: list[Relation], relabellings: Relabellings) -> Matrix:
    """The definition, one entry at a time, in double precision."""
    listed = relabellings.explicit()
    n = relabellings.n_items
    values = np.zeros((len(listed), len(lefts), len(rights)))
    for m, pi in enumerate(listed):
        for a, left in enumerate(lefts):
            for b, right in enumerate(rights):
                values[m, a, b] = sum(
                    float(left.matrix[i, j]) * float(right.matrix[pi[i], pi[j]]) for i in range(n) for j in range(n)
                )
    return values


def coset_set(n: int, tracks: int, period: int, rng: np.random.Generator, n_cosets: int = 2) -> Cosets:
    order = rng.permutation(n)
    others = [rng.permutation(n) for _ in range(n_cosets - 1)]
    return Cosets(order, tracks, period, np.stack([order, *others]))


LAYOUTS = [
    (8, 1, 8),  # one ring, even
    (9, 1, 9),  # odd
    (7, 1, 7),  # prime
    (2, 1, 2),
    (3, 1, 3),
    (9, 1, 7),  # two fixed places
    (10, 1, 6),  # even ring, four fixed places
    (8, 2, 4),  # two even rings
    (9, 3, 3),  # three odd rings
    (11, 2, 5),  # two odd rings and a fixed place
    (11, 2, 4),  # two even rings and three fixed places
    (7, 3, 2),  # rings of two
    (5, 4, 1),  # rings of one: nothing moves
    (6, 6, 1),
]


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "directed"])
@pytest.mark.parametrize(("n", "tracks", "period"), LAYOUTS)
def test_every_layout(n: int, tracks: int, period: int, symmetric: bool) -> None:
    rng = np.random.default_rng(n * 100 + tracks * 10 + period)
    lefts = [relation(n, rng, symmetric=symmetric) for _ in range(2)]
    rights = [relation(n, rng, symmetric=symmetric) for _ in range(3)]
    cosets = coset_set(n, tracks, period, rng)
    expected = naive(lefts, rights, cosets)
    at_once = Matching().evaluate(lefts, rights, cosets)
    one_by_one = Matching().evaluate(lefts, rights, Explicit(cosets.explicit()))
    assert at_once.values.shape == (2 * period, 2, 3)
    np.testing.assert_allclose(at_once.values, expected, rtol=0, atol=at_once.resolution.max())
    np.testing.assert_allclose(one_by_one.values, expected, rtol=0, atol=one_by_one.resolution.max())


@pytest.mark.parametrize("one_directed", ["left", "right"])
def test_one_directed_side_makes_the_grid_directed(one_directed: str) -> None:
    rng = np.random.default_rng(3)
    lefts = [relation(9, rng), relation(9, rng, symmetric=one_directed != "left")]
    rights = [relation(9, rng, symmetric=one_directed != "right")]
    cosets = coset_set(9, 2, 4, rng)
    expected = naive(lefts, rights, cosets)
    np.testing.assert_allclose(Matching().evaluate(lefts, rights, cosets).values, expected, rtol=0, atol=1e-14)
    listed = Explicit(cosets.explicit())
    np.testing.assert_allclose(Matching().evaluate(lefts, rights, listed).values, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "scheme",
    [
        Exchangeable(),
        WithinGroups(np.repeat([0, 1, 2], 8)),
        WithinGroups(np.repeat([0, 1, 2], [5, 9, 10])),
        WholeGroups(np.repeat(np.arange(8), 3)),
        WholeGroups(np.repeat(np.arange(7), [3, 3, 3, 3, 4, 4, 4])),
        Circular(),
    ],
    ids=lambda s: s.name,
)
def test_what_the_schemes_draw(scheme) -> None:
    rng = np.random.default_rng(4)
    lefts, rights = ([relation(24, rng) for _ in range(2)] for _ in range(2))
    drawn = scheme.draw(24, 40, rng, cosets=True)
    at_once = Matching().evaluate(lefts, rights, drawn)
    listed = Matching().evaluate(lefts, rights, Explicit(drawn.explicit()))
    np.testing.assert_allclose(at_once.values, listed.values, rtol=0, atol=at_once.resolution.max())
    identity = Matching().evaluate(lefts, rights, Explicit(np.arange(24)[None]))
    np.testing.assert_allclose(at_once.values[0], identity.values[0], rtol=0, atol=at_once.resolution.max())


@pytest.mark.parametrize("n", [12, 13])
def test_single_precision(n: int) -> None:
    rng = np.random.default_rng(5)
    lefts = [relation(n, rng, dtype=np.float32) for _ in range(2)]
    rights = [relation(n, rng, dtype=np.float32)]
    cosets = coset_set(n, 1, n, rng, n_cosets=3)
    found = Matching().evaluate(lefts, rights, cosets)
    assert found.values.dtype == np.float64
    assert found.resolution == pytest.approx(np.full((2, 1), 100 * np.finfo(np.float32).eps))
    np.testing.assert_allclose(found.values, naive(lefts, rights, cosets), rtol=0, atol=1e-6)


def narrow(monkeypatch: pytest.MonkeyPatch, columns: int = 2, block_bytes: int = 1) -> None:
    """Tiles of few columns, and as few tiles in memory at a time as there can be."""
    monkeypatch.setattr(matching, "_BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(matching, "_TOGETHER_BYTES", 1)
    monkeypatch.setattr(layout, "_TILE_ENTRIES", 1)
    monkeypatch.setattr(layout, "_NARROWEST", columns)


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "directed"])
@pytest.mark.parametrize(("n", "tracks", "period"), LAYOUTS)
def test_tiny_blocks(monkeypatch: pytest.MonkeyPatch, n: int, tracks: int, period: int, symmetric: bool) -> None:
    """Many blocks of few diagonals give what one block of all of them gives."""
    narrow(monkeypatch)
    rng = np.random.default_rng(6)
    lefts, rights = ([relation(n, rng, symmetric=symmetric) for _ in range(2)] for _ in range(2))
    cosets = coset_set(n, tracks, period, rng)
    assert n < 4 or len(list(layout.Layout(n, tracks, period, symmetric).blocks(1))) > 1
    found = Matching().evaluate(lefts, rights, cosets)
    np.testing.assert_allclose(found.values, naive(lefts, rights, cosets), rtol=0, atol=1e-14)


def test_tiny_tiles_of_listed_relabellings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_TILE_ENTRIES", 20)
    monkeypatch.setattr(matching, "_BATCH_BYTES", 1)
    rng = np.random.default_rng(7)
    for symmetric in (True, False):
        lefts, rights = ([relation(11, rng, symmetric=symmetric) for _ in range(2)] for _ in range(2))
        drawn = Exchangeable().draw(11, 7, rng, cosets=False)
        found = Matching().evaluate(lefts, rights, drawn)
        np.testing.assert_allclose(found.values, naive(lefts, rights, drawn), rtol=0, atol=1e-14)


@pytest.mark.parametrize("block_bytes", [1, 20_000, 2**30])
@pytest.mark.parametrize("n", [48, 49])
def test_runs_across_the_edges_of_tiles(monkeypatch: pytest.MonkeyPatch, n: int, block_bytes: int) -> None:
    narrow(monkeypatch, columns=10, block_bytes=block_bytes)
    rng = np.random.default_rng(8)
    lefts, rights = [relation(n, rng)], [relation(n, rng)]
    for tracks, period in ((1, n), (2, 24), (3, 15)):
        cosets = coset_set(n, tracks, period, rng, n_cosets=1)
        found = Matching().evaluate(lefts, rights, cosets)
        listed = Matching().evaluate(lefts, rights, Explicit(cosets.explicit()))
        np.testing.assert_allclose(found.values, listed.values, rtol=0, atol=1e-14)


@pytest.mark.parametrize("as_cosets", [True, False])
def test_threads_change_no_bit(as_cosets: bool) -> None:
    rng = np.random.default_rng(9)
    lefts, rights = ([relation(60, rng) for _ in range(3)] for _ in range(2))
    drawn = Exchangeable().draw(60, 150, rng, cosets=as_cosets)
    alone = Matching().evaluate(lefts, rights, drawn, threads=1)
    for threads in (2, 5):
        assert np.array_equal(alone.values, Matching().evaluate(lefts, rights, drawn, threads=threads).values)


@pytest.mark.parametrize("as_cosets", [True, False])
def test_progress_ends_at_one(as_cosets: bool) -> None:
    rng = np.random.default_rng(10)
    told: list[float] = []
    drawn = Exchangeable().draw(12, 30, rng, cosets=as_cosets)
    Matching().evaluate([relation(12, rng)], [relation(12, rng)], drawn, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_states_are_left_alone() -> None:
    rng = np.random.default_rng(11)
    left, right = relation(10, rng), relation(10, rng)
    before = left.matrix.copy(), right.matrix.copy()
    left.matrix.flags.writeable = right.matrix.flags.writeable = False
    for as_cosets in (True, False):
        Matching().evaluate([left], [right], Exchangeable().draw(10, 12, rng, cosets=as_cosets))
    assert np.array_equal(left.matrix, before[0])
    assert np.array_equal(right.matrix, before[1])


def test_noise_of_the_states_reaches_the_resolution() -> None:
    rng = np.random.default_rng(12)
    clean, noisy = relation(8, rng), relation(8, rng)
    noisy = Relation(noisy.matrix, zero_diagonal=False, noise=1e-9)
    found = Matching().evaluate([clean, noisy], [clean, noisy], Explicit(np.arange(8)[None]))
    assert found.resolution[0, 0] == pytest.approx(100 * np.finfo(np.float64).eps)
    assert found.resolution[0, 1] == pytest.approx(1e-9, rel=1e-4)
    assert found.resolution[1, 1] == pytest.approx(2e-9, rel=1e-4)
