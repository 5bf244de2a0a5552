"""The one door from array-like objects to a finite float matrix.

Everything that measures, relabels or counts in this package works on C-contiguous, finite matrices with items in
rows. Whatever a caller holds (NumPy, nested lists, torch, jax, cupy, pandas, xarray, memory maps) is turned into
such a matrix here, once, or refused in one sentence. Nothing is guessed: an array with a token or a spatial axis
is pooled only as the caller says.

The door never changes its input, and what it hands out is read-only, because it may share memory with the input.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from calibtest.errors import InputError, first_line

__all__ = [
    "FloatMatrix",
    "IndexMatrix",
    "Kind",
    "Pool",
    "as_index_lists",
    "as_matrix",
    "as_numeric",
    "frozen",
    "is_dataframe",
    "pooled_matrix",
    "reordered",
]

Kind: TypeAlias = Literal["activations", "kernel", "distance", "neighbours"]
Pool: TypeAlias = Literal["mean", "last", "flatten"]
FloatMatrix: TypeAlias = NDArray[np.floating[Any]]
IndexMatrix: TypeAlias = NDArray[np.int64]

POOLS: tuple[str, ...] = get_args(Pool)

# Elements looked at together by the finiteness check: large enough to be fast, small beside the array itself.
_BLOCK = 1 << 22

# Number formats below float32 that NumPy itself does not know; ml_dtypes registers them under these names.
_NARROW_FLOATS = ("bfloat16", "float8_", "float6_", "float4_")
_NARROW_COLUMNS = ("float16", "float32", "float[pyarrow]", "halffloat[pyarrow]")  # pandas dtypes, lower case
_NARROW_INTEGERS = ("int4", "uint4", "int2", "uint2", "int1", "uint1")


def as_matrix(
    obj: object,
    name: str,
    *,
    pool: Pool | None = None,
    mask: object = None,
) -> FloatMatrix:
    """Turn an array-like object into a finite float matrix with items in rows.

    Parameters
    ----------
    obj
        Array-like: ``(n, d)``, or ``(n, tokens, d)`` or ``(n, c, h, w)`` together with `pool`.
    name
        What the caller calls the object (``"X"``, ``"A['layer3']"``); it opens every error sentence.
    pool
        How to reduce a 3-D or 4-D array to two dimensions: ``"mean"`` over tokens or over the spatial axes,
        ``"last"`` real token (3-D only), ``"flatten"``. Two-dimensional input is left as it is.
    mask
        ``(n, tokens)``, true for real tokens and false for padding; for 3-D input with ``"mean"`` or ``"last"``.

    Returns
    -------
    ndarray, shape (n, d)
        C-contiguous, finite and read-only; float32 if the input was float32 or narrower, otherwise float64.
        It may share memory with the input.

    Raises
    ------
    InputError
        When the object cannot be such a matrix; one sentence says why, and what to do.
    """
    return pooled_matrix(as_numeric(obj, name), name, pool=pool, mask=mask)


def as_index_lists(obj: object, name: str) -> IndexMatrix:
    """Turn an array-like object into a read-only ``(n, k)`` int64 matrix of item numbers."""
    array = as_numeric(obj, name)
    if array.dtype.kind not in "iu":
        raise InputError(
            f"{name} must hold neighbour lists as whole item numbers, got dtype {array.dtype}; "
            "convert it with .astype(int) if every value is a whole number"
        )
    if array.ndim != 2:
        raise InputError(f"{name} must be 2-D (items, neighbours), got shape {array.shape}; give one list an item")
    _refuse_empty(array.shape, name, "neighbours")
    if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"{name} holds the item number {int(array.max())}, but must lie in 0..n-1; check the lists")
    return frozen(np.ascontiguousarray(array, dtype=np.int64))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, leaving the flags of `array` itself alone."""
    view = array.view()
    view.flags.writeable = False
    return view


def reordered(array: NDArray[Any], kind: Kind, order: IndexMatrix) -> NDArray[Any]:
    """Bring the items of a layer into another order.

    Parameters
    ----------
    array
        A checked layer.
    kind
        What it holds: columns are items too for kernels and distances, and entries are items for neighbour lists.
    order
        ``(n,)`` numbers; item ``order[i]`` comes to row ``i``.
    """
    if kind == "activations":
        return np.asarray(array[order])
    if kind == "neighbours":
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        return np.asarray(place[array[order]])
    return np.asarray(array[np.ix_(order, order)])


def is_dataframe(obj: object) -> bool:
    """Tell whether `obj` is a pandas DataFrame, without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(obj, pandas.DataFrame)


def as_numeric(obj: object, name: str) -> NDArray[Any]:
    """Turn an array-like object into a real numeric array of any shape, or refuse it in one sentence.

    Half precision that NumPy has no name for is widened to float32; other dtypes are kept.
    """
    array = _to_numpy(obj, name)
    kind, dtype_name = array.dtype.kind, array.dtype.name
    if dtype_name.startswith(_NARROW_FLOATS):
        return array.astype(np.float32)
    if dtype_name in _NARROW_INTEGERS:
        return array.astype(np.int64)
    if kind in "biuf":
        return array
    raise InputError(f"{name} {_refusal(array, name)}")


def _refusal(array: NDArray[Any], name: str) -> str:
    kind = array.dtype.kind
    if kind == "O":
        entry = f"its first entry is {_a(type(array.flat[0]).__name__)}" if array.size else "it has no entry"
        return (
            f"is an object array ({entry}), but must hold numbers; "
            "make it one rectangular array, for example with np.stack(rows) or .astype(float)"
        )
    if kind in "UST":
        return f"holds text (dtype {array.dtype}), but must hold numbers; convert it with .astype(float)"
    if kind == "c":
        return (
            f"holds complex numbers (dtype {array.dtype}), but must be real; "
            f"choose {name}.real, {name}.imag or abs({name}), or put real and imaginary parts side by side"
        )
    if kind in "mM":
        return f"holds dates or times (dtype {array.dtype}), but must hold numbers; express them in one unit as floats"
    if array.dtype.names is not None:
        return (
            f"is a structured array with the fields {', '.join(array.dtype.names)}, but must be a plain matrix; "
            "convert it with numpy.lib.recfunctions.structured_to_unstructured"
        )
    return f"has dtype {array.dtype}, but must hold numbers; convert it to float32 or float64"


# ---------------------------------------------------------------------------------------------------------------
# Objects to NumPy


def _to_numpy(obj: object, name: str) -> NDArray[Any]:
    if isinstance(obj, np.ma.MaskedArray):
        return _from_masked(obj, name)
    if isinstance(obj, np.ndarray):
        return np.asarray(obj)
    if is_dataframe(obj):
        return _from_dataframe(obj, name)
    if isinstance(obj, (str, bytes, PathLike)):
        raise InputError(f"{name} must be an array, got {obj!r}; read files with calibtest.load(path) first")
    if isinstance(obj, Mapping):
        raise InputError(f"{name} must be one array, got a {type(obj).__name__}; pick one of its entries")
    if callable(getattr(obj, "detach", None)) and callable(getattr(obj, "cpu", None)):
        return _from_tensor(obj, name)
    if callable(getattr(obj, "tocsr", None)):
        raise InputError(f"{name} is a sparse matrix, but must be dense; pass {name}.toarray() if it fits in memory")
    if isinstance(obj, (list, tuple)):
        return _from_sequence(obj, name)
    return _from_protocols(obj, name)


def _from_masked(obj: np.ma.MaskedArray[Any, Any], name: str) -> NDArray[Any]:
    masked = np.ma.getmaskarray(obj)
    if masked.any():
        row = int(np.argwhere(masked)[0][0]) if masked.ndim else 0
        raise InputError(
            f"{name} is a masked array with {_count(int(masked.sum()), 'masked entry', 'masked entries')}, first in "
            f"row {row}, but every value must be known; drop these items from both sides or fill them in"
        )
    return np.asarray(obj.data)


def _from_dataframe(obj: Any, name: str) -> NDArray[Any]:
    types = sys.modules["pandas"].api.types
    for position, dtype in enumerate(obj.dtypes):
        numeric = types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype)
        if not numeric or types.is_complex_dtype(dtype):
            raise InputError(
                f"{name} has the column {obj.columns[position]!r} of dtype {dtype}, but must hold real numbers; "
                "drop the column, or make it the index if it names the items"
            )
    narrow = all(str(dtype).lower() in _NARROW_COLUMNS for dtype in obj.dtypes)
    # A missing value of a nullable column becomes NaN, which the finiteness check reports with its row.
    return np.asarray(obj.to_numpy(dtype=np.float32 if narrow else np.float64, na_value=np.nan))


def _from_tensor(obj: Any, name: str) -> NDArray[Any]:
    # Order matters: gradients go first, then the device, and only on the CPU is anything widened
    # (some devices have no float64, and NumPy has no bfloat16).
    try:
        tensor = obj.detach().cpu()
        if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided":
            raise InputError(f"{name} is a sparse tensor, but must be dense; pass {name}.to_dense()")
        if any(narrow in str(tensor.dtype) for narrow in _NARROW_FLOATS):
            tensor = tensor.float()
        if callable(getattr(tensor, "resolve_neg", None)):
            tensor = tensor.resolve_conj().resolve_neg()
        return np.asarray(tensor.numpy())
    except (TypeError, RuntimeError, NotImplementedError, AttributeError) as error:
        raise InputError(
            f"{name} is a {type(obj).__name__} that cannot be copied to the CPU as numbers ({first_line(error)}); "
            "convert it to a NumPy array first"
        ) from error


def _from_sequence(obj: Sequence[Any], name: str) -> NDArray[Any]:
    if not obj:
        raise InputError(f"{name} is empty: a {type(obj).__name__} with 0 items; pass at least one row")
    if any(hasattr(row, "shape") and getattr(row, "shape", ()) != () for row in obj):
        rows = [_to_numpy(row, f"{name}[{i}]") for i, row in enumerate(obj)]
        _refuse_ragged([row.shape[0] if row.ndim == 1 else row.shape for row in rows], name)
        return np.stack(rows)
    if all(isinstance(row, (list, tuple)) for row in obj):
        _refuse_ragged([len(row) for row in obj], name)
    try:
        return np.asarray(obj)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"{name} is a nested {type(obj).__name__} that is not rectangular ({first_line(error)}); "
            "give every item the same number of features"
        ) from error


def _refuse_ragged(lengths: Sequence[Any], name: str) -> None:
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            raise InputError(
                f"{name} is ragged: row 0 has length {lengths[0]} and row {row} has length {length}; "
                "give every item the same number of features"
            )


def _from_protocols(obj: Any, name: str) -> NDArray[Any]:
    known = [protocol for protocol in ("__array__", "__array_interface__", "__dlpack__") if hasattr(obj, protocol)]
    if not known:
        raise InputError(f"{name} must be an array, got {_a(type(obj).__name__)}; convert it with numpy.asarray first")
    troubles: list[str] = []
    # Device arrays refuse the implicit copy of __array__ but offer dlpack or an explicit get().
    attempts: list[Callable[[], NDArray[Any]]] = [lambda: np.asarray(obj)] if known != ["__dlpack__"] else []
    if "__dlpack__" in known:
        attempts += [lambda: np.from_dlpack(obj), lambda: np.from_dlpack(obj, device="cpu")]
    if hasattr(obj, "__cuda_array_interface__") and callable(getattr(obj, "get", None)):
        attempts.append(lambda: np.asarray(obj.get()))
    for attempt in attempts:
        try:
            return attempt()
        except (TypeError, ValueError, RuntimeError, BufferError, NotImplementedError, AttributeError) as error:
            troubles.append(first_line(error))
    raise InputError(
        f"{name} is {_a(type(obj).__name__)} that cannot be read as an array ({troubles[0]}); "
        "convert it to a NumPy array first"
    )


# ---------------------------------------------------------------------------------------------------------------
# Shape, finiteness, precision


def pooled_matrix(
    array: NDArray[Any],
    name: str,
    *,
    pool: Pool | None = None,
    mask: object = None,
) -> FloatMatrix:
    """Reduce a numeric array to a finite float matrix; the second half of :func:`as_matrix`."""
    if pool is not None and pool not in POOLS:
        raise InputError(f"pool must be 'mean', 'last' or 'flatten', got {pool!r}")
    _refuse_empty(array.shape, name, "features")
    if array.ndim < 2:
        _refuse_flat(array, name)
    if array.ndim > 2:
        _refuse_unpooled(array.shape, name, pool)
    real = None if mask is None else _token_mask(mask, array.shape, name, pool)
    _refuse_nonfinite(array, name, real)
    dtype = np.float32 if array.dtype.kind == "f" and array.dtype.itemsize <= 4 else np.float64
    with np.errstate(over="ignore"):
        reduced = array if pool is None or array.ndim == 2 else _pool(array, pool, real)
        matrix = np.ascontiguousarray(reduced, dtype=dtype)
    if matrix.dtype.itemsize < array.dtype.itemsize or reduced is not array:
        _refuse_nonfinite(matrix, f"{name} as {matrix.dtype}" if reduced is array else f"{name} after pool={pool!r}")
    return frozen(matrix)


def _refuse_empty(shape: tuple[int, ...], name: str, columns: str) -> None:
    if 0 not in shape:
        return
    missing = "items" if shape[0] == 0 else columns if shape[-1] == 0 else "values"
    raise InputError(
        f"{name} is empty: shape {shape} has 0 {missing}; check that the layer name or the filter found something"
    )


def _refuse_flat(array: NDArray[Any], name: str) -> None:
    if array.ndim == 0:
        raise InputError(f"{name} must be 2-D (items, features), got a single value; pass one row an item")
    raise InputError(
        f"{name} must be 2-D (items, features), got 1-D with shape {array.shape}; "
        f"pass {name}.reshape(-1, 1) if each item has one feature"
    )


def _refuse_unpooled(shape: tuple[int, ...], name: str, pool: Pool | None) -> None:
    if len(shape) > 4:
        raise InputError(
            f"{name} must be 2-D (items, features), got {len(shape)}-D with shape {shape}; reshape it to 2-D first"
        )
    if len(shape) == 4 and pool == "last":
        raise InputError(
            f"{name} has shape {shape}, and pool='last' needs a token axis (items, tokens, features); "
            "choose pool='mean' or pool='flatten' for maps (items, channels, height, width)"
        )
    if pool is None:
        raise InputError(
            f"{name} must be 2-D (items, features), got {len(shape)}-D with shape {shape}; choose "
            + (
                "pool='mean' (the mean over tokens), pool='last' (the last token) or pool='flatten', "
                "or pass a list of 2-D arrays if axis 1 is layers"
                if len(shape) == 3
                else "pool='mean' (the mean over the two spatial axes) or pool='flatten'"
            )
        )


def _token_mask(mask: object, shape: tuple[int, ...], name: str, pool: Pool | None) -> NDArray[np.bool_]:
    if len(shape) != 3:
        raise InputError(f"mask marks the tokens of a 3-D array, but {name} has shape {shape}; leave mask out")
    if pool == "flatten":
        raise InputError("mask cannot be used with pool='flatten', which keeps padding as features; choose pool='mean'")
    array = as_numeric(mask, "mask")
    if array.shape != shape[:2]:
        raise InputError(
            f"mask must have shape {shape[:2]} (items, tokens) to go with {name} of shape {shape}, got {array.shape}"
        )
    if not np.isin(array, (0, 1)).all():
        raise InputError(
            "mask must hold only true and false (or 1 and 0), got other values; pass mask > 0 if that is what you mean"
        )
    real = array.astype(np.bool_)
    blank = np.flatnonzero(~real.any(axis=1))
    if blank.size:
        raise InputError(
            f"mask leaves no real token in row {int(blank[0])} of {name} ({_count(int(blank.size), 'such row')}); "
            "drop these items from both sides"
        )
    return real


def _pool(array: NDArray[Any], pool: Pool, real: NDArray[np.bool_] | None) -> NDArray[Any]:
    if pool == "flatten":
        return array.reshape(array.shape[0], -1)
    if pool == "last":
        rows, tokens = np.arange(array.shape[0]), array.shape[1]
        if real is None:
            return array[:, -1]
        return np.asarray(array[rows, tokens - 1 - np.argmax(real[:, ::-1], axis=1)])
    axes = tuple(range(1, array.ndim - 1)) if array.ndim == 3 else (2, 3)
    if real is None:
        return np.asarray(array.mean(axis=axes, dtype=np.float64))
    total = np.add.reduce(array, axis=1, dtype=np.float64, where=real[:, :, None])
    return np.asarray(total / real.sum(axis=1)[:, None])


def _refuse_nonfinite(array: NDArray[Any], name: str, real: NDArray[np.bool_] | None = None) -> None:
    if array.dtype.kind != "f":
        return
    count, first = 0, -1
    step = max(1, _BLOCK // max(1, array[0].size))
    for start in range(0, array.shape[0], step):
        bad = ~np.isfinite(array[start : start + step])
        if real is not None:
            bad &= real[start : start + step, :, None]
        if bad.any():
            count += int(bad.sum())
            if first < 0:
                first = start + int(np.argmax(bad.reshape(bad.shape[0], -1).any(axis=1)))
    if count:
        raise InputError(
            f"{name} has {_count(count, 'non-finite value')} (NaN or inf), first in row {first}; "
            "drop the affected items from both sides or compute them again"
        )


def _count(number: int, singular: str, plural: str | None = None) -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
