"""Draws of a null distribution that someone else computed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibtest.arrays import as_numeric, frozen
from calibtest.errors import InputError, listing
from calibtest.io.contents import invalid, natural_order, reading
from calibtest.io.csv_files import read_number_table
from calibtest.io.loading import check_readable, split_target
from calibtest.io.numpy_files import npy_array, npz_array, open_npz
from calibtest.stacks import check_selection

__all__ = ["NullDraws", "load_null", "matched"]


@dataclass(frozen=True, eq=False)
class NullDraws:
    """Draws of a null distribution.

    Attributes
    ----------
    draws
        ``(K,)`` for one statistic, ``(K, *S)`` for an array of cells of shape S; float64, read-only. Missing and
        infinite values are kept as they are.
    names
        Names of the cells along the last axis, or an empty tuple where the file gives none.
    """

    draws: NDArray[np.float64]
    names: tuple[str, ...] = ()


def load_null(path: str | os.PathLike[str]) -> NullDraws:
    r"""Read draws of a null distribution from a ``.npy``, ``.npz`` or ``.csv`` file.

    Parameters
    ----------
    path
        A ``.npy`` array ``(K,)`` or ``(K, *S)``; a ``.npz`` with one such array, or with one ``(K,)`` array a cell; a
        ``.csv`` with one numeric column a cell and an optional header. ``"nulls.npz::name"`` selects arrays or columns.

    Returns
    -------
    NullDraws

    Raises
    ------
    InputError
        When the file cannot be read as numbers; one sentence says which file, and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "null.csv"
    >>> _ = path.write_text("cka\n0.10\n0.12\n0.08\n")
    >>> load_null(path).draws.tolist()
    [0.1, 0.12, 0.08]
    >>> folder.cleanup()
    """
    place, wanted = split_target(path)
    check_readable(place, (".npy", ".npz", ".csv"))
    suffix = place.suffix.lower()
    if suffix == ".csv":
        names, draws = _from_csv(place, wanted)
    elif suffix == ".npz":
        names, draws = _from_npz(place, wanted)
    elif wanted is not None:
        raise InputError(f"{place} holds one array without a name; drop '::{','.join(wanted)}'")
    else:
        names, draws = (), npy_array(place)
    numbers = as_numeric(draws, str(place))
    if numbers.ndim == 0 or numbers.size == 0:
        raise InputError(
            f"{place} must hold null draws of shape (K,) or (K, cells), got shape {numbers.shape}; save one row a draw"
        )
    return NullDraws(frozen(np.ascontiguousarray(numbers, dtype=np.float64)), names)


def matched(observed: NullDraws, null: NullDraws) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Bring observed values, read as if they were draws, into the order of the cells of a null distribution.

    Parameters
    ----------
    observed
        Values of shape S, or a table of one row.
    null
        Draws of shape ``(K, *S)``.

    Returns
    -------
    (ndarray, tuple of str or None)
        Values of shape S, and the names of the cells where there is one for each.

    Raises
    ------
    InputError
        When both name their cells, and differently.
    """
    values = observed.draws
    if values.shape[:1] == (1,) and values.ndim == null.draws.ndim:
        values = values[0]
    if observed.names and null.names:
        odd = [name for name in (*observed.names, *null.names) if name not in observed.names or name not in null.names]
        if odd:
            raise InputError(
                f"observed values and null draws must name the same cells, but {odd[0]!r} is in only one of them; cells "
                "are matched by name"
            )
        values = values[[observed.names.index(name) for name in null.names]]
    return values, null.names if values.ndim == 1 and len(null.names) == values.size else None


def _from_csv(path: Path, wanted: tuple[str, ...] | None) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    table = read_number_table(path)
    names, values = table.columns or (), table.values
    if wanted is not None:
        check_selection(wanted, names, str(path))
        values, names = values[:, [names.index(name) for name in wanted]], wanted
    return names, values[:, 0] if values.shape[1] == 1 else values


def _from_npz(path: Path, wanted: tuple[str, ...] | None) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    with reading(path, ".npz"), open_npz(path) as archive:
        names = tuple(natural_order(archive.files))
        if not names:
            raise invalid(path, ".npz", "it holds no arrays")
        if wanted is not None:
            check_selection(wanted, names, str(path))
        chosen = wanted or names
        arrays = [as_numeric(npz_array(archive, name, path), f"{path}: {name!r}") for name in chosen]
    if len(arrays) == 1:
        return (), arrays[0]
    if any(array.ndim != 1 or array.shape != arrays[0].shape for array in arrays):
        raise InputError(
            f"{path} holds several arrays ({listing(chosen)}) that are not all of one shape (K,); "
            "select one with 'path::name'"
        )
    return chosen, np.column_stack(arrays)
