"""Bad calls: one sentence on stderr that says what is wrong, exit status 2, no traceback, nothing on stdout."""

from __future__ import annotations

import pytest

COMPARE = ("compare", "a.npz", "b.npz", "--n-resamples", "39")
KNN = (*COMPARE, "--metric", "mutual_knn")

CASES = [
    # ---- flags
    (("bogus",), ("No such command", "bogus", "--help")),
    (("compare", "a.npz"), ("Missing argument", "B")),
    (("compare", "a.npz", "b.npz", "c.npz"), ("unexpected extra argument", "c.npz")),
    ((*COMPARE, "--bogus", "3"), ("No such option", "--bogus")),
    (("compare", "a.npz", "b.npz", "--n-resamples", "many"), ("--n-resamples", "many", "integer")),
    (("compare", "a.npz", "b.npz", "--n-resamples", "-1"), ("--n-resamples", "at least 0", "-1")),
    ((*COMPARE, "--scheme", "sideways"), ("--scheme", "sideways", "exchangeable")),
    ((*COMPARE, "--seed", "-1"), ("--seed", "at least 0", "-1")),
    ((*COMPARE, "--alpha", "2"), ("alpha", "between 0 and 1", "2")),
    ((*COMPARE, "--aggregate", "median"), ("aggregate", "studentized_max", "median")),
    ((*COMPARE, "--aggregate", "top_9"), ("9", "top_4")),
    ((*COMPARE, "--top", "0"), ("--top", "0")),
    ((*COMPARE, "--out", "a.npz"), ("--out", "folder", "a.npz")),
    # ---- metrics
    ((*COMPARE, "--metric", "cca"), ("metric", "linear_cka", "mutual_knn", "cca")),
    ((*COMPARE, "--k", "5"), ("--k", "linear_cka", "none")),
    ((*KNN, "--fraction", "2"), ("--fraction", "mutual_knn", "--k", "--distance")),
    ((*KNN, "--k", "x"), ("--k", "whole number", "x")),
    ((*KNN, "--k", "2.5"), ("--k", "whole number", "2.5")),
    ((*KNN, "--k", "0"), ("k", "at least 1", "0")),
    ((*KNN, "--k", "40"), ("k = 40", "n = 40")),
    ((*KNN, "--distance", "manhattan"), ("distance", "cosine", "euclidean", "manhattan")),
    ((*COMPARE, "--metric", "rbf_cka", "--bandwidth", "wide"), ("--bandwidth", "a number", "wide")),
    ((*COMPARE, "--smaller-is-more-similar"), ("--smaller-is-more-similar", "function", "linear_cka")),
    # ---- functions of the user's own
    ((*COMPARE, "--metric", "nowhere.py:f"), ("--metric", "nowhere.py", "no file")),
    ((*COMPARE, "--metric", "functions.py:nothing"), ("--metric", "functions.py", "nothing")),
    ((*COMPARE, "--metric", "functions.py:number"), ("metric", "callable", "int")),
    ((*COMPARE, "--metric", "syntax.py:f"), ("--metric", "syntax.py", "SyntaxError")),
    ((*COMPARE, "--metric", "no.such.module:f"), ("--metric", "no.such.module", "ModuleNotFoundError")),
    ((*COMPARE, "--metric", "functions.py:broken"), ("broken", "NaN")),
    ((*COMPARE, "--metric", "functions.py:agreement", "--k", "3"), ("--k", "functions.py:agreement")),
    ((*COMPARE, "--aggregate", "functions.py:nothing"), ("--aggregate", "nothing")),
    # ---- files
    (("compare", "nowhere.npz", "b.npz"), ("nowhere.npz", "does not exist")),
    (("compare", "a.npz::deep", "b.npz"), ("deep", "early", "late")),
    (("compare", "truncated.npz", "b.npz"), ("truncated.npz", ".npz")),
    (("compare", "groups.txt", "b.npz"), ("groups.txt", ".npz")),
    (("compare", "objects.npy", "b.npz"), ("objects.npy", "object")),
    (("compare", "x.npy", "short.npy"), ("40", "30", "x", "short")),
    (("compare", "nan.npy", "y.npy"), ("nan", "1 non-finite", "row 7")),
    (("compare", "constant.npy", "y.npy"), ("constant",)),
    # ---- pooling and masks
    (("compare", "tokens.npy", "y.npy", "--mask", "mask.npy"), ("--mask", "--pool")),
    (("compare", "tokens.npy", "y.npy", "--pool", "mean", "--mask", "nowhere.npy"), ("--mask", "nowhere.npy")),
    (("compare", "tokens.npy", "y.npy", "--pool", "mean", "--mask", "x.npy"), ("--mask", "x.npy", "bool")),
    (("compare", "tokens.npy", "y.npy", "--pool", "mean", *(["--mask", "mask.npy"] * 3)), ("--mask", "3 times")),
    (("compare", "x.npy", "y.npy", "--precomputed", "kernel"), ("square", "(40, 6)")),
    (
        ("compare", "kernel.npy", "kernel.npy", "--precomputed", "kernel", "--metric", "mutual_knn"),
        ("mutual_knn", "kernel"),
    ),
    # ---- groups
    ((*COMPARE, "--groups", "groups.txt"), ("--groups", "--scheme", "within_groups")),
    ((*COMPARE, "--scheme", "within_groups"), ("--scheme within_groups", "--groups")),
    ((*COMPARE, "--scheme", "within_groups", "--groups", "nowhere.txt"), ("--groups", "nowhere.txt")),
    ((*COMPARE, "--scheme", "within_groups", "--groups", "few.txt"), ("groups", "10 labels", "40 items")),
    ((*COMPARE, "--scheme", "within_groups", "--groups", "holes.txt"), ("--groups", "holes.txt", "line 2")),
    ((*COMPARE, "--scheme", "within_groups", "--groups", "x.npy"), ("--groups", "x.npy", "(40, 6)")),
    ((*COMPARE, "--scheme", "within_groups", "--groups", "table.csv"), ("--groups", "table.csv", "group")),
    (
        ("compare", "x.npy", "y.npy", "--scheme", "within_groups", "--groups", "groups.csv"),
        ("--groups", "groups.csv", "ids"),
    ),
    # ---- nothing to test
    (("compare", "a.npz", "b.npz", "--n-resamples", "0", "--alpha", "0.1"), ("--alpha", "--n-resamples 0")),
    (("compare", "a.npz", "b.npz", "--n-resamples", "0", "--aggregate", "max"), ("--aggregate", "--n-resamples 0")),
    # ---- wrap
    (("wrap",), ("--observed", "--null")),
    (("wrap", "--observed", "0.3"), ("--null", "missing")),
    (("wrap", "--observed", "high", "--null", "draws.csv"), ("--observed", "number", "high")),
    (("wrap", "--observed", "0.3", "--null", "nowhere.csv"), ("nowhere.csv",)),
    (("wrap", "--observed", "nan", "--null", "draws.csv"), ("observed", "NaN")),
    (("wrap", "--observed", "0.3", "--null", "hole_null.npy"), ("null", "1 NaN")),
    (("wrap", "--observed", "0.3", "--null", "draws.csv", "--alpha", "1.5"), ("alpha", "1.5")),
    (("wrap", "--observed", "0.3", "--null", "draws.csv", "--s-max", "0.2"), ("s_max", "0.2")),
    (
        ("wrap", "--observed", "observed.npy", "--null", "null.npy", "--aggregate", "max"),
        ("--synchronised", "one relabelling"),
    ),
    (("wrap", "--observed", "observed.npy", "--null", "draws.csv"), ("null", "shape")),
    (("wrap", "--observed", "other_cells.csv", "--null", "cells.csv"), ("same cells", "'c'")),
    (("wrap", "--table", "table.csv", "--observed", "0.3"), ("--table", "drop --observed")),
    (("wrap", "--table", "nowhere.csv"), ("--table", "nowhere.csv")),
    (("wrap", "--table", "no_null.csv"), ("--table", "null_1")),
    (("wrap", "--table", "bare.csv"), ("--table", "'null'", "null_1")),
    # ---- demo
    (("demo", "--n-resamples", "0"), ("--n-resamples", "at least 1")),
    (("demo", "--seed", "-3"), ("--seed", "-3")),
    (("demo", "--out", "a.npz"), ("--out", "folder")),
]


@pytest.mark.parametrize(("arguments", "words"), CASES, ids=[" ".join(arguments) for arguments, _ in CASES])
def test_bad_call_is_refused_in_one_sentence(run, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    line, end = result.stderr.split("\n", 1)
    assert end == "", result.stderr
    assert line.startswith("calibtest: ")
    for word in words:
        assert word in line, line
