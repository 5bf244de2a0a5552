"""Stacks of layers and pairs of stacks: checked once, trusted afterwards.

A :class:`LayerStack` holds one matrix a layer, all over the same items in the same order. Building one is where
shapes, ids and the promises of precomputed kernels, distances and neighbour lists are checked. :func:`pair` puts
two stacks side by side: by id where both sides have ids, by position otherwise, and never by cutting the longer.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from calibtest.arrays import (
    FloatMatrix,
    IndexMatrix,
    Kind,
    Pool,
    as_index_lists,
    as_numeric,
    frozen,
    is_dataframe,
    pooled_matrix,
    reordered,
)
from calibtest.errors import InputError, listing

__all__ = ["LayerStack", "Paired", "as_stack", "check_selection", "item_ids", "pair"]

_KINDS: tuple[str, ...] = get_args(Kind)

# Asymmetry, as a share of the largest entry, that every floating-point computation leaves.
_UNREMARKABLE = 1e-12


@dataclass(frozen=True, eq=False)
class LayerStack:
    """Layers of one model over the same items.

    Use :meth:`build` to make one from arrays, or :func:`calibtest.load` to read one from files.

    Attributes
    ----------
    layers
        Layer name to read-only array with ``n`` rows, in the order of the layers: ``(n, d)`` floats for
        activations, ``(n, n)`` floats for kernels and distances, ``(n, k)`` int64 for neighbour lists.
    name
        What errors and reports call this stack.
    ids
        One name an item, or None when items are known by position only.
    kind
        What the layers hold: ``"activations"``, ``"kernel"``, ``"distance"`` or ``"neighbours"``.
    source
        Path of the file the stack was read from, or None.
    notes
        What was set aside or changed within rounding while the stack was built, one sentence each.
    """

    layers: Mapping[str, NDArray[Any]]
    name: str
    ids: tuple[str, ...] | None = None
    kind: Kind = "activations"
    source: str | None = None
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Check the structure and make the arrays read-only."""
        _check_kind(self.kind)
        if not self.layers:
            raise InputError(f"{self.name} is empty: it has 0 layers; pass at least one array")
        shapes = {layer: np.shape(array) for layer, array in self.layers.items()}
        first, reference = next(iter(shapes.items()))
        for layer, shape in shapes.items():
            if len(shape) != 2:
                raise InputError(f"{self.name}[{layer!r}] must be 2-D, got shape {shape}; use LayerStack.build")
            if shape[0] != reference[0]:
                raise InputError(
                    f"{self.name}[{first!r}] has {reference[0]} items, {self.name}[{layer!r}] has {shape[0]} items; "
                    "every layer must hold the same items in the same order"
                )
        if self.ids is not None and len(self.ids) != reference[0]:
            raise InputError(
                f"ids of {self.name} has {len(self.ids)} entries, but {self.name} has {reference[0]} items; "
                "give exactly one id an item"
            )
        read_only = {layer: frozen(array) for layer, array in self.layers.items()}
        object.__setattr__(self, "layers", MappingProxyType(read_only))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle through the constructor: workers need the stack, and a read-only mapping does not pickle."""
        return (LayerStack, (dict(self.layers), self.name, self.ids, self.kind, self.source, self.notes))

    def __len__(self) -> int:
        """Return the number of layers."""
        return len(self.layers)

    def __repr__(self) -> str:
        """Describe the stack in one line."""
        width = {"activations": "wide", "neighbours": "neighbours"}.get(self.kind)
        low, high = min(self.widths), max(self.widths)
        widths = "" if width is None else f", {low if low == high else f'{low} to {high}'} {width}"
        layers = f"{len(self)} layer{'' if len(self) == 1 else 's'}"
        ids = "with ids" if self.ids is not None else "without ids"
        return f"LayerStack({self.name!r}: {self.kind}, {layers}, {self.n_items} items {ids}{widths})"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the layers, in order."""
        return tuple(self.layers)

    @property
    def n_items(self) -> int:
        """Number of items (rows)."""
        return int(next(iter(self.layers.values())).shape[0])

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of columns of each layer, in order."""
        return tuple(int(array.shape[1]) for array in self.layers.values())

    def only(self) -> NDArray[Any]:
        """Return the array of the one layer there is.

        Raises
        ------
        InputError
            When there are several layers; the message lists them.
        """
        if len(self) > 1:
            raise InputError(
                f"{self.name} must have one layer here, got {len(self)}: {listing(self.names)}; "
                "pick one with .select(name), or with 'path::name' when loading"
            )
        return next(iter(self.layers.values()))

    def select(self, names: str | Iterable[str]) -> LayerStack:
        """Return the stack of the named layers, in the order asked for.

        Raises
        ------
        InputError
            When a name is unknown, given twice, or none is given.
        """
        wanted = [names] if isinstance(names, str) else [str(name) for name in names]
        check_selection(wanted, self.names, self.name)
        return replace(self, layers={name: self.layers[name] for name in wanted})

    def renamed(self, name: str) -> LayerStack:
        """Return the same stack under another name for errors and reports."""
        return replace(self, name=name)

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of dtype, shape and values of every layer, as provenance.

        Values are hashed in little-endian order, so that the digest is the same on every machine.
        """
        return {layer: _digest(array) for layer, array in self.layers.items()}

    @classmethod
    def build(
        cls,
        obj: object,
        *,
        name: str,
        ids: Iterable[object] | None = None,
        kind: Kind = "activations",
        pool: Pool | None = None,
        mask: object = None,
        layers_axis: bool = False,
        source: str | None = None,
        notes: Iterable[str] = (),
        copy: bool = True,
    ) -> LayerStack:
        """Check arrays and make a stack of them.

        Parameters
        ----------
        obj
            A mapping of layer name to array; a list or tuple of arrays (layers ``"0"``, ``"1"``, ...); one
            ``(n, d)`` array (layer ``"0"``); or one ``(n, L, d)`` array with ``layers_axis=True``.
        name
            What errors and reports call the stack, for example ``"X"``.
        ids
            One id an item, compared as strings. The index of a pandas DataFrame serves when no ids are given,
            unless it is the default ``0..n-1``.
        kind
            What the layers hold. Kernels and distances must be square and symmetric, distances non-negative with a
            zero diagonal (all up to rounding, which is then taken away), and neighbour lists must hold other
            items' numbers without repeats.
        pool, mask
            How to reduce 3-D and 4-D activations, see :func:`calibtest.arrays.as_matrix`.
        layers_axis
            Take axis 1 of one ``(n, L, d)`` array as the layers.
        source, notes
            Provenance to keep with the stack.
        copy
            Copy arrays that would share memory with the caller's, so that later changes there do not reach the
            stack. False is for arrays that nobody else will write to.

        Returns
        -------
        LayerStack

        Raises
        ------
        InputError
            When anything does not fit; one sentence says what, and what to do.
        """
        _check_kind(kind)
        if isinstance(obj, LayerStack):
            raise InputError(
                f"{name} is a LayerStack already, whose layers are checked matrices; use it as it is, or under another "
                "name with .renamed(name), and give ids, kind, pool and mask when making it from arrays"
            )
        parts = _split(obj, name, pool=pool, layers_axis=layers_axis)
        labels = {layer: name if len(parts) == 1 and layer == "0" else f"{name}[{layer!r}]" for layer in parts}
        if kind != "activations" and (pool is not None or mask is not None):
            raise InputError(f"pool and mask reduce activations, but {name} holds kind={kind!r}; leave them out")
        layers: dict[str, NDArray[Any]] = {}
        remarks: list[str] = list(notes)
        arrays = {layer: as_numeric(part, labels[layer]) for layer, part in parts.items()}
        if mask is not None and all(array.ndim != 3 for array in arrays.values()):
            raise InputError(f"mask marks the tokens of 3-D arrays, but {name} has none; leave mask out")
        for layer, array in arrays.items():
            label = labels[layer]
            if kind == "activations":
                checked: NDArray[Any] = pooled_matrix(array, label, pool=pool, mask=mask if array.ndim == 3 else None)
            elif kind == "neighbours":
                checked = _neighbour_lists(array, label)
            else:
                checked, remark = _square(array, label, kind)
                remarks.extend(remark)
            layers[layer] = checked.copy() if copy and np.may_share_memory(checked, array) else checked
        names = item_ids(ids, name) if ids is not None else _index_ids(parts, name)
        return cls(layers=layers, name=name, ids=names, kind=kind, source=source, notes=tuple(remarks))


def as_stack(obj: object, name: str, *, layers_axis: bool = False) -> LayerStack:
    """Return the stack that an argument of a procedure means.

    Parameters
    ----------
    obj
        A LayerStack, which is returned as it is and keeps its own name, or anything that :meth:`LayerStack.build` takes.
    name
        What errors and reports call a stack that is made here.
    layers_axis
        Whether a 3-D array is taken as ``(items, layers, features)``; otherwise it is refused.
    """
    if isinstance(obj, LayerStack):
        return obj
    return LayerStack.build(obj, name=name, layers_axis=layers_axis and getattr(obj, "ndim", 0) == 3)


@dataclass(frozen=True)
class Paired:
    """Two stacks over the same items in the same order.

    Attributes
    ----------
    left, right
        The two stacks; row ``i`` is the same item on both sides.
    note
        How the items were matched when it was not plainly by position or by equal ids, else None.
    """

    left: LayerStack
    right: LayerStack
    note: str | None = None


def pair(left: LayerStack, right: LayerStack) -> Paired:
    """Put two stacks side by side: the same items in the same order, or an error naming the first mismatch.

    With ids on both sides items are matched by id and the right side is brought into the order of the left;
    otherwise items are matched by position. Nothing is ever cut to the shorter side.

    Parameters
    ----------
    left, right
        The two stacks.

    Returns
    -------
    Paired

    Raises
    ------
    InputError
        When the number of items differs, an id has no partner, or an id occurs twice.
    """
    left_name, right_name = _side_names(left, right)
    if left.ids is not None and right.ids is not None:
        return _pair_by_id(left, right, left_name, right_name)
    if left.n_items != right.n_items:
        raise InputError(_unequal(left, right, left_name, right_name))
    note = None
    if (left.ids is None) != (right.ids is None):
        having, lacking = (left_name, right_name) if right.ids is None else (right_name, left_name)
        note = f"paired by position: {having} has ids, {lacking} has none"
    return Paired(left, right, note)


def _pair_by_id(left: LayerStack, right: LayerStack, left_name: str, right_name: str) -> Paired:
    assert left.ids is not None
    assert right.ids is not None
    if left.ids == right.ids:
        return Paired(left, right)
    for ids, name in ((left.ids, left_name), (right.ids, right_name)):
        _refuse_repeats(ids, name)
    places = {item: row for row, item in enumerate(right.ids)}
    known = set(left.ids)
    lonely_left = [item for item in left.ids if item not in places]
    lonely_right = [item for item in right.ids if item not in known]
    if lonely_left or lonely_right:
        here, there, first = (
            (left_name, right_name, lonely_left[0]) if lonely_left else (right_name, left_name, lonely_right[0])
        )
        raise InputError(
            f"{left_name} has {left.n_items} items, {right_name} has {right.n_items} items, and the id {first!r} of "
            f"{here} has no partner in {there} ({len(lonely_left)} only in {left_name}, {len(lonely_right)} only "
            f"in {right_name}); keep the shared items on both sides first"
        )
    order = np.fromiter((places[item] for item in left.ids), dtype=np.int64, count=left.n_items)
    brought = replace(
        right,
        layers={layer: reordered(array, right.kind, order) for layer, array in right.layers.items()},
        ids=left.ids,
    )
    return Paired(left, brought, f"paired by id: the items of {right_name} were reordered")


def _refuse_repeats(ids: Sequence[str], name: str) -> None:
    item, times = Counter(ids).most_common(1)[0]
    if times > 1:
        raise InputError(
            f"ids of {name} must be unique to pair by id, but {item!r} occurs {times} times; "
            "make the ids unique, or leave ids out to pair by position"
        )


def _side_names(left: LayerStack, right: LayerStack) -> tuple[str, str]:
    if left.name != right.name:
        return left.name, right.name
    return f"{left.name} (left)", f"{right.name} (right)"


def _unequal(left: LayerStack, right: LayerStack, left_name: str, right_name: str) -> str:
    counts = f"{left_name} has {left.n_items} items, {right_name} has {right.n_items} items"
    rule = "both sides must hold the same items in the same order"
    widths = set(left.widths) | set(right.widths)
    if left.kind == right.kind == "activations" and len(widths) == 1:
        return (
            f"{counts}, but {rule}; as both have {widths.pop()} columns, the arrays may be transposed "
            "(items belong in rows)"
        )
    return f"{counts}, but {rule}; nothing is cut to the shorter side, so drop or add the missing items first"


# ---------------------------------------------------------------------------------------------------------------
# Names and ids


def _check_kind(kind: str) -> None:
    if kind not in _KINDS:
        raise InputError(
            f"kind must be 'activations', 'kernel', 'distance' or 'neighbours', got {kind!r}; "
            "choose what the layers hold"
        )


def check_selection(wanted: Sequence[str], names: Sequence[str], owner: str) -> None:
    """Refuse an empty selection, a repeated name or a name that `owner` does not have."""
    if not wanted:
        raise InputError(f"the selection of layers of {owner} is empty; name at least one of {listing(names)}")
    for name in wanted:
        if name not in names:
            raise InputError(f"{owner} has no layer {name!r}; its layers are {listing(names)}")
    if len(set(wanted)) < len(wanted):
        name = Counter(wanted).most_common(1)[0][0]
        raise InputError(f"the layer {name!r} of {owner} is selected twice; name each layer once")


def item_ids(ids: Iterable[object], name: str) -> tuple[str, ...]:
    """Turn item names into strings, refusing missing ones.

    Parameters
    ----------
    ids
        Any one-dimensional collection; bytes are read as UTF-8.
    name
        What errors call the stack the ids belong to.
    """
    if isinstance(ids, (str, bytes)):
        raise InputError(f"ids of {name} must be a collection with one id an item, got the text {ids!r}")
    if isinstance(ids, (set, frozenset)):
        raise InputError(f"ids of {name} must be in the order of the items, got a {type(ids).__name__}; pass a list")
    if len(getattr(ids, "shape", (0,))) != 1:
        raise InputError(f"ids of {name} must be 1-D, got shape {getattr(ids, 'shape', ())}; pass one id an item")
    listed = ids.tolist() if hasattr(ids, "tolist") else ids
    texts: list[str] = []
    for row, item in enumerate(listed):
        if item is None or type(item).__name__ in ("NAType", "NaTType") or item != item:
            raise InputError(f"ids of {name} lack the id of row {row}; name every item, or leave ids out")
        texts.append(item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item))
    return tuple(texts)


def _index_ids(parts: Mapping[str, object], name: str) -> tuple[str, ...] | None:
    found: tuple[str, ...] | None = None
    for layer, part in parts.items():
        if not is_dataframe(part):
            continue
        index = getattr(part, "index")  # noqa: B009
        default = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
        if default:
            continue
        ids = item_ids(index, name)
        if found is not None and ids != found:
            raise InputError(
                f"the index of {name}[{layer!r}] differs from that of an earlier layer; bring every layer into the "
                "same order first, for example with .loc"
            )
        found = ids
    return found


# ---------------------------------------------------------------------------------------------------------------
# From one object to named parts


def _split(obj: object, name: str, *, pool: Pool | None, layers_axis: bool) -> dict[str, object]:
    if layers_axis:
        return _split_axis(obj, name, pool)
    if isinstance(obj, Mapping):
        parts: dict[str, object] = {}
        for key, value in obj.items():
            if str(key) in parts:
                raise InputError(f"{name} has two layers called {str(key)!r} once keys are text; rename one of them")
            parts[str(key)] = value
        if not parts:
            raise InputError(f"{name} is empty: a {type(obj).__name__} with 0 layers; pass at least one array")
        return parts
    if isinstance(obj, (list, tuple)) and obj and _depth(obj[0]) >= 2:
        return {str(number): part for number, part in enumerate(obj)}
    return {"0": obj}


def _split_axis(obj: object, name: str, pool: Pool | None) -> dict[str, object]:
    if pool is not None:
        raise InputError(
            f"pool={pool!r} cannot go with layers_axis=True for {name}: axis 1 is either layers or tokens; choose one"
        )
    array = as_numeric(obj, name)
    if array.ndim != 3:
        raise InputError(
            f"{name} must be 3-D (items, layers, features) with layers_axis=True, got shape {array.shape}; "
            "leave layers_axis out"
        )
    if 0 in array.shape:
        raise InputError(f"{name} is empty: shape {array.shape}; check that something was collected")
    return {str(number): array[:, number] for number in range(array.shape[1])}


def _depth(part: object) -> int:
    """Return the number of axes of an array-like, or the nesting depth of plain lists."""
    shape = getattr(part, "shape", None)
    if shape is not None:
        return len(shape)
    if isinstance(part, (list, tuple)):
        return 1 + (_depth(part[0]) if part else 0)
    return 0


def _digest(array: NDArray[Any]) -> str:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    digest = hashlib.sha256(f"{little.dtype.str}{little.shape}".encode())
    digest.update(np.ascontiguousarray(little).data)
    return digest.hexdigest()


# ---------------------------------------------------------------------------------------------------------------
# Precomputed kernels, distances and neighbour lists


def _rounding(dtype: np.dtype[Any]) -> float:
    """Relative asymmetry that rounding explains, for matrices made at the precision of `dtype`."""
    if dtype.kind == "f" and dtype.itemsize <= 2:
        return 1e-2
    return 1e-4 if dtype.kind == "f" and dtype.itemsize == 4 else 1e-9


def _square(array: NDArray[Any], name: str, kind: Kind) -> tuple[FloatMatrix, list[str]]:
    matrix = pooled_matrix(array, name)
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"{name} must be square (items, items) for kind={kind!r}, got shape {matrix.shape}; "
            "use kind='activations' if these are features"
        )
    slack = _rounding(array.dtype) * float(np.abs(matrix).max())
    gap = np.abs(matrix - matrix.T)
    row, column = divmod(int(np.argmax(gap)), matrix.shape[1])
    if gap[row, column] > slack:
        raise InputError(
            f"{name} must be symmetric for kind={kind!r}, but entry ({row}, {column}) is {matrix[row, column]:.6g} and "
            f"entry ({column}, {row}) is {matrix[column, row]:.6g}; pass (M + M.T) / 2 if that is what you mean"
        )
    remarks: list[str] = []
    if gap[row, column] > 0:
        matrix = (matrix + matrix.T) / 2
    if gap[row, column] > _UNREMARKABLE * float(np.abs(matrix).max()):
        remarks.append(f"{name} was symmetric only up to rounding ({gap[row, column]:.2g}) and was made exactly so")
    return (matrix, remarks) if kind == "kernel" else _distances(matrix, name, slack, remarks)


def _distances(matrix: FloatMatrix, name: str, slack: float, remarks: list[str]) -> tuple[FloatMatrix, list[str]]:
    row, column = divmod(int(np.argmin(matrix)), matrix.shape[1])
    if matrix[row, column] < -slack:
        raise InputError(
            f"{name} must hold distances of at least 0, but entry ({row}, {column}) is {matrix[row, column]:.6g}; "
            "use kind='kernel' for similarities"
        )
    diagonal = np.abs(np.diagonal(matrix))
    worst = int(np.argmax(diagonal))
    # A distance is often the root of a rounded difference, so the diagonal is good to half the digits only.
    peak = float(np.abs(matrix).max())
    if diagonal[worst] > np.sqrt(slack * peak):
        raise InputError(
            f"{name} must hold distances with a zero diagonal, but entry ({worst}, {worst}) is {diagonal[worst]:.6g}; "
            "use kind='kernel' for similarities"
        )
    if diagonal[worst] > 0 or matrix[row, column] < 0:
        matrix = np.maximum(matrix, 0)
        np.fill_diagonal(matrix, 0)
    if max(diagonal[worst], -matrix[row, column]) > np.sqrt(_UNREMARKABLE) * peak:
        remarks.append(f"{name} had distances off zero by rounding only, which were set to zero")
    return matrix, remarks


def _neighbour_lists(array: NDArray[Any], name: str) -> IndexMatrix:
    lists = as_index_lists(array, name)
    n, k = lists.shape
    outside = np.flatnonzero(((lists < 0) | (lists >= n)).any(axis=1))
    if outside.size:
        row = int(outside[0])
        value = int(next(item for item in lists[row] if not 0 <= item < n))
        raise InputError(
            f"{name} must hold item numbers in 0..{n - 1}, but row {row} holds {value}; give every item {k} neighbours "
            "among the items of the stack"
        )
    own = np.flatnonzero((lists == np.arange(n)[:, None]).any(axis=1))
    if own.size:
        raise InputError(
            f"{name} must list other items, but row {int(own[0])} lists itself; drop the item itself from its list"
        )
    ordered = np.sort(lists, axis=1)
    repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if repeated.size:
        row = int(repeated[0])
        twin = int(ordered[row][1:][ordered[row][1:] == ordered[row][:-1]][0])
        raise InputError(
            f"{name} must not repeat a neighbour, but row {row} lists item {twin} twice; give distinct neighbours"
        )
    return lists
