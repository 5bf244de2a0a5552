"""``calibtest wrap``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import calibtest


def test_one_value(run) -> None:
    result = run("wrap", "--observed", "0.295", "--null", "draws.csv", "--s-max", "1")
    assert result.exit_code == 0
    assert "p = 0.06452" in result.stdout
    assert "calibrated score 0" in result.stdout
    document = json.loads(run("wrap", "--observed", "0.295", "--null", "draws.csv", "--json").stdout)
    assert document["pvalue"] == 2 / 31


def test_level_out_of_reach_is_a_note(run) -> None:
    result = run("wrap", "--observed", "0.295", "--null", "draws.csv", "--alpha", "0.01")
    assert result.exit_code == 0
    assert result.stderr.startswith("note: 30 null draws cannot give a p-value below")
    assert result.stderr.count("\n") == 1


def test_grid(run, files: Path) -> None:
    arguments = ("wrap", "--observed", "observed.npy", "--null", "null.npy", "--json")
    alone = json.loads(run(*arguments).stdout)
    together = json.loads(run(*arguments, "--synchronised", "--aggregate", "max").stdout)
    same = calibtest.calibrate(
        np.load(files / "observed.npy"), np.load(files / "null.npy"), synchronised=True, aggregate="max"
    )
    assert "omnibus" not in alone
    assert alone["pvalue"] == together["pvalue"] == same.pvalue.tolist()
    assert together["omnibus"]["pvalue"] == same.omnibus.pvalue
    assert together["pvalue_adjusted"] == same.adjusted_pvalue.tolist()


def test_cells_are_matched_by_name(run) -> None:
    document = json.loads(run("wrap", "--observed", "one_row.csv", "--null", "cells.csv", "--json").stdout)
    assert document["names"] == [["a", "b"]]
    assert document["statistic"] == [0.1, 0.9]
    assert document["pvalue"][1] == 0.01


def test_table_of_layer_pairs(run) -> None:
    document = json.loads(run("wrap", "--table", "table.csv", "--synchronised", "--json").stdout)
    assert document["names"] == [["l0 m0", "l1 m1", "l2 m2"]]
    assert document["statistic"] == [0.5, 0.75, 1.0]
    assert document["n_resamples"] == 39
    assert document["pvalue"][2] == 1 / 40


@pytest.mark.parametrize("column", ["x.y", "null_1"])
def test_table_refuses_what_is_no_number(run, files: Path, tmp_path: Path, column: str) -> None:
    text = (files / "table.csv").read_text()
    spoiled = tmp_path / "table.csv"
    spoiled.write_text(text.replace("0.5,", "oops,", 1) if column == "x.y" else text.replace("0.75,", "inf,", 1))
    result = run("wrap", "--table", str(spoiled))
    assert result.exit_code == 2
    assert "row" in result.stderr
    assert "observed" in result.stderr
