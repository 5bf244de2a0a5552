"""Results as text that a person can read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from calibtest.report.words import (
    answer,
    best_cell,
    by_strength,
    column,
    n_pairs,
    number,
    plain_table,
    probability,
    question,
    setting,
    uncertainty,
    with_threshold,
)

if TYPE_CHECKING:
    from calibtest.procedures.alignment import AlignmentResult
    from calibtest.procedures.layers import LayersResult
    from calibtest.procedures.scores import ScoresResult

__all__ = [
    "LAYERS_HEADER",
    "SCORES_HEADER",
    "alignment_text",
    "layers_rows",
    "layers_text",
    "scores_rows",
    "scores_text",
]

SHOWN = 12
_WIDTH = 116

LAYERS_HEADER = ("layer of A", "layer of B", "score", "chance", "z", "calibrated", "p", "adjusted p")
SCORES_HEADER = ("layer of A", "layer of B", "score", "chance", "chance sd")


def layers_rows(result: LayersResult, top: int = SHOWN) -> list[tuple[str, ...]]:
    """Rows under `LAYERS_HEADER`: the `top` strongest pairs, as text."""
    order = by_strength(result)[:top]
    cells = result.cells
    a, b = np.unravel_index(order, cells.scores.shape)
    columns = [
        [result.layers_a[i] for i in a],
        [result.layers_b[j] for j in b],
        column(cells.scores[a, b]),
        column(cells.chance[a, b]),
        column(cells.zscore[a, b], 3),
        column(cells.calibrated[a, b]),
        [probability(p) for p in cells.pvalue[a, b]],
        [probability(p) for p in cells.adjusted_pvalue[a, b]],
    ]
    return list(zip(*columns, strict=True))


def best_pair(result: LayersResult) -> str:
    """The pair that the search singles out, with everything known about it."""
    at = best_cell(result)
    cells = result.cells
    adjusted = "" if n_pairs(result) == 1 else f", adjusted p {probability(cells.adjusted_pvalue[at])}"
    numbers = (
        f"score {number(cells.scores[at])}, chance {number(cells.chance[at])}, z {number(cells.zscore[at], 3)}, "
        f"calibrated {number(cells.calibrated[at])}"
    )
    return f"{result.best[0]} and {result.best[1]}: {numbers}{adjusted}"


def layers_text(result: LayersResult, *, top: int = SHOWN) -> str:
    """What was asked, what was found, and the strongest pairs of layers.

    Parameters
    ----------
    result : LayersResult
        What to report.
    top : int
        Greatest number of pairs in the table.
    """
    lines = [question(result)]
    for label, text in layers_facts(result):
        lines += _labelled(label, text)
    lines.append("")
    above = strongest(result, top)
    if above:
        lines.append(f"  {above}")
    lines += plain_table(LAYERS_HEADER, layers_rows(result, top))
    return "\n".join(lines + _notes(result.notes))


def layers_facts(result: LayersResult) -> list[tuple[str, str]]:
    """Everything that is said of a search before its table: labels and sentences."""
    facts = [
        ("null", result.provenance.null),
        ("data", setting(result)),
        ("answer", answer(result)),
        ("", with_threshold(result)),
        ("", uncertainty(result)),
    ]
    if n_pairs(result) > 1:
        facts.append(("best pair", best_pair(result)))
    return facts


def strongest(result: LayersResult, top: int = SHOWN) -> str:
    """What stands above the table when it does not hold all pairs; empty when it does."""
    return f"the {top} strongest of {n_pairs(result):,} pairs, by z:" if top < n_pairs(result) else ""


def _labelled(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"  {label:<12}", subsequent_indent=" " * 14, break_long_words=False
    )


def _notes(notes: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for note in notes:
        lines += textwrap.wrap(note, _WIDTH, initial_indent="  note: ", subsequent_indent="        ")
    return ["", *lines] if lines else []


def alignment_text(result: AlignmentResult) -> str:
    """What was asked, what was found, and the score beside its chance level."""
    grid = result.grid
    room = (
        ""
        if np.isnan(result.chance_corrected)
        else f"; chance-corrected {number(result.chance_corrected)} (0 at chance, 1 at perfect agreement)"
    )
    lines = [
        question(grid),
        *_labelled("null", grid.provenance.null),
        *_labelled("data", setting(grid)),
        *_labelled("answer", answer(grid)),
        *_labelled("", uncertainty(grid)),
        *_labelled(
            "score",
            f"{number(result.statistic)}; chance {number(result.chance)}, sd {number(result.chance_sd)}, "
            f"z {number(result.zscore, 3)}",
        ),
        *_labelled(
            "calibrated",
            f"{number(result.calibrated)} (threshold {number(result.threshold)} at alpha = {result.alpha:g}){room}",
        ),
    ]
    return "\n".join(lines + _notes(result.notes))


def scores_rows(result: ScoresResult, top: int = SHOWN) -> list[tuple[str, ...]]:
    """Rows under `SCORES_HEADER`: the `top` most similar pairs, as text (without chance where it is not known)."""
    sign = -1 if result.metric.claims.larger_is_more_similar else 1
    order = np.argsort(sign * result.scores.ravel(), kind="stable")[:top]
    a, b = np.unravel_index(order, result.scores.shape)
    columns = [
        [result.layers_a[i] for i in a],
        [result.layers_b[j] for j in b],
        column(result.scores[a, b]),
        *(["–"] * len(order) if grid is None else column(grid[a, b]) for grid in (result.chance, result.chance_sd)),
    ]
    return list(zip(*columns, strict=True))


def scores_heading(result: ScoresResult, top: int = SHOWN) -> list[str]:
    """The lines above the table of scores."""
    pairs = result.scores.size
    grid = f"{len(result.layers_a)} x {len(result.layers_b)} layers"
    lines = [f"Raw scores of {result.metric}, {grid}; nothing was tested."]
    return lines if top >= pairs else [*lines, f"the {top} most similar of {pairs:,} pairs:"]


def scores_text(result: ScoresResult, *, top: int = SHOWN) -> str:
    """Raw scores, with their chance level where it has a closed form."""
    heading, *more = scores_heading(result, top)
    lines = [heading, *(f"  {line}" for line in more), *plain_table(SCORES_HEADER, scores_rows(result, top))]
    return "\n".join(lines + _notes(result.notes))
