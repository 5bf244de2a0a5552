"""``.parquet``: list columns as layers, or all numeric columns together as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError, import_extra
from calibtest.io.contents import GROUP_NAMES, ID_NAMES, Contents, Request, begins_with, gather, invalid, lone, reading
from calibtest.stacks import item_ids

__all__ = ["read_parquet"]

# Earlier versions can be made to run code from a file (CVE-2023-47248).
_SAFE_PYARROW = (14, 0, 1)


def read_parquet(path: Path, request: Request) -> Contents:
    """Read a Parquet table: a list column is a layer, or all numeric columns are one layer.

    The ids are the column called ``id`` or ``ids``, or else the index that pandas stored with the table.
    """
    parquet = import_extra("pyarrow.parquet", extra="parquet", purpose=f"reading {path.suffix}", least=_SAFE_PYARROW)
    with reading(path, path.suffix):
        if not begins_with(path, b"PAR1"):
            raise invalid(path, path.suffix)
        with parquet.ParquetFile(path) as file:
            return _layers(file, path, request)


def _layers(file: Any, path: Path, request: Request) -> Contents:
    from pyarrow import types

    schema = file.schema_arrow
    if len(set(schema.names)) < len(schema.names):
        raise invalid(path, path.suffix, "two columns have the same name")
    naming = _naming_columns(schema)
    others = [name for name in schema.names if name not in naming and name not in GROUP_NAMES]
    lists = [name for name in others if _is_list(schema.field(name).type, types)]
    numeric = [name for name in others if _is_numeric(schema.field(name).type, types)]
    ids = _ids(file, naming, path)
    if lists:
        idle = [name for name in schema.names if name not in lists and name not in naming]
        found = gather(lists, lambda name: _list_values(_column(file, name), name, path, types), path, request)
    elif numeric:
        idle = [name for name in schema.names if name not in numeric and name not in naming]
        found = lone(_numeric_values(file, numeric, types), path, request)
    else:
        raise InputError(
            f"{path} holds no column of numbers or of lists of numbers, but {', '.join(schema.names) or 'no columns'}; "
            "store each layer as one list column"
        )
    notes = [f"{path}: column {name!r} set aside, because it is no layer" for name in idle]
    return Contents(found.layers, ids, (*notes, *found.notes))


def _column(file: Any, name: str) -> Any:
    return file.read(columns=[name]).column(name).combine_chunks()


def _naming_columns(schema: Any) -> list[str]:
    named = [name for name in schema.names if name in ID_NAMES]
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    return named or [name for name in stored if isinstance(name, str) and name in schema.names]


def _ids(file: Any, naming: list[str], path: Path) -> tuple[str, ...] | None:
    if not naming:
        return None
    if len(naming) > 1:
        raise InputError(f"{path} names its items by {len(naming)} columns ({', '.join(naming)}); keep one of them")
    values = _column(file, naming[0])
    return item_ids(values.to_pylist(), str(path))


def _is_list(dtype: Any, types: Any) -> bool:
    return bool(types.is_list(dtype) or types.is_large_list(dtype) or types.is_fixed_size_list(dtype))


def _is_numeric(dtype: Any, types: Any) -> bool:
    return bool(types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype))


def _numeric_values(file: Any, names: list[str], types: Any) -> NDArray[Any]:
    table = file.read(columns=names)
    narrow = all(types.is_float16(field.type) or types.is_float32(field.type) for field in table.schema)
    values = np.empty((table.num_rows, len(names)), dtype=np.float32 if narrow else np.float64)
    for place, name in enumerate(names):
        # A missing value becomes NaN, which is reported with its row when the stack is built.
        column = table.column(name)
        values[:, place] = (
            np.where(column.is_null().to_numpy(), np.nan, column.to_numpy()) if column.null_count else column.to_numpy()
        )
    return values


def _mask(column: Any) -> NDArray[np.bool_]:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))


def _list_values(column: Any, name: str, path: Path, types: Any) -> NDArray[Any]:
    """Return the values of a list column as ``(rows, length)``, or deeper for lists of lists."""
    shape = [len(column)]
    while _is_list(column.type, types):
        column = _flattened(column, name, path, rows=shape[0])
        shape.append(len(column) // max(1, int(np.prod(shape))))
    if not _is_numeric(column.type, types):
        raise InputError(f"{path}: column {name!r} holds lists of {column.type}, but must hold lists of numbers")
    if column.null_count:
        row = int(np.flatnonzero(_mask(column))[0]) // max(1, len(column) // max(1, shape[0]))
        raise InputError(
            f"{path}: column {name!r} has {column.null_count} missing values, first in row {row}; "
            "drop these items from both sides"
        )
    return np.asarray(column.to_numpy(zero_copy_only=False)).reshape(shape)


def _flattened(column: Any, name: str, path: Path, *, rows: int) -> Any:
    import pyarrow.compute as compute

    if not len(column):
        raise InputError(f"{path} is empty: column {name!r} has 0 items; check that it was written completely")
    lists_per_row = len(column) // rows
    if column.null_count:
        row = int(np.flatnonzero(_mask(column))[0]) // lists_per_row
        raise InputError(f"{path}: column {name!r} has no list in row {row}; drop these items from both sides")
    lengths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
    values, counts = np.unique(lengths, return_counts=True)
    usual = int(values[np.argmax(counts)])
    odd = np.flatnonzero(lengths != usual)
    if odd.size:
        raise InputError(
            f"{path}: column {name!r} is ragged: row {int(odd[0]) // lists_per_row} has length {int(lengths[odd[0]])}, "
            f"most have length {usual}; give every item the same number of features"
        )
    return column.flatten()
