"""``calibtest wrap``: an observed value and someone else's null draws."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibtest.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["wrap"]

_OBSERVED = ("observed", "score", "statistic")
_DRAW = re.compile(r"(null|draw|perm|permutation|resample)[ _.-]?\d+", re.IGNORECASE)
_UNNUMBERED = ("null", "draw", "perm", "permutation", "resample")


@click.command(
    short_help="Calibrate observed values with your own null draws.",
    epilog="Example: calibtest wrap --observed 0.31 --null draws.csv --s-max 1",
)
@click.option(
    "--observed",
    metavar="VALUE",
    help="The observed value, or a .npy, .npz or .csv file of several (shape S, or one row under the header of --null).",
)
@click.option(
    "--null",
    "null_path",
    metavar="FILE",
    help="Null draws: .npy of shape (K,) or (K, *S), .npz, or .csv with one row a draw and one column a cell.",
)
@click.option(
    "--table",
    metavar="FILE",
    help="Instead of both: a .csv with one row a layer pair, text columns that name it, a column 'observed' and the "
    "columns null_1, null_2, ...",
)
@click.option("--alpha", default=0.05, show_default=True, type=float, help="Level of the threshold.")
@click.option("--s-max", type=float, help="Value of the score at perfect agreement, for example 1 for CKA.")
@click.option(
    "--alternative",
    default="greater",
    show_default=True,
    type=click.Choice(["greater", "less", "two-sided"]),
    help="Which values speak against the null.",
)
@click.option(
    "--aggregate",
    metavar="NAME",
    help="Test all cells at once by this: studentized_max, max, mean, row_max_mean, column_max_mean, top_5 (any number).",
)
@click.option(
    "--synchronised",
    is_flag=True,
    help="Each draw used one relabelling for all cells, so that they may be judged together.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON, and nothing else, on stdout.")
def wrap(**given: Any) -> None:
    """Calibrate an observed value with null draws that you already have: p, threshold, calibrated score.

    With several cells every cell gets its own p; declare --synchronised to have them adjusted for the search and
    tested all at once.
    """
    from calibtest.cli.screen import collected_notes, say
    from calibtest.procedures.calibrate import calibrate

    if given["aggregate"] is not None and not given["synchronised"]:
        raise InputError(
            "--aggregate needs --synchronised: the maximum over cells can be calibrated only if each null draw used one "
            "relabelling for all cells; add the flag if it did"
        )
    with collected_notes() as notes:
        observed, null, names = _inputs(given["observed"], given["null_path"], given["table"])
        result = calibrate(
            observed,
            null,
            alpha=given["alpha"],
            s_max=given["s_max"],
            alternative=given["alternative"],
            aggregate=given["aggregate"],
            synchronised=given["synchronised"],
            names=names,
        )
    click.echo(result.to_json() if given["as_json"] else repr(result))
    for note in notes:
        say(f"note: {note}")


def _inputs(observed: str | None, null: str | None, table: str | None) -> tuple[Any, NDArray[np.float64], Any]:
    """Observed values, draws along the first axis, and names of the cells or None."""
    if table is not None:
        if observed is not None or null is not None:
            raise InputError("--table holds the observed values and the draws; drop --observed and --null")
        return _from_table(Path(table))
    if observed is None or null is None:
        missing = "--observed" if observed is None else "--null"
        raise InputError(f"{missing} is missing: give --observed and --null, or --table with both in one file")
    from calibtest.io import load_null

    held = load_null(null)
    try:
        return float(observed), held.draws, None
    except ValueError:
        pass
    if not Path(observed.rpartition("::")[0] or observed).exists():
        raise InputError(f"--observed must be a number or an existing file, got {observed!r}")
    seen = load_null(observed)
    values = seen.draws
    if values.shape[:1] == (1,) and values.ndim == held.draws.ndim:
        values = values[0]  # a table of one row
    if held.names and seen.names and set(seen.names) == set(held.names):
        values = values[[seen.names.index(name) for name in held.names]]
    elif held.names and seen.names:
        odd = next(name for name in (*seen.names, *held.names) if name not in seen.names or name not in held.names)
        raise InputError(
            f"--observed and --null must name the same cells, but {odd!r} is in only one of them; cells are matched by name"
        )
    named = held.names if values.ndim == 1 and len(held.names) == values.size else None
    return values, held.draws, named


def _from_table(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64], Any]:
    import numpy as np
    import pandas as pd

    from calibtest.cli.tables import read_table

    table = read_table(path, "--table")
    observed = [column for column in table.columns if column.lower() in _OBSERVED]
    draws = [column for column in table.columns if _DRAW.fullmatch(column)]
    if len(observed) != 1 or not draws:
        raise InputError(
            f"--table: {path} must have one column 'observed' and the draws in null_1, null_2, ..., got the columns "
            f"{', '.join(table.columns[:8])}{' ...' if len(table.columns) > 8 else ''}"
        )
    for column in table.columns:
        if column.lower() in _UNNUMBERED:
            raise InputError(
                f"--table: {path} has a column {column!r} without a number; call the draws null_1, null_2, ..."
            )
    labels = [column for column in table.columns if column not in observed and column not in draws]
    numbers = table[observed + draws].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(numbers))
    if wrong.size:
        row, column = wrong[0].tolist()
        raise InputError(
            f"--table: {path} has {len(wrong)} entries that are no finite number, first in row {row + 1}, column "
            f"{(observed + draws)[column]!r}; an undefined score is never counted as evidence"
        )
    names = [" ".join(row) for row in table[labels].itertuples(index=False)] if labels else None
    return numbers[:, 0], numbers[:, 1:].T, names
