"""``.csv`` tables of numbers: one layer, or draws of a null distribution."""

from __future__ import annotations

import csv
import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError
from calibtest.io.contents import GROUP_NAMES, ID_NAMES, Contents, Request, begins_with, invalid, reading
from calibtest.stacks import check_selection, item_ids

__all__ = ["NumberTable", "beginning", "read_csv", "read_number_table"]

_SEPARATORS = ("\t", ";", ",")

# Spellings of a missing number; an item may well be called "NA".
_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "None", "nan", "NaN", "-nan", "-NaN")


@dataclass(frozen=True)
class NumberTable:
    """Numeric columns of a table, ``(rows, columns)``, with the names that the file gives."""

    values: NDArray[np.float64]
    columns: tuple[str, ...] | None
    ids: tuple[str, ...] | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Layout:
    separator: str
    decimal: str
    encoding: str
    header: tuple[str, ...] | None
    n_columns: int
    id_column: int | None


def read_csv(path: Path, request: Request) -> Contents:
    """Read the numeric columns of a ``.csv`` file as one layer."""
    table = read_number_table(path)
    if request.wanted is not None:
        check_selection(request.wanted, ("0",), str(path))
    return Contents({"0": table.values}, table.ids, table.notes)


def read_number_table(path: Path) -> NumberTable:
    """Read a table of numbers: separator, decimal mark and header line are found out, or asked for.

    The first line is a header when it holds text. A line ``0,1,2,...`` is one too (tables written from arrays carry
    it), unless the next line holds whole numbers as well, so that it could be data: then the file must say so.
    """
    import pandas as pd

    with reading(path, ".csv"):
        layout = _find_layout(path)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame: Any = pd.read_csv(path, **_options(layout, pd.__version__))
    if frame.empty:
        raise InputError(f"{path} is empty: it has no rows of numbers; check that it was written completely")
    return _numbers(frame, layout, path)


def _options(layout: _Layout, version: str) -> dict[str, Any]:
    names = list(range(layout.n_columns))
    options: dict[str, Any] = {
        "sep": layout.separator,
        "decimal": layout.decimal,
        "encoding": layout.encoding,
        "header": None if layout.header is None else 0,
        "names": names,
        "index_col": False,
        "skipinitialspace": True,
        "low_memory": False,
        "dtype": {} if layout.id_column is None else {layout.id_column: str},
        "keep_default_na": False,
        "na_values": {name: list(_MISSING) for name in names if name != layout.id_column},
    }
    major, minor = (int(number) for number in version.split(".")[:2])
    if (major, minor) < (3, 1):
        # Later versions always read the nearest number, and warn when they are asked to.
        options["float_precision"] = "round_trip"
    return options


def beginning(path: Path) -> tuple[str, str, list[str]]:
    """Return the encoding of a table, the mark that separates its fields, and its first two lines with text."""
    if begins_with(path, b"<", b"PK", b"\x89HDF", b"PAR1", b"\x93NUMPY"):
        raise invalid(path, ".csv")
    encoding = "utf-16" if begins_with(path, b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        with path.open(encoding=encoding, newline="") as file:
            lines = list(itertools.islice((line for line in file if line.strip()), 2))
    except UnicodeError:
        raise invalid(path, ".csv", "its text is not UTF-8") from None
    if not lines:
        raise InputError(f"{path} is empty: it has no rows of numbers; check that it was written completely")
    return encoding, next((mark for mark in _SEPARATORS if mark in lines[0]), ","), lines


def _find_layout(path: Path) -> _Layout:
    encoding, separator, lines = beginning(path)
    rows = [[field.strip() for field in row] for row in csv.reader(lines, delimiter=separator, skipinitialspace=True)]
    decimal = "," if separator != "," and any("," in field for field in rows[-1]) else "."
    first, second = rows[0], rows[-1] if len(rows) > 1 else None
    header = tuple(first) if _is_header(first, second, decimal, path) else None
    return _Layout(separator, decimal, encoding, header, len(first), _id_column(first, header, decimal, path))


def _is_header(first: Sequence[str], second: Sequence[str] | None, decimal: str, path: Path) -> bool:
    named = first[0] == "" or first[0].lower() in ID_NAMES
    values = first[1:] if named or not _numeric(first[0], decimal) else first
    if values and [*values] == [str(place) for place in range(len(values))]:
        if named:
            return True
        whole = second is None or all(field.lstrip("+-").isdigit() for field in second[len(first) - len(values) :])
        if whole or len(values) == 1:
            raise InputError(
                f"{path} begins with the line {', '.join(first)!r}, which could be a header or data; "
                "give the columns names in words"
            )
        return True
    if all(
        field.lower() == "null" for field in first
    ):  # a column of null draws bears this name; a missing number rarely
        return True
    return first[0].lower() in ID_NAMES or not all(_numeric(field, decimal) for field in first[1:] or first)


def _numeric(field: str, decimal: str) -> bool:
    try:
        float(field.replace(decimal, "."))
    except ValueError:
        return field in _MISSING
    return True


def _id_column(first: Sequence[str], header: tuple[str, ...] | None, decimal: str, path: Path) -> int | None:
    if header is None:
        return None if _numeric(first[0], decimal) else 0
    found = [place for place, name in enumerate(header) if name.lower() in ID_NAMES]
    if len(found) > 1:
        raise InputError(f"{path} names its items twice, in 'id' and in 'ids'; keep one of these columns")
    if found:
        return found[0]
    return 0 if header[0] == "" and len(header) > 1 else None


def _numbers(frame: Any, layout: _Layout, path: Path) -> NumberTable:
    notes: list[str] = []
    ids = None
    if layout.id_column is not None:
        texts = [text.strip() for text in frame[layout.id_column]]
        counting = layout.header is not None and layout.header[layout.id_column] == ""
        if counting and texts == [str(row) for row in range(len(texts))]:
            notes.append(f"{path}: the first column set aside, because it only numbers the rows")
        elif "" in texts:
            raise InputError(f"{path} lacks the id of row {texts.index('')}; name every item, or drop the column")
        else:
            ids = item_ids(texts, str(path))
    kept = []
    for place in range(layout.n_columns):
        label = str(place) if layout.header is None else layout.header[place]
        if place == layout.id_column:
            continue
        if layout.header is not None and label.lower() in GROUP_NAMES:
            notes.append(f"{path}: column {label!r} set aside, because it is no feature")
            continue
        _refuse_text(frame[place], label, path)
        kept.append(place)
    if not kept:
        raise InputError(f"{path} holds no columns of numbers; store at least one feature beside the ids")
    columns = None if layout.header is None else tuple(layout.header[place] for place in kept)
    return NumberTable(frame[kept].to_numpy(dtype=np.float64), columns, ids, tuple(notes))


def _refuse_text(column: Any, label: str, path: Path) -> None:
    if column.dtype.kind in "biuf":
        return
    import pandas as pd

    wrong = np.flatnonzero(pd.to_numeric(column, errors="coerce").isna() & column.notna())
    where = f" ({str(column.iloc[wrong[0]])[:40]!r} in row {int(wrong[0])})" if wrong.size else ""
    raise InputError(
        f"{path}: column {label!r} holds text{where}, but must hold numbers; "
        "drop the column, or call it 'id' if it names the items"
    )
