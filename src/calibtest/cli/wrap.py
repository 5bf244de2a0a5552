"""``calibtest wrap``: an observed value and someone else's null draws."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibtest.cli.sources import flagged
from calibtest.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from calibtest.inference.pvalues import Alternative

__all__ = ["wrap"]


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
def wrap(
    observed: str | None,
    null_path: str | None,
    table: str | None,
    alpha: float,
    s_max: float | None,
    alternative: Alternative,
    aggregate: str | None,
    synchronised: bool,
    as_json: bool,
) -> None:
    """Calibrate an observed value with null draws that you already have: p, threshold, calibrated score.

    With several cells every cell gets its own p; declare --synchronised to have them adjusted for the search and
    tested all at once.
    """
    from calibtest.cli.screen import collected_notes, say
    from calibtest.procedures.calibrate import calibrate

    if aggregate is not None and not synchronised:
        raise InputError(
            "--aggregate needs --synchronised: the maximum over cells can be calibrated only if each null draw used one "
            "relabelling for all cells; add the flag if it did"
        )
    with collected_notes() as notes:
        values, draws, names = _inputs(observed, null_path, table)
        result = calibrate(
            values,
            draws,
            alpha=alpha,
            s_max=s_max,
            alternative=alternative,
            aggregate=aggregate,
            synchronised=synchronised,
            names=names,
        )
    click.echo(result.to_json() if as_json else repr(result))
    for note in notes:
        if not as_json or note not in result.notes:  # which the document holds already
            say(f"note: {note}")


def _inputs(
    observed: str | None, null_path: str | None, table: str | None
) -> tuple[float | NDArray[np.float64], NDArray[np.float64], tuple[str, ...] | None]:
    """Observed values, draws along the first axis, and names of the cells or None."""
    from calibtest.io import load_null
    from calibtest.io.nulls import matched
    from calibtest.io.tables import load_wide_null

    if table is not None:
        if observed is not None or null_path is not None:
            raise InputError("--table holds the observed values and the draws; drop --observed and --null")
        with flagged("--table"):
            wide = load_wide_null(table)
        return wide.observed, wide.draws, wide.names
    if observed is None or null_path is None:
        missing = "--observed" if observed is None else "--null"
        raise InputError(f"{missing} is missing: give --observed and --null, or --table with both in one file")
    null = load_null(null_path)
    with contextlib.suppress(ValueError):
        return float(observed), null.draws, None
    if not Path(observed.rpartition("::")[0] or observed).exists():
        raise InputError(f"--observed must be a number or an existing file, got {observed!r}")
    values, names = matched(load_null(observed), null)
    return values, null.draws, names
