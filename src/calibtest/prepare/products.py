"""Products of all pairs of items."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from calibtest.memory import require_memory
from calibtest.parallel import map_threads, one_blas_thread

__all__ = ["gram_matrix"]

Precision = TypeVar("Precision", np.float32, np.float64)

_TILE = 512


def gram_matrix(points: NDArray[Precision]) -> NDArray[Precision]:
    """(n, n) inner products of the rows of `points`, exactly symmetric, in the precision of `points`.

    Made in tiles of the upper triangle, so that it costs half of a product and does not depend on the number of threads.
    """
    n = len(points)
    require_memory(
        2 * n * n * points.dtype.itemsize,
        f"a relation between all {n:,} items",
        "use fewer items or a neighbour metric",
    )
    product = np.empty((n, n), dtype=points.dtype)
    starts = range(0, n, _TILE)

    def tile(corner: tuple[int, int]) -> None:
        rows, columns = (slice(start, min(start + _TILE, n)) for start in corner)
        np.matmul(points[rows], points[columns].T, out=product[rows, columns])
        if rows == columns:  # a BLAS may round the two triangles apart
            below = np.tril_indices(rows.stop - rows.start, -1)
            own = product[rows, columns]
            own[below] = own.T[below]
        else:
            product[columns, rows] = product[rows, columns].T

    with one_blas_thread():
        map_threads(tile, combinations_with_replacement(starts, 2))
    return product
