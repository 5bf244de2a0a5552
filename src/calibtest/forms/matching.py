"""The matching form: ``T(pi) = sum_ij A[i, j] B[pi[i], pi[j]]``, for whole grids of relations at once.

Under a cyclic group of shifts the values for all shifts are circular cross-correlations of the diagonals of A and B,
summed over diagonals: one pass of FFTs over the diagonals, one small complex matrix product a frequency, and all the
shifts of a coset are there for every pair of layers. Listed relabellings are evaluated by gathering and a matrix
product. Both give the same numbers for the same relabellings, to the stated resolution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.typing import DTypeLike, NDArray

from calibtest.forms.evaluation import Evaluation
from calibtest.forms.layout import Block, Layout
from calibtest.parallel import default_threads, map_threads
from calibtest.prepare.relations import Relation
from calibtest.schemes.relabellings import Cosets, Explicit, Relabellings

__all__ = ["Matching"]

Progress = Callable[[float], None]

_BLOCK_BYTES = 192 * 2**20  # spectra held at a time
_TILE_ENTRIES = 2**16  # entries of a relation read at a time under listed relabellings
_BATCH_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Matching:
    """Evaluate ``<A, P B P'>`` for every pair of a left and a right relation.

    Relations have unit Frobenius norm, so values lie in [-1, 1] up to rounding.
    """

    @staticmethod
    def state_bytes(n: int, dtype: DTypeLike) -> int:
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
def _evaluate_cosets(
    lefts: Sequence[Relation], rights: Sequence[Relation], cosets: Cosets, threads: int | None, tell: Progress
) -> NDArray[np.float64]:
    n_left, n_right, period = len(lefts), len(rights), cosets.period
    n_frequencies = period // 2 + 1
    layout = Layout(cosets.n_items, cosets.tracks, period, _symmetric(lefts, rights))
    a_column = 16 * n_frequencies * (n_left + n_right) + 24 * period
    blocks = layout.blocks(max(1, _BLOCK_BYTES // a_column))

    sums = np.zeros((cosets.n_cosets, n_frequencies, n_left, n_right), dtype=np.complex128)
    for done, block in enumerate(blocks):
        left_spectra = _spectra(lefts, cosets.order, block, period, threads)
        np.conjugate(left_spectra, out=left_spectra)
        left_spectra *= block.weights.astype(left_spectra.real.dtype)
        for r, items in enumerate(cosets.representatives):
            right_spectra = _spectra(rights, items, block, period, threads)
            _accumulate(left_spectra, right_spectra, sums[r], threads)
            tell((done * cosets.n_cosets + r + 1) / (len(blocks) * cosets.n_cosets))
    values = scipy.fft.irfft(sums, n=period, axis=1, workers=threads or default_threads())
    if layout.first_fixed < cosets.n_items:
        values += _fixed_part(lefts, rights, cosets, layout.first_fixed)[:, None]
    return values.reshape(len(cosets), n_left, n_right)


def _spectra(
    states: Sequence[Relation], items: NDArray[np.int64], block: Block, period: int, threads: int | None
) -> NDArray[np.complexfloating]:
    """(n_frequencies, n_states, n_columns) Fourier transforms of the block's diagonals, along the rings."""
    from calibtest.kernels.diagonals import gather_diagonals

    precision = np.result_type(*(state.matrix.dtype for state in states))
    spectra = np.empty(
        (period // 2 + 1, len(states), block.n_columns),
        dtype=np.complex64 if precision == np.float32 else np.complex128,
    )
    pieces = np.array_split(np.arange(len(block.runs)), max(1, min(4, len(block.runs) // 4)))

    def one(task: tuple[int, NDArray[np.intp]]) -> None:
        at, piece = task
        runs = block.runs[piece]
        first = int(runs[0, 5])
        last = int(runs[-1, 5] + runs[-1, 4])
        runs[:, 5] -= first
        diagonals = np.empty((period, last - first), dtype=precision)
        gather_diagonals(states[at].matrix, items, runs, diagonals)
        spectra[:, at, first:last] = scipy.fft.rfft(diagonals, axis=0, workers=1, overwrite_x=True)

    map_threads(one, [(at, piece) for at in range(len(states)) for piece in pieces], threads=threads)
    return spectra


def _accumulate(
    left: NDArray[np.complexfloating],
    right: NDArray[np.complexfloating],
    sums: NDArray[np.complex128],
    threads: int | None,
) -> None:
    """``sums[f] += left[f] @ right[f].T`` for every frequency."""
    chunks = np.array_split(np.arange(len(sums)), min(len(sums), 16))

    def one(chunk: NDArray[np.intp]) -> None:
        part = slice(int(chunk[0]), int(chunk[-1]) + 1)
        sums[part] += np.matmul(left[part], right[part].transpose(0, 2, 1))

    map_threads(one, chunks, threads=threads)


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
    from calibtest.kernels.diagonals import gather_full, gather_upper

    n, n_left, n_right = listed.n_items, len(lefts), len(rights)
    half = _symmetric(lefts, rights)
    gather = gather_upper if half else gather_full
    values = np.zeros((len(listed), n_right, n_left))
    tiles = _row_tiles(n, half)
    batch = max(1, _BATCH_BYTES // (8 * n_right * max(_TILE_ENTRIES, n)))

    for done, (first, last) in enumerate(tiles):
        left = np.stack([_tile(state.matrix, first, last, half) for state in lefts])

        def one(start: int, left: NDArray[np.float64] = left, first: int = first, last: int = last) -> None:
            some = listed.indices[start : start + batch]
            for at, state in enumerate(rights):
                read = np.empty((len(some), left.shape[1]), dtype=state.matrix.dtype)
                gather(state.matrix, some, first, last, read)
                values[start : start + batch, at] += read @ left.T

        map_threads(one, range(0, len(listed), batch), threads=threads)
        tell((done + 1) / len(tiles))
    return np.ascontiguousarray(values.transpose(0, 2, 1))


def _row_tiles(n: int, half: bool) -> list[tuple[int, int]]:
    """Ranges of rows that hold about `_TILE_ENTRIES` entries each."""
    lengths = np.arange(n, 0, -1) if half else np.full(n, n)
    tile = np.cumsum(lengths) // _TILE_ENTRIES
    starts = np.flatnonzero(np.concatenate(([True], np.diff(tile) > 0)))
    return list(zip(starts.tolist(), np.append(starts[1:], n).tolist(), strict=True))


def _tile(matrix: NDArray[np.floating], first: int, last: int, half: bool) -> NDArray[np.float64]:
    """Rows `first` to `last` as one flat array, the strict upper triangle counted twice where `half`."""
    if not half:
        return matrix[first:last].astype(np.float64).ravel()
    rows = [np.concatenate((matrix[i, i : i + 1], 2.0 * matrix[i, i + 1 :])) for i in range(first, last)]
    return np.concatenate(rows).astype(np.float64)
