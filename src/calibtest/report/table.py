"""Results as pandas tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibtest.report.words import by_strength

if TYPE_CHECKING:
    import pandas as pd

    from calibtest.procedures.layers import LayersResult
    from calibtest.procedures.scores import ScoresResult

__all__ = ["layers_frame", "scores_frame"]


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
        "calibrated": cells.calibrated,
        "pvalue": cells.pvalue,
        "pvalue_low": cells.interval_low,
        "pvalue_high": cells.interval_high,
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
