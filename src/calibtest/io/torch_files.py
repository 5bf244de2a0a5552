"""``.pt`` and ``.pth``: tensors only, on the CPU, and never a pickled object."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calibtest.errors import InputError, import_extra
from calibtest.io.contents import GROUP_NAMES, ID_NAMES, Contents, Request, begins_with, gather, invalid, lone, reading

__all__ = ["read_torch"]

# Restricted loading could be circumvented in earlier versions (CVE-2025-32434).
_SAFE_TORCH = (2, 6)


def read_torch(path: Path, request: Request) -> Contents:
    """Read the tensors of a ``.pt`` file as layers, in the order in which they were saved."""
    torch = import_extra("torch", extra="torch", purpose=f"reading {path.suffix}", least=_SAFE_TORCH)
    with reading(path, path.suffix):
        if not begins_with(path, b"PK\x03\x04", b"\x80"):
            raise invalid(path, path.suffix)
        saved = _load(torch, path)
    if isinstance(saved, Mapping):
        return _from_mapping(saved, path, request)
    if isinstance(saved, (list, tuple)) and saved and all(_is_tensor(part) for part in saved):
        named = {str(place): part for place, part in enumerate(saved)}
        return gather(list(named), named.__getitem__, path, request)
    if _is_tensor(saved):
        return lone(saved, path, request)
    raise InputError(
        f"{path} holds a {type(saved).__name__}, but must hold a tensor, a list of tensors or a dict of tensors; "
        "save it as torch.save({name: tensor, ...}, path)"
    )


def _load(torch: Any, path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        # The same exception stands for bytes that are no pickle at all and for objects that are not tensors.
        cause = str(error).rpartition("WeightsUnpickler error:")[2]
        if re.search(r"GLOBAL|unrecognized function|instantiat|Can only (create|build)", cause):
            raise InputError(
                f"{path} holds pickled Python objects that could run code when they are opened, and is refused; save "
                "tensors only, as in torch.save({name: tensor, ...}, path), or write .safetensors or .npz"
            ) from None
        raise


def _from_mapping(saved: Mapping[Any, Any], path: Path, request: Request) -> Contents:
    entries = {str(name): value for name, value in saved.items()}
    if len(entries) < len(saved):
        raise InputError(f"{path} has two entries with the same name once names are text; rename one of them")
    notes = []
    for name, value in list(entries.items()):
        if _is_tensor(value) or name in ID_NAMES or name in GROUP_NAMES:
            continue
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            notes.append(f"{path}: {name!r} set aside, because it is a single value")
            del entries[name]
            continue
        raise InputError(
            f"{path}: entry {name!r} is a {type(value).__name__}, but must be a tensor; "
            "save a flat dict of name to tensor, one a layer"
        )
    contents = gather(list(entries), entries.__getitem__, path, request)
    return Contents(contents.layers, contents.ids, (*contents.notes, *notes))


def _is_tensor(value: object) -> bool:
    return hasattr(value, "detach") and hasattr(value, "shape")
