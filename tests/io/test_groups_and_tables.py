"""Labels of items, masks, and tables of observed values beside their draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibtest.errors import InputError
from calibtest.io import load_groups, load_wide_null
from calibtest.io.numpy_files import load_mask
from calibtest.io.tables import read_texts

LABELS = ["b", "NA", "007", "b"]


def test_labels_in_every_format(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array(LABELS))
    np.savez(tmp_path / "a.npz", groups=np.array(LABELS), other=np.arange(3))
    np.savez(tmp_path / "one.npz", anything=np.array(LABELS))
    (tmp_path / "a.txt").write_text("\ufeff" + "\n".join(LABELS) + "\n\n")
    (tmp_path / "a.csv").write_text("name,Group\n" + "".join(f"x,{label}\n" for label in LABELS))
    (tmp_path / "tabs.csv").write_text("kind\tid\n" + "".join(f"{label}\ti{i}\n" for i, label in enumerate(LABELS)))
    (tmp_path / "utf16.csv").write_text("group\n" + "\n".join(LABELS), encoding="utf-16")
    for name in ("a.npy", "a.npz", "one.npz", "a.txt", "a.csv", "utf16.csv"):
        assert load_groups(tmp_path / name) == LABELS, name
    assert load_groups(str(tmp_path / "tabs.csv"), ids=["i3", "i1", "i2"]) == ["b", "NA", "007"]


BAD_GROUPS = {
    "nowhere.txt": (None, "does not exist"),
    "holes.txt": ("a\n\nb\n", "1 empty lines, first line 2"),
    "twice.csv": ("id,group\nx,1\nx,2\n", "names an id twice"),
    "short.csv": ("id,group\nx,1\n", "no label for 1 items, first 'y'"),
    "many.csv": ("a,b\n1,2\n", "has the columns a, b; call the column of labels 'group'"),
    "header.csv": ("group\n", "a header and no rows"),
    "long.csv": ("group\n1,2\n", "not a valid .csv file"),
    "binary.txt": (b"\xff\xfe\x00\xd8\x00", "not a valid text file"),
}


@pytest.mark.parametrize("name", sorted(BAD_GROUPS))
def test_bad_labels(tmp_path: Path, name: str) -> None:
    content, words = BAD_GROUPS[name]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        load_groups(path, ids=("x", "y"))
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)


def test_ids_in_the_table_need_ids_of_the_items(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,group\nx,1\n")
    with pytest.raises(InputError, match="has ids, but the items have none"):
        load_groups(tmp_path / "a.csv")


@pytest.mark.parametrize(("mark", "decimal"), [(",", "."), (";", "."), (";", ","), ("\t", ",")])
def test_wide_table_with_any_separator(tmp_path: Path, mark: str, decimal: str) -> None:
    rows = [
        ["layer", "observed", "null_1", "null_2"],
        ["conv 1", "0.5", "0.1", "-2e-1"],
        ["conv 2", "0.25", "0.3", "7"],
    ]
    text = "\n".join(mark.join([row[0], *(field.replace(".", decimal) for field in row[1:])]) for row in rows)
    (tmp_path / "a.csv").write_text(text)
    table = load_wide_null(tmp_path / "a.csv")
    assert table.names == ("conv 1", "conv 2")
    assert table.observed.tolist() == [0.5, 0.25]
    assert table.draws.tolist() == [[0.1, 0.3], [-0.2, 7.0]]
    assert not table.draws.flags.writeable


def test_texts_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id, kind\n007,"a, b"\nNA,\n')
    table = read_texts(tmp_path / "a.csv")
    assert table.columns == ["id", "kind"]
    assert table.frame.to_numpy().tolist() == [["007", "a, b"], ["NA", ""]]


@pytest.mark.parametrize(("name", "words"), [("a.npz", "existing .npy"), ("b.npy", "existing .npy"), ("c.npy", "bool")])
def test_bad_masks(tmp_path: Path, name: str, words: str) -> None:
    np.save(tmp_path / "c.npy", np.ones((2, 3)))
    with pytest.raises(InputError, match=words):
        load_mask(tmp_path / name)
