"""``.safetensors``, read without any further package.

The format is eight bytes of header length (little-endian), a JSON header of at most 100 MB that gives every tensor's
dtype, shape and byte range, and the raw little-endian numbers. Every number of the header is checked against the
file before it is used.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.io.contents import Contents, Request, gather, invalid, natural_order, reading

__all__ = ["read_safetensors"]

_LARGEST_HEADER = 100_000_000

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}


def read_safetensors(path: Path, request: Request) -> Contents:
    """Read the tensors of a ``.safetensors`` file as layers, in natural order of their names."""
    with reading(path, ".safetensors"), path.open("rb") as file:
        start, entries = _read_header(file, path)
        n_data = path.stat().st_size - start
        return gather(
            natural_order(entries),
            lambda name: _read_tensor(file, entries[name], name, path, start, n_data),
            path,
            request,
        )


def _read_header(file: BinaryIO, path: Path) -> tuple[int, dict[str, Any]]:
    size = path.stat().st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(_LARGEST_HEADER, size - 8):
        raise invalid(path, ".safetensors", "its header would be longer than the file")
    header = json.loads(file.read(length).decode("utf-8"), object_pairs_hook=_unique)
    if not isinstance(header, dict):
        raise invalid(path, ".safetensors", "its header is not a table of tensors")
    header.pop("__metadata__", None)
    return 8 + length, header


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name occurs twice in its header")
    return table


def _read_tensor(file: BinaryIO, entry: Any, name: str, path: Path, start: int, n_data: int) -> NDArray[Any]:
    code, shape, offsets = _checked_entry(entry, name, path)
    dtype = np.dtype(_DTYPES[code])
    begin, end = offsets
    if not 0 <= begin <= end <= n_data:
        raise invalid(path, ".safetensors", f"tensor {name!r} would lie at bytes {begin} to {end} of {n_data}")
    if end - begin != math.prod(shape) * dtype.itemsize:
        raise invalid(path, ".safetensors", f"tensor {name!r} has {end - begin} bytes, which do not fit its shape")
    file.seek(start + begin)
    raw = file.read(end - begin)
    flat = np.frombuffer(raw, dtype=np.uint8)
    if code == "BOOL" and flat.size and int(flat.max()) > 1:
        raise invalid(path, ".safetensors", f"tensor {name!r} is declared BOOL, but holds other bytes than 0 and 1")
    array = flat.view(dtype).reshape(shape)
    if code == "BF16":
        # bfloat16 is the upper half of a float32, so widening is exact.
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _checked_entry(entry: Any, name: str, path: Path) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise invalid(path, ".safetensors", f"the header of tensor {name!r} lacks dtype, shape or data_offsets")
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not (_counts(shape) and _counts(offsets) and len(offsets) == 2):
        raise invalid(path, ".safetensors", f"the shape or the byte range of tensor {name!r} is not a list of counts")
    if code not in _DTYPES:
        raise InputError(
            f"{path}: tensor {name!r} has dtype {code!r}, which is not one of {', '.join(_DTYPES)}; "
            "convert it to float32 before saving"
        )
    return code, tuple(shape), (offsets[0], offsets[1])


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)
