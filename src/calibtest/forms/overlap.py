"""The overlap form: ``T(pi) = sum_ij A[i, j] B[pi[i], pi[j]]`` for sparse neighbour graphs.

The same matching value as ``calibtest.forms.matching``, for adjacencies that are nearly empty: the work is in the edges
and no (n, n) array is ever made. Under a cyclic group of shifts all shifts of a coset come from one histogram of
``n k**2`` additions; listed relabellings cost about one look-up an edge, shared by all the layers of the right side.
Between graphs without ties every value is a whole number and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calibtest.errors import InputError
from calibtest.forms.evaluation import Evaluation
from calibtest.parallel import default_threads, map_threads
from calibtest.prepare.neighbours import NeighbourGraph
from calibtest.schemes.relabellings import Cosets, Relabellings

if TYPE_CHECKING:
    from calibtest.kernels.overlap import Entries, Keyed, Lists, Words

__all__ = ["Overlap"]

Progress = Callable[[float], None]
Index = NDArray[np.int64]
Placed = NDArray[np.unsignedinteger[Any]]
Task = TypeVar("Task")

_BATCH_EDGES = 2**17  # edges placed at a time by a thread
_BATCH_LOOKUPS = 2**24  # look-ups of listed relabellings that a thread does in one go
_WORD = 64
_REPORTS = 16


@dataclass(frozen=True)
class Overlap:
    """Evaluate ``<A, P B P'>`` for every pair of a left and a right neighbour graph.

    Values are raw: without ties, the number of left edges whose image is a right edge. The mutual nearest-neighbour
    overlap divides them by ``sqrt(<A, A> <B, B>)``, which a relabelling does not change.
    """

    prefers_cosets = True

    def state_bytes(self, n: int, dtype: DTypeLike) -> int:
        """Neighbour lists are small."""
        return 0

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
        if isinstance(relabellings, Cosets):
            values = _evaluate_cosets(lefts, rights, relabellings, threads, progress)
        else:
            values = _evaluate_listed(lefts, rights, relabellings.indices, threads, progress)
        return Evaluation(values, _resolution(lefts, rights))

    @staticmethod
    def dense_pays(n: int, k: int) -> bool:
        """True when FFTs over dense adjacencies (``calibtest.forms.matching``) cost less than the histograms.

        A relabelling costs about ``k**2`` additions of half a nanosecond here and about 3 n nanoseconds there. This
        form never switches by itself: a metric may ask, and prepare dense relations instead.
        """
        return k * k > 6 * n


def _resolution(lefts: Sequence[NeighbourGraph], rights: Sequence[NeighbourGraph]) -> NDArray[np.float64]:
    eps = float(np.finfo(np.float64).eps)
    cells = [[0.0 if a.binary and b.binary else 100.0 * eps * a.norm * b.norm for b in rights] for a in lefts]
    return np.array(cells, dtype=np.float64).reshape(len(lefts), len(rights))


def _in_turns(
    function: Callable[[Task], None], work: Sequence[Task], threads: int | None, tell: Progress | None
) -> None:
    """Do all the work on threads; where somebody listens, in some turns after each of which the share done is told."""
    turns = 1 if tell is None else min(_REPORTS, len(work))
    for turn in range(turns):
        map_threads(function, work[len(work) * turn // turns : len(work) * (turn + 1) // turns], threads=threads)
        if tell is not None:
            tell((turn + 1) / turns)


# -------------------------------------------------------------------------------------------- cosets, by histograms
class _Ground:
    """Where the items of a set of cosets stand, and which keys their edges can have."""

    def __init__(self, cosets: Cosets) -> None:
        self.period = cosets.period
        self.shape = (cosets.tracks, cosets.period, cosets.n_items - cosets.tracks * cosets.period)
        self.left = self._positions(cosets.order[None])
        self.right = self._positions(cosets.representatives)

    @property
    def n_keys(self) -> int:
        tracks, period, fixed = self.shape
        return tracks * tracks * period + 2 * tracks * fixed + fixed * fixed

    def _positions(self, layouts: Index) -> NDArray[np.uint32]:
        """(R, n, 2) ring and place of every item, for layouts that list the item on every position."""
        tracks, period, fixed = self.shape
        ground = np.zeros((layouts.shape[1], 2), dtype=np.uint32)
        ground[:, 0] = np.concatenate((np.repeat(np.arange(tracks), period), tracks + np.arange(fixed)))
        ground[: tracks * period, 1] = np.tile(np.arange(period), tracks)
        positions = np.empty((*layouts.shape, 2), dtype=np.uint32)
        for mine, items in zip(positions, layouts, strict=True):
            mine[items] = ground
        return positions

    def place(self, graph: NeighbourGraph, positions: NDArray[np.uint32]) -> Placed:
        """(R, n_edges, 2) key and place of every edge."""
        from calibtest.kernels.overlap import Rings, place_edges

        placed: Placed = np.empty(
            (len(positions), graph.n_edges, 2), dtype=np.uint32 if self.n_keys < 2**32 else np.uint64
        )
        place_edges(_unsigned(graph.tails()), _unsigned(graph.indices), positions, Rings(*self.shape), placed)
        return placed


class _Numbering:
    """Numbers for the keys of one left graph: every possible key, or, where these are many, the keys that occur."""

    def __init__(self, placed: Placed, n_keys: int) -> None:
        from calibtest.kernels.overlap import fill_slots

        self.all = n_keys <= 2 * placed.shape[1]
        self.size = n_keys
        if not self.all:
            self.keys = np.unique(placed[:, :, 0])
            self.size = self.keys.size + 1  # the last number stands for every other key
            self.slots = np.full(1 << (2 * self.size).bit_length(), -1, dtype=np.int64)
            fill_slots(self.keys, self.slots)

    def sort(self, placed: Placed, weights: NDArray[np.float64] | None) -> Keyed:
        """Placed edges by the number of their key."""
        from calibtest.kernels.overlap import Keyed, number_keys, sort_by_key

        if not self.all:
            numbered = np.empty(placed.shape, dtype=np.uint32)
            number_keys(placed, self.keys, self.slots, numbered)
            placed = numbered
        starts = np.empty((len(placed), self.size + 1), dtype=np.uint32)
        order, places = np.empty((2, *placed.shape[:2]), dtype=np.uint32)
        sort_by_key(placed, starts, order, places)
        return Keyed(starts, places, np.empty((len(placed), 0)) if weights is None else weights[order])


class _Left:
    """Edges of one left graph by key, as the right edges will look for them."""

    def __init__(self, graph: NeighbourGraph, ground: _Ground, weighted: bool) -> None:
        placed = ground.place(graph, ground.left)
        self.numbering = _Numbering(placed, ground.n_keys)
        keyed = self.numbering.sort(placed, graph.edge_weights() if weighted else None)
        # unmoved edges: the place on the right alone sends them to the last bin
        places = np.where(keyed.places == ground.period, np.uint32(0), keyed.places)
        self.keyed = keyed._replace(places=places)
        self.binary = graph.binary


def _evaluate_cosets(
    lefts: Sequence[NeighbourGraph],
    rights: Sequence[NeighbourGraph],
    cosets: Cosets,
    threads: int | None,
    tell: Progress | None,
) -> NDArray[np.float64]:
    period, workers = cosets.period, threads or default_threads()
    ground = _Ground(cosets)
    weighted = not all(graph.binary for graph in (*lefts, *rights))
    keyed = map_threads(lambda graph: _Left(graph, ground, weighted), lefts, threads=threads)
    values = np.empty((cosets.n_cosets, period, len(lefts), len(rights)))

    batch = max(1, _BATCH_EDGES // max(2 * period, *(graph.n_edges for graph in rights)))
    tasks = [
        (slice(first, min(first + batch, cosets.n_cosets)), right)
        for first in range(0, cosets.n_cosets, batch)
        for right in range(len(rights))
    ]
    # few tasks: divide them by left layers too, at the price of placing the right edges more than once
    parts = min(len(lefts), max(1, 2 * workers // len(tasks)))
    shares = np.array_split(np.arange(len(lefts)), parts)

    def one(task: tuple[slice, int, NDArray[np.intp]]) -> None:
        some, at, share = task
        right = rights[at]
        placed = ground.place(right, ground.right[some])
        shared: Keyed | None = None
        for number in share:
            left = keyed[number]
            if left.numbering.all:
                shared = shared or left.numbering.sort(placed, right.edge_weights() if weighted else None)
                mine = shared
            else:
                mine = left.numbering.sort(placed, right.edge_weights() if weighted else None)
            exact = left.binary and right.binary
            values[some, :, number, at] = _shift_values(left.keyed, mine, period, exact)

    _in_turns(one, [(some, at, share) for some, at in tasks for share in shares], threads, tell)
    return values.reshape(len(cosets), len(lefts), len(rights))


def _shift_values(left: Keyed, right: Keyed, period: int, exact: bool) -> NDArray[np.float64]:
    """(R, period) values under every shift of each layout of the right graph."""
    from calibtest.kernels.overlap import count_matches, weigh_matches

    # a count is at most the number of edges, which 32 bits hold; narrow bins stay in the cache
    bins: NDArray[Any] = np.zeros((len(right.starts), 2 * period + 1), dtype=np.uint32 if exact else np.float64)
    (count_matches if exact else weigh_matches)(left, right, bins)
    values = bins[:, :period].astype(np.float64)
    values += bins[:, period:-1]
    values += bins[:, -1:]
    return values


# ------------------------------------------------------------------------------------ listed relabellings, by look-up
def _evaluate_listed(
    lefts: Sequence[NeighbourGraph],
    rights: Sequence[NeighbourGraph],
    listed: Index,
    threads: int | None,
    tell: Progress | None,
) -> NDArray[np.float64]:
    from calibtest.kernels.overlap import count_listed, weigh_listed

    left = _lists(lefts)
    binary = all(graph.binary for graph in (*lefts, *rights))
    groups = [slice(first, min(first + _WORD, len(rights))) for first in range(0, len(rights), _WORD)]
    spread = [_spread(rights[group]) for group in groups]
    values = np.empty((len(listed), len(lefts), len(rights)))

    an_evaluation = left.columns.size + max(entries.columns.size for entries, _ in spread)
    workers = threads or default_threads()
    batch = max(1, min(_BATCH_LOOKUPS // an_evaluation, -(-len(listed) // (4 * workers))))

    def one(task: tuple[int, int]) -> None:
        first, at = task
        some = listed[first : first + batch].astype(np.uint32)
        group, (entries, words) = groups[at], spread[at]
        grid: NDArray[Any] = np.empty(
            (len(some), len(lefts), group.stop - group.start), dtype=np.int64 if binary else np.float64
        )
        if binary:
            count_listed(left, words, some, grid)
        else:
            weigh_listed(left, entries, some, grid)
        values[first : first + batch, :, group] = grid

    _in_turns(one, [(f, g) for f in range(0, len(listed), batch) for g in range(len(groups))], threads, tell)
    return values


def _edges(graphs: Sequence[NeighbourGraph]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Tails, layers and weights of the edges of several graphs, graph after graph."""
    tails = np.concatenate([graph.tails() for graph in graphs]).astype(np.int64)
    layers = np.repeat(np.arange(len(graphs)), [graph.n_edges for graph in graphs])
    return tails, layers, np.concatenate([graph.edge_weights() for graph in graphs])


def _lists(graphs: Sequence[NeighbourGraph]) -> Lists:
    """Lists of several graphs, item by item and within an item layer by layer."""
    from calibtest.kernels.overlap import Lists

    tails, layers, weights = _edges(graphs)
    columns = np.concatenate([graph.indices for graph in graphs])
    row = tails * len(graphs) + layers
    order = np.argsort(tails, kind="stable")
    lengths = np.bincount(row, minlength=graphs[0].n_items * len(graphs))
    return Lists(_starts(lengths), _unsigned(columns[order]), weights[order])


def _spread(graphs: Sequence[NeighbourGraph]) -> tuple[Entries, Words]:
    """Lists of up to 64 graphs merged item by item: every neighbour once, with its layers and weights, and as a word."""
    from calibtest.kernels.overlap import Entries, Words

    n = graphs[0].n_items
    tails, layers, weights = _edges(graphs)
    pairs = tails * n + np.concatenate([graph.indices for graph in graphs])
    order = np.argsort(pairs, kind="stable")
    pairs, layers, weights = pairs[order], layers[order], weights[order]
    first = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])))
    row, column = np.divmod(pairs[first], n)
    starts = _starts(np.bincount(row, minlength=n))
    columns = column.astype(np.uint32)
    bits = np.left_shift(np.uint64(1), layers.astype(np.uint64))
    entries = Entries(
        starts, columns, np.append(first, pairs.size).astype(np.uint32), layers.astype(np.uint32), weights
    )
    return entries, Words(starts, columns, np.bitwise_or.reduceat(bits, first))


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.uint32)


def _unsigned(indices: NDArray[np.int32]) -> NDArray[np.uint32]:
    return indices.view(np.uint32)
