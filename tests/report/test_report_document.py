"""Results as JSON documents."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

CELL = {
    "layer_a", "layer_b", "score", "chance", "chance_sd", "zscore", "chance_corrected", "threshold", "calibrated", "pvalue",
    "pvalue_low", "pvalue_high", "pvalue_adjusted", "pvalue_single_step", "informative",
}  # fmt: skip
COMMON = {
    "schema", "question", "null", "answer", "alternative", "alpha", "metric", "scheme", "relabellings", "seed", "n_items",
    "inputs", "skipped", "notes", "chance_from", "null_check_standard_errors", "versions",
}  # fmt: skip


def strictly(text: str) -> dict:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_layers_document_is_complete_and_keeps_every_bit(grid) -> None:
    document = strictly(grid.to_json())
    assert document["schema"] == "calibtest/layers/1"
    assert set(document) == COMMON | {"omnibus", "best", "cells"}
    assert len(document["cells"]) == 6
    for cell in document["cells"]:
        assert set(cell) == CELL
        at = grid.layers_a.index(cell["layer_a"]), grid.layers_b.index(cell["layer_b"])
        assert cell["score"] == grid.scores[at]
        assert cell["zscore"] == grid.zscore[at]
        assert cell["pvalue_single_step"] == grid.cells.single_step_pvalue[at]
        assert cell["informative"] is True
    assert (document["best"]["layer_a"], document["best"]["layer_b"]) == grid.best
    assert document["omnibus"]["pvalue"] == grid.pvalue
    assert document["omnibus"]["interval"]["high"] == grid.interval.high
    assert document["relabellings"] == {
        "description": grid.provenance.relabellings,
        "n_resamples": 199,
        "exhaustive": False,
        "coset_size": 40,
    }


def test_null_distribution_is_written_when_asked_for(grid) -> None:
    assert "null_distribution" not in strictly(grid.to_json())["omnibus"]
    written = strictly(grid.to_json(null=True))["omnibus"]["null_distribution"]
    assert np.array_equal(written, grid.null_distribution)


def test_inputs_are_told_by_digest(grid) -> None:
    inputs = strictly(grid.to_json())["inputs"]
    left = grid.provenance.inputs[0]
    assert inputs["a"]["name"] == "left"
    assert [layer["width"] for layer in inputs["a"]["layers"]] == [25, 6]
    assert inputs["a"]["layers"][0]["sha256"] == left.digests()["first"]
    assert len(inputs["b"]["layers"][2]["sha256"]) == len(hashlib.sha256().hexdigest())


def test_undefined_numbers_are_null(grid) -> None:
    holes = replace(grid.cells, zscore=np.full_like(grid.zscore, np.nan), threshold=np.full_like(grid.zscore, np.inf))
    document = strictly(replace(grid, cells=holes).to_json())
    assert {cell["zscore"] for cell in document["cells"]} == {None}
    assert {cell["threshold"] for cell in document["cells"]} == {None}


def test_functions_are_told_by_name(distances) -> None:
    document = strictly(distances.to_json())
    assert document["metric"]["name"] == "mean_distance"
    assert document["metric"]["options"]["function"] == "mean_distance"
    assert document["chance_from"] == "draws"


def test_alignment_document(pair) -> None:
    document = strictly(pair.to_json(null=True))
    assert document["schema"] == "calibtest/alignment/1"
    assert set(document) == COMMON | {
        "statistic", "pvalue", "interval", "min_pvalue", "chance", "chance_sd", "zscore", "chance_corrected", "threshold",
        "calibrated", "null_distribution",
    }  # fmt: skip
    for name in ("statistic", "pvalue", "chance", "zscore", "calibrated", "threshold"):
        assert document[name] == getattr(pair, name), name
    assert np.array_equal(document["null_distribution"], pair.null_distribution)


@pytest.mark.parametrize("known", [True, False])
def test_scores_document(scores, known: bool) -> None:
    given = scores if known else replace(scores, chance=None, chance_sd=None)
    document = strictly(given.to_json())
    assert document["schema"] == "calibtest/scores/1"
    assert document["cells"][4]["score"] == scores.scores[1, 1]
    assert document["cells"][4]["chance"] == (scores.chance[1, 1] if known else None)
