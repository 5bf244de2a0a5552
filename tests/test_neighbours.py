"""The neighbour search against its slow twin, and the laws that a permutation test needs of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_neighbours as naive
from calibtest.errors import InputError, UndefinedScoreError
from calibtest.prepare import neighbours as module
from calibtest.prepare.neighbours import (
    adjacency_invariants,
    neighbour_graph,
    neighbour_graph_from_distances,
    neighbour_graph_from_lists,
)

DISTANCES = ("cosine", "euclidean")


def gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def single_precision(rng, n, d):
    return rng.standard_normal((n, d)).astype(np.float32)


def copies(rng, n, d):
    return rng.standard_normal((max(2, n // 4), d))[rng.integers(0, max(2, n // 4), n)]


def lattice(rng, n, d):
    return rng.integers(1, 4, (n, d)).astype(np.float64)


def decimal_lattice(rng, n, d):
    return rng.integers(1, 4, (n, d)) * 0.1


def all_equal(rng, n, d):
    return np.tile(rng.standard_normal(d), (n, 1))


def two_clusters(rng, n, d):
    return rng.standard_normal((n, d)) * 1e-9 + np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]


def offset(rng, n, d):
    return rng.standard_normal((n, d)) + 1e9


def one_far_item(rng, n, d):
    x = rng.standard_normal((n, d))
    x[rng.integers(n)] += 1e8
    return x


def proportional(rng, n, d):
    return rng.standard_normal((max(2, n // 5), d))[rng.integers(0, max(2, n // 5), n)] * rng.integers(1, 50, (n, 1))


def many_scales(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-12, 12, (n, 1))


DATA = (
    gaussian,
    single_precision,
    copies,
    lattice,
    decimal_lattice,
    all_equal,
    two_clusters,
    offset,
    one_far_item,
    proportional,
    many_scales,
)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Several tiles already for a few dozen items."""
    monkeypatch.setattr(module, "_TILE_ENTRIES", 1)


# ------------------------------------------------------------------------------------------------ against the twin
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("n", "d", "k"), [(40, 3, 5), (53, 33, 1), (21, 2, 20), (2, 4, 1), (35, 1, 8)])
def test_equals_the_slow_twin(data, distance, n, d, k):
    x = data(np.random.default_rng([n, d, k]), n, d)
    graph = neighbour_graph(x, k, distance=distance)
    np.testing.assert_array_equal(graph.dense(), naive.neighbours(x, k, distance))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    data=st.sampled_from(DATA),
    distance=st.sampled_from(DISTANCES),
    precision=st.sampled_from(("float64", "float32")),
    n=st.integers(3, 50),
    d=st.integers(1, 12),
    share=st.floats(0, 1),
)
def test_result_is_a_fair_sharing_out_of_k_places(seed, data, distance, precision, n, d, share):
    rng = np.random.default_rng(seed)
    x = data(rng, n, d)
    k = 1 + round(share * (n - 2))
    graph = neighbour_graph(x, k, distance=distance, precision=precision)
    dense = graph.dense()
    np.testing.assert_array_equal(dense, naive.neighbours(x, k, distance))
    assert not np.diag(dense).any()
    np.testing.assert_allclose(dense.sum(axis=1), k, rtol=1e-12)
    assert graph.n_tied == np.count_nonzero(((dense > 0) & (dense < 1)).any(axis=1))
    assert graph.binary == (graph.n_tied == 0)
    assert graph.norm == pytest.approx(np.linalg.norm(dense), rel=1e-12)
    for low, high in zip(graph.indptr[:-1], graph.indptr[1:], strict=True):
        assert (np.diff(graph.indices[low:high]) > 0).all()
    order = rng.permutation(n)
    moved = neighbour_graph(x[order], k, distance=distance, precision=precision)
    np.testing.assert_array_equal(moved.dense(), dense[np.ix_(order, order)])
    assert moved.sum_of_squares == graph.sum_of_squares


@pytest.mark.parametrize("distance", DISTANCES)
def test_order_of_items_is_bit_for_bit_irrelevant_at_real_width(distance):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((300, 257)).astype(np.float32)
    x[100:130] = x[:30]  # copies, whose products differ in the last place from tile to tile
    x[130:160] = x[:30]
    dense = neighbour_graph(x, 2, distance=distance).dense()
    for _ in range(3):
        order = rng.permutation(len(x))
        np.testing.assert_array_equal(
            neighbour_graph(x[order], 2, distance=distance).dense(), dense[np.ix_(order, order)]
        )


def test_threads_tiles_and_tile_precision_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.standard_normal((150, 40)), rng.integers(0, 2, (60, 40))])
    want = neighbour_graph(x, 7, distance="euclidean", threads=1)
    for entries in (1, 2**12, 2**21):
        monkeypatch.setattr(module, "_TILE_ENTRIES", entries)
        for threads in (1, 2, 5):
            for precision in ("float64", "float32"):
                got = neighbour_graph(x, 7, distance="euclidean", threads=threads, precision=precision)
                np.testing.assert_array_equal(got.indices, want.indices)
                np.testing.assert_array_equal(got.edge_weights(), want.edge_weights())


def test_input_is_left_alone_and_may_be_read_only():
    x = np.random.default_rng(7).standard_normal((30, 4))
    before = x.copy()
    x.flags.writeable = False
    for distance in DISTANCES:
        neighbour_graph(x, 3, distance=distance)
        neighbour_graph(np.asfortranarray(x), 3, distance=distance)
    np.testing.assert_array_equal(x, before)


# ------------------------------------------------------------------------------------------------------------- ties
def test_items_tied_at_the_last_place_share_it():
    x = np.array([[0.0], [1.0], [-1.0], [5.0]])
    graph = neighbour_graph(x, 1, distance="euclidean")
    np.testing.assert_array_equal(graph.dense()[0], [0.0, 0.5, 0.5, 0.0])
    assert graph.n_tied == 1
    assert graph.sum_of_squares == 3.5
    assert not graph.binary


def test_copies_of_an_item_share_places_and_do_not_list_themselves():
    x = np.array([[3.0, 1.0]] * 4 + [[0.1, 7.0], [5.0, 5.0]])
    for distance in DISTANCES:
        dense = neighbour_graph(x, 2, distance=distance).dense()
        np.testing.assert_array_equal(dense[:4, :4], (np.ones((4, 4)) - np.eye(4)) * (2 / 3))
        np.testing.assert_array_equal(dense[:4, 4:], 0.0)


def test_identical_rows_make_the_complete_graph():
    n, k = 30, 4
    dense = neighbour_graph(np.full((n, 5), 0.3), k).dense()
    np.testing.assert_array_equal(dense, (np.ones((n, n)) - np.eye(n)) * (k / (n - 1)))


def test_proportional_rows_are_copies_under_cosine():
    rng = np.random.default_rng(8)
    for width in (3, 768):
        row, other = rng.standard_normal((2, width))
        x = np.stack([row, 2 * row, 3 * row, 0.7 * row, 1e-200 * row, 1e200 * row, other])
        dense = neighbour_graph(x, 2, distance="cosine").dense()
        np.testing.assert_array_equal(dense[:6, :6], (np.ones((6, 6)) - np.eye(6)) * (2 / 5))


def test_float_lattices_tie_although_their_distances_are_rounded():
    axis = np.arange(6) / 3.0
    x = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    dense = neighbour_graph(x, 2, distance="euclidean").dense()
    inner = 2 * 6 + 2
    np.testing.assert_array_equal(np.sort(dense[inner])[-5:], [0.0, 0.5, 0.5, 0.5, 0.5])


def test_a_difference_above_rounding_is_no_tie():
    graph = neighbour_graph(np.array([[0.0], [1.0], [-1.0 - 1e-13], [9.0]]), 1, distance="euclidean")
    np.testing.assert_array_equal(graph.dense()[0], [0.0, 1.0, 0.0, 0.0])


# ----------------------------------------------------------------------------------------------------------- scales
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("factor", [1e-310, 1e-160, 2e-4, 7.3e3, 1e160, 1e307])
def test_one_factor_changes_nothing(distance, factor):
    x = np.random.default_rng(9).standard_normal((40, 6))
    want = neighbour_graph(x, 5, distance=distance)
    got = neighbour_graph(x * factor, 5, distance=distance)
    np.testing.assert_array_equal(got.dense(), want.dense())


def test_zero_matrix_has_euclidean_neighbours():
    np.testing.assert_array_equal(neighbour_graph(np.zeros((3, 2)), 1, distance="euclidean").dense().sum(axis=1), 1.0)


# ------------------------------------------------------------------------------------------- lists, given distances
def test_from_lists_sorts_each_list():
    graph = neighbour_graph_from_lists(np.array([[2, 1], [0, 2], [1, 0]]))
    np.testing.assert_array_equal(graph.indices, [1, 2, 0, 2, 0, 1])
    assert (graph.n_items, graph.k, graph.n_edges, graph.binary, graph.n_tied) == (3, 2, 6, True, 0)
    assert graph.sum_of_squares == 6.0


@pytest.mark.parametrize("data", [gaussian, lattice, copies])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_from_distances_equals_the_slow_twin(data, dtype):
    x = data(np.random.default_rng(10), 45, 3)
    distances = np.sqrt(naive.measured_distances(x, "euclidean")).astype(dtype)
    graph = neighbour_graph_from_distances(distances, 6)
    want = naive.membership(distances.astype(np.float64), 6, lambda v: 8 * float(np.finfo(dtype).eps) * v)
    np.testing.assert_array_equal(graph.dense(), want)


def test_from_distances_ignores_the_diagonal_and_leaves_its_input_alone():
    distances = np.array([[9, 1, 2], [1, 0, 2], [1, 2, 0]])
    before = distances.copy()
    graph = neighbour_graph_from_distances(distances, 1)
    np.testing.assert_array_equal(graph.indices, [1, 0, 0])
    np.testing.assert_array_equal(distances, before)


@pytest.mark.parametrize("data", [gaussian, copies, all_equal])
@pytest.mark.parametrize("k", [1, 6, 29])
def test_invariants_equal_their_definitions(data, k):
    graph = neighbour_graph(data(np.random.default_rng(11), 30, 4), k)
    np.testing.assert_allclose(adjacency_invariants(graph), naive.invariants(graph.dense()), rtol=1e-12)


# ------------------------------------------------------------------------------------------------------- bad calls
X = np.random.default_rng(12).standard_normal((10, 3))
LISTS = np.array([[1, 2], [0, 2], [0, 1]])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: neighbour_graph(X, 10, name="Y"), ["k = 10", "n = 10", "Y"]),
        (lambda: neighbour_graph(X, 500), ["k = 500", "n = 10"]),
        (lambda: neighbour_graph(X, 0), ["k", "at least 1", "0"]),
        (lambda: neighbour_graph(X, -3), ["k", "-3"]),
        (lambda: neighbour_graph(X, True), ["k", "True"]),
        (lambda: neighbour_graph(X, np.True_), ["k", "True"]),
        (lambda: neighbour_graph(X, 3.0), ["k", "3.0"]),
        (lambda: neighbour_graph(X, "3"), ["k", "'3'"]),
        (lambda: neighbour_graph(X[:1], 1), ["k = 1", "n = 1"]),
        (lambda: neighbour_graph(X, 3, distance="l1"), ["distance", "'l1'", "cosine", "euclidean"]),
        (lambda: neighbour_graph(X, 3, precision="float16"), ["precision", "'float16'"]),
        (lambda: neighbour_graph_from_lists(LISTS.astype(float)), ["integer", "float64"]),
        (lambda: neighbour_graph_from_lists(LISTS[:, 0]), ["(n, k)", "(3,)"]),
        (lambda: neighbour_graph_from_lists(LISTS + 1), ["row 0", "outside 0..2"]),
        (lambda: neighbour_graph_from_lists(LISTS - 1), ["row 1", "outside 0..2"]),
        (lambda: neighbour_graph_from_lists(np.array([[1, 2], [1, 2], [0, 1]])), ["row 1", "itself"]),
        (lambda: neighbour_graph_from_lists(np.array([[1, 2], [0, 2], [1, 1]])), ["row 2", "twice"]),
        (lambda: neighbour_graph_from_distances(X, 2), ["square", "(10, 3)"]),
        (lambda: neighbour_graph_from_distances(np.eye(3) - 1, 1), ["at least 0", "-1", "items 0 and 1"]),
        (lambda: neighbour_graph_from_distances(np.ones((4, 4)), 4), ["k = 4", "n = 4"]),
    ],
)
def test_bad_calls_say_what_is_wrong(call, words):
    with pytest.raises(InputError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_zero_rows_are_named_under_cosine_only():
    x = np.random.default_rng(13).standard_normal((25, 6))
    x[[3, 17]] = 0.0
    with pytest.raises(UndefinedScoreError, match="X has all-zero rows 3, 17, whose cosine is undefined"):
        neighbour_graph(x, 4)
    x[:15] = 0.0
    with pytest.raises(UndefinedScoreError, match="8, 9 and 6 more"):
        neighbour_graph(x, 4)
    neighbour_graph(x, 4, distance="euclidean")


def test_lists_too_long_for_memory_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_MOST_EDGES", 100)
    with pytest.raises(InputError, match="tied at place k = 2"):
        neighbour_graph(np.ones((20, 3)), 2)


def test_whole_numbers_of_any_integer_type_are_taken():
    for k in (3, np.int64(3), np.uint8(3)):
        assert neighbour_graph(X, k).k == 3
