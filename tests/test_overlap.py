"""The overlap form against its slow twin, on every path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_neighbours as naive
from calibtest.errors import InputError
from calibtest.forms import overlap as module
from calibtest.forms.overlap import Overlap
from calibtest.prepare.neighbours import neighbour_graph, neighbour_graph_from_lists
from calibtest.schemes.relabellings import Cosets, Explicit

EPS = float(np.finfo(np.float64).eps)


def random_lists(rng, n, k):
    return neighbour_graph_from_lists(np.argsort(rng.random((n, n)) + 2 * np.eye(n), axis=1)[:, :k])


def tied(rng, n, k, levels=3):
    return neighbour_graph(rng.integers(0, levels, (n, 2)) + 1.0, k, distance="euclidean")


def cosets(rng, n, tracks, period, n_cosets):
    representatives = np.stack([rng.permutation(n) for _ in range(n_cosets)])
    return Cosets(representatives[0].copy(), tracks, period, representatives)


def listed(rng, n, m):
    return Explicit(np.stack([np.arange(n), *(rng.permutation(n) for _ in range(m - 1))]))


def assert_right(lefts, rights, relabellings, **options):
    got = Overlap().evaluate(lefts, rights, relabellings, **options)
    want = naive.overlaps([g.dense() for g in lefts], [g.dense() for g in rights], relabellings.explicit())
    assert got.values.dtype == np.float64
    for a, left in enumerate(lefts):
        for b, right in enumerate(rights):
            if left.binary and right.binary:
                assert got.resolution[a, b] == 0.0
                np.testing.assert_array_equal(got.values[:, a, b], want[:, a, b])
            else:
                assert got.resolution[a, b] == pytest.approx(100 * EPS * left.norm * right.norm)
                np.testing.assert_allclose(got.values[:, a, b], want[:, a, b], rtol=0, atol=got.resolution[a, b] / 10)
    return got


# one ring; rings of equal strata; whole groups; rings with some or many fixed places; a single ring of two places
LAYOUTS = [(1, 23), (4, 6), (2, 5), (3, 7), (1, 4), (7, 3), (11, 2), (1, 2), (1, 1), (12, 2)]


@pytest.mark.parametrize(("tracks", "period"), LAYOUTS)
@pytest.mark.parametrize("k", [1, 4, 11, 22])
def test_cosets_equal_the_slow_twin(tracks, period, k):
    n = 24
    rng = np.random.default_rng([tracks, period, k])
    lefts = [random_lists(rng, n, k), tied(rng, n, k), random_lists(rng, n, k)]
    rights = [random_lists(rng, n, k), lefts[0], tied(rng, n, k)]
    got = assert_right(lefts, rights, cosets(rng, n, tracks, period, 3))
    assert got.values[0, 0, 1] == n * k


@pytest.mark.parametrize("k", range(1, 24))
def test_listed_relabellings_equal_the_slow_twin(k):
    n = 25
    rng = np.random.default_rng(k)
    lefts, rights = [random_lists(rng, n, k) for _ in range(2)], [random_lists(rng, n, k) for _ in range(3)]
    rights.append(lefts[1])
    got = assert_right(lefts, rights, listed(rng, n, 6))
    assert got.values[0, 1, 3] == n * k
    assert_right([*lefts, tied(rng, n, k)], [*rights, tied(rng, n, k)], listed(rng, n, 6))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 30),
    share=st.floats(0, 1),
    data=st.data(),
)
def test_both_paths_agree_with_the_twin_on_any_layout(seed, n, share, data):
    rng = np.random.default_rng(seed)
    k = 1 + round(share * (n - 2))
    period = data.draw(st.integers(1, n), "period")
    tracks = data.draw(st.integers(1, n // period), "tracks")
    lefts = [random_lists(rng, n, k), tied(rng, n, k, 2)]
    rights = [random_lists(rng, n, k), tied(rng, n, k, 5)]
    relabellings = cosets(rng, n, tracks, period, data.draw(st.integers(1, 3), "cosets"))
    shifted = assert_right(lefts, rights, relabellings)
    one_by_one = assert_right(lefts, rights, Explicit(relabellings.explicit()))
    np.testing.assert_array_equal(shifted.values[:, 0, 0], one_by_one.values[:, 0, 0])
    assert (np.abs(shifted.values - one_by_one.values) <= shifted.resolution).all()


def test_more_layers_than_a_word_has_bits():
    rng = np.random.default_rng(1)
    rights = [random_lists(rng, 12, 3) for _ in range(130)]
    assert_right([random_lists(rng, 12, 3) for _ in range(2)], rights, listed(rng, 12, 3))
    assert_right([rights[0], rights[64], rights[129]], rights, cosets(rng, 12, 1, 12, 1))


def test_counts_beyond_a_byte_and_graphs_of_different_k():
    rng = np.random.default_rng(2)
    n = 200
    graphs = [random_lists(rng, n, k) for k in (150, 3, 20)]
    assert_right(graphs, graphs, listed(rng, n, 3))
    relabellings = cosets(rng, n, 1, n, 1)
    got = Overlap().evaluate(graphs, graphs, relabellings).values
    np.testing.assert_array_equal(got, Overlap().evaluate(graphs, graphs, Explicit(relabellings.explicit())).values)
    np.testing.assert_array_equal(np.diag(got[0]), [n * 150, n * 3, n * 20])


def test_keys_beyond_32_bits():
    rng = np.random.default_rng(3)
    n = 70_000
    steps = rng.integers(1, n // 2, (2, n))
    graphs = [neighbour_graph_from_lists((np.arange(n)[:, None] + np.stack([s, s + 1], axis=1)) % n) for s in steps]
    representatives = np.stack([rng.permutation(n), np.arange(n)])
    representatives[1] = representatives[0]
    representatives[1, :40] = np.roll(representatives[0, :40], 3)
    relabellings = Cosets(representatives[0].copy(), 1, 4, representatives)
    got = Overlap().evaluate(graphs, graphs, relabellings).values
    np.testing.assert_array_equal(got, Overlap().evaluate(graphs, graphs, Explicit(relabellings.explicit())).values)
    assert got[0, 0, 0] == 2 * n


def test_row_zero_is_the_observed_overlap_of_points():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((60, 8))
    y = x + 0.5 * rng.standard_normal((60, 8))
    a, b = neighbour_graph(x, 5), neighbour_graph(y, 5)
    want = sum(len(set(a.indices[5 * i : 5 * i + 5]) & set(b.indices[5 * i : 5 * i + 5])) for i in range(60))
    for relabellings in (cosets(rng, 60, 1, 60, 2), listed(rng, 60, 4)):
        assert Overlap().evaluate([a], [b], relabellings).values[0, 0, 0] == want


@pytest.mark.parametrize("draw", [lambda rng: cosets(rng, 30, 2, 13, 5), lambda rng: listed(rng, 30, 57)])
def test_threads_batches_and_listeners_change_nothing(draw, monkeypatch):
    rng = np.random.default_rng(5)
    lefts = [random_lists(rng, 30, 4), tied(rng, 30, 4), tied(rng, 30, 4)]
    rights = [random_lists(rng, 30, 4), tied(rng, 30, 4)]
    relabellings = draw(rng)
    want = Overlap().evaluate(lefts, rights, relabellings, threads=1).values
    for batch in (1, 2**30):
        monkeypatch.setattr(module, "_BATCH_EDGES", batch)
        monkeypatch.setattr(module, "_BATCH_LOOKUPS", batch)
        for threads in (1, 2, 7):
            shares = []
            got = Overlap().evaluate(lefts, rights, relabellings, threads=threads, progress=shares.append).values
            np.testing.assert_array_equal(got, want)
            assert shares == sorted(shares)
            assert shares[-1] == 1.0


def test_relabelling_one_side_before_equals_relabelling_its_graph():
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 3, (40, 2)) + 1.0, rng.standard_normal((40, 3))
    relabellings = listed(rng, 40, 5)
    values = Overlap().evaluate([neighbour_graph(x, 6)], [neighbour_graph(y, 6)], relabellings)
    for pi, value in zip(relabellings.indices, values.values, strict=True):
        again = Overlap().evaluate([neighbour_graph(x, 6)], [neighbour_graph(y[pi], 6)], listed(rng, 40, 1))
        assert abs(again.values[0, 0, 0] - value[0, 0]) <= values.resolution[0, 0]


def test_different_numbers_of_items_are_refused():
    rng = np.random.default_rng(7)
    a, b = random_lists(rng, 10, 2), random_lists(rng, 11, 2)
    with pytest.raises(InputError, match="right layer 1 has 11 items but the relabellings have 10"):
        Overlap().evaluate([a], [a, b], listed(rng, 10, 2))
    with pytest.raises(InputError, match="left layer 0 has 10 items but the relabellings have 11"):
        Overlap().evaluate([a], [b], cosets(rng, 11, 1, 11, 1))


def test_dense_pays_for_long_lists_of_few_items():
    assert not Overlap.dense_pays(1024, 10)
    assert Overlap.dense_pays(1024, 100)
    assert not Overlap.dense_pays(100_000, 100)
