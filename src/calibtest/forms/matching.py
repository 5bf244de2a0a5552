"""The matching form: ``T(pi) = sum_ij A[i, j] B[pi[i], pi[j]]``, for whole grids of relations at once.

Under a cyclic group of shifts the values for all shifts are circular cross-correlations of the diagonals of A and B,
summed over diagonals: one pass of FFTs over the diagonals, one small complex matrix product a frequency, and all the
shifts of a coset are there for every pair of layers. Listed relabellings are evaluated by gathering and a matrix
product. Both give the same numbers for the same relabellings, to the stated resolution.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import DTypeLike, NDArray

from calibtest.forms.evaluation import Evaluation
from calibtest.forms.layout import Block, Layout
from calibtest.parallel import map_threads, one_blas_thread
from calibtest.prepare.relations import Relation
from calibtest.schemes.relabellings import Cosets, Explicit, Relabellings

__all__ = ["Matching"]

Progress = Callable[[float], None]
Spectra = NDArray[np.complexfloating]

_BLOCK_BYTES = 2**30  # diagonals of both sides held at a time: all of them, up to twelve thousand items a pair
_TOGETHER_BYTES = 48 * 2**20  # right-hand spectra, several cosets together where they are small
_PIECES = 8
_TILE_ENTRIES = 2**16  # entries of a relation read at a time under listed relabellings
_BATCH_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Matching:
    """Evaluate ``<A, P B P'>`` for every pair of a left and a right relation.

    Relations have unit Frobenius norm, so values lie in [-1, 1] up to rounding.
    """

    prefers_cosets = True

    def state_bytes(self, n: int, dtype: DTypeLike) -> int:
        """Memory of one relation."""
        return n * n * np.dtype(dtype).itemsize

    def evaluate(
        self,
        lefts: Sequence[Relation],
        rights: Sequence[Relation],
        relabellings: Relabellings,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Values under every relabelling, in their order; see `Evaluation` for the shapes."""
        tell = progress or (lambda share: None)
        with one_blas_thread():
            if isinstance(relabellings, Cosets):
                values = _evaluate_cosets(lefts, rights, relabellings, threads, tell)
            else:
                values = _evaluate_listed(lefts, rights, relabellings, threads, tell)
        return Evaluation(values, _resolution(lefts, rights))


def _resolution(lefts: Sequence[Relation], rights: Sequence[Relation]) -> NDArray[np.float64]:
    """(L_a, L_b) absolute rounding: 100 units in the last place of the (unit) norms, and what preparation left."""
    eps = float(np.finfo(np.result_type(*(state.matrix.dtype for state in (*lefts, *rights)))).eps)
    noise = np.add.outer([state.noise for state in lefts], [state.noise for state in rights])
    return np.asarray(100.0 * eps + noise, dtype=np.float64)


def _symmetric(lefts: Sequence[Relation], rights: Sequence[Relation]) -> bool:
    return all(state.symmetric for state in (*lefts, *rights))


# ------------------------------------------------------------------------------------------------- cosets, by FFT
#
# T at shift s is the sum over diagonals of the circular cross-correlations sum_i a(i) b(i + s). Two real diagonals are
# packed into one complex sequence a' + i a'': the real part of sum_i conj(a(i)) b(i + s) is then the sum of their two
# correlations, and the packing costs nothing, because two neighbouring real numbers are a complex one in memory. So
# diagonals are gathered where their spectra will stand, transformed in place, and multiplied frequency by frequency.


def _evaluate_cosets(
    lefts: Sequence[Relation], rights: Sequence[Relation], cosets: Cosets, threads: int | None, tell: Progress
) -> NDArray[np.float64]:
    n_left, n_right, n_cosets, period = len(lefts), len(rights), cosets.n_cosets, cosets.period
    layout = Layout(cosets.n_items, cosets.tracks, period, _symmetric(lefts, rights))
    precision = np.result_type(*(state.matrix.dtype for state in (*lefts, *rights)))
    blocks = list(layout.blocks(_BLOCK_BYTES // (precision.itemsize * period * (n_left + n_right))))

    sums = np.zeros((n_cosets, period, n_left, n_right), dtype=np.complex128)
    for number, block in enumerate(blocks):
        left = _room(n_left, block, period, precision)
        _transform([(state, cosets.order) for state in lefts], block, left, threads, weights=block.weights)
        np.conjugate(left, out=left)
        together = min(n_cosets, max(1, _TOGETHER_BYTES // (n_right * left[0].nbytes)))
        room = _room(together * n_right, block, period, precision)
        for first in range(0, n_cosets, together):
            some = cosets.representatives[first : first + together]
            right = room[: len(some) * n_right]
            _transform([(state, items) for items in some for state in rights], block, right, threads)
            _accumulate(left, right, sums[first : first + together], threads)
            tell((number + (first + len(some)) / n_cosets) / len(blocks))

    values = np.empty((n_cosets, period, n_left, n_right))

    def finish(piece: tuple[int, int]) -> None:
        for r in range(*piece):
            values[r] = _back(sums[r])

    map_threads(finish, _pieces(n_cosets, 2 * _PIECES), threads=threads)
    if layout.first_fixed < cosets.n_items:
        values += _fixed_part(lefts, rights, cosets, layout.first_fixed)[:, None]
    return values.reshape(len(cosets), n_left, n_right)


def _room(n_states: int, block: Block, period: int, precision: np.dtype[Any]) -> Spectra:
    """Zeros of shape (n_states, tiles, period, width / 2); unused columns of the last tile stay zero."""
    return np.zeros((n_states, block.tiles, period, block.width // 2), dtype=np.result_type(precision, np.complex64))


def _transform(
    laid_out: Sequence[tuple[Relation, NDArray[np.int64]]],
    block: Block,
    out: Spectra,
    threads: int | None,
    *,
    weights: NDArray[np.float64] | None = None,
) -> None:
    """Fourier transforms, along the rings, of the block's diagonals of every relation laid out by its items."""
    from calibtest.kernels.diagonals import Places, gather_diagonals

    period = out.shape[2]
    real = out.view(out.real.dtype)
    # copying a row in order pays where its runs want a good part of it
    rows = np.unique(block.runs[:, 0]).size
    whole_rows = 4 * int(block.runs[:, 4].sum()) >= rows * laid_out[0][0].n_items

    def gather(at: int, first: int, last: int) -> None:
        state, items = laid_out[at]
        gather_diagonals(state.matrix, items, block.runs, Places(first, period, whole_rows), real[at, :, first:last])

    def transform(at: int, first: int, last: int) -> None:
        if weights is not None:
            real[at, first:last] *= weights[first:last, None].astype(real.dtype)
        part = out[at, first:last]
        found = scipy.fft.fft(part, axis=1, overwrite_x=True, workers=1)
        if not np.may_share_memory(found, part):
            part[...] = found

    def both(at: int) -> None:
        gather(at, 0, period)
        transform(at, 0, block.tiles)

    if len(laid_out) >= _PIECES:  # a relation a thread: its diagonals are still in the cache when they are transformed
        map_threads(both, range(len(laid_out)), threads=threads)
        return
    for step, length in ((gather, period), (transform, block.tiles)):
        pieces = [partial(step, at, *piece) for at in range(len(laid_out)) for piece in _pieces(length, _PIECES)]
        map_threads(lambda piece: piece(), pieces, threads=threads)


def _pieces(length: int, most: int) -> list[tuple[int, int]]:
    """``range(length)`` in at most `most` pieces of about one size, as pairs of first and last + 1."""
    edges = np.linspace(0, length, min(length, most) + 1).astype(int).tolist()
    return list(itertools.pairwise(edges))


def _accumulate(left: Spectra, right: Spectra, sums: NDArray[np.complex128], threads: int | None) -> None:
    """``sums[r, f] += left[:, f] @ right[r, :, f].T`` for every frequency, summed over the columns of all tiles."""
    period = left.shape[2]

    def one(piece: tuple[int, int]) -> None:
        part = slice(*piece)
        total = np.zeros((part.stop - part.start, len(left), len(right)), dtype=np.complex128)
        for tile in range(left.shape[1]):
            total += np.matmul(left[:, tile, part].transpose(1, 0, 2), right[:, tile, part].transpose(1, 2, 0))
        sums[:, part] += total.reshape(len(total), len(left), len(sums), -1).transpose(2, 0, 1, 3)

    map_threads(one, _pieces(period, 2 * _PIECES), threads=threads)


def _back(sums: NDArray[np.complex128]) -> NDArray[np.float64]:
    """(period, L_a, L_b) real part of the inverse transform: that of the Hermitian part alone."""
    period = len(sums)
    half = np.arange(period // 2 + 1)
    hermitian = sums[: half.size] + np.conjugate(sums[-half])
    return np.asarray(scipy.fft.irfft(hermitian, n=period, axis=0, workers=1, overwrite_x=True)) * 0.5


def _fixed_part(
    lefts: Sequence[Relation], rights: Sequence[Relation], cosets: Cosets, first: int
) -> NDArray[np.float64]:
    """(R, L_a, L_b) contribution of pairs of items that no shift moves."""

    def rows(states: Sequence[Relation], items: NDArray[np.int64]) -> NDArray[np.float64]:
        rest = np.ix_(items[first:], items[first:])
        return np.stack([state.matrix[rest].astype(np.float64).ravel() for state in states])

    left = rows(lefts, cosets.order)
    return np.stack([left @ rows(rights, items).T for items in cosets.representatives])


# --------------------------------------------------------------------------------- listed relabellings, by gathering
def _evaluate_listed(
    lefts: Sequence[Relation], rights: Sequence[Relation], listed: Explicit, threads: int | None, tell: Progress
) -> NDArray[np.float64]:
    n, n_left, n_right = listed.n_items, len(lefts), len(rights)
    half = _symmetric(lefts, rights)
    values = np.zeros((len(listed), n_right, n_left))
    tiles = _row_tiles(n, half)
    batch = max(1, _BATCH_BYTES // (8 * n_right * max(_TILE_ENTRIES, n)))
    unchanged = np.arange(n, dtype=np.int64)[None]
    tasks = [(at, slice(start, start + batch)) for start in range(0, len(listed), batch) for at in range(n_right)]

    for done, tile in enumerate(tiles):
        weights = _tile_weights(n, tile) if half else 1.0
        read_left = partial(_read, relabellings=unchanged, tile=tile, half=half)
        left = weights * np.concatenate(map_threads(read_left, lefts, threads=threads)).astype(np.float64)

        def one(task: tuple[int, slice], left: NDArray[np.float64] = left, tile: tuple[int, int] = tile) -> None:
            at, some = task
            values[some, at] += _read(rights[at], listed.indices[some], tile, half) @ left.T

        map_threads(one, tasks, threads=threads)
        tell((done + 1) / len(tiles))
    return np.ascontiguousarray(values.transpose(0, 2, 1))


def _read(state: Relation, relabellings: NDArray[np.int64], tile: tuple[int, int], half: bool) -> NDArray[np.floating]:
    """Rows of a tile of the relabelled relation, one flat array a relabelling; the upper triangle alone where `half`."""
    from calibtest.kernels.diagonals import gather_rows

    first, last = tile
    entries = (last - first) * state.n_items
    if half:
        entries -= (last * (last - 1) - first * (first - 1)) // 2
    read = np.empty((len(relabellings), entries), dtype=state.matrix.dtype)
    gather_rows(state.matrix, relabellings, first, last, half, read)
    return read


def _tile_weights(n: int, tile: tuple[int, int]) -> NDArray[np.float64]:
    """How often each entry of a tile of the upper triangle counts: once on the diagonal, twice elsewhere."""
    lengths = np.arange(n - tile[0], n - tile[1], -1)
    weights = np.full(int(lengths.sum()), 2.0)
    weights[np.cumsum(lengths) - lengths] = 1.0
    return weights


def _row_tiles(n: int, half: bool) -> list[tuple[int, int]]:
    """Ranges of rows that hold about `_TILE_ENTRIES` entries each."""
    lengths = np.arange(n, 0, -1) if half else np.full(n, n)
    tile = np.cumsum(lengths) // _TILE_ENTRIES
    starts = np.flatnonzero(np.concatenate(([True], np.diff(tile) > 0)))
    return list(zip(starts.tolist(), np.append(starts[1:], n).tolist(), strict=True))
