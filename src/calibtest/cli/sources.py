"""Files named on the command line: activations, masks of real tokens, groups of items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibtest.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from calibtest.arrays import Kind, Pool
    from calibtest.stacks import LayerStack

__all__ = ["load_groups", "load_pair"]

_GROUP_NAMES = ("groups", "group", "labels", "label")
_ID_NAMES = ("ids", "id")


def load_pair(a: str, b: str, *, kind: Kind, pool: Pool | None, masks: Sequence[str]) -> tuple[LayerStack, LayerStack]:
    """Both sides, under names that tell them apart."""
    from calibtest.io import load
    from calibtest.stacks import LayerStack

    if masks and pool is None:
        raise InputError("--mask says which tokens are real and needs --pool mean or --pool last")
    if len(masks) > 2:
        raise InputError(f"--mask was given {len(masks)} times; give it once for both sides, or twice, for A and for B")
    loaded = [_mask(path) for path in masks] or [None]
    left = load(a, kind=kind, pool=pool, mask=loaded[0])
    right = load(b, kind=kind, pool=pool, mask=loaded[-1])
    if left.name != right.name:
        return left, right
    names = [f"{Path(stack.source or '').resolve().parent.name}/{stack.name}" for stack in (left, right)]
    if names[0] == names[1]:
        names = [f"{left.name} (A)", f"{right.name} (B)"]
    return LayerStack.build(left, name=names[0]), LayerStack.build(right, name=names[1])


def _mask(path: str) -> NDArray[Any] | None:
    from calibtest.io.numpy_files import npy_array

    if path == "none":
        return None
    place = Path(path)
    if place.suffix.lower() != ".npy" or not place.is_file():
        raise InputError(f"--mask must be an existing .npy file of shape (items, tokens), got {path}")
    mask: NDArray[Any] = npy_array(place)
    if mask.dtype.kind not in "bui":
        raise InputError(f"--mask {path} must hold true and false, got dtype {mask.dtype}; save it as a bool array")
    return mask


def load_groups(path: str, ids: tuple[str, ...] | None) -> list[Any]:
    """One label an item, in the order of the left side.

    Parameters
    ----------
    path : str
        ``.npy`` with one label an item; ``.npz`` with an array ``groups``; ``.csv`` with one column, or with a column
        called ``group``, and perhaps one called ``id``; anything else is text with one label a line.
    ids : tuple of str or None
        Ids of the items of the left side. A table with ids is matched by id.

    Raises
    ------
    InputError
        When the file is missing or cannot be read as labels.
    """
    place = Path(path)
    if not place.is_file():
        raise InputError(f"--groups: there is no file {path}; give a file with one label an item")
    suffix = place.suffix.lower()
    if suffix in (".npy", ".npz"):
        return _from_numpy(place)
    if suffix == ".csv":
        return _from_csv(place, ids)
    try:
        lines = place.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--groups: {path} is not readable text ({error}); save one label a line") from error
    labels = [line.strip() for line in lines]
    while labels and not labels[-1]:
        labels.pop()
    blank = [row for row, label in enumerate(labels) if not label]
    if blank:
        raise InputError(
            f"--groups: {path} has {len(blank)} empty lines, first line {blank[0] + 1}; every item needs a label"
        )
    return labels


def _from_numpy(place: Path) -> list[Any]:
    from calibtest.io.contents import reading
    from calibtest.io.numpy_files import npy_array, npz_array, open_npz

    labels: NDArray[np.generic]
    if place.suffix.lower() == ".npy":
        labels = npy_array(place)
    else:
        with reading(place, ".npz"), open_npz(place) as archive:
            names = [name for name in archive.files if name in _GROUP_NAMES] or list(archive.files)
            if len(names) != 1:
                raise InputError(
                    f"--groups: {place} holds {len(names)} arrays that could be labels; call the right one 'groups'"
                )
            labels = npz_array(archive, names[0], place)
    if labels.ndim != 1 or labels.dtype.kind not in "biuUSf":
        raise InputError(
            f"--groups: {place} must hold one label an item, got shape {labels.shape} of dtype {labels.dtype}; save a 1-D "
            "array of numbers or strings"
        )
    return list(labels.tolist())


def _from_csv(place: Path, ids: tuple[str, ...] | None) -> list[Any]:
    from calibtest.cli.tables import read_table

    table = read_table(place, "--groups")
    found = [column for column in table.columns if column.lower() in _GROUP_NAMES]
    keys = [column for column in table.columns if column.lower() in _ID_NAMES]
    if not found and len(table.columns) - len(keys) == 1:
        found = [column for column in table.columns if column not in keys]
    if len(found) != 1:
        raise InputError(
            f"--groups: {place} has the columns {', '.join(table.columns)}; call the column of labels 'group'"
        )
    labels = table[found[0]].tolist()
    if not keys:
        return list(labels)
    if ids is None:
        raise InputError(f"--groups: {place} has ids, but A has none; drop the id column if both are in the same order")
    by_id = dict(zip(table[keys[0]].tolist(), labels, strict=True))
    if len(by_id) < len(labels):
        raise InputError(f"--groups: {place} names an id twice; give every item one label")
    missing = [item for item in ids if item not in by_id]
    if missing:
        raise InputError(
            f"--groups: {place} has no label for {len(missing)} items, first {missing[0]!r}; label every item"
        )
    return [by_id[item] for item in ids]
