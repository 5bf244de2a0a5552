"""Results as pandas tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calibtest.report.words import by_strength

if TYPE_CHECKING:
    import pandas as pd

    from calibtest.procedures.calibrate import CalibrationResult
    from calibtest.procedures.layers import LayersResult
    from calibtest.procedures.scores import ScoresResult

__all__ = ["calibration_cells", "calibration_frame", "layers_frame", "scores_frame"]


def layers_frame(result: LayersResult) -> pd.DataFrame:
    """One row a pair of layers, the strongest evidence first; columns as `LayersResult.to_frame` lists them."""
    import pandas as pd

    cells = result.cells
    a, b = np.unravel_index(by_strength(result), cells.scores.shape)
    grids = {
        "score": cells.scores,
        "chance": cells.chance,
        "chance_sd": cells.chance_sd,
        "zscore": cells.zscore,
        "chance_corrected": cells.chance_corrected,
        "threshold": cells.threshold,
        **({} if cells.lower_threshold is None else {"lower_threshold": cells.lower_threshold}),
        "calibrated": cells.calibrated,
        "pvalue": cells.pvalue,
        "pvalue_low": cells.pvalue_low,
        "pvalue_high": cells.pvalue_high,
        "pvalue_adjusted": cells.adjusted_pvalue,
        "informative": ~cells.uninformative,
    }
    names = {"layer_a": [result.layers_a[i] for i in a], "layer_b": [result.layers_b[j] for j in b]}
    return pd.DataFrame(names | {name: grid[a, b] for name, grid in grids.items()})


def scores_frame(result: ScoresResult) -> pd.DataFrame:
    """One row a pair of layers, in the order of the layers; chance is NaN where it has no closed form."""
    import pandas as pd

    a, b = np.indices(result.scores.shape).reshape(2, -1)
    unknown = np.full(result.scores.shape, np.nan)
    grids = {
        "score": result.scores,
        "chance": unknown if result.chance is None else result.chance,
        "chance_sd": unknown if result.chance_sd is None else result.chance_sd,
    }
    names = {"layer_a": [result.layers_a[i] for i in a], "layer_b": [result.layers_b[j] for j in b]}
    return pd.DataFrame(names | {name: grid[a, b] for name, grid in grids.items()})


def calibration_cells(result: CalibrationResult) -> dict[str, float | NDArray[np.float64]]:
    """Every number that a result of `calibrate` has for each cell, by the name of its column."""
    found = {
        "statistic": result.statistic,
        "chance": result.chance,
        "chance_sd": result.chance_sd,
        "zscore": result.zscore,
        "chance_corrected": result.chance_corrected,
        "threshold": result.threshold,
        "lower_threshold": result.lower_threshold,
        "calibrated": result.calibrated,
        "pvalue": result.pvalue,
        "pvalue_low": result.interval.low,
        "pvalue_high": result.interval.high,
        "pvalue_adjusted": result.adjusted_pvalue,
    }
    return {title: cells for title, cells in found.items() if cells is not None}


def calibration_frame(result: CalibrationResult) -> pd.DataFrame:
    """One row a cell in the order of the observed array; the names along its axes stand in front."""
    import pandas as pd

    shape = np.shape(result.statistic)
    axes = ("left", "right") if len(shape) == 2 else ("cell",) if len(shape) == 1 else ()
    columns: dict[str, Any] = {}
    places = np.unravel_index(np.arange(math.prod(shape)), shape) if shape else ()
    for axis, (at, names) in enumerate(zip(places, result.names, strict=True)):
        columns[axes[axis] if axes else f"axis_{axis}"] = [names[int(place)] for place in at]
    for title, cells in calibration_cells(result).items():
        columns[title] = np.atleast_1d(np.asarray(cells, dtype=np.float64)).ravel()
    return pd.DataFrame(columns)
