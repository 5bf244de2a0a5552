"""One label an item: the groups of a null hypothesis."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.io.contents import GROUP_NAMES, ID_NAMES, reading
from calibtest.io.loading import require_file
from calibtest.io.numpy_files import npy_array, npz_array, open_npz
from calibtest.io.tables import read_texts

__all__ = ["load_groups"]


def load_groups(path: str | os.PathLike[str], *, ids: Sequence[str] | None = None) -> list[Any]:
    r"""Read one label an item from a file.

    Parameters
    ----------
    path
        ``.npy`` with one label an item; ``.npz`` with an array ``groups``; ``.csv`` with one column, or with a column
        called ``group``, and perhaps one called ``id``; anything else is text with one label a line.
    ids
        Ids of the items that need labels. A table with ids is matched by id, everything else by position.

    Returns
    -------
    list
        Labels in the order of `ids`, or of the file.

    Raises
    ------
    InputError
        When the file is missing or cannot be read as labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "kinds.csv"
    >>> _ = path.write_text("id,group\nrose,plant\nwolf,animal\n")
    >>> load_groups(path, ids=["wolf", "rose"])
    ['animal', 'plant']
    >>> folder.cleanup()
    """
    place = Path(path)
    require_file(place)
    suffix = place.suffix.lower()
    if suffix in (".npy", ".npz"):
        return _from_numpy(place)
    return _from_csv(place, ids) if suffix == ".csv" else _from_lines(place)


def _from_lines(place: Path) -> list[str]:
    with reading(place, "text"):
        labels = [line.strip() for line in place.read_text(encoding="utf-8-sig").splitlines()]
    while labels and not labels[-1]:
        labels.pop()
    blank = [row for row, label in enumerate(labels) if not label]
    if blank:
        raise InputError(f"{place} has {len(blank)} empty lines, first line {blank[0] + 1}; every item needs a label")
    return labels


def _from_numpy(place: Path) -> list[Any]:
    labels: NDArray[np.generic]
    if place.suffix.lower() == ".npy":
        labels = npy_array(place)
    else:
        with reading(place, ".npz"), open_npz(place) as archive:
            names = [name for name in archive.files if name in GROUP_NAMES] or list(archive.files)
            if len(names) != 1:
                raise InputError(f"{place} holds {len(names)} arrays that could be labels; call the right one 'groups'")
            labels = npz_array(archive, names[0], place)
    if labels.ndim != 1 or labels.dtype.kind not in "biuUSf":
        raise InputError(
            f"{place} must hold one label an item, got shape {labels.shape} of dtype {labels.dtype}; save a 1-D array of "
            "numbers or strings"
        )
    return list(labels.tolist())


def _from_csv(place: Path, ids: Sequence[str] | None) -> list[str]:
    table = read_texts(place)
    found = [column for column in table.columns if column.lower() in GROUP_NAMES]
    keys = [column for column in table.columns if column.lower() in ID_NAMES]
    if not found and len(table.columns) - len(keys) == 1:
        found = [column for column in table.columns if column not in keys]
    if len(found) != 1:
        raise InputError(f"{place} has the columns {', '.join(table.columns)}; call the column of labels 'group'")
    labels: list[str] = table.frame[found[0]].tolist()
    if not keys:
        return labels
    if ids is None:
        raise InputError(f"{place} has ids, but the items have none; drop the id column if both are in the same order")
    by_id = dict(zip(table.frame[keys[0]].tolist(), labels, strict=True))
    if len(by_id) < len(labels):
        raise InputError(f"{place} names an id twice; give every item one label")
    missing = [item for item in ids if item not in by_id]
    if missing:
        raise InputError(f"{place} has no label for {len(missing)} items, first {missing[0]!r}; label every item")
    return [by_id[item] for item in ids]
