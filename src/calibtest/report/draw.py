"""Figures. The only module that imports matplotlib; it keeps no pyplot state and needs no display."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from calibtest.report.words import answer, best_cell, column, n_pairs, number, setting, side_names, visible

if TYPE_CHECKING:
    from calibtest.procedures.alignment import AlignmentResult
    from calibtest.procedures.layers import LayersResult
    from calibtest.procedures.scores import ScoresResult

__all__ = ["draw_alignment", "draw_layers", "draw_scores"]

Float = NDArray[np.float64]

# Both maps rise evenly in lightness, so they read the same with any colour vision and in print.
_SCORES, _CALIBRATED = "YlGnBu", "YlOrBr"
_INK, _QUIET, _FRAME, _HATCH = "#1f2430", "#6b7280", "#c3c9d4", "#b9c0cc"
_OBSERVED, _NULL = "#c2410c", "#8fa3c0"
_LONGEST_NAME = 22
_MOST_NUMBERS = 12  # rows or columns up to which every cell shows its number
_POINT = 1 / 72  # inch
_BAR = 0.12  # inches: width of a colour bar, and of the gap between groups of panels

# names are text, also when they hold dollar signs
_LITERAL = rc_context({"text.parse_math": False})


@_LITERAL
def draw_layers(result: LayersResult) -> Figure:
    """Raw score, chance level and calibrated score of every pair of layers, side by side.

    Raw score and chance share one colour scale, so that equal colours are equal numbers. The pair that the search
    singles out is outlined, and pairs whose adjusted p-value is above alpha are hatched in the calibrated panel.

    Parameters
    ----------
    result : LayersResult
        What to draw.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels and two colour bars; ``figure.savefig(path)`` writes it.
    """
    cells = result.cells
    names_a, label_a = _labels(result.layers_a)
    names_b, label_b = _labels(result.layers_b)
    panel = _panel_size(len(names_a), len(names_b))
    figure, axes, bars = _canvas(panel, (2, 1), names_a, names_b, answer(result), _footnote(result))

    hidden = cells.adjusted_pvalue > result.alpha
    best = best_cell(result)
    forwards = result.metric.claims.larger_is_more_similar
    shared = _scale(np.concatenate([cells.scores.ravel(), cells.chance.ravel()])), _map(_SCORES, forwards)
    own = _scale(cells.calibrated), _map(_CALIBRATED, True)
    panels = (
        ("raw score", cells.scores, shared),
        ("chance level", cells.chance, shared),
        ("calibrated score", cells.calibrated, own),
    )
    for ax, (heading, grid, (norm, cmap)) in zip(axes, panels, strict=True):
        _heatmap(ax, grid, norm, cmap, hidden if ax is axes[2] else None)
        ax.set_title(heading, fontsize=10.5, color=_INK, pad=7)
        _name_columns(ax, names_b, panel[0])
        if best is not None and n_pairs(result) > 1:
            _outline(ax, best, panel[0] / len(names_b))
    _name_rows(axes, names_a, panel[1])
    _hatch(axes[2], hidden)
    for bar, (norm, cmap) in zip(bars, (shared, own), strict=True):
        _colour_bar(figure, bar, norm, cmap)

    a, b = side_names(result)
    axes[0].set_ylabel(f"{a}{label_a}", fontsize=10, color=_INK, labelpad=8)
    axes[1].set_xlabel(f"{b}{label_b}", fontsize=10, color=_INK, labelpad=8)
    return figure


@_LITERAL
def draw_scores(result: ScoresResult, *, names: tuple[str, str] = ("A", "B")) -> Figure:
    """Raw scores without a test, beside their chance level where it has a closed form.

    Parameters
    ----------
    result : ScoresResult
        What to draw.
    names : (str, str)
        What the two sides are called.

    Returns
    -------
    matplotlib.figure.Figure
        One or two panels on one colour scale.
    """
    grids = {"raw score": result.scores}
    if result.chance is not None:
        grids["chance level"] = result.chance
    names_a, label_a = _labels(result.layers_a)
    names_b, label_b = _labels(result.layers_b)
    panel = _panel_size(len(names_a), len(names_b))
    title = f"{names[0]} and {names[1]}: raw scores, nothing was tested."
    figure, axes, bars = _canvas(panel, (len(grids),), names_a, names_b, title, str(result.metric))
    norm = _scale(np.concatenate([grid.ravel() for grid in grids.values()]))
    cmap = _map(_SCORES, result.metric.claims.larger_is_more_similar)
    for ax, (heading, grid) in zip(axes, grids.items(), strict=True):
        _heatmap(ax, grid, norm, cmap)
        ax.set_title(heading, fontsize=10.5, color=_INK, pad=7)
        _name_columns(ax, names_b, panel[0])
        ax.set_xlabel(f"{names[1]}{label_b}", fontsize=10, color=_INK, labelpad=8)
    _name_rows(axes, names_a, panel[1])
    _colour_bar(figure, bars[0], norm, cmap)
    axes[0].set_ylabel(f"{names[0]}{label_a}", fontsize=10, color=_INK, labelpad=8)
    return figure


@_LITERAL
def draw_alignment(result: AlignmentResult) -> Figure:
    """Null distribution of one pair, with the observed score and the threshold.

    Parameters
    ----------
    result : AlignmentResult
        What to draw.

    Returns
    -------
    matplotlib.figure.Figure
        One panel; ``figure.savefig(path)`` writes it.
    """
    figure = Figure(figsize=(7.2, 4.0), layout="constrained", facecolor="white")
    ax = figure.subplots()
    null = result.null_distribution
    low, high = float(min(null.min(), result.statistic)), float(max(null.max(), result.statistic))
    spread = (high - low) or max(abs(high), 1.0) * 1e-3
    ax.hist(null, bins=_bins(null), histtype="stepfilled", color=_NULL, label="relabelled items")
    ax.axvline(
        result.threshold,
        color=_INK,
        linestyle=(0, (4, 3)),
        linewidth=1.2,
        label=f"threshold {number(result.threshold)}",
    )
    ax.axvline(result.statistic, color=_OBSERVED, linewidth=2.2, label=f"observed {number(result.statistic)}")
    ax.set_xlim(low - 0.06 * spread, high + 0.06 * spread)
    ax.margins(y=0.12)
    ax.set_xlabel(str(result.provenance.metric), color=_INK)
    ax.set_ylabel("relabellings", color=_INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=_INK, labelsize=9)
    ax.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, 1.13), ncols=3)
    figure.suptitle(_wrapped(answer(result.grid), 6.8, 12.0), fontsize=12, color=_INK, fontweight="bold")
    return figure


# ---------------------------------------------------------------------------------------------------------- the page
def _panel_size(rows: int, columns: int) -> tuple[float, float]:
    """Width and height of a panel in inches: roomy cells while they are few, smaller ones when they are many."""
    cell = 0.8 if max(rows, columns) <= 3 else float(np.clip(4.4 / max(rows, columns), 0.13, 0.46))
    return max(columns * cell * 1.1, 1.35), max(rows * cell, 0.9)


def _canvas(
    panel: tuple[float, float],
    groups: Sequence[int],
    names_a: Sequence[str],
    names_b: Sequence[str],
    title: str,
    foot: str,
) -> tuple[Figure, list[Axes], list[Axes]]:
    """A figure with panels in a row, large enough for its names and sentences.

    Each of `groups` is a number of panels that share one colour bar, which stands to their right.
    """
    width, height = panel
    page = sum(groups) * width + _text_width(names_a) + 0.9 + len(groups)
    title, foot = _wrapped(title, 0.94 * page, 12.5), _wrapped(foot, 0.94 * page, 8.0)
    head_inches = 0.22 * (title.count("\n") + 1) + 0.12
    foot_inches = 0.14 * (foot.count("\n") + 1) + 0.10
    below = _text_width(names_b) if _turned(names_b, width) else 0.15
    tall = height + below + 0.85 + head_inches + foot_inches
    figure = Figure(figsize=(page, tall), layout="constrained", facecolor="white")
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(
        rect=(0, foot_inches / tall, 1, 1 - (foot_inches + head_inches) / tall), w_pad=0.05, h_pad=0.05, wspace=0.0
    )
    figure.text(0.5, 1 - 0.1 / tall, title, fontsize=12.5, color=_INK, fontweight="bold", ha="center", va="top")
    figure.text(0.5, 0.07 / tall, foot, fontsize=8, color=_QUIET, ha="center", va="bottom")
    ratios: list[float] = []
    panels: list[int] = []
    bars: list[int] = []
    for count in groups:
        if ratios:
            ratios.append(_BAR)  # a gap
        panels += range(len(ratios), len(ratios) + count)
        bars.append(len(ratios) + count)
        ratios += [width] * count + [_BAR]
    grid = figure.add_gridspec(1, len(ratios), width_ratios=ratios)
    return (
        figure,
        [figure.add_subplot(grid[0, at]) for at in panels],
        [figure.add_subplot(grid[0, at]) for at in bars],
    )


def _text_width(names: Sequence[str], size: float = 8.5) -> float:
    """About the inches that the longest of the names takes."""
    return max(len(name) for name in names) * size * 0.58 * _POINT


def _wrapped(text: str, inches: float, size: float) -> str:
    return "\n".join(textwrap.wrap(text, max(30, int(inches / (size * 0.58 * _POINT)))))


def _labels(names: Sequence[str]) -> tuple[list[str], str]:
    """Names short enough for ticks, and what they had in common, for the label of the axis.

    ``model.layers.0.mlp`` and ``model.layers.1.mlp`` become ``0`` and ``1`` under the label ``(model.layers.*.mlp)``,
    because the part that tells them apart must stay.
    """
    if len(names) < 2 or max(len(name) for name in names) <= _LONGEST_NAME:
        return [_short(name) for name in names], ""
    head, tail = _shared_head(names), _shared_head([name[::-1] for name in names])[::-1]
    if head + tail == "" or any(len(name) <= len(head) + len(tail) for name in names):
        return [_short(name) for name in names], ""
    kept = [_short(name[len(head) : len(name) - len(tail)]) for name in names]
    return kept, f"  ({head}*{tail})"


def _shared_head(names: Sequence[str]) -> str:
    """What all names begin with, up to and including the last separator."""
    first, last = min(names), max(names)  # what these two share, all names between them share
    same = [a == b for a, b in zip(first, last, strict=False)]
    common = first[: same.index(False) if False in same else len(same)]
    return re.sub(r"[^./:_\- ]*$", "", common)


def _short(name: str) -> str:
    name = visible(name)
    if len(name) <= _LONGEST_NAME:
        return name
    head = (_LONGEST_NAME - 1) // 2
    return f"{name[:head]}…{name[-(_LONGEST_NAME - 1 - head) :]}"


def _turned(names: Sequence[str], panel_width: float) -> bool:
    """Whether column names must be turned to keep clear of each other."""
    return _text_width(names) + 0.08 > panel_width / len(names)


# --------------------------------------------------------------------------------------------------------- the parts
def _scale(values: Float) -> Normalize:
    """From 0, or from the least value where that is negative, to the largest."""
    low, high = min(0.0, float(values.min())), float(values.max())
    return Normalize(low, high if high > low else low + 1.0)


def _map(name: str, forwards: bool) -> Colormap:
    return colormaps[name if forwards else f"{name}_r"]


def _bins(values: Float, most: int = 50) -> list[float]:
    """Edges of at most about `most` bins; scores that lie on a lattice (counts) are never split unevenly."""
    distinct = np.unique(values)
    width = (distinct[-1] - distinct[0]) / most
    if width == 0.0:
        return [float(edge) for edge in np.histogram_bin_edges(values, bins=3)]
    gaps = np.diff(distinct)
    step = float(gaps[gaps > 1e-9 * width].min())
    if np.abs(gaps / step - np.rint(gaps / step)).max() < 1e-6:
        width = step * max(1.0, np.ceil(width / step))
        first = float(distinct[0]) - step / 2
    else:
        first = float(distinct[0])
    count = int(np.ceil((float(distinct[-1]) - first) / width - 1e-9))
    edges = [first + width * at for at in range(count + 1)]
    return [*edges[:-1], max(edges[-1], float(distinct[-1]))]


def _heatmap(ax: Axes, grid: Float, norm: Normalize, cmap: Colormap, faded: NDArray[np.bool_] | None = None) -> None:
    rows, columns = grid.shape
    ax.imshow(grid, norm=norm, cmap=cmap, aspect="auto", interpolation="nearest")
    ax.spines[:].set(color=_FRAME, linewidth=0.8)
    ax.tick_params(length=0, colors=_INK)
    if max(rows, columns) > _MOST_NUMBERS:
        return
    for place in np.arange(1, columns) - 0.5:
        ax.axvline(place, color="white", linewidth=1.0)
    for place in np.arange(1, rows) - 0.5:
        ax.axhline(place, color="white", linewidth=1.0)
    for (i, j), text in zip(np.ndindex(rows, columns), _cell_numbers(grid), strict=True):
        red, green, blue, _ = cmap(norm(grid[i, j]))
        light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
        hidden = faded is not None and bool(faded[i, j])
        ax.text(
            j,
            i,
            text,
            ha="center",
            va="center",
            fontsize=7.5,
            color=_QUIET if hidden else _INK if light else "white",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2} if hidden else None,
            zorder=4,
        )


def _cell_numbers(grid: Float) -> list[str]:
    """Short numbers: without the leading zero when all are below 1."""
    if not grid.any():
        return ["0"] * grid.size
    texts = column(grid.ravel(), 2)
    return [text.replace("0.", ".", 1) for text in texts] if float(np.abs(grid).max()) < 0.9995 else texts


def _name_columns(ax: Axes, names: Sequence[str], panel_width: float) -> None:
    turned = _turned(names, panel_width)
    places = _thinned(len(names), panel_width, 0.15 if turned else _text_width(names) + 0.08)
    ax.set_xticks(places, [names[at] for at in places], rotation=90 if turned else 0, fontsize=8.5)


def _name_rows(axes: Sequence[Axes], names: Sequence[str], panel_height: float) -> None:
    places = _thinned(len(names), panel_height, 0.15)
    axes[0].set_yticks(places, [names[at] for at in places], fontsize=8.5)
    for ax in axes[1:]:
        ax.set_yticks([])


def _thinned(count: int, inches: float, needed: float) -> list[int]:
    """Every so many-th place, such that each name has the room that it needs."""
    step = max(1, int(np.ceil(needed * count / inches - 1e-9)))
    return list(range(0, count, step))


def _outline(ax: Axes, at: tuple[int, int], cell: float) -> None:
    """A frame around one cell, `cell` inches wide, that stands out on light and on dark colours."""
    i, j = at
    line = float(np.clip(cell * 5.0, 1.1, 2.2))
    for colour, width in (("white", 2 * line), (_INK, line)):
        ax.add_patch(
            Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=colour, linewidth=width, zorder=5, clip_on=False)
        )


def _hatch(ax: Axes, where: NDArray[np.bool_]) -> None:
    for i, j in np.argwhere(where).tolist():
        ax.add_patch(
            Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=(1, 1, 1, 0.7), edgecolor=_HATCH, hatch="////", linewidth=0)
        )


def _colour_bar(figure: Figure, ax: Axes, norm: Normalize, cmap: Colormap) -> None:
    bar = figure.colorbar(ScalarMappable(norm, cmap), cax=ax)
    bar.outline.set(color=_FRAME, linewidth=0.8)
    ax.tick_params(labelsize=8, colors=_INK, length=2)
    ax.yaxis.set_major_locator(MaxNLocator(6))


def _footnote(result: LayersResult) -> str:
    parts = [setting(result)]
    if result.best is not None and n_pairs(result) > 1:
        parts.append(f"outlined: best pair by {result.omnibus.aggregate}")
    if (result.cells.adjusted_pvalue > result.alpha).any():
        parts.append(f"hatched: {'p' if n_pairs(result) == 1 else 'adjusted p'} > {result.alpha:g}")
    return "; ".join(parts)
