"""The overlap form: ``T(pi) = sum_ij A[i, j] B[pi[i], pi[j]]`` for sparse neighbour graphs.

The same matching value as ``calibtest.forms.matching``, for adjacencies that are nearly empty: the work is in the edges
and no (n, n) array is ever made. Under a cyclic group of shifts all shifts of a coset come from one histogram of
``n k**2`` additions; listed relabellings cost about one look-up an edge, shared by all the layers of one side. Between
graphs without ties every value is a whole number and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.forms.evaluation import Evaluation
from calibtest.parallel import default_threads, map_threads
from calibtest.prepare.neighbours import NeighbourGraph
from calibtest.schemes.relabellings import Cosets, Relabellings

if TYPE_CHECKING:
    from calibtest.kernels.overlap import Entries, Words

__all__ = ["Overlap"]

Progress = Callable[[float], None]
Index = NDArray[np.int64]
Task = TypeVar("Task")

_DENSE_KEYS = 2**20  # a table of all keys is kept up to this size, or up to a few keys an edge
_BATCH_EDGES = 2**17  # edges placed at a time by a thread
_WORD = 64
_BATCH_LOOKUPS = 2**24  # look-ups of listed relabellings that a thread does in one go
_REPORTS = 16


@dataclass(frozen=True)
class Overlap:
    """Evaluate ``<A, P B P'>`` for every pair of a left and a right neighbour graph.

    Values are raw: without ties, the number of left edges whose image is a right edge. The mutual nearest-neighbour
    overlap divides them by ``sqrt(<A, A> <B, B>)``, which a relabelling does not change.
    """

    def evaluate(
        self,
        lefts: Sequence[NeighbourGraph],
        rights: Sequence[NeighbourGraph],
        relabellings: Relabellings,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Values under every relabelling, in their order.

        Parameters
        ----------
        lefts, rights : sequence of NeighbourGraph
            Prepared layers of the two sides, all on the same n items.
        relabellings : Cosets or Explicit
            Relabellings of the right side.
        threads : int, optional
            Number of threads; the values do not depend on it.
        progress : callable, optional
            Told the share of the work done, between 0 and 1, from the calling thread.

        Returns
        -------
        Evaluation
            Exact whole numbers with resolution 0 in the cells of two graphs without ties; elsewhere sums of products
            of weights, to ``100 eps |A| |B|``.

        Raises
        ------
        InputError
            When a graph and the relabellings have different numbers of items.
        """
        for side, graphs in (("left", lefts), ("right", rights)):
            for number, graph in enumerate(graphs):
                if graph.n_items != relabellings.n_items:
                    raise InputError(
                        f"{side} layer {number} has {graph.n_items} items but the relabellings have "
                        f"{relabellings.n_items}; draw them for the items of these layers"
                    )
        tell = progress or (lambda share: None)
        if isinstance(relabellings, Cosets):
            values = _evaluate_cosets(lefts, rights, relabellings, threads, tell)
        else:
            values = _evaluate_listed(lefts, rights, relabellings.indices, threads, tell)
        return Evaluation(values, _resolution(lefts, rights))

    @staticmethod
    def dense_pays(n: int, k: int) -> bool:
        """True when FFTs over dense adjacencies (``calibtest.forms.matching``) cost less than the histograms.

        A relabelling costs about ``k**2`` additions here and an amount proportional to n there; the two meet at about
        k = 55 for n = 1,024. This form never switches by itself: a metric may ask, and prepare dense relations instead.
        """
        return k * k > 3 * n


def _resolution(lefts: Sequence[NeighbourGraph], rights: Sequence[NeighbourGraph]) -> NDArray[np.float64]:
    eps = float(np.finfo(np.float64).eps)
    cells = [[0.0 if a.binary and b.binary else 100.0 * eps * a.norm * b.norm for b in rights] for a in lefts]
    return np.array(cells, dtype=np.float64).reshape(len(lefts), len(rights))


# -------------------------------------------------------------------------------------------- cosets, by histograms
@dataclass(frozen=True, eq=False)
class _Ground:
    """Rings and fixed places of a set of cosets."""

    cosets: Cosets

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Tracks, period and number of fixed places."""
        c = self.cosets
        return c.tracks, c.period, c.n_items - c.tracks * c.period

    @property
    def n_keys(self) -> int:
        tracks, period, fixed = self.shape
        return tracks * tracks * period + 2 * tracks * fixed + fixed * fixed

    @property
    def index(self) -> type[np.int32] | type[np.int64]:
        """Integer type that holds every key."""
        return np.int32 if self.n_keys < 2**31 else np.int64

    def positions(self, layouts: Index) -> NDArray[np.int32]:
        """(R, n, 2) ring and place of every item under each layout (the item on each position)."""
        tracks, period, fixed = self.shape
        ring = np.concatenate((np.repeat(np.arange(tracks), period), tracks + np.arange(fixed)))
        place = np.concatenate((np.tile(np.arange(period), tracks), np.zeros(fixed, dtype=np.int64)))
        positions = np.empty((*layouts.shape, 2), dtype=np.int32)
        rows = np.arange(len(layouts))[:, None]
        positions[rows, layouts, 0] = ring
        positions[rows, layouts, 1] = place
        return positions

    def place(self, graph: NeighbourGraph, tails: NDArray[np.int32], layouts: Index) -> NDArray[np.signedinteger]:
        """(R, n_edges, 2) key and place of every edge under each layout."""
        from calibtest.kernels.overlap import Rings, place_edges

        placed = np.empty((len(layouts), graph.n_edges, 2), dtype=self.index)
        place_edges(tails, graph.indices, self.positions(layouts), Rings(*self.shape), placed)
        return placed


class _Table:
    """Left edges grouped by key: all keys in a table, or only those that occur where there are too many."""

    def __init__(self, graph: NeighbourGraph, ground: _Ground) -> None:
        from calibtest.kernels.overlap import fill_slots, find_slots, sort_by_key

        placed = ground.place(graph, graph.tails(), ground.cosets.order[None])
        period = ground.cosets.period
        self.keys: NDArray[np.signedinteger] | None = None
        n_keys = ground.n_keys
        if n_keys > max(_DENSE_KEYS, 4 * graph.n_edges):
            self.keys = np.unique(placed[0, :, 0])
            n_keys = self.keys.size + 1  # the last one stands for all the others, and stays empty
            self.slots = np.full(1 << (2 * n_keys).bit_length(), -1, dtype=np.int32)
            fill_slots(self.keys, self.slots)
            numbered = np.empty(placed.shape, dtype=np.int32)
            find_slots(placed, self.keys, self.slots, numbered)
            placed = numbered
        self.starts = np.zeros(n_keys + 1, dtype=np.int32)
        order = np.empty(graph.n_edges, dtype=np.int32)
        sort_by_key(placed[0], self.starts, order)
        places = placed[0, order, 1].astype(np.int32)
        places[places == period] = 0  # unmoved edges: the place on the right alone sends them to the last bin
        self.places = places
        self.weights = graph.edge_weights()[order]
        self.binary = graph.binary

    def lookup(self, placed: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
        """Right edges with keys as this table numbers them."""
        from calibtest.kernels.overlap import find_slots

        if self.keys is None:
            return placed
        numbered = np.empty(placed.shape, dtype=np.int32)
        find_slots(placed, self.keys, self.slots, numbered)
        return numbered


def _evaluate_cosets(
    lefts: Sequence[NeighbourGraph],
    rights: Sequence[NeighbourGraph],
    cosets: Cosets,
    threads: int | None,
    tell: Progress,
) -> NDArray[np.float64]:
    period, workers = cosets.period, threads or default_threads()
    ground = _Ground(cosets)
    tables = map_threads(lambda graph: _Table(graph, ground), lefts, threads=threads)
    tails = [graph.tails() for graph in rights]
    values = np.empty((cosets.n_cosets, period, len(lefts), len(rights)))

    largest = max(graph.n_edges for graph in rights)
    batch = max(1, _BATCH_EDGES // max(largest, 2 * period))
    tasks = [
        (slice(r, min(r + batch, cosets.n_cosets)), right)
        for r in range(0, cosets.n_cosets, batch)
        for right in range(len(rights))
    ]
    # few tasks: divide them by left layers too, at the price of placing the right edges more than once
    parts = min(len(lefts), max(1, -(-2 * workers // len(tasks))))
    shares = np.array_split(np.arange(len(lefts)), parts)

    def one(task: tuple[slice, int, NDArray[np.intp]]) -> None:
        some, at, share = task
        placed = ground.place(rights[at], tails[at], cosets.representatives[some])
        for left in share:
            values[some, :, left, at] = _shift_values(tables[left], rights[at], placed, period)

    work = [(some, at, share) for some, at in tasks for share in shares]
    _in_turns(one, work, threads, tell)
    return values.reshape(len(cosets), len(lefts), len(rights))


def _shift_values(
    table: _Table, right: NeighbourGraph, placed: NDArray[np.signedinteger], period: int
) -> NDArray[np.float64]:
    """(R, period) values under every shift of each layout of the right graph."""
    from calibtest.kernels.overlap import count_matches, weigh_matches

    numbered = table.lookup(placed)
    bins: NDArray[np.int64] | NDArray[np.float64]
    if table.binary and right.binary:
        bins = np.zeros((len(placed), 2 * period + 1), dtype=np.int64)
        count_matches(table.starts, table.places, numbered, bins)
    else:
        bins = np.zeros((len(placed), 2 * period + 1), dtype=np.float64)
        weigh_matches(table.starts, table.places, table.weights, numbered, right.edge_weights(), bins)
    return (bins[:, :period] + bins[:, period:-1] + bins[:, -1:]).astype(np.float64)


# ------------------------------------------------------------------------------------ listed relabellings, by look-up
def _evaluate_listed(
    lefts: Sequence[NeighbourGraph],
    rights: Sequence[NeighbourGraph],
    listed: Index,
    threads: int | None,
    tell: Progress,
) -> NDArray[np.float64]:
    """Spread one side's lists over rows of words and look the other side's edges up, whichever costs less."""
    if _union_cost(lefts) + _edges(rights) < _union_cost(rights) + _edges(lefts):
        # T(pi) = sum_ij A[i, j] B[pi i, pi j] = sum_uv B[u, v] A[qi u, qi v] with qi the inverse of pi
        inverse = np.empty_like(listed)
        inverse[np.arange(len(listed))[:, None], listed] = np.arange(listed.shape[1])
        swapped = _look_up(rights, lefts, inverse, threads, tell)
        return np.ascontiguousarray(swapped.transpose(0, 2, 1))
    return _look_up(lefts, rights, listed, threads, tell)


def _edges(graphs: Sequence[NeighbourGraph]) -> int:
    return sum(graph.n_edges for graph in graphs)


def _union_cost(graphs: Sequence[NeighbourGraph]) -> int:
    """Writes and erasures of the spread lists; neighbours that layers share are counted once a layer."""
    return 2 * _edges(graphs)


def _look_up(
    lefts: Sequence[NeighbourGraph],
    rights: Sequence[NeighbourGraph],
    listed: Index,
    threads: int | None,
    tell: Progress,
) -> NDArray[np.float64]:
    from calibtest.kernels.overlap import Lists, count_listed, weigh_listed

    offsets = np.cumsum([0, *(graph.n_edges for graph in lefts)])
    left = Lists(
        starts=np.stack([graph.indptr + offset for graph, offset in zip(lefts, offsets, strict=False)]),
        columns=np.concatenate([graph.indices for graph in lefts]),
        weights=np.concatenate([graph.edge_weights() for graph in lefts]),
    )
    binary = all(graph.binary for graph in (*lefts, *rights))
    groups = [slice(first, min(first + _WORD, len(rights))) for first in range(0, len(rights), _WORD)]
    spread = [_spread(rights[group]) for group in groups]
    values = np.empty((len(listed), len(lefts), len(rights)))

    an_evaluation = max(1, _edges(lefts) + max(entries.columns.size for entries, _ in spread))
    workers = threads or default_threads()
    batch = max(1, min(_BATCH_LOOKUPS // an_evaluation, -(-len(listed) // (4 * workers))))

    def one(task: tuple[int, int]) -> None:
        first, at = task
        some = np.ascontiguousarray(listed[first : first + batch], dtype=np.int32)
        group, (entries, words) = groups[at], spread[at]
        shape = (len(some), len(lefts), group.stop - group.start)
        if binary:
            counts = np.empty(shape, dtype=np.int64)
            count_listed(left, words, some, counts)
            values[first : first + batch, :, group] = counts
        else:
            sums = np.empty(shape, dtype=np.float64)
            weigh_listed(left, entries, some, sums)
            values[first : first + batch, :, group] = sums

    work = [(first, at) for first in range(0, len(listed), batch) for at in range(len(groups))]
    _in_turns(one, work, threads, tell)
    return values


def _spread(graphs: Sequence[NeighbourGraph]) -> tuple[Entries, Words]:
    """Lists of up to 64 layers merged item by item: every neighbour once, with its layers and weights, and as a word."""
    from calibtest.kernels.overlap import Entries, Words

    n = graphs[0].n_items
    keys = np.concatenate([graph.tails().astype(np.int64) * n + graph.indices for graph in graphs])
    layers = np.repeat(np.arange(len(graphs), dtype=np.int32), [graph.n_edges for graph in graphs])
    weights = np.concatenate([graph.edge_weights() for graph in graphs])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    starts = np.searchsorted(keys[first], np.arange(n + 1, dtype=np.int64) * n)
    columns = (keys[first] % n).astype(np.int32)
    bits = np.left_shift(np.uint64(1), layers[order].astype(np.uint64))
    entries = Entries(starts, columns, np.append(first, keys.size), layers[order], weights[order])
    return entries, Words(starts, columns, np.bitwise_or.reduceat(bits, first))


def _in_turns(function: Callable[[Task], None], work: Sequence[Task], threads: int | None, tell: Progress) -> None:
    """Do all the work on threads, in some turns after each of which the share done is told."""
    turn = max(threads or default_threads(), -(-len(work) // _REPORTS))
    for first in range(0, len(work), turn):
        map_threads(function, work[first : first + turn], threads=threads)
        tell(min(first + turn, len(work)) / len(work))
