"""A .csv file as a table of texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calibtest.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_table"]

_SEPARATORS = ",;\t"


def read_table(place: Path, flag: str) -> pd.DataFrame:
    """Every field of a table with a header, as text and as it stands: ``NA`` and ``007`` may be names.

    Parameters
    ----------
    place : Path
        The file; commas, semicolons or tabs separate its fields, whichever is most frequent in the header.
    flag : str
        The flag that named it, for the sentence of an error.

    Raises
    ------
    InputError
        When there is no such file or it is no table.
    """
    import pandas as pd

    if not place.is_file():
        raise InputError(f"{flag}: there is no file {place}; check the path")
    try:
        with place.open(encoding="utf-8-sig") as opened:
            header = opened.readline()
        separator = max(_SEPARATORS, key=header.count)
        table = pd.read_csv(
            place,
            sep=separator,
            dtype=str,
            keep_default_na=False,
            index_col=False,
            encoding="utf-8-sig",
            skipinitialspace=True,
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"{flag}: {place} is not a readable .csv file ({error}); save a table with a header"
        ) from error
    table.columns = [str(column).strip() for column in table.columns]
    if table.empty:
        raise InputError(f"{flag}: {place} holds a header and no rows; save one row an item")
    return table
