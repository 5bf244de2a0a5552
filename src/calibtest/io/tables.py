"""``.csv`` tables with a header: every field as text, and tables that hold observed values beside their null draws."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from calibtest.arrays import frozen
from calibtest.errors import InputError, listing
from calibtest.io.contents import reading
from calibtest.io.csv_files import beginning
from calibtest.io.loading import require_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TextTable", "WideNull", "load_wide_null", "read_texts"]

_OBSERVED = ("observed", "score", "statistic")
_DRAW = re.compile(r"(null|draw|perm|permutation|resample)[ _.-]?\d+", re.IGNORECASE)
_UNNUMBERED = ("null", "draw", "perm", "permutation", "resample")
_SHOWN = 8


@dataclass(frozen=True, eq=False)
class TextTable:
    """Every field of a table as text, and the mark that separates them."""

    frame: pd.DataFrame
    separator: str

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return [str(column) for column in self.frame.columns]


@dataclass(frozen=True, eq=False)
class WideNull:
    """Observed values of several cells and the null draws of each.

    Attributes
    ----------
    observed
        ``(cells,)`` observed values.
    draws
        ``(K, cells)`` null draws.
    names
        Name of every cell, or None where the table has no columns of text.
    """

    observed: NDArray[np.float64]
    draws: NDArray[np.float64]
    names: tuple[str, ...] | None


def read_texts(path: str | os.PathLike[str]) -> TextTable:
    """Read a table with a header, every field as it stands: ``NA`` and ``007`` may be names.

    Parameters
    ----------
    path
        The file; its separator and encoding are found out as for tables of numbers.

    Raises
    ------
    InputError
        When there is no such file, or it is no table.
    """
    import pandas as pd

    place = Path(path)
    require_file(place)
    with reading(place, ".csv"):
        encoding, separator, _ = beginning(place)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                place,
                sep=separator,
                dtype=str,
                keep_default_na=False,
                index_col=False,
                encoding=encoding,
                skipinitialspace=True,
            )
    frame.columns = pd.Index([str(column).strip() for column in frame.columns])
    if frame.empty:
        raise InputError(f"{place} holds a header and no rows; save one row an item")
    return TextTable(frame, separator)


def load_wide_null(path: str | os.PathLike[str]) -> WideNull:
    r"""Read a table with one row a cell: columns of text that name it, ``observed``, and ``null_1``, ``null_2``, ...

    Parameters
    ----------
    path
        A ``.csv`` file with a header.

    Returns
    -------
    WideNull

    Raises
    ------
    InputError
        When a column is missing or a value is no finite number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "pairs.csv"
    >>> _ = path.write_text("layer,observed,null_1,null_2\nconv1,0.5,0.1,0.2\nconv2,0.4,0.2,0.1\n")
    >>> load_wide_null(path).names
    ('conv1', 'conv2')
    >>> load_wide_null(path).draws.tolist()
    [[0.1, 0.2], [0.2, 0.1]]
    >>> folder.cleanup()
    """
    table = read_texts(path)
    observed = [column for column in table.columns if column.lower() in _OBSERVED]
    draws = [column for column in table.columns if _DRAW.fullmatch(column)]
    if len(observed) != 1 or not draws:
        raise InputError(
            f"{path} must have one column 'observed' and the draws in null_1, null_2, ..., got the columns "
            f"{listing(table.columns, _SHOWN)}"
        )
    for column in table.columns:
        if column.lower() in _UNNUMBERED:
            raise InputError(f"{path} has a column {column!r} without a number; call the draws null_1, null_2, ...")
    numbers = _numbers(table, observed + draws, path)
    labels = [column for column in table.columns if column not in observed and column not in draws]
    names = tuple(" ".join(row) for row in table.frame[labels].itertuples(index=False)) if labels else None
    return WideNull(frozen(numbers[:, 0]), frozen(numbers[:, 1:].T), names)


def _numbers(table: TextTable, columns: list[str], path: str | os.PathLike[str]) -> NDArray[np.float64]:
    import pandas as pd

    texts = table.frame[columns]
    if table.separator != ",":
        texts = texts.apply(lambda column: column.str.replace(",", "."))
    numbers = np.asarray(texts.apply(pd.to_numeric, errors="coerce"), dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(numbers))
    if wrong.size:
        row, column = wrong[0].tolist()
        raise InputError(
            f"{path} has {len(wrong)} entries that are no finite number, first in row {row + 1}, column "
            f"{columns[column]!r}; an undefined score is never counted as evidence"
        )
    return numbers
