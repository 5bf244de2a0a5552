"""Tables of numbers: as one layer, and as draws of a null distribution."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibtest.errors import InputError
from calibtest.io import NullDraws, load, load_null

ONE = [[0.5, 1.5], [2.0, 3.25]]

TABLES: dict[str, tuple[str, list[list[float]], tuple[str, ...] | None]] = {
    "header": ("a,b\n0.5,1.5\n2,3.25\n", ONE, None),
    "no header": ("0.5,1.5\n2,3.25\n", ONE, None),
    "numbered header": ("0,1\n0.5,1.5\n2,3.25\n", ONE, None),
    "numbered header and rows": (",0,1\n0,0.5,1.5\n1,2,3.25\n", ONE, None),
    "numbered header, named rows": (",0,1\np,0.5,1.5\nq,2,3.25\n", ONE, ("p", "q")),
    "id column": ("a,id,b\n0.5,007,1.5\n2,NA,3.25\n", ONE, ("007", "NA")),
    "id column, numbered header": ("id,0,1\n1,0.5,1.5\n2,2,3.25\n", ONE, ("1", "2")),
    "names without a header": ("cat,0.5,1.5\ndog,2,3.25\n", ONE, ("cat", "dog")),
    "byte order mark": ("\ufeffa,b\n0.5,1.5\n2,3.25\n", ONE, None),
    "semicolons and decimal commas": ("a;b\n0,5;1,5\n2;3,25\n", ONE, None),
    "semicolons, no header": ("0,5;1,5\n2;3,25\n", ONE, None),
    "tabs": ("a\tb\n0.5\t1.5\n2\t3.25\n", ONE, None),
    "spaces": ("a, b\n0.5, 1.5\n 2, 3.25\n", ONE, None),
    "Windows lines and a blank": ("\r\na,b\r\n0.5,1.5\r\n2,3.25\r\n\r\n", ONE, None),
    "quotes": ('"a","b"\n"0.5","1.5"\n2,3.25\n', ONE, None),
    "exponents": ("a,b\n5e-1,15E-1\n+2,3.25\n", ONE, None),
    "labels aside": ("label,a,b\n1,0.5,1.5\n2,2,3.25\n", ONE, None),
    "one column": ("0.5\n2\n", [[0.5], [2.0]], None),
}


@pytest.mark.parametrize("case", sorted(TABLES))
def test_layer_from_a_table(tmp_path: Path, case: str) -> None:
    text, values, ids = TABLES[case]
    (tmp_path / "a.csv").write_bytes(text.encode())
    stack = load(tmp_path / "a.csv")
    np.testing.assert_array_equal(stack.only(), values)
    assert stack.ids == ids
    assert load(f"{tmp_path}/a.csv::0").names == ("0",)


def test_what_pandas_and_numpy_write_comes_back_exactly(tmp_path: Path) -> None:
    values = np.random.default_rng(4).standard_normal((30, 5)) * 10.0 ** np.arange(-150, 151, 75)
    frame = pd.DataFrame(values)
    frame.to_csv(tmp_path / "a.csv")
    frame.to_csv(tmp_path / "b.csv", index=False)
    frame.to_csv(tmp_path / "c.csv", index=False, header=False)
    np.savetxt(tmp_path / "d.csv", values, delimiter=",", fmt="%.17g")
    frame.to_csv(tmp_path / "e.csv", index=False, encoding="utf-16")
    for name in "abcde":
        np.testing.assert_array_equal(load(tmp_path / f"{name}.csv").only(), values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,x\n2,3\n", ["'b'", "text", "'x' in row 0", "'id'"]),
        ("word,b\ncat,1\ndog,2\n", ["'word'", "text", "'cat'"]),
        ("a,b\n1,2\n3,\n", ["1 non-finite", "row 1"]),
        ("a,b\n1,2\n3\n", ["1 non-finite", "row 1"]),
        ("a,b\n1,2\n3,NA\n", ["1 non-finite", "row 1"]),
        (",0.5,0.3\n1,2,3\n", ["1 non-finite", "row 0"]),
        ("a,b\n1,2\n3,4,5\n", ["not a valid .csv", "line 3"]),
        ("a,b\n1,2,3\n4,5,6\n", ["not a valid .csv"]),
        ("0,1\n0,1\n1,0\n", ["'0, 1'", "header or data", "names"]),
        ("0\n0.5\n", ["'0'", "header or data"]),
        ("a,b\n", ["empty", "no rows"]),
        ("\n\n", ["empty", "no rows"]),
        ("id\na\nb\n", ["no columns of numbers"]),
        ("id,ids,a\nx,x,1\n", ["twice"]),
        ("id,a\nx,1\n,2\n", ["id of row 1"]),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load(path)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("größe,b\n1,2\n".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        load(tmp_path / "a.csv")


# ---------------------------------------------------------------------------------------------------------------
# Null draws

DRAWS = np.random.default_rng(5).standard_normal((50, 3))


@pytest.mark.parametrize("array", [DRAWS[:, 0], DRAWS, DRAWS.reshape(25, 3, 2), DRAWS.astype(np.float32)[:, 1]])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_null_arrays(tmp_path: Path, suffix: str, array: np.ndarray) -> None:
    path = tmp_path / f"null{suffix}"
    np.save(path, array) if suffix == ".npy" else np.savez(path, null=array)
    found = load_null(path)
    assert isinstance(found, NullDraws)
    assert found.draws.dtype == np.float64
    assert found.names == ()
    np.testing.assert_array_equal(found.draws, array)


def test_null_cells_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "n.npz", cell_10=DRAWS[:, 0], cell_2=DRAWS[:, 1])
    found = load_null(tmp_path / "n.npz")
    assert found.names == ("cell_2", "cell_10")
    np.testing.assert_array_equal(found.draws, DRAWS[:, [1, 0]])
    np.testing.assert_array_equal(load_null(f"{tmp_path}/n.npz::cell_10").draws, DRAWS[:, 0])
    pd.DataFrame(DRAWS, columns=["a", "b", "c"]).to_csv(tmp_path / "n.csv", index=False)
    found = load_null(tmp_path / "n.csv")
    assert found.names == ("a", "b", "c")
    np.testing.assert_array_equal(found.draws, DRAWS)
    found = load_null(f"{tmp_path}/n.csv::c,a")
    assert found.names == ("c", "a")
    np.testing.assert_array_equal(found.draws, DRAWS[:, [2, 0]])


@pytest.mark.parametrize("header", [[], ["cka"]])
def test_null_column(tmp_path: Path, header: list[str]) -> None:
    (tmp_path / "n.csv").write_text("\n".join([*header, *map(repr, DRAWS[:, 0].tolist())]))
    found = load_null(tmp_path / "n.csv")
    assert found.names == tuple(header)
    np.testing.assert_array_equal(found.draws, DRAWS[:, 0])


def test_missing_draws_are_kept_for_the_procedure_to_refuse(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("cka\n0.5\nNA\n")
    assert np.isnan(load_null(tmp_path / "n.csv").draws).sum() == 1


def test_bad_nulls(tmp_path: Path) -> None:
    np.save(tmp_path / "text.npy", np.array(["a"]))
    np.save(tmp_path / "scalar.npy", np.float64(1))
    np.save(tmp_path / "none.npy", np.empty(0))
    np.save(tmp_path / "ok.npy", DRAWS)
    np.savez(tmp_path / "two.npz", a=DRAWS, b=DRAWS[:, 0])
    np.savez(tmp_path / "zero.npz")
    (tmp_path / "n.csv").write_text("0\n0.1\n")
    for name, words in (
        ("text.npy", "text"),
        ("scalar.npy", r"shape \(\)"),
        ("none.npy", r"shape \(0,\)"),
        ("ok.npy::a", "without a name"),
        ("two.npz", r"a, b.*one shape"),
        ("two.npz::c", "no layer 'c'"),
        ("zero.npz", "no arrays"),
        ("n.csv", "header or data"),
        ("null.pt", "does not exist"),
    ):
        with pytest.raises(InputError, match=words):
            load_null(f"{tmp_path}/{name}")


def test_a_column_called_null_is_a_header(tmp_path: Path) -> None:
    path = tmp_path / "draws.csv"
    path.write_text("null\n0.1\n0.2\nnull\n", encoding="utf-8")
    draws = load_null(path).draws
    assert draws[:2].tolist() == [0.1, 0.2]
    assert np.isnan(draws[2])  # further down it is a missing number
