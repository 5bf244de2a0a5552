"""``.npy`` and ``.npz``, without unpickling anything."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.io.contents import (
    Contents,
    Request,
    begins_with,
    gather,
    invalid,
    lone,
    natural_order,
    reading,
    refuse_objects,
    refuse_oversized,
)

__all__ = ["load_mask", "npy_array", "npz_array", "open_npz", "read_npy", "read_npz"]


def read_npy(path: Path, request: Request) -> Contents:
    """Read the array of a ``.npy`` file as one layer, or as layers along its middle axis."""
    return lone(npy_array(path), path, request)


def npy_array(path: Path) -> NDArray[Any]:
    """Read the array of a ``.npy`` file."""
    with reading(path, ".npy"):
        if not begins_with(path, b"\x93NUMPY"):
            raise invalid(path, ".npy")
        try:
            return np.asarray(np.load(path, allow_pickle=False))
        except ValueError as error:
            if "Object arrays" in str(error):
                refuse_objects(path)
            raise


def read_npz(path: Path, request: Request) -> Contents:
    """Read the arrays of a ``.npz`` file as layers, in natural order of their names."""
    with reading(path, ".npz"), open_npz(path) as archive:
        names = natural_order(archive.files)
        if len(set(names)) < len(names):
            raise invalid(path, ".npz", "two arrays have the same name")
        return gather(names, lambda name: npz_array(archive, name, path), path, request)


@contextmanager
def open_npz(path: Path) -> Iterator[np.lib.npyio.NpzFile]:
    """Open a ``.npz`` file, of which nothing is read yet."""
    with path.open("rb") as file:
        if not begins_with(path, b"PK\x03\x04", b"PK\x05\x06"):
            raise invalid(path, ".npz")
        with np.load(file, allow_pickle=False) as archive:
            yield archive


def npz_array(archive: Mapping[str, Any], name: str, path: Path) -> NDArray[Any]:
    """Read one array of an open ``.npz`` file."""
    members: Any = getattr(archive, "zip", None)
    for member in () if members is None else members.infolist():
        if member.filename in (name, f"{name}.npy"):
            refuse_oversized(member.file_size, path, name)
    try:
        array = archive[name]
    except ValueError as error:
        if "Object arrays" in str(error):
            refuse_objects(path, name)
        raise
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path}: the member {name!r} is not an array; save arrays only, with np.savez")
    return array


def load_mask(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Read a mask of real tokens, ``(items, tokens)``, from a ``.npy`` file."""
    place = Path(path)
    if place.suffix.lower() != ".npy" or not place.is_file():
        raise InputError(f"a mask must be an existing .npy file of shape (items, tokens), got {path}")
    mask = npy_array(place)
    if mask.dtype.kind not in "bui":
        raise InputError(f"{path} must hold true and false, got dtype {mask.dtype}; save it as a bool array")
    return mask
