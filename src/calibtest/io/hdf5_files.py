"""``.h5`` and ``.hdf5``: every dataset inside the file, and nothing outside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError, import_extra
from calibtest.io.contents import (
    GROUP_NAMES,
    ID_NAMES,
    Contents,
    Request,
    gather,
    invalid,
    natural_order,
    reading,
    refuse_oversized,
)

__all__ = ["read_hdf5"]


def read_hdf5(path: Path, request: Request) -> Contents:
    """Read the datasets of an HDF5 file as layers named by their paths, in natural order."""
    h5py = import_extra("h5py", extra="h5", purpose=f"reading {path.suffix}")
    with reading(path, path.suffix):
        if not h5py.is_hdf5(path):
            raise invalid(path, path.suffix)
        # Without locks a file on a read-only or network disk opens too; nothing is written here.
        with h5py.File(path, "r", locking=False) as file:
            datasets: dict[str, Any] = {}
            notes: list[str] = []
            _walk(file, "", h5py, path, datasets, notes, seen=set())
            for name in list(datasets):
                if name.rpartition("/")[2] in GROUP_NAMES and name not in GROUP_NAMES:
                    notes.append(f"{path}: {name!r} set aside, because it is no layer")
                    del datasets[name]
            contents = gather(
                natural_order(datasets), lambda name: _read(datasets[name], name, h5py, path), path, request
            )
            return Contents(contents.layers, contents.ids, (*contents.notes, *notes))


def _walk(
    group: Any, prefix: str, h5py: Any, path: Path, datasets: dict[str, Any], notes: list[str], *, seen: set[int]
) -> None:
    # Hard links may form a ring, so every group is entered once.
    address = int(h5py.h5o.get_info(group.id).addr)
    if address in seen:
        return
    seen.add(address)
    for key in group:
        name = f"{prefix}{key}"
        link = group.get(key, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise InputError(
                f"{path}: {name!r} is a link to another file, and links out of the file are not followed; "
                "copy the data into the file"
            )
        if isinstance(link, h5py.SoftLink):
            notes.append(f"{path}: {name!r} set aside, because it is a link to {link.path!r}")
            continue
        item = group[key]
        if isinstance(item, h5py.Group):
            _walk(item, f"{name}/", h5py, path, datasets, notes, seen=seen)
        elif isinstance(item, h5py.Dataset):
            datasets[name] = item


def _read(dataset: Any, name: str, h5py: Any, path: Path) -> NDArray[Any]:
    if dataset.is_virtual or dataset.external:
        raise InputError(
            f"{path}: dataset {name!r} keeps its values in another file, which is not opened; "
            "copy the data into this one"
        )
    refuse_oversized(int(dataset.nbytes), path, name)
    if name in ID_NAMES and h5py.check_string_dtype(dataset.dtype) is not None:
        return np.asarray(dataset.asstr()[()])
    return np.asarray(dataset[()])
