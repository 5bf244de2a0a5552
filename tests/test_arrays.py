"""The door: what becomes a matrix, what is refused, and that nothing of the caller's is ever changed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xarray as xr

from calibtest.arrays import as_index_lists, as_matrix, as_numeric, reordered
from calibtest.errors import CalibtestError, InputError, MissingDependencyError, import_extra

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 6))
TOKENS = RNG.standard_normal((20, 7, 6))
MAPS = RNG.standard_normal((18, 5, 4, 4))


# ---------------------------------------------------------------------------------------------------------------
# What comes in, and at which precision


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float16", np.float32),
        ("float32", np.float32),
        (">f4", np.float32),
        ("float64", np.float64),
        (">f8", np.float64),
        ("longdouble", np.float64),
        ("uint8", np.float64),
        ("int64", np.float64),
        ("bool", np.float64),
    ],
)
def test_precision_is_widened_and_never_lowered(dtype: str, expected: type) -> None:
    source = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    matrix = as_matrix(source, "X")
    assert matrix.dtype == expected
    assert matrix.dtype.isnative
    np.testing.assert_array_equal(matrix, [[0, 1], [1, 1], [1, 0]])


def test_integers_do_not_wrap() -> None:
    pixels = np.full((3, 2), 255, dtype=np.uint8)
    assert (as_matrix(pixels, "X") ** 2 == 65025).all()


@pytest.mark.parametrize(
    "source",
    [
        X.tolist(),
        tuple(map(tuple, X.tolist())),
        list(X),
        pd.DataFrame(X),
        pd.DataFrame(X).astype("Float64"),
        pd.DataFrame(X).astype("float64[pyarrow]"),
        xr.DataArray(X, dims=("item", "unit")),
        np.ma.MaskedArray(X),
        np.asmatrix(X),
    ],
    ids=["lists", "tuples", "rows", "frame", "nullable", "arrow", "xarray", "unmasked", "np.matrix"],
)
def test_array_likes_give_the_same_matrix(source: Any) -> None:
    matrix = as_matrix(source, "X")
    assert type(matrix) is np.ndarray
    np.testing.assert_array_equal(matrix, X)


def test_narrow_columns_stay_narrow() -> None:
    frame = pd.DataFrame({"a": pd.array([1, 2], "Float32"), "b": np.array([1, 2], "float16")})
    assert as_matrix(frame, "X").dtype == np.float32
    frame["c"] = [True, False]
    assert as_matrix(frame, "X").dtype == np.float64


def test_column_labels_may_repeat() -> None:
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    np.testing.assert_array_equal(as_matrix(frame, "X"), [[1, 2], [3, 4]])


def layouts() -> dict[str, np.ndarray]:
    spaced = np.zeros((80, 12))
    spaced[::2, ::2] = X
    locked = X.copy()
    locked.flags.writeable = False
    return {
        "fortran": np.asfortranarray(X),
        "negative strides": X[::-1].copy()[::-1],
        "spaced": spaced[::2, ::2],
        "read-only": locked,
        "transposed": X.T.copy().T,
    }


@pytest.mark.parametrize("layout", sorted(layouts()))
def test_layouts_give_the_same_matrix(layout: str) -> None:
    matrix = as_matrix(layouts()[layout], "X")
    assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(matrix, X)


def test_read_only_memory_map(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    matrix = as_matrix(np.load(tmp_path / "x.npy", mmap_mode="r"), "X")
    assert type(matrix) is np.ndarray
    np.testing.assert_array_equal(matrix, X)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32"])
def test_input_is_never_changed_and_output_never_writable(dtype: str) -> None:
    source = (10 * X).astype(dtype)
    before = source.tobytes()
    matrix = as_matrix(source, "X")
    assert source.flags.writeable
    assert source.tobytes() == before
    with pytest.raises(ValueError, match="read-only"):
        matrix[0, 0] = 1


@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e-324])
def test_scale_extremes_are_data(scale: float) -> None:
    np.testing.assert_array_equal(as_matrix(np.full((3, 2), scale), "X"), scale)


# ---------------------------------------------------------------------------------------------------------------
# Tensors and other protocols


class FakeTensor:
    """A device tensor that insists on the order detach, cpu, float, numpy."""

    layout = "torch.strided"

    def __init__(self, values: np.ndarray, dtype: str, steps: list[str] | None = None) -> None:
        self.values, self.dtype, self.steps = values, dtype, steps if steps is not None else []
        self.shape = values.shape

    def detach(self) -> FakeTensor:
        self.steps.append("detach")
        return self

    def cpu(self) -> FakeTensor:
        assert self.steps == ["detach"]
        self.steps.append("cpu")
        return self

    def float(self) -> FakeTensor:
        assert self.steps == ["detach", "cpu"], "widened before it reached the CPU"
        self.steps.append("float")
        return FakeTensor(self.values, "torch.float32", self.steps)

    def numpy(self) -> np.ndarray:
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        assert "cpu" in self.steps
        return self.values

    def __array__(self, *args: Any, **options: Any) -> np.ndarray:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad")


@pytest.mark.parametrize(
    ("dtype", "steps"),
    [
        ("torch.bfloat16", ["detach", "cpu", "float"]),
        ("torch.float8_e4m3fn", ["detach", "cpu", "float"]),
        ("torch.float32", ["detach", "cpu"]),
        ("torch.float64", ["detach", "cpu"]),
    ],
)
def test_tensors_are_detached_then_moved_then_widened(dtype: str, steps: list[str]) -> None:
    values = X.astype(np.float64 if dtype == "torch.float64" else np.float32)
    tensor = FakeTensor(values, dtype)
    matrix = as_matrix(tensor, "X")
    assert tensor.steps == steps
    assert matrix.dtype == values.dtype
    np.testing.assert_array_equal(matrix, values)


def test_rows_of_tensors_are_stacked() -> None:
    rows = [FakeTensor(row, "torch.float64") for row in X]
    np.testing.assert_array_equal(as_matrix(rows, "X"), X)


def test_sparse_tensor_is_refused() -> None:
    tensor = FakeTensor(X, "torch.float64")
    tensor.layout = "torch.sparse_coo"
    with pytest.raises(InputError, match=r"X is a sparse tensor.*to_dense"):
        as_matrix(tensor, "X")


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    values = RNG.integers(-8, 9, (20, 4)).astype(np.float32)  # exact in bfloat16
    tensor = torch.tensor(values)
    for variant in (
        tensor,
        tensor.to(torch.bfloat16),
        tensor.to(torch.float16),
        tensor.clone().requires_grad_(),
        tensor.t().contiguous().t(),
        torch.complex(torch.zeros_like(tensor), tensor).conj().imag * -1,
    ):
        matrix = as_matrix(variant, "X")
        assert matrix.dtype == np.float32
        np.testing.assert_array_equal(matrix, values)
    assert as_matrix(tensor.double(), "X").dtype == np.float64
    assert as_matrix(tensor.to(torch.int8), "X").dtype == np.float64
    with pytest.raises(InputError, match="complex"):
        as_matrix(torch.complex(tensor, tensor), "X")
    with pytest.raises(InputError, match="sparse"):
        as_matrix(tensor.to_sparse(), "X")


class OnlyDlpack:
    """An array that offers nothing but the exchange protocol."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class OnDevice(OnlyDlpack):
    """A device array: no implicit copy, no exchange, but an explicit get()."""

    __cuda_array_interface__: dict[str, Any] = {}

    def __array__(self, *args: Any, **options: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("unsupported device")

    def get(self) -> np.ndarray:
        return self.values


@pytest.mark.parametrize("wrapper", [OnlyDlpack, OnDevice])
def test_exchange_protocols(wrapper: type[OnlyDlpack]) -> None:
    np.testing.assert_array_equal(as_matrix(wrapper(X.copy()), "X"), X)


def test_a_protocol_that_fails_is_told() -> None:
    class Broken(OnDevice):
        get = None  # type: ignore[assignment]

    with pytest.raises(InputError, match=r"X is a Broken that cannot be read.*Implicit conversion.*NumPy array first"):
        as_matrix(Broken(X), "X")


# ---------------------------------------------------------------------------------------------------------------
# Pooling


def padded() -> tuple[np.ndarray, np.ndarray]:
    tokens, mask = TOKENS.copy(), np.zeros((20, 7), dtype=bool)
    for row in range(20):
        mask[row, : 1 + row % 7] = True
    tokens[~mask] = np.nan
    return tokens, mask


def test_pool_mean_and_flatten() -> None:
    np.testing.assert_allclose(as_matrix(TOKENS, "X", pool="mean"), TOKENS.mean(1), rtol=1e-12)
    np.testing.assert_array_equal(as_matrix(TOKENS, "X", pool="flatten"), TOKENS.reshape(20, -1))
    np.testing.assert_array_equal(as_matrix(TOKENS, "X", pool="last"), TOKENS[:, -1])
    np.testing.assert_allclose(as_matrix(MAPS, "X", pool="mean"), MAPS.mean((2, 3)), rtol=1e-12)
    np.testing.assert_array_equal(as_matrix(MAPS, "X", pool="flatten"), MAPS.reshape(18, -1))


@pytest.mark.parametrize("pool", ["mean", "last", "flatten"])
def test_two_dimensions_need_no_pooling(pool: Any) -> None:
    np.testing.assert_array_equal(as_matrix(X, "X", pool=pool), X)


@pytest.mark.parametrize("cast", [bool, int, np.float32, list])
def test_padding_is_never_averaged_in(cast: Any) -> None:
    tokens, mask = padded()
    given = mask.tolist() if cast is list else mask.astype(cast)
    expected = np.array([row[real].mean(0) for row, real in zip(tokens, mask, strict=True)])
    np.testing.assert_allclose(as_matrix(tokens, "X", pool="mean", mask=given), expected, rtol=1e-12)
    last = np.array([row[real][-1] for row, real in zip(tokens, mask, strict=True)])
    np.testing.assert_array_equal(as_matrix(tokens, "X", pool="last", mask=given), last)


def test_last_token_with_padding_on_the_left() -> None:
    mask = np.ones((20, 7), dtype=bool)
    mask[:, :3] = False
    np.testing.assert_array_equal(as_matrix(TOKENS, "X", pool="last", mask=mask), TOKENS[:, -1])


@pytest.mark.parametrize("mask", [None, np.ones((2, 5))])
def test_tokens_are_averaged_in_double(mask: Any) -> None:
    tokens = np.ones((2, 5, 1), dtype=np.float32)
    tokens[:, 0] = 2.0**24  # in single precision the ones would vanish beside it
    matrix = as_matrix(tokens, "X", pool="mean", mask=mask)
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, np.float32((2**24 + 4) / 5))
    half = np.full((2, 3000, 1), 100, dtype=np.float16)  # the sum is beyond half precision
    np.testing.assert_array_equal(as_matrix(half, "X", pool="mean"), 100)


def test_pooling_leaves_the_input_alone() -> None:
    tokens, mask = padded()
    before = tokens.tobytes(), mask.tobytes()
    for pool in ("mean", "last"):
        as_matrix(tokens, "X", pool=pool, mask=mask)  # type: ignore[arg-type]
    assert (tokens.tobytes(), mask.tobytes()) == before


# ---------------------------------------------------------------------------------------------------------------
# Bad calls: each sentence names the argument, the rule, the value and the way out


def nan_at(row: int, dtype: str) -> np.ndarray:
    values = np.ones((30, 4), dtype=dtype)
    values[row, 2] = np.nan
    return values


BAD_CALLS: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "no features": (np.empty((12, 0)), {}, ["Y", "empty", "(12, 0)", "0 features"]),
    "no items": (np.empty((0, 3)), {}, ["Y", "empty", "(0, 3)", "0 items"]),
    "empty list": ([], {}, ["Y", "empty", "0 items"]),
    "no tokens": (np.empty((3, 0, 4)), {"pool": "mean"}, ["Y", "empty", "(3, 0, 4)"]),
    "empty objects": (np.empty((0,), dtype=object), {}, ["Y", "object array", "no entry"]),
    "nan float64": (nan_at(12, "float64"), {}, ["Y", "1 non-finite value ", "NaN or inf", "first in row 12", "drop"]),
    "nan float32": (nan_at(12, "float32"), {}, ["Y", "1 non-finite value ", "row 12"]),
    "inf float16": (np.full((4, 2), np.inf, dtype=np.float16), {}, ["Y", "8 non-finite values", "row 0"]),
    "nan in tokens": (nan_at(5, "float64").reshape(30, 2, 2), {"pool": "mean"}, ["1 non-finite", "row 5"]),
    "too large for float64": (np.full((2, 2), np.longdouble("1e400")), {}, ["Y", "float64", "non-finite"]),
    "mean overflows": (np.full((2, 4, 1), 1e308), {"pool": "mean"}, ["Y", "pool='mean'", "non-finite", "row 0"]),
    "NA in a nullable column": (
        pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [1.0, 2.0, 3.0]}),
        {},
        ["Y", "1 non-finite", "row 1"],
    ),
    "text column": (pd.DataFrame({"w": ["a", "b"], "x": [1, 2]}), {}, ["Y", "'w'", "numbers", "index"]),
    "complex column": (pd.DataFrame({"z": [1j, 2j]}), {}, ["Y", "'z'", "complex128"]),
    "series of lists": (pd.Series([[1, 2], [3, 4]]), {}, ["Y", "object array", "np.stack"]),
    "objects": (np.array([[1, None]], dtype=object), {}, ["Y", "object array", "an int", "np.stack"]),
    "None inside": ([[1.0, None], [1.0, 2.0]], {}, ["Y", "object array"]),
    "text": (np.array([["a", "b"]]), {}, ["Y", "text", "astype(float)"]),
    "complex": (np.ones((2, 2), dtype=complex), {}, ["Y", "complex128", "Y.real", "abs(Y)"]),
    "dates": (np.zeros((2, 2), dtype="datetime64[s]"), {}, ["Y", "dates"]),
    "durations": (np.zeros((2, 2), dtype="timedelta64[s]"), {}, ["Y", "times"]),
    "structured": (np.zeros(3, dtype=[("a", "f8"), ("b", "f8")]), {}, ["Y", "structured", "a, b"]),
    "raw bytes": (np.zeros((2, 2), dtype="V4"), {}, ["Y", "dtype |V4", "float32"]),
    "masked entries": (np.ma.masked_greater([[1.0, 2.0], [5.0, 6.0]], 5.5), {}, ["Y", "1 masked entry", "row 1"]),
    "ragged lists": ([[1, 2], [3, 4], [5]], {}, ["Y", "ragged", "row 2", "length 1", "length 2"]),
    "ragged rows": ([np.ones(2), np.ones(3)], {}, ["Y", "ragged", "row 1", "length 3"]),
    "ragged deep": ([[[1, 2]], [[3]]], {}, ["Y", "not rectangular", "same number of features"]),
    "a number": (3.5, {}, ["Y", "float"]),
    "numpy scalar": (np.float64(3), {}, ["Y", "2-D", "single value"]),
    "one axis": (np.ones(5), {}, ["Y", "2-D", "1-D", "(5,)", "Y.reshape(-1, 1)"]),
    "tokens": (TOKENS, {}, ["Y", "2-D", "(20, 7, 6)", "pool", "'mean'", "'last'", "'flatten'"]),
    "maps": (MAPS, {}, ["Y", "(18, 5, 4, 4)", "'mean'", "'flatten'"]),
    "last of maps": (MAPS, {"pool": "last"}, ["Y", "(18, 5, 4, 4)", "'last'", "'mean'", "'flatten'"]),
    "five axes": (np.ones((2, 2, 2, 2, 2)), {"pool": "mean"}, ["Y", "5-D", "reshape"]),
    "unknown pool": (TOKENS, {"pool": "max"}, ["pool", "'mean'", "'last'", "'flatten'", "'max'"]),
    "mask for 2-D": (X, {"mask": np.ones((40, 6))}, ["mask", "3-D", "(40, 6)"]),
    "mask for maps": (MAPS, {"pool": "mean", "mask": np.ones((18, 5))}, ["mask", "(18, 5, 4, 4)"]),
    "mask with flatten": (TOKENS, {"pool": "flatten", "mask": np.ones((20, 7))}, ["mask", "'flatten'", "'mean'"]),
    "mask shape": (TOKENS, {"pool": "mean", "mask": np.ones((20, 6))}, ["mask", "(20, 7)", "(20, 6)"]),
    "mask values": (TOKENS, {"pool": "mean", "mask": np.full((20, 7), 2)}, ["mask", "true and false"]),
    "no real token": (
        TOKENS,
        {"pool": "mean", "mask": np.arange(20)[:, None] != np.full(7, 4)},
        ["mask", "no real token", "row 4", "drop"],
    ),
    "sparse": (scipy.sparse.eye(3).tocsr(), {}, ["Y", "sparse", "toarray"]),
    "path": ("acts.npy", {}, ["Y", "'acts.npy'", "calibtest.load"]),
    "mapping": ({"a": X}, {}, ["Y", "one array", "dict"]),
    "dataset": (xr.Dataset({"a": ("i", [1.0])}), {}, ["Y", "Dataset", "entries"]),
    "nothing": (None, {}, ["Y", "NoneType"]),
    "set": ({1.0, 2.0}, {}, ["Y", "a set", "numpy.asarray"]),
}


@pytest.mark.parametrize("case", sorted(BAD_CALLS))
def test_bad_calls(case: str) -> None:
    obj, options, words = BAD_CALLS[case]
    with pytest.raises(InputError) as caught:
        as_matrix(obj, "Y", **options)
    sentence = str(caught.value)
    for word in words:
        assert word in sentence, (word, sentence)
    assert "\n" not in sentence
    assert not sentence.endswith(".")


def test_non_finite_values_are_counted_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibtest.arrays._BLOCK", 8)
    values = np.ones((30, 4))
    values[[9, 20], 1] = np.nan, -np.inf
    with pytest.raises(InputError, match=r"2 non-finite values \(NaN or inf\), first in row 9"):
        as_matrix(values, "Y")


def test_index_lists() -> None:
    lists = as_index_lists(np.array([[1, 2], [0, 2], [0, 1]], dtype=np.uint8), "N")
    assert lists.dtype == np.int64
    assert not lists.flags.writeable
    for bad, word in (
        (np.ones((3, 2)), "whole"),
        (np.ones(3, dtype=int), "2-D"),
        (np.ones((3, 0), dtype=int), "empty"),
        (np.full((3, 2), 2**63, dtype=np.uint64), str(2**63)),
    ):
        with pytest.raises(InputError, match=word):
            as_index_lists(bad, "N")


def test_narrow_formats_registered_by_name() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for code in ("bfloat16", "float8_e4m3fn"):
        values = np.array([[1.0, -2.5], [0.5, 3.0]]).astype(getattr(ml_dtypes, code))
        assert as_numeric(values, "X").dtype == np.float32
    assert as_matrix(np.ones((2, 2), dtype=ml_dtypes.int4), "X").dtype == np.float64


# ---------------------------------------------------------------------------------------------------------------
# The errors themselves


def test_input_errors_are_value_errors() -> None:
    assert issubclass(InputError, (CalibtestError, ValueError))
    assert issubclass(InputError, ValueError)
    assert issubclass(MissingDependencyError, ImportError)


def test_missing_extra_names_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(
        MissingDependencyError, match=r"reading \.h5 needs h5py; install it \(pip install h5py\), .*'h5'"
    ):
        import_extra("h5py", extra="h5", purpose="reading .h5")


def test_broken_extra_is_not_called_absent(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "halfbroken.py").write_text("raise ImportError('libfoo.so is missing')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"installed but does not import \(libfoo\.so is missing\)"):
        import_extra("halfbroken", extra="half", purpose="halving")


@pytest.mark.parametrize(
    ("version", "good"), [("2.5.9", False), ("2", False), ("2.6", True), ("2.10.0a1", True), ("3", True)]
)
def test_extra_that_is_too_old_is_refused(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, version: str, good: bool
) -> None:
    (tmp_path / "aged.py").write_text(f"__version__ = {version!r}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "aged", raising=False)
    if good:
        assert import_extra("aged", extra="old", purpose="ageing", least=(2, 6)).__version__ == version
        return
    with pytest.raises(MissingDependencyError, match=rf"ageing safely needs aged 2\.6 or later, got {version}; "):
        import_extra("aged", extra="old", purpose="ageing", least=(2, 6))


@pytest.mark.parametrize("kind", ["activations", "kernel", "distance", "neighbours"])
def test_reordered_items_keep_what_they_are(kind: Any) -> None:
    rng = np.random.default_rng(0)
    points, order = rng.standard_normal((7, 2)), rng.permutation(7)

    def layer(z: np.ndarray) -> np.ndarray:
        apart = np.linalg.norm(z[:, None] - z, axis=2)
        nearest = np.argsort(apart, axis=1, kind="stable")[:, 1:4]
        return {"activations": z, "kernel": z @ z.T, "distance": apart, "neighbours": nearest}[kind]

    np.testing.assert_array_equal(reordered(layer(points), kind, order), layer(points[order]))
