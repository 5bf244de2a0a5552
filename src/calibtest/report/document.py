"""Results as JSON documents.

A document is complete: every cell, the test of the search, what the data were (by digest) and how to run it again.
Numbers are written so that reading them back gives the same bits; undefined numbers are null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calibtest.procedures.comparison import Skipped
from calibtest.procedures.provenance import Input, versions
from calibtest.report.table import calibration_cells
from calibtest.report.words import CALIBRATION_NULL, answer, best_cell, calibration_question, question

if TYPE_CHECKING:
    from calibtest.inference.aggregates import Omnibus
    from calibtest.inference.pvalues import MonteCarloInterval
    from calibtest.procedures.alignment import AlignmentResult
    from calibtest.procedures.calibrate import CalibrationResult
    from calibtest.procedures.layers import LayersResult
    from calibtest.procedures.scores import ScoresResult

__all__ = ["alignment_document", "calibration_document", "layers_document", "scores_document"]

# Raised whenever a key changes its meaning or goes away; new keys do not raise it.
VERSION = 1


def layers_document(result: LayersResult, *, null: bool = False) -> str:
    """The whole result of `layers_test` as a JSON document.

    Parameters
    ----------
    result : LayersResult
        What to write.
    null : bool
        Whether to write the null distribution of the aggregate too.

    Returns
    -------
    str
        An object whose ``schema`` is ``"calibtest/layers/1"``.
    """
    content = {"schema": f"calibtest/layers/{VERSION}", **_test(result)}
    content["omnibus"] = _omnibus(result.omnibus)
    if null:
        content["omnibus"]["null_distribution"] = result.omnibus.null_distribution
    at = best_cell(result)
    content["best"] = None if at is None else _cell(result, *at)
    content["cells"] = [_cell(result, i, j) for i in range(len(result.layers_a)) for j in range(len(result.layers_b))]
    return _write(content)


def alignment_document(result: AlignmentResult, *, null: bool = False) -> str:
    """The whole result of `alignment_test` as a JSON document whose ``schema`` is ``"calibtest/alignment/1"``."""
    content = {
        "schema": f"calibtest/alignment/{VERSION}",
        **_test(result.grid),
        "statistic": result.statistic,
        "pvalue": result.pvalue,
        "interval": _interval(result.interval),
        "min_pvalue": result.min_pvalue,
        "chance": result.chance,
        "chance_sd": result.chance_sd,
        "zscore": result.zscore,
        "chance_corrected": result.chance_corrected,
        "threshold": result.threshold,
        **({} if result.lower_threshold is None else {"lower_threshold": result.lower_threshold}),
        "calibrated": result.calibrated,
    }
    if null:
        content["null_distribution"] = result.null_distribution
    return _write(content)


def scores_document(result: ScoresResult) -> str:
    """Raw scores as a JSON document whose ``schema`` is ``"calibtest/scores/1"``."""
    unknown = np.full(result.scores.shape, np.nan)
    chance, sd = (unknown if grid is None else grid for grid in (result.chance, result.chance_sd))
    return _write(
        {
            "schema": f"calibtest/scores/{VERSION}",
            "metric": {
                "name": result.metric.name,
                "options": result.metric.options(),
                "larger_is_more_similar": result.metric.claims.larger_is_more_similar,
            },
            "layers_a": result.layers_a,
            "layers_b": result.layers_b,
            "cells": [
                {
                    "layer_a": name_a,
                    "layer_b": name_b,
                    "score": result.scores[i, j],
                    "chance": chance[i, j],
                    "chance_sd": sd[i, j],
                }
                for i, name_a in enumerate(result.layers_a)
                for j, name_b in enumerate(result.layers_b)
            ],
            "skipped": _skipped(result.skipped),
            "notes": result.notes,
        }
    )


def calibration_document(result: CalibrationResult, *, null: bool = False) -> str:
    """The whole result of `calibrate` as a JSON document whose ``schema`` is ``"calibtest/calibration/1"``.

    Numbers of cells are nested lists in the shape of the observed array, or plain numbers for a single one.
    """
    content = {
        "schema": f"calibtest/calibration/{VERSION}",
        "question": calibration_question(result),
        "null": CALIBRATION_NULL,
        "alternative": result.alternative,
        "alpha": result.alpha,
        "s_max": result.s_max,
        "n_resamples": result.n_resamples,
        "min_pvalue": result.min_pvalue,
        "interval": {"confidence": result.interval.confidence, "method": result.interval.method},
        "synchronised": result.synchronised,
        "names": result.names,
        **calibration_cells(result),
        "notes": result.notes,
        "versions": versions(),
    }
    if result.omnibus is not None:
        content["omnibus"] = _omnibus(result.omnibus)
    if null:
        content["null_distribution"] = result.null_distribution
    return _write(content)


def _test(result: LayersResult) -> dict[str, Any]:
    """What every document of a test holds."""
    origin = result.provenance
    orbit = result.orbit
    return {
        "question": question(result),
        "null": origin.null,
        "answer": answer(result),
        "alternative": result.alternative,
        "alpha": result.alpha,
        "metric": {
            "name": result.metric.name,
            "options": origin.options,
            "larger_is_more_similar": result.metric.claims.larger_is_more_similar,
            "chosen_from_data": origin.chosen_from_data,
        },
        "scheme": origin.scheme,
        "relabellings": {
            "description": origin.relabellings,
            "n_resamples": result.n_resamples,
            "exhaustive": orbit.exhaustive,
            "coset_size": orbit.coset_size,
        },
        "seed": origin.seed,
        "n_items": origin.n_items,
        "inputs": {side: _input(held) for side, held in zip("ab", origin.inputs, strict=True)},
        "skipped": _skipped(result.skipped),
        "notes": result.notes,
        "chance_from": "draws" if result.moments is None else "closed form",
        "null_check_standard_errors": result.null_check,
        "versions": origin.versions,
    }


def _cell(result: LayersResult, i: int, j: int) -> dict[str, Any]:
    cells = result.cells
    return {
        "layer_a": result.layers_a[i],
        "layer_b": result.layers_b[j],
        "score": cells.scores[i, j],
        "chance": cells.chance[i, j],
        "chance_sd": cells.chance_sd[i, j],
        "zscore": cells.zscore[i, j],
        "chance_corrected": cells.chance_corrected[i, j],
        "threshold": cells.threshold[i, j],
        **({} if cells.lower_threshold is None else {"lower_threshold": cells.lower_threshold[i, j]}),
        "calibrated": cells.calibrated[i, j],
        "pvalue": cells.pvalue[i, j],
        "pvalue_low": cells.pvalue_low[i, j],
        "pvalue_high": cells.pvalue_high[i, j],
        "pvalue_adjusted": cells.adjusted_pvalue[i, j],
        "pvalue_single_step": cells.single_step_pvalue[i, j],
        "informative": not cells.uninformative[i, j],
    }


def _omnibus(omnibus: Omnibus) -> dict[str, Any]:
    return {
        "aggregate": omnibus.aggregate,
        "statistic": omnibus.statistic,
        "pvalue": omnibus.pvalue,
        "interval": _interval(omnibus.interval),
        "min_pvalue": omnibus.min_pvalue,
        "threshold": omnibus.threshold,
        "calibrated": omnibus.calibrated,
    }


def _interval(interval: MonteCarloInterval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "low": interval.low,
        "high": interval.high,
        "confidence": interval.confidence,
        "method": interval.method,
    }


def _input(held: Input) -> dict[str, Any]:
    digests = held.digests()
    return {
        "name": held.name,
        "source": held.source,
        "kind": held.kind,
        "layers": [{"name": name, "width": width, "sha256": digests[name]} for name, width in held.widths.items()],
    }


def _skipped(skipped: Iterable[Skipped]) -> list[dict[str, str]]:
    return [{"side": skip.side, "layer": skip.layer, "reason": skip.reason} for skip in skipped]


def _write(content: Mapping[str, Any]) -> str:
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """`value` as JSON knows it: numbers that are not finite become null, functions their names."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if callable(value):
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return str(value)
