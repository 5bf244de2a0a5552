"""``calibtest compare``."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import calibtest

FEW = ("--n-resamples", "39")


def test_table_says_what_was_found(run) -> None:
    result = run("compare", "a.npz", "b.npz", "--n-resamples", "199")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert "Which layers of a and b are more alike than chance makes them?" in result.stdout
    assert "the pairing of the items carries no information" in result.stdout
    assert "a and b agree beyond chance: p = 0.005 after searching 4 pairs of layers." in result.stdout
    assert "199 relabellings (5 cosets of 40 shifts), seed 0" in result.stdout
    header = next(line for line in result.stdout.splitlines() if "layer of A" in line)
    assert header.split() == [
        "layer",
        "of",
        "A",
        "layer",
        "of",
        "B",
        "score",
        "chance",
        "z",
        "calibrated",
        "p",
        "adjusted",
        "p",
    ]


def test_json_is_the_library_result_and_nothing_else(run, files: Path) -> None:
    result = run("compare", "a.npz", "b.npz", *FEW, "--json")
    document = json.loads(result.stdout)
    same = calibtest.layers_test(
        calibtest.load(files / "a.npz"), calibtest.load(files / "b.npz"), n_resamples=39, rng=0
    )
    expected = json.loads(same.to_json())
    for document_ in (document, expected):
        for side in document_["inputs"].values():
            side.pop("source")
    assert document == expected


def test_same_seed_same_bytes(run) -> None:
    runs = [run("compare", "a.npz", "b.npz", *FEW, "--json", "--seed", seed).stdout for seed in ("5", "5", "6")]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_out_holds_document_table_and_picture(run, files: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "folder"
    for seed in ("0", "1"):  # the second run replaces the files of the first
        result = run("compare", "a.npz", "b.npz", *FEW, "--seed", seed, "--out", str(out))
        assert result.exit_code == 0
        assert result.stdout.endswith(f"written to {out}: result.json, layers.csv, heatmap.png\n")
        assert sorted(path.name for path in out.iterdir()) == ["heatmap.png", "layers.csv", "result.json"]
        document = json.loads((out / "result.json").read_text())
        assert document["seed"] == int(seed)
        assert len(document["omnibus"]["null_distribution"]) == 39
        table = pd.read_csv(out / "layers.csv")
        written = {(cell["layer_a"], cell["layer_b"]): cell["score"] for cell in document["cells"]}
        assert {(row.layer_a, row.layer_b): row.score for row in table.itertuples()} == written
        assert (out / "heatmap.png").read_bytes().startswith(b"\x89PNG")


def test_metric_flags_reach_the_metric(run) -> None:
    result = run(
        "compare", "a.npz", "b.npz", *FEW, "--metric", "mutual_knn", "--k", "4", "--distance", "euclidean", "--json"
    )
    assert json.loads(result.stdout)["metric"]["options"] == {"k": 4, "distance": "euclidean"}
    result = run(
        "compare", "a.npz", "b.npz", *FEW, "--metric", "rbf_cka", "--bandwidth", "none", "--fraction", "0.5", "--json"
    )
    options = json.loads(result.stdout)["metric"]
    assert options["options"] == {"bandwidth": None, "fraction": 0.5}
    assert options["chosen_from_data"]


def test_every_hyper_parameter_has_a_flag(run) -> None:
    from dataclasses import fields

    text = run("compare", "--help").stdout
    for metric in calibtest.metrics().values():
        for field in fields(metric):
            assert f"--{field.name.replace('_', '-')}" in text
            assert metric.name in text


@pytest.mark.parametrize("reference", ["functions.py:agreement", "functions:agreement"])
def test_own_function_is_a_metric(run, reference: str) -> None:
    result = run("compare", "a.npz", "b.npz", *FEW, "--metric", reference, "--json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["metric"]["name"] == "agreement"
    assert document["relabellings"]["description"] == "39 independent relabellings"


def test_own_function_runs_in_processes(run) -> None:
    runs = [
        run("compare", "a.npz", "b.npz", "--n-resamples", "19", "--metric", "functions.py:agreement", "--json", *jobs)
        for jobs in ((), ("--n-jobs", "2"))
    ]
    assert runs[1].exit_code == 0, runs[1].stderr
    assert runs[0].stdout == runs[1].stdout


def test_own_distance(run) -> None:
    arguments = ("compare", "x.npy", "y.npy", *FEW, "--metric", "functions.py:distance", "--json")
    near = json.loads(run(*arguments, "--smaller-is-more-similar").stdout)
    far = json.loads(run(*arguments).stdout)
    assert near["cells"][0]["score"] == far["cells"][0]["score"]
    assert near["omnibus"]["pvalue"] != far["omnibus"]["pvalue"]


def test_aggregates(run) -> None:
    found = {
        name: json.loads(run("compare", "a.npz", "b.npz", *FEW, "--aggregate", name, "--json").stdout)["omnibus"]
        for name in ("max", "top_2", "functions.py:largest")
    }
    assert found["max"]["statistic"] == found["functions.py:largest"]["statistic"] > found["top_2"]["statistic"]


def test_layers_are_selected(run) -> None:
    document = json.loads(run("compare", "a.npz::late", "b.npz::late,early", *FEW, "--json").stdout)
    assert [(cell["layer_a"], cell["layer_b"]) for cell in document["cells"]] == [("late", "late"), ("late", "early")]


@pytest.mark.parametrize("name", ["groups.npy", "groups.npz", "groups.csv", "one_column.csv", "semicolons.csv"])
def test_groups_in_every_format_mean_the_same(run, name: str) -> None:
    found = run("compare", "a.npz", "b.npz", *FEW, "--scheme", "within_groups", "--groups", name, "--json")
    expected = run("compare", "a.npz", "b.npz", *FEW, "--scheme", "within_groups", "--groups", "groups.txt", "--json")
    assert found.exit_code == 0, found.stderr
    assert found.stdout == expected.stdout


@pytest.mark.parametrize("scheme", ["whole_groups", "circular"])
def test_other_schemes_run(run, scheme: str) -> None:
    groups = ("--groups", "groups.txt") if scheme == "whole_groups" else ()
    result = run("compare", "a.npz", "b.npz", *FEW, "--scheme", scheme, *groups, "--json")
    assert json.loads(result.stdout)["scheme"] == scheme


def test_padding_is_never_pooled(run, files: Path, tmp_path: Path) -> None:
    tokens = np.load(files / "tokens.npy")
    by_hand = tmp_path / "tokens.npy"
    np.save(by_hand, tokens[:, :3].mean(axis=1))
    pooled = run(
        "compare", "tokens.npy", "y.npy", "--pool", "mean", "--mask", "mask.npy", "--mask", "none", *FEW, "--json"
    )
    score = json.loads(pooled.stdout)["cells"][0]["score"]
    assert score == pytest.approx(
        json.loads(run("compare", str(by_hand), "y.npy", *FEW, "--json").stdout)["cells"][0]["score"]
    )


def test_precomputed_kernels_and_neighbours(run) -> None:
    kernels = run("compare", "kernel.npy", "kernel.npy", "--precomputed", "kernel", *FEW, "--json")
    assert json.loads(kernels.stdout)["cells"][0]["score"] == pytest.approx(1.0)
    lists = run(
        "compare",
        "neighbours.npy",
        "neighbours.npy",
        "--precomputed",
        "neighbours",
        "--metric",
        "mutual_knn",
        "--k",
        "5",
        *FEW,
        "--json",
    )
    document = json.loads(lists.stdout)
    assert document["cells"][0]["score"] == 1.0
    assert document["inputs"]["a"]["kind"] == "neighbours"


def test_files_of_one_name_are_told_apart(run, files: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    copy = tmp_path / "other" / "a.npz"
    copy.write_bytes((files / "a.npz").read_bytes())
    names = [
        side["name"]
        for side in json.loads(run("compare", "a.npz", str(copy), *FEW, "--json").stdout)["inputs"].values()
    ]
    assert names == [f"{files.name}/a", "other/a"]
    names = [
        side["name"] for side in json.loads(run("compare", "a.npz", "a.npz", *FEW, "--json").stdout)["inputs"].values()
    ]
    assert names == ["a (A)", "a (B)"]


def test_no_resamples_gives_the_grid_alone(run, tmp_path: Path) -> None:
    result = run("compare", "a.npz", "b.npz", "--n-resamples", "0", "--out", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    assert "nothing was tested" in result.stdout
    assert " p" not in result.stdout.splitlines()[1]
    scores = json.loads(run("compare", "a.npz", "b.npz", "--n-resamples", "0", "--json").stdout)["cells"]
    tested = json.loads(run("compare", "a.npz", "b.npz", *FEW, "--json").stdout)["cells"]
    assert [cell["score"] for cell in scores] == pytest.approx([cell["score"] for cell in tested], rel=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["heatmap.png", "layers.csv", "result.json"]


def test_notes_are_sentences(run) -> None:
    result = run("compare", "a.npz", "b.npz", "--n-resamples", "39", "--alpha", "0.001")
    assert "note: alpha = 0.001 is out of reach" in result.stdout
    assert "Warning" not in result.output
    assert result.exit_code == 0


def test_top_limits_the_table(run) -> None:
    lines = run("compare", "a.npz", "b.npz", *FEW, "--top", "1").stdout.splitlines()
    assert "  the strongest of 4 pairs, by z:" in lines
    assert len(lines) == 2 + next(at for at, line in enumerate(lines) if line.startswith("  layer of A"))


def test_notes_of_a_file_are_told_once(run, files: Path, tmp_path: Path) -> None:
    with np.load(files / "a.npz") as held:
        np.savez(tmp_path / "labelled.npz", labels=np.arange(40), **held)
    for resamples in ("39", "0"):
        arguments = ("compare", str(tmp_path / "labelled.npz"), "b.npz", "--n-resamples", resamples)
        told = run(*arguments)
        assert " ".join(told.output.split()).count("'labels' set aside") == 1
        assert told.stderr == ""
        quiet = run(*arguments, "--json")
        assert quiet.stdout.count("'labels' set aside") == 1
        assert quiet.stderr == ""


def test_report_off_a_terminal_is_that_of_the_library(run, files: Path) -> None:
    from calibtest.report.text import layers_text, scores_text

    sides = [calibtest.load(files / name) for name in ("a.npz", "b.npz")]
    tested = calibtest.layers_test(*sides, n_resamples=39, rng=0)
    assert run("compare", "a.npz", "b.npz", *FEW, "--top", "2").stdout == layers_text(tested, top=2) + "\n"
    scores = calibtest.alignment_scores(*sides)
    assert run("compare", "a.npz", "b.npz", "--n-resamples", "0").stdout == scores_text(scores) + "\n"


@pytest.mark.parametrize("reference", ["mine.py:agreement", "mine:agreement"])
def test_users_folder_is_searched_last_once_the_function_is_loaded(
    reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from calibtest.cli.callables import load_object

    (tmp_path / "mine.py").write_text("from beside import agreement\n")
    (tmp_path / "beside.py").write_text("def agreement(x, y):\n    return 1.0\n")
    (tmp_path / "colorsys.py").write_text("raise RuntimeError('a file of the user that is called like a package')\n")
    monkeypatch.chdir(tmp_path)
    path = [folder for folder in sys.path if folder not in ("", ".")]
    monkeypatch.setattr(sys, "path", path.copy())
    for name in ("mine", "beside", "colorsys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert load_object(reference, "--metric")(None, None) == 1.0
    assert sys.path == [*path, str(tmp_path)]
    assert importlib.import_module("colorsys").rgb_to_hsv


def test_failed_load_leaves_no_folder_in_front(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from calibtest.cli.callables import load_object

    (tmp_path / "broken.py").write_text("1 / 0\n")
    monkeypatch.setattr(sys, "path", sys.path.copy())
    with pytest.raises(calibtest.InputError, match="ZeroDivisionError"):
        load_object(f"{tmp_path / 'broken.py'}:f", "--metric")
    assert sys.path[0] != str(tmp_path)
