"""Figures: what is on them, at every size."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from calibtest.report import draw


def png(figure) -> bytes:
    held = BytesIO()
    figure.savefig(held, format="png")
    return held.getvalue()


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_three_panels_with_names_and_one_scale(grid) -> None:
    figure = grid.plot()
    raw, chance, calibrated, bar, own_bar = figure.axes
    assert [ax.get_title() for ax in (raw, chance, calibrated)] == ["raw score", "chance level", "calibrated score"]
    assert [label.get_text() for label in raw.get_xticklabels()] == ["one", "two", "three"]
    assert [label.get_text() for label in raw.get_yticklabels()] == ["first", "second"]
    assert raw.get_ylabel() == "left"
    assert chance.get_xlabel() == "right"
    first, second = raw.images[0].norm, chance.images[0].norm
    assert (first.vmin, first.vmax) == (second.vmin, second.vmax) == (0.0, grid.scores.max())
    assert np.array_equal(raw.images[0].get_array(), grid.scores)
    assert np.array_equal(calibrated.images[0].get_array(), grid.calibrated)
    assert bar.get_ylim() == (0.0, grid.scores.max())
    assert own_bar.get_ylim() == (0.0, grid.calibrated.max())
    page = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert "left and right agree beyond chance: p = 0.005" in page
    assert "hatched: adjusted p > 0.05" in page
    assert png(figure).startswith(b"\x89PNG")


def test_best_pair_is_outlined_and_the_rest_hatched(grid) -> None:
    figure = grid.plot()
    boxes = [patch for patch in figure.axes[2].patches if isinstance(patch, Rectangle)]
    hatched = {(patch.get_y() + 0.5, patch.get_x() + 0.5) for patch in boxes if patch.get_hatch()}
    outlined = {(patch.get_y() + 0.5, patch.get_x() + 0.5) for patch in boxes if not patch.get_hatch()}
    assert outlined == {(1.0, 1.0)}
    assert hatched == {tuple(map(float, at)) for at in np.argwhere(grid.cells.adjusted_pvalue > grid.alpha)}
    assert len(hatched) == 5


def test_numbers_are_drawn_in_small_grids(grid) -> None:
    assert texts(grid.plot().axes[0]) == draw._cell_numbers(grid.scores)


def test_nothing_found_is_drawn_too(grid) -> None:
    empty = replace(grid.cells, calibrated=np.zeros_like(grid.scores), adjusted_pvalue=np.ones_like(grid.scores))
    figure = replace(grid, cells=empty).plot()
    assert set(texts(figure.axes[2])) == {"0"}
    assert png(figure)


def test_distances_turn_the_colours_round(grid, distances) -> None:
    assert grid.plot().axes[0].images[0].cmap.name == "YlGnBu"
    assert distances.plot().axes[0].images[0].cmap.name == "YlGnBu_r"


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 9), (9, 1), (24, 32)])
def test_every_size_fits_its_page(quietly, rows: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    a = {f"model.encoder.layers.{i}.mlp.fc_out": rng.standard_normal((30, 4)) for i in range(rows)}
    b = {f"blocks.{i}": rng.standard_normal((30, 4)) for i in range(columns)}
    figure = quietly(a, b).plot()
    width, height = figure.get_size_inches()
    assert 4 < width < 20
    assert 2 < height < 9
    figure.draw_without_rendering()
    raw = figure.axes[0]
    page = figure.bbox
    for label in (*raw.get_xticklabels(), *raw.get_yticklabels(), raw.yaxis.label, *figure.texts):
        box = label.get_window_extent()
        assert box.x0 >= -1, label
        assert box.y0 >= -1, label
        assert box.x1 <= page.x1 + 1, label
        assert box.y1 <= page.y1 + 1, label
    names = [label.get_window_extent() for label in raw.get_yticklabels()]
    assert not any(first.overlaps(second) for first, second in pairwise(names))
    names = [label.get_window_extent() for label in raw.get_xticklabels()]
    assert not any(first.overlaps(second) for first, second in pairwise(names))


def test_long_names_keep_what_tells_them_apart() -> None:
    names, common = draw._labels([f"model.encoder.layers.{i}.mlp.fc_out" for i in (2, 12)])
    assert names == ["2", "12"]
    assert common == "  (model.encoder.layers.*.mlp.fc_out)"
    assert draw._labels(["a", "b"]) == (["a", "b"], "")
    (only,), _ = draw._labels(["x" * 60])
    assert len(only) == 22
    assert "…" in only


def test_alignment_shows_null_threshold_and_observed(pair) -> None:
    figure = pair.plot()
    (ax,) = figure.axes
    lines = sorted(float(line.get_xdata()[0]) for line in ax.lines)
    assert lines == sorted([pair.threshold, pair.statistic])
    assert ax.get_xlabel() == "linear_cka"
    assert png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("values", [np.arange(200) % 7 / 400, np.random.default_rng(0).random(500), np.full(9, 0.25)])
def test_bins_hold_every_value(values: np.ndarray) -> None:
    edges = np.asarray(draw._bins(values))
    counts, _ = np.histogram(values, edges)
    assert counts.sum() == values.size
    assert len(edges) <= 60


def test_bins_split_a_lattice_evenly() -> None:
    counts, _ = np.histogram(np.arange(300) / 1000, draw._bins(np.arange(300) / 1000))
    assert set(counts[:-1]) == {counts[0]}


@pytest.mark.parametrize("known", [True, False])
def test_scores_are_drawn_beside_chance_where_it_is_known(scores, known: bool) -> None:
    figure = draw.draw_scores(scores if known else replace(scores, chance=None), names=("left", "right"))
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == (["raw score", "chance level"] if known else ["raw score"])
    assert png(figure)


def test_no_pyplot_state_is_touched() -> None:
    code = "import sys, calibtest.report.draw; assert 'matplotlib.pyplot' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
