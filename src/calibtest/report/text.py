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
    calibration_question,
    column,
    n_pairs,
    number,
    plain_table,
    probability,
    question,
    setting,
    uncertainty,
    visible,
    with_threshold,
)

if TYPE_CHECKING:
    from calibtest.procedures.alignment import AlignmentResult
    from calibtest.procedures.calibrate import CalibrationResult
    from calibtest.procedures.layers import LayersResult
    from calibtest.procedures.scores import ScoresResult

__all__ = [
    "LAYERS_HEADER",
    "SCORES_HEADER",
    "alignment_text",
    "best_pair",
    "calibration_text",
    "layers_facts",
    "layers_rows",
    "layers_text",
    "scores_heading",
    "scores_rows",
    "scores_text",
    "strongest",
]

SHOWN = 12
_SHOWN_CELLS = 5
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
    """The pair that the search singles out, with everything known about it; empty where it singles out none."""
    at = best_cell(result)
    if at is None:
        return ""
    cells = result.cells
    adjusted = "" if n_pairs(result) == 1 else f", adjusted p {probability(cells.adjusted_pvalue[at])}"
    numbers = (
        f"score {number(cells.scores[at])}, chance {number(cells.chance[at])}, z {number(cells.zscore[at], 3)}, "
        f"calibrated {number(cells.calibrated[at])}"
    )
    return f"{visible(result.layers_a[at[0]])} and {visible(result.layers_b[at[1]])}: {numbers}{adjusted}"


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
    if n_pairs(result) > 1 and result.best is not None:
        facts.append(("best pair", best_pair(result)))
    return facts


def strongest(result: LayersResult, top: int = SHOWN) -> str:
    """What stands above the table when it does not hold all pairs; empty when it does."""
    many = "strongest" if top == 1 else f"{top} strongest"
    return f"the {many} of {n_pairs(result):,} pairs, by z:" if top < n_pairs(result) else ""


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
            f"{number(result.calibrated)} ({_thresholds(result)} at alpha = {result.alpha:g}){room}",
        ),
    ]
    return "\n".join(lines + _notes(result.notes))


def _thresholds(result: AlignmentResult) -> str:
    if result.lower_threshold is None:
        return f"threshold {number(result.threshold)}"
    return f"thresholds {number(result.lower_threshold)} and {number(result.threshold)}"


def scores_rows(result: ScoresResult, top: int = SHOWN) -> list[tuple[str, ...]]:
    """Rows under `SCORES_HEADER`: the `top` most similar pairs, as text (without chance where it is not known)."""
    order = np.argsort(-result.metric.claims.sign * result.scores.ravel(), kind="stable")[:top]
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


def calibration_text(result: CalibrationResult) -> str:
    """What was asked of the caller's draws, what was found, and how sure it is."""
    lines = _one_number(result) if np.ndim(result.statistic) == 0 else _many_cells(result)
    least = f"least p possible with {result.n_resamples} draws: {number(result.min_pvalue, 3)}"
    return "\n".join([calibration_question(result), *(f"  {line}" for line in (*lines, least))])


def _one_number(result: CalibrationResult) -> list[str]:
    z = float(result.zscore)
    level = f"at alpha = {result.alpha:g}"
    lines = [
        f"observed {number(float(result.statistic))}; chance {number(float(result.chance))}, "
        f"sd {number(float(result.chance_sd))}, "
        + ("z undefined, the draws do not vary" if np.isnan(z) else f"z = {number(z, 3)}"),
        f"p = {number(float(result.pvalue))}, Monte-Carlo interval {result.interval!r}",
        (
            f"threshold {level}: {number(float(result.threshold))}"
            if result.lower_threshold is None
            else f"thresholds {level}: {number(float(result.lower_threshold))} and {number(float(result.threshold))}"
        )
        + f"; calibrated score {number(float(result.calibrated))}",
    ]
    corrected = float(result.chance_corrected)
    if not np.isnan(corrected):
        lines.append(f"chance-corrected score {number(corrected)} (0 at chance, 1 at s_max)")
    return lines


def _many_cells(result: CalibrationResult) -> list[str]:
    p = np.asarray(result.pvalue)
    shape = " x ".join(str(size) for size in p.shape)
    lines = [f"{p.size} cells ({shape}), {result.n_resamples} null draws, alpha = {result.alpha:g}"]
    if result.adjusted_pvalue is None:
        ranked = p
        lines.append(
            f"p <= alpha in {int((p <= result.alpha).sum())} cells, about {number(result.alpha * p.size, 3)} expected by "
            "chance alone; these p are not adjusted for the number of cells"
        )
    else:
        ranked = np.asarray(result.adjusted_pvalue)
        lines.append(f"adjusted p <= alpha in {int((ranked <= result.alpha).sum())} cells (Westfall-Young step-down)")
    if result.omnibus is not None:
        omnibus = result.omnibus
        lines.append(
            f"all cells at once: {omnibus.aggregate} = {number(omnibus.statistic)}, p = {number(omnibus.pvalue)}"
        )
    # The smallest p first, and among equals the larger effect.
    effect = np.nan_to_num(np.abs(np.asarray(result.zscore)))
    for flat in np.lexsort((-effect.ravel(), ranked.ravel()))[:_SHOWN_CELLS]:
        at = np.unravel_index(int(flat), p.shape)
        label = ", ".join(names[int(place)] for names, place in zip(result.names, at, strict=True))
        adjusted = "" if result.adjusted_pvalue is None else f", adjusted {number(ranked[at])}"
        lines.append(
            f"  {label}: {number(np.asarray(result.statistic)[at])}, p = {number(p[at])}{adjusted}, calibrated "
            f"{number(np.asarray(result.calibrated)[at])}"
        )
    if p.size > _SHOWN_CELLS:
        lines.append(f"  ... and {p.size - _SHOWN_CELLS} more, see to_frame()")
    return lines
