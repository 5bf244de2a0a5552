"""Results as pandas tables."""

from __future__ import annotations

import numpy as np

COLUMNS = [
    "layer_a",
    "layer_b",
    "score",
    "chance",
    "chance_sd",
    "zscore",
    "chance_corrected",
    "threshold",
    "calibrated",
    "pvalue",
    "pvalue_low",
    "pvalue_high",
    "pvalue_adjusted",
    "informative",
]


def test_frame_holds_every_cell_strongest_first(grid) -> None:
    frame = grid.to_frame()
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 6
    assert frame.zscore.is_monotonic_decreasing
    for row in frame.itertuples():
        at = grid.layers_a.index(row.layer_a), grid.layers_b.index(row.layer_b)
        assert row.score == grid.scores[at]
        assert row.chance == grid.chance[at]
        assert row.calibrated == grid.calibrated[at]
        assert row.pvalue == grid.cells.pvalue[at]
        assert row.pvalue_adjusted == grid.cells.adjusted_pvalue[at]
    assert (frame.layer_a[0], frame.layer_b[0]) == grid.best


def test_frame_of_distances_puts_the_smallest_first(distances) -> None:
    assert distances.to_frame().zscore.is_monotonic_increasing


def test_frame_of_scores_is_in_the_order_of_the_layers(scores) -> None:
    frame = scores.to_frame()
    assert list(frame.columns) == ["layer_a", "layer_b", "score", "chance", "chance_sd"]
    assert frame.layer_b.tolist() == ["one", "two", "three"] * 2
    assert np.array_equal(frame.score.to_numpy().reshape(2, 3), scores.scores)
    assert frame.chance.notna().all()
