"""Files of every format: what they become, and that their layers are in a meaningful order."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from calibtest.errors import InputError, MissingDependencyError
from calibtest.io import load
from calibtest.io.contents import natural_order
from calibtest.io.loading import split_target

RNG = np.random.default_rng(3)
A = RNG.standard_normal((9, 4))
B = RNG.standard_normal((9, 5))
C = RNG.standard_normal((9, 2))
CUBE = RNG.standard_normal((9, 3, 4))
IDS = tuple(f"item {row}" for row in range(9))
NAMES = ("layer_1", "layer_2", "layer_10")
LAYERS = dict(zip(NAMES, (A, B, C), strict=True))
SHUFFLED = {name: LAYERS[name] for name in ("layer_10", "layer_1", "layer_2")}


def write_safetensors(path: Path, tensors: dict[str, tuple[str, list[int], bytes]], **header: Any) -> None:
    offset, body = 0, b""
    for name, (code, shape, raw) in tensors.items():
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [offset, offset + len(raw)]}
        offset, body = offset + len(raw), body + raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def write_layers(folder: Path, suffix: str) -> Path:
    """Write the three layers and the ids in a format, in an order without meaning."""
    path = folder / f"model{suffix}"
    if suffix == ".npz":
        np.savez(path, **SHUFFLED, ids=np.array(IDS))  # type: ignore[arg-type]
    elif suffix in (".h5", ".hdf5"):
        with h5py.File(path, "w") as file:
            for name, array in SHUFFLED.items():
                file[name] = array
            file["ids"] = list(IDS)
    elif suffix == ".parquet":
        pq.write_table(pa.table({"id": IDS, **{name: list(array) for name, array in LAYERS.items()}}), path)
    elif suffix == ".safetensors":
        save_file(SHUFFLED, path, metadata={"made": "here"})
    elif suffix == ".compressed.npz":
        np.savez_compressed(path, **SHUFFLED, ids=np.array(IDS))  # type: ignore[arg-type]
    else:
        path.mkdir()
        for name, array in SHUFFLED.items():
            np.save(path / f"{name}.npy", array)
        np.save(path / "ids.npy", np.array(IDS))
    return path


FORMATS = [".npz", ".compressed.npz", ".h5", ".hdf5", ".parquet", ".safetensors", ""]


# ---------------------------------------------------------------------------------------------------------------
# Every format


@pytest.mark.parametrize("suffix", FORMATS)
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    path = write_layers(tmp_path, suffix)
    stack = load(path)
    assert stack.names == NAMES
    assert stack.ids == (None if suffix == ".safetensors" else IDS)
    assert stack.source == str(path)
    assert stack.name in ("model", "model.compressed")
    for name, array in LAYERS.items():
        np.testing.assert_array_equal(stack.layers[name], array)
        assert stack.layers[name].dtype == np.float64
        assert not stack.layers[name].flags.writeable


@pytest.mark.parametrize("suffix", FORMATS)
def test_selection(tmp_path: Path, suffix: str) -> None:
    path = write_layers(tmp_path, suffix)
    assert load(f"{path}::layer_10").names == ("layer_10",)
    assert load(f"{path}::layer_10, layer_1").names == ("layer_10", "layer_1")
    assert load(path, layers="layer_2").names == ("layer_2",)
    assert load(path, layers=["layer_2", "layer_1"]).names == ("layer_2", "layer_1")
    np.testing.assert_array_equal(load(f"{path}::layer_10").only(), C)
    with pytest.raises(InputError, match=r"no layer 'layer_3'; its layers are layer_1, layer_2, layer_10"):
        load(f"{path}::layer_3")
    with pytest.raises(InputError, match=r"got 3: layer_1, layer_2, layer_10"):
        load(path).only()


@pytest.mark.parametrize("suffix", FORMATS)
def test_relative_and_home_paths(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_layers(tmp_path, suffix)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load(path.name).names == NAMES
    assert load(f"~/{path.name}::layer_2").names == ("layer_2",)


@pytest.mark.parametrize("suffix", FORMATS)
def test_reading_changes_nothing_on_disk(tmp_path: Path, suffix: str) -> None:
    path = write_layers(tmp_path, suffix)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    load(path)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_names_ids_and_kind_of_the_caller(tmp_path: Path) -> None:
    np.savez(tmp_path / "k.npz", gram=A @ A.T)
    stack = load(tmp_path / "k.npz", name="K", kind="kernel", ids=range(9))
    assert (stack.name, stack.kind, stack.ids) == ("K", "kernel", tuple(map(str, range(9))))


# ---------------------------------------------------------------------------------------------------------------
# .npy, .npz and stacked arrays


def test_npy_matrix_and_cube(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", A.astype(np.float16))
    np.save(tmp_path / "c.npy", CUBE)
    np.save(tmp_path / "f.npy", np.asfortranarray(A))
    assert load(tmp_path / "a.npy").only().dtype == np.float32
    np.testing.assert_array_equal(load(tmp_path / "f.npy").only(), A)
    cube = load(tmp_path / "c.npy")
    assert cube.names == ("0", "1", "2")
    np.testing.assert_array_equal(cube.layers["2"], CUBE[:, 2])
    assert load(f"{tmp_path}/c.npy::2,0").names == ("2", "0")
    pooled = load(tmp_path / "c.npy", pool="mean")
    np.testing.assert_allclose(pooled.only(), CUBE.mean(1))
    with pytest.raises(InputError, match=r"c\.npy has no layer '7'; its layers are 0, 1, 2"):
        load(f"{tmp_path}/c.npy::7")
    with pytest.raises(InputError, match=r"a\.npy has no layer '1'; its layers are 0"):
        load(f"{tmp_path}/a.npy::1")


def test_one_stacked_array_in_a_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", feats=CUBE, ids=np.array(IDS))
    stack = load(tmp_path / "f.npz")
    assert stack.names == ("0", "1", "2")
    assert stack.ids == IDS
    assert load(f"{tmp_path}/f.npz::feats").names == ("0", "1", "2")
    assert load(f"{tmp_path}/f.npz::1").names == ("1",)
    np.savez(tmp_path / "g.npz", feats=CUBE, mask=np.ones((9, 7)), n_parameters=3)
    stack = load(tmp_path / "g.npz")
    assert stack.names == ("0", "1", "2")
    assert "mask, n_parameters set aside, because 'feats' holds the layers" in stack.notes[0]
    assert load(f"{tmp_path}/g.npz::mask").widths == (7,)
    np.savez(tmp_path / "h.npz", a=CUBE, b=CUBE)
    for target in ("h.npz", "h.npz::a"):  # two arrays with tokens: nothing says that the axis is layers
        with pytest.raises(InputError, match="pool"):
            load(f"{tmp_path}/{target}")
    assert load(tmp_path / "h.npz", pool="last").names == ("a", "b")


def test_what_is_set_aside_is_told(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=A, labels=np.arange(9), groups=np.arange(9), step=np.int64(3))
    stack = load(tmp_path / "a.npz")
    assert stack.names == ("x",)
    for name in ("labels", "groups", "step"):
        assert any(f"{name!r} set aside" in note for note in stack.notes)


def test_archive_longer_than_a_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "many.npz", **{f"l{place}": A for place in range(25)})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"its layers are l0, l1, .*, l19 and 5 more"):
        load(f"{tmp_path}/many.npz::nope")


# ---------------------------------------------------------------------------------------------------------------
# .safetensors


def test_bfloat16_is_exact_without_any_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([[1.0, -2.5, 0.15625], [96.0, -0.0078125, 3.0]], dtype=np.float32)
    raw = (values.view(np.uint32) >> 16).astype("<u2").tobytes()
    write_safetensors(tmp_path / "a.safetensors", {"layer0": ("BF16", [2, 3], raw)})
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    found = load(tmp_path / "a.safetensors").only()
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"])
def test_safetensors_dtypes(tmp_path: Path, dtype: str) -> None:
    values = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    save_file({"x": values}, tmp_path / "a.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "a.safetensors").only(), values)


RAW = np.ones((2, 3), dtype="<f4").tobytes()
ENTRY = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
BAD_HEADERS: dict[str, tuple[Any, str]] = {
    "beyond the file": ({"x": {**ENTRY, "shape": [2, 4], "data_offsets": [0, 32]}}, "bytes 0 to 32 of 24"),
    "backwards": ({"x": {**ENTRY, "data_offsets": [24, 0]}}, "bytes 24 to 0"),
    "negative": ({"x": {**ENTRY, "data_offsets": [-24, 0]}}, "list of counts"),
    "shape and bytes": ({"x": {**ENTRY, "shape": [2, 2]}}, "do not fit its shape"),
    "huge shape": ({"x": {**ENTRY, "shape": [2**62, 2**62]}}, "do not fit its shape"),
    "negative shape": ({"x": {**ENTRY, "shape": [-2, -3]}}, "list of counts"),
    "shape of text": ({"x": {**ENTRY, "shape": ["2", "3"]}}, "list of counts"),
    "shape of truths": ({"x": {**ENTRY, "shape": [True, True]}}, "list of counts"),
    "three offsets": ({"x": {**ENTRY, "data_offsets": [0, 12, 24]}}, "list of counts"),
    "no dtype": ({"x": {"shape": [2, 3], "data_offsets": [0, 24]}}, "lacks dtype"),
    "entry is no table": ({"x": 3}, "lacks dtype"),
    "header is a list": ([1], "not a table"),
    "not JSON": (b"{" * 40, "not a valid .safetensors"),
    "too deep": (b"[" * 200_000, "not a valid .safetensors"),
    "not UTF-8": (b'{"\xff": 1}', "not a valid .safetensors"),
    "one name twice": (b'{"x": 1, "x": 2}', "twice"),
    "nothing inside": ({}, "holds no layers"),
    "unknown dtype": ({"x": {**ENTRY, "dtype": "F8_E4M3"}}, "'F8_E4M3'"),
    "dtype is a list": ({"x": {**ENTRY, "dtype": ["F32"]}}, "not a valid .safetensors"),
    "false truth": ({"x": {"dtype": "BOOL", "shape": [4, 6], "data_offsets": [0, 24]}}, "BOOL"),
}


@pytest.mark.parametrize("case", sorted(BAD_HEADERS))
def test_safetensors_bounds(tmp_path: Path, case: str) -> None:
    header, words = BAD_HEADERS[case]
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + RAW)
    with pytest.raises(InputError) as caught:
        load(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("length", [0, 24, 100_000_001, 2**64 - 1])
def test_safetensors_header_length(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", length) + b"{}" + b" " * 8)
    with pytest.raises(InputError, match=r"not a valid \.safetensors file"):
        load(path)


# ---------------------------------------------------------------------------------------------------------------
# .h5


def test_hdf5_groups_are_paths(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["vis/l10"], file["vis/l2"], file["vis/labels"], file["step"] = A, B, np.arange(9), 3
        file["ids"] = np.array(IDS, dtype="S10")
        file["alias"] = h5py.SoftLink("/vis/l2")
        file["vis/ring"] = file["vis"]
        file.create_dataset("packed", data=C, compression="gzip")
    os.chmod(path, 0o444)
    stack = load(path)
    assert stack.names == ("packed", "vis/l2", "vis/l10")
    assert stack.ids == IDS
    np.testing.assert_array_equal(load(f"{path}::vis/l2").only(), B)
    for name in ("vis/labels", "step", "alias"):
        assert any(f"{name!r} set aside" in note for note in stack.notes), name


def test_hdf5_on_a_read_only_folder(tmp_path: Path) -> None:
    path = write_layers(tmp_path, ".h5")
    os.chmod(path, 0o444)
    os.chmod(tmp_path, 0o555)
    try:
        array = load(f"{path}::layer_2").only()
    finally:
        os.chmod(tmp_path, 0o755)
    np.testing.assert_array_equal(array, B)


def test_hdf5_locked_by_another_program(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    path = write_layers(tmp_path, ".h5")
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert load(path).names == NAMES


def outside(path: Path, case: str) -> None:
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as file:
        file["x"] = A
    with h5py.File(path, "w") as file:
        if case == "external link":
            file["x"] = h5py.ExternalLink("other.h5", "/x")
        elif case == "virtual dataset":
            layout = h5py.VirtualLayout((9, 4), dtype="f8")
            layout[:] = h5py.VirtualSource(str(other), "x", (9, 4))
            file.create_virtual_dataset("x", layout)
        elif case == "external storage":
            file.create_dataset("x", (9, 4), dtype="f8", external=[(str(other), 0, 288)])
        else:
            file.create_dataset("x", (10**9, 10**6), dtype="f8", chunks=(10, 10))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("external link", "'x' is a link to another file"),
        ("virtual dataset", "'x' keeps its values in another file"),
        ("external storage", "'x' keeps its values in another file"),
        ("declared size", "'x' declares 8,000,000,000,000,000 bytes"),
    ],
)
def test_hdf5_never_leaves_the_file_or_the_memory(tmp_path: Path, case: str, words: str) -> None:
    outside(tmp_path / "a.h5", case)
    with pytest.raises(InputError, match=words):
        load(tmp_path / "a.h5")


# ---------------------------------------------------------------------------------------------------------------
# .parquet


def test_parquet_list_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table(
        {
            "id": IDS,
            "emb.10": pa.array(A.astype(np.float32).tolist(), pa.list_(pa.float32(), 4)),
            "emb.9": list(B),
            "whole": pa.array(np.arange(18).reshape(9, 2).tolist(), pa.large_list(pa.int16())),
            "year": np.arange(9),
            "text": IDS,
        }
    )
    pq.write_table(table, path, row_group_size=4)
    stack = load(path)
    assert stack.names == ("emb.10", "emb.9", "whole")
    assert stack.ids == IDS
    assert stack.layers["emb.10"].dtype == np.float32
    np.testing.assert_array_equal(stack.layers["emb.9"], B)
    np.testing.assert_array_equal(stack.layers["whole"], np.arange(18).reshape(9, 2))
    assert sum("set aside" in note for note in stack.notes) == 2


def test_parquet_numeric_columns(tmp_path: Path) -> None:
    pd.DataFrame(A.astype(np.float32), index=IDS, columns=list("abcd")).to_parquet(tmp_path / "a.parquet")
    stack = load(tmp_path / "a.parquet")
    assert stack.ids == IDS
    assert stack.only().dtype == np.float32
    np.testing.assert_array_equal(stack.only(), A.astype(np.float32))
    pd.DataFrame({"a": [1.5, 2.0], "b": [True, False], "c": [1, 2]}).to_parquet(tmp_path / "b.parquet")
    stack = load(tmp_path / "b.parquet")
    assert stack.ids is None
    np.testing.assert_array_equal(stack.only(), [[1.5, 1, 1], [2, 0, 2]])


def test_parquet_lists_of_lists(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": CUBE.tolist()}), tmp_path / "a.parquet")
    assert load(tmp_path / "a.parquet").names == ("0", "1", "2")
    np.testing.assert_allclose(load(tmp_path / "a.parquet", pool="mean").only(), CUBE.mean(1))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"emb": [[1.0, 2, 3, 4], [1.0, 2, 3, 4], [1.0, 2, 3]]}, ["'emb'", "row 2", "length 3", "length 4"]),
        ({"emb": [[1.0, 2, 3], [1.0, 2, 3, 4], [1.0, 2, 3, 4]]}, ["'emb'", "row 0", "length 3", "length 4"]),
        ({"emb": [[[1.0], [2.0]], [[1.0], [2.0, 3.0]]]}, ["'emb'", "row 1", "length 2", "length 1"]),
        ({"emb": [[1.0, 2], None]}, ["'emb'", "no list in row 1"]),
        ({"emb": [[1.0, 2], [3, None]]}, ["'emb'", "1 missing", "row 1"]),
        ({"emb": [["a"], ["b"]]}, ["'emb'", "lists of string"]),
        ({"emb": pa.array([], pa.list_(pa.float64()))}, ["'emb'", "0 items"]),
        ({"x": [1.0, None]}, ["1 non-finite", "row 1"]),
        ({"x": [True, None], "y": [1, 2]}, ["1 non-finite", "row 1"]),
        ({"x": ["a"]}, ["no column of numbers"]),
        ({"id": ["a", None], "x": [1, 2]}, ["ids", "row 1"]),
        ({"id": ["a"], "ids": ["a"], "x": [1]}, ["id, ids"]),
    ],
)
def test_bad_parquet(tmp_path: Path, columns: dict[str, Any], words: list[str]) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputError) as caught:
        load(path, name="P")
    for word in words:
        assert word in str(caught.value), str(caught.value)


# ---------------------------------------------------------------------------------------------------------------
# Folders and paths


def test_folder_sets_other_things_aside(tmp_path: Path) -> None:
    folder = write_layers(tmp_path, "")
    (folder / "README.md").write_text("notes")
    (folder / ".hidden.npy").write_text("")
    (folder / "old").mkdir()
    np.save(folder / "labels.npy", np.arange(9))
    stack = load(folder)
    assert stack.names == NAMES
    assert sum("set aside" in note for note in stack.notes) == 3


def test_folder_of_several_formats(tmp_path: Path) -> None:
    np.save(tmp_path / "l10.npy", A)
    np.savez(tmp_path / "l9.npz", anything=B, ids=np.array(IDS))
    pd.DataFrame(C).assign(id=IDS).to_csv(tmp_path / "l8.csv", index=False)
    (tmp_path / "ids.txt").write_text("\n".join(IDS) + "\n")
    stack = load(tmp_path, name="M")
    assert stack.names == ("l8", "l9", "l10")
    assert stack.ids == IDS
    np.testing.assert_allclose(stack.layers["l8"], C)


def test_bad_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no layer files"):
        load(tmp_path)
    np.save(tmp_path / "a.npy", CUBE)
    with pytest.raises(InputError, match=r"a\.npy holds 3 layers, but each file of a folder must hold one.*pool"):
        load(tmp_path)
    assert load(tmp_path, pool="mean").names == ("a",)
    np.savez(tmp_path / "a.npz", x=A)
    with pytest.raises(InputError, match="two files for the layer 'a'"):
        load(tmp_path)
    (tmp_path / "a.npz").unlink()
    np.save(tmp_path / "a.npy", A)
    np.savez(tmp_path / "b.npz", x=B, ids=np.array(IDS))
    np.savez(tmp_path / "c.npz", x=C, ids=np.array(IDS[::-1]))
    with pytest.raises(InputError, match=r"ids of .*c\.npz differ from those of .*b\.npz"):
        load(tmp_path)
    assert load(f"{tmp_path}::a,b").ids == IDS


@pytest.mark.parametrize(
    ("text", "file", "wanted"),
    [
        ("a.npz", "a.npz", None),
        ("a.npz::x", "a.npz", ("x",)),
        ("a.npz::x, y/z", "a.npz", ("x", "y/z")),
        (r"C:\data\a.npz", r"C:\data\a.npz", None),
        (r"C:\data\a.npz::x", r"C:\data\a.npz", ("x",)),
        (r"\\host\share\a.h5::vis/l1", r"\\host\share\a.h5", ("vis/l1",)),
        (Path("a.npz::x"), "a.npz", ("x",)),
    ],
)
def test_targets(text: Any, file: str, wanted: tuple[str, ...] | None) -> None:
    assert split_target(text) == (Path(file), wanted)


def test_a_file_with_colons_in_its_name(tmp_path: Path) -> None:
    np.save(tmp_path / "a::b.npy", A)
    assert load(tmp_path / "a::b.npy").n_items == 9


def test_natural_order() -> None:
    names = ["layer_10", "layer_2", "layer_1", "a", "layer", "layer_02", "10", "9", "layer_" + "9" * 5000]
    assert natural_order(names)[:8] == ["9", "10", "a", "layer", "layer_1", "layer_02", "layer_2", "layer_10"]


# ---------------------------------------------------------------------------------------------------------------
# Damaged, unsafe and wrong files


class Bomb:
    """Opens a file for writing when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
def test_pickled_objects_are_refused_and_never_run(tmp_path: Path, suffix: str) -> None:
    planted = np.empty(1, dtype=object)
    planted[0] = Bomb(tmp_path / "ran")
    path = tmp_path / f"emb{suffix}"
    np.savez(path, emb=planted) if suffix == ".npz" else np.save(path, planted)
    with pytest.raises(InputError) as caught:
        load(path)
    assert not (tmp_path / "ran").exists()
    shown = "".join(map(str, (caught.value, caught.value.__cause__)))
    for word in (str(path), "object array", "pickle", "np.stack"):
        assert word in shown
    assert "allow_pickle" not in shown


def test_ids_saved_as_objects_name_the_way_out(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=A, ids=np.array(IDS, dtype=object))
    with pytest.raises(InputError, match=r"'ids' is an object array.*dtype=str"):
        load(tmp_path / "a.npz")


def damaged(folder: Path) -> dict[str, bytes]:
    raw = {suffix: write_layers(folder, suffix).read_bytes() for suffix in FORMATS if suffix}
    np.save(folder / "a.npy", A)
    raw[".npy"] = (folder / "a.npy").read_bytes()
    html = b"<html>404 not found</html>"
    files = {f"cut{suffix}": data[: len(data) // 2] for suffix, data in raw.items()}
    files |= {f"page{suffix}": html for suffix in (*raw, ".csv")}
    files |= {f"empty{suffix}": b"" for suffix in (*raw, ".csv")}
    files |= {f"wrong{suffix}": raw[".npz"] for suffix in raw if "npz" not in suffix}
    files |= {"wrong.npz": raw[".npy"], "wrong.csv": raw[".npz"], "binary.csv": bytes(range(256))}
    files["middle.npz"] = raw[".npz"][:300] + bytes(64) + raw[".npz"][364:]
    files["noise.npy"] = b"\x93NUMPY\x01\x00v\x00" + bytes(118)
    files["pointer.npy"] = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    files["liar.npy"] = raw[".npy"].replace(b"(9, 4)", b"(9, 9)")
    return files


def test_damaged_files(tmp_path: Path) -> None:
    for name, data in damaged(tmp_path).items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            load(path)
        sentence = str(caught.value)
        assert str(path) in sentence, name
        assert f"not a valid {path.suffix} file" in sentence, (name, sentence)
        for advice in ("allow_pickle", "weights_only"):
            assert advice not in sentence
        assert "\n" not in sentence


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.npz", "does not exist"),
        ("absent", "does not exist"),
        ("n" * 5000 + ".npz", "cannot be looked at"),
        ("acts.xyz", r"suffix '\.xyz', but must have one of \.npy, .*begins like a zip file"),
        ("bare", "no suffix"),
        ("model.npz::", "selects a layer without a name"),
        ("model.npz::a,,b", "selects a layer without a name"),
        ("model.npz::layer_1,layer_1", "twice"),
        ("fifo.npy", "not a regular file"),
    ],
)
def test_bad_paths(tmp_path: Path, name: str, words: str) -> None:
    raw = write_layers(tmp_path, ".npz").read_bytes()
    for other in ("acts.xyz", "bare"):
        (tmp_path / other).write_bytes(raw)
    os.mkfifo(tmp_path / "fifo.npy")
    with pytest.raises(InputError, match=words):
        load(f"{tmp_path}/{name}")


def test_bad_targets(tmp_path: Path) -> None:
    path = write_layers(tmp_path, ".npz")
    with pytest.raises(InputError, match="layers="):
        load(f"{path}::layer_1", layers="layer_1")
    with pytest.raises(InputError, match=r"selection of layers .* is empty"):
        load(path, layers=[])
    for wrong in (3, A, None):
        with pytest.raises(InputError, match="path must be a path"):
            load(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="path must name"):
        load("::x")


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_layers(tmp_path, ".npz")

    def refuse(*arguments: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"model\.npz cannot be opened \(permission denied\)"):
        load(path)


def test_memory_running_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_layers(tmp_path, ".npz")
    monkeypatch.setattr("calibtest.io.numpy_files.npz_array", lambda *arguments: np.empty(2**62, dtype="u1"))
    with pytest.raises(InputError, match=r"needs more memory than there is; read fewer layers"):
        load(path)


@pytest.mark.parametrize("suffix", [".npz", ".h5"])
def test_declared_sizes_are_looked_at_before_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = write_layers(tmp_path, suffix)
    monkeypatch.setattr("calibtest.io.contents.available_bytes", lambda: 100)
    with pytest.raises(InputError, match=r"declares [0-9]+ bytes, but this machine has 100 bytes of memory"):
        load(path)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ({"x": A, "foo": np.ones(9)}, ["'foo'", "(9,)", "'ids'", "'labels'"]),
        ({"x": A, "y": B[:4]}, ["9 items", "4 items"]),
        ({"x": A * np.nan}, ["non-finite", "row 0"]),
        ({"x": A, "ids": np.arange(4)}, ["4 entries", "9 items"]),
        ({"x": A, "ids": np.arange(9), "id": np.arange(9)}, ["twice"]),
        ({"x": A, "ids": np.ones((9, 2))}, ["ids", "1-D", "(9, 2)"]),
        ({"ids": np.arange(9)}, ["no layers"]),
        ({"step": np.int64(3)}, ["no layers"]),
        ({"x": np.array([["a", "b"]])}, ["text"]),
        ({"x": np.ones((9, 0, 4))}, ["empty", "(9, 0, 4)"]),
    ],
)
def test_bad_archives(tmp_path: Path, build: dict[str, np.ndarray], words: list[str]) -> None:
    np.savez(tmp_path / "a.npz", **build)  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        load(tmp_path / "a.npz")
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "module", "extra"),
    [(".h5", "h5py", "h5"), (".hdf5", "h5py", "h5"), (".parquet", "pyarrow", "parquet"), (".pt", "torch", "torch")],
)
def test_missing_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, module: str, extra: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"x")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingDependencyError,
        match=rf"reading \{suffix} needs {module}; install it \(pip install {module}\), .* its extra '{extra}'",
    ):
        load(path)


@pytest.mark.parametrize("version", ["9.0.0", "14.0.0", "of their own"])
def test_parquet_reader_that_could_run_code_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    path = write_layers(tmp_path, ".parquet")
    monkeypatch.setattr("pyarrow.__version__", version)
    with pytest.raises(MissingDependencyError, match=rf"pyarrow 14\.0\.1 or later, got {version}"):
        load(path)
    monkeypatch.setattr("pyarrow.__version__", "14.0.1")
    assert load(path).n_items
