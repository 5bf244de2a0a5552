"""``calibtest demo`` and the data that it runs on."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files as resources
from pathlib import Path

import numpy as np
import pytest

from calibtest.data import demo_stacks


def test_shipped_data() -> None:
    images, texts, control, groups = demo_stacks()
    assert images.widths == (16, 24, 40, 80, 112, 192, 320, 1280)
    assert texts.widths == (384,) * 7
    assert control.widths == (384,)
    assert {stack.n_items for stack in (images, texts, control)} == {500} == {len(groups)}
    assert images.ids == texts.ids == control.ids
    assert len(set(images.ids or ())) == 500
    assert all(re.fullmatch(r"U\+[0-9A-F]{4,6}", item) for item in images.ids or ())
    assert len(np.unique(groups)) == 9
    assert images.names[0] == "stage0_16"
    assert texts.names[-1] == "layer6"


def test_shipped_data_are_small_and_attributed() -> None:
    folder = resources("calibtest.data")
    held = (folder / "emoji.npz").read_bytes()
    assert len(held) < 5_000_000
    notice = (folder / "NOTICE").read_text()
    for name in (
        "Noto Color Emoji",
        "SIL Open Font License",
        "EfficientNet-Lite0",
        "MiniLM",
        "Apache License",
        "Unicode",
    ):
        assert name in notice
    with np.load(folder / "emoji.npz", allow_pickle=False) as arrays:  # type: ignore[arg-type]
        assert all(arrays[key].dtype == np.float16 for key in arrays.files if "/" in key)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    from click.testing import CliRunner

    from calibtest.cli import main

    out = tmp_path_factory.mktemp("demo")
    result = CliRunner().invoke(main, ["demo", "--n-resamples", "99", "--out", str(out)], prog_name="calibtest")
    assert result.exit_code == 0, result.output
    return result.stdout, out


def test_demo_tells_what_is_in_the_data(told: tuple[str, Path]) -> None:
    text, _ = told
    words = " ".join(text.split())
    assert "EfficientNet-Lite0 and MiniLM agree beyond chance: p = 0.002 after searching 56 pairs of layers." in words
    # 99 relabellings are one coset of 500 shifts
    assert "499 relabellings" in words
    low, high, flat, same = map(
        float,
        re.search(
            r"chance level of linear CKA goes from ([.\d]+) to ([.\d]+), that of mutual kNN from ([.\d]+) to ([.\d]+)\.",
            words,
        ).groups(),  # type: ignore[union-attr]
    )
    assert high > 3 * low
    assert flat == same == pytest.approx(10 / 499, abs=0.001)
    raw, calibrated = map(
        float,
        re.search(r"lead of the widest stage over \S+ is (\S+) in raw CKA and (\S+) calibrated", words).groups(),  # type: ignore[union-attr]
    )
    assert raw > 3 * abs(calibrated)
    score, chance, p = map(
        float,
        re.search(
            r"raw CKA up to ([.\d]+) with MiniLM, at a chance level up to ([.\d]+): p = ([.\d]+)", words
        ).groups(),  # type: ignore[union-attr]
    )
    assert score == pytest.approx(chance, abs=0.01)
    assert p > 0.05
    for metric in ("linear_cka", "mutual_knn"):
        row = next(line.split() for line in text.splitlines() if line.split()[:1] == [metric])
        assert float(row[2]) > float(row[4]) > 5


def test_demo_writes_its_files(told: tuple[str, Path]) -> None:
    _, out = told
    assert sorted(path.name for path in out.iterdir()) == ["heatmap.png", "layers.csv", "result.json"]
    document = json.loads((out / "result.json").read_text())
    assert len(document["cells"]) == 56
    images, *_ = demo_stacks()
    wanted = {name: images.digests()[name] for name in images.names}
    assert {layer["name"]: layer["sha256"] for layer in document["inputs"]["a"]["layers"]} == wanted
    assert hashlib.sha256((out / "heatmap.png").read_bytes()).digest()
