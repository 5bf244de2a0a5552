"""Stacks and pairs: checked once, paired by id or by position, never cut."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibtest.errors import InputError, listing
from calibtest.stacks import LayerStack, as_stack, pair

RNG = np.random.default_rng(1)
X = RNG.standard_normal((12, 4))
Y = RNG.standard_normal((12, 3))
IDS = tuple(f"img_{row:03d}" for row in range(12))
ORDER = np.random.default_rng(2).permutation(12)


def distances(points: np.ndarray) -> np.ndarray:
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))


def nearest(points: np.ndarray, k: int) -> np.ndarray:
    apart = distances(points)
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1)[:, :k]


# ---------------------------------------------------------------------------------------------------------------
# Building


@pytest.mark.parametrize(
    ("obj", "options", "names", "widths"),
    [
        (X, {}, ("0",), (4,)),
        (X.tolist(), {}, ("0",), (4,)),
        (list(X), {}, ("0",), (4,)),
        (pd.DataFrame(X), {}, ("0",), (4,)),
        ([X, Y], {}, ("0", "1"), (4, 3)),
        ((X.tolist(), Y), {}, ("0", "1"), (4, 3)),
        ({"late": Y, "early": X}, {}, ("late", "early"), (3, 4)),
        ({3: X}, {}, ("3",), (4,)),
        (np.stack([X, X, X], axis=1), {"layers_axis": True}, ("0", "1", "2"), (4, 4, 4)),
        ([np.ones((12, 5, 2)), X], {"pool": "mean"}, ("0", "1"), (2, 4)),
        (np.ones((12, 5, 2)), {"pool": "flatten"}, ("0",), (10,)),
    ],
)
def test_what_becomes_a_stack(
    obj: Any, options: dict[str, Any], names: tuple[str, ...], widths: tuple[int, ...]
) -> None:
    stack = LayerStack.build(obj, name="A", **options)
    assert stack.names == names
    assert stack.widths == widths
    assert stack.n_items == 12
    assert len(stack) == len(names)


def test_layers_along_an_axis_hold_the_right_numbers() -> None:
    stack = LayerStack.build(np.stack([X, 2 * X], axis=1), name="A", layers_axis=True)
    np.testing.assert_array_equal(stack.layers["1"], 2 * X)


def test_mask_goes_to_the_layers_with_tokens() -> None:
    mask = np.ones((12, 5), dtype=bool)
    mask[:, 3:] = False
    tokens = RNG.standard_normal((12, 5, 2))
    stack = LayerStack.build({"t": tokens, "x": X}, name="A", pool="mean", mask=mask)
    np.testing.assert_allclose(stack.layers["t"], tokens[:, :3].mean(1))


def test_layers_are_read_only_and_independent_of_the_caller() -> None:
    buffer = X.copy()
    stack = LayerStack.build(buffer, name="A")
    digest = stack.digests()
    buffer[:] = 0
    assert stack.digests() == digest
    assert buffer.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        stack.layers["0"][0, 0] = 1
    with pytest.raises(TypeError):
        stack.layers["0"] = X  # type: ignore[index]


def test_a_stack_stays_what_it_is_and_may_be_renamed() -> None:
    stack = LayerStack.build({"a": X, "b": Y}, name="A", ids=IDS)
    assert as_stack(stack, "B") is stack
    again = stack.renamed("B")
    assert again.name == "B"
    assert again.ids == IDS
    assert again.digests() == stack.digests()


def test_a_third_axis_is_layers_only_where_the_caller_says_so() -> None:
    cube = np.stack([X, 2 * X], axis=1)
    assert as_stack(cube, "A", layers_axis=True).names == ("0", "1")
    for plain in (X, {"a": X}, [X, X]):
        assert as_stack(plain, "A", layers_axis=True).digests() == LayerStack.build(plain, name="A").digests()
    with pytest.raises(InputError, match=r"A must be 2-D"):
        as_stack(cube, "A")


def test_digest_depends_on_values_shape_and_precision_only() -> None:
    digests = [
        LayerStack.build(version, name="A").digests()["0"]
        for version in (X, np.asfortranarray(X), X.astype(">f8"), X[::-1].copy()[::-1])
    ]
    assert len(set(digests)) == 1
    others = (X.reshape(24, 2), X.astype(np.float32), X + 1e-15)
    assert len({digests[0], *(LayerStack.build(other, name="A").digests()["0"] for other in others)}) == 4


def test_select_and_only() -> None:
    stack = LayerStack.build({"a": X, "b": Y, "c": X}, name="A")
    assert stack.select(["c", "a"]).names == ("c", "a")
    np.testing.assert_array_equal(stack.select("b").only(), Y)
    with pytest.raises(InputError, match=r"A must have one layer here, got 3: a, b, c"):
        stack.only()


def test_stack_survives_a_trip_to_a_worker() -> None:
    stack = LayerStack.build({"a": X, "b": Y}, name="A", ids=IDS, source="a.npz", notes=["n"])
    again = pickle.loads(pickle.dumps(stack))
    assert again.digests() == stack.digests()
    assert (again.name, again.ids, again.kind, again.source, again.notes) == ("A", IDS, "activations", "a.npz", ("n",))
    assert not again.layers["a"].flags.writeable


def test_repr_tells_size_and_ids() -> None:
    text = repr(LayerStack.build({"a": X, "b": Y}, name="A", ids=IDS))
    for word in ("'A'", "2 layers", "12 items", "with ids", "3 to 4 wide"):
        assert word in text


def test_ids_are_compared_as_text() -> None:
    forms: list[Any] = [
        np.arange(12),
        [str(row) for row in range(12)],
        [str(row).encode() for row in range(12)],
        pd.Index(range(12)),
        np.array([str(row) for row in range(12)], dtype="S2"),
    ]
    found = {LayerStack.build(X, name="A", ids=form).ids for form in forms}
    assert found == {tuple(str(row) for row in range(12))}


def test_ids_from_the_index_of_a_frame() -> None:
    assert LayerStack.build(pd.DataFrame(X, index=IDS), name="A").ids == IDS
    assert LayerStack.build(pd.DataFrame(X), name="A").ids is None
    assert LayerStack.build(pd.DataFrame(X).iloc[::-1], name="A").ids == tuple(str(row) for row in range(11, -1, -1))
    assert LayerStack.build(pd.DataFrame(X).iloc[::2], name="A").ids == ("0", "2", "4", "6", "8", "10")
    assert LayerStack.build(pd.DataFrame(X, index=IDS), name="A", ids=range(12)).ids == tuple(map(str, range(12)))
    assert LayerStack.build({"a": X, "b": pd.DataFrame(Y, index=IDS)}, name="A").ids == IDS


# ---------------------------------------------------------------------------------------------------------------
# Kernels, distances, neighbour lists


def test_rounding_is_taken_away_and_told() -> None:
    kernel = (X @ X.T).astype(np.float32)
    kernel[3, 4] *= np.float32(1 + 1e-6)
    before = kernel.tobytes()
    stack = LayerStack.build(kernel, name="A", kind="kernel")
    np.testing.assert_array_equal(stack.only(), stack.only().T)
    assert "rounding" in stack.notes[0]
    assert kernel.tobytes() == before
    apart = distances(X)
    apart[2, 2], apart[5, 6], apart[6, 5] = 1e-5, -1e-13, -1e-13
    stack = LayerStack.build(apart, name="A", kind="distance")
    assert (np.diagonal(stack.only()) == 0).all()
    assert (stack.only() >= 0).all()
    assert "rounding" in stack.notes[0]
    apart[2, 2] = 1e-16  # what every computation leaves is taken away without a word
    assert LayerStack.build(apart, name="A", kind="distance").notes == ()


def test_exact_kernels_are_kept_as_they_are() -> None:
    kernel = X @ X.T
    kernel = (kernel + kernel.T) / 2
    stack = LayerStack.build(kernel, name="A", kind="kernel")
    np.testing.assert_array_equal(stack.only(), kernel)
    assert stack.notes == ()


def changed(matrix: np.ndarray, **entries: float) -> np.ndarray:
    out = matrix.copy()
    for place, value in entries.items():
        row, column = map(int, place[1:].split("_"))
        out[row, column] = value
    return out


LISTS = nearest(X, 3)
BAD_BUILDS: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "empty mapping": ({}, {}, ["A", "empty", "0 layers"]),
    "nan in a layer": ({"a": X, "b": X * np.nan}, {}, ["A['b']", "non-finite", "row 0"]),
    "different n": ({"a": X, "b": Y[:10]}, {}, ["A['a']", "12 items", "A['b']", "10 items"]),
    "names collide": ({1: X, "1": X}, {}, ["A", "'1'", "rename"]),
    "tokens without pool": (np.ones((12, 5, 2)), {}, ["A", "(12, 5, 2)", "pool", "list of 2-D arrays"]),
    "axis and pool": (np.ones((12, 5, 2)), {"layers_axis": True, "pool": "mean"}, ["pool='mean'", "layers_axis"]),
    "axis of a matrix": (X, {"layers_axis": True}, ["A", "3-D", "(12, 4)"]),
    "axis of nothing": (np.ones((12, 0, 2)), {"layers_axis": True}, ["A", "empty", "(12, 0, 2)"]),
    "mask without tokens": ([X], {"pool": "mean", "mask": np.ones((12, 5))}, ["mask", "3-D", "A"]),
    "unknown kind": (X, {"kind": "gram"}, ["kind", "'kernel'", "'gram'"]),
    "path": ("a.npz", {}, ["A", "'a.npz'", "calibtest.load"]),
    "too few ids": (X, {"ids": IDS[:5]}, ["ids of A", "5 entries", "12 items"]),
    "ids as text": (X, {"ids": "abcdefghijkl"}, ["ids of A", "collection"]),
    "ids without an order": (X, {"ids": set(IDS)}, ["ids of A", "order", "set"]),
    "ids in two axes": (X, {"ids": np.ones((12, 1))}, ["ids of A", "1-D", "(12, 1)"]),
    "missing id": (X, {"ids": ["a", None, *IDS[2:]]}, ["ids of A", "row 1"]),
    "NaN id": (X, {"ids": [*range(11), float("nan")]}, ["ids of A", "row 11"]),
    "NA id": (X, {"ids": pd.array([*range(11), None], "Int64")}, ["ids of A", "row 11"]),
    "indices differ": (
        {"a": pd.DataFrame(X, index=IDS), "b": pd.DataFrame(X, index=IDS[::-1])},
        {},
        ["index", "A['b']", "same order"],
    ),
    "kernel not square": (X, {"kind": "kernel"}, ["A", "square", "(12, 4)", "kind='activations'"]),
    "kernel not symmetric": (
        {"l": changed(X @ X.T, _3_7=50.0)},
        {"kind": "kernel"},
        ["A['l']", "symmetric", "(3, 7)", "(7, 3)", "50"],
    ),
    "negative distance": (
        changed(distances(X), _1_2=-2.5, _2_1=-2.5),
        {"kind": "distance"},
        ["A", "at least 0", "(1, 2)", "-2.5", "kind='kernel'"],
    ),
    "distance to oneself": (
        np.corrcoef(X) ** 2,
        {"kind": "distance"},
        ["A", "zero diagonal", "is 1;", "kind='kernel'"],
    ),
    "pool with kernel": (X @ X.T, {"kind": "kernel", "pool": "mean"}, ["pool", "kind='kernel'"]),
    "neighbours as floats": (LISTS.astype(float), {"kind": "neighbours"}, ["A", "whole", "float64"]),
    "neighbour outside": (changed(LISTS, _4_1=12), {"kind": "neighbours"}, ["A", "0..11", "row 4", "12"]),
    "neighbour missing": (changed(LISTS, _4_1=-1), {"kind": "neighbours"}, ["A", "row 4", "-1"]),
    "neighbour itself": (changed(LISTS, _4_1=4), {"kind": "neighbours"}, ["A", "row 4", "itself"]),
    "neighbour twice": (changed(LISTS, _4_1=LISTS[4, 0]), {"kind": "neighbours"}, ["A", "row 4", "twice"]),
    "stack with pool": (LayerStack.build(X, name="B"), {"pool": "mean"}, ["A", "LayerStack", "pool"]),
    "stack of another kind": (LayerStack.build(X, name="B"), {"kind": "kernel"}, ["A", "LayerStack", "kind"]),
}


@pytest.mark.parametrize("case", sorted(BAD_BUILDS))
def test_bad_builds(case: str) -> None:
    obj, options, words = BAD_BUILDS[case]
    with pytest.raises(InputError) as caught:
        LayerStack.build(obj, name="A", **options)
    sentence = str(caught.value)
    for word in words:
        assert word in sentence, (word, sentence)
    assert "\n" not in sentence


def test_bad_selections() -> None:
    stack = LayerStack.build({f"layer_{place}": X for place in range(30)}, name="A")
    for names, word in (("layer_99", "and 10 more"), ([], "empty"), (["layer_1", "layer_1"], "twice")):
        with pytest.raises(InputError, match=word):
            stack.select(names)
    assert listing(["a", "b"]) == "a, b"


# ---------------------------------------------------------------------------------------------------------------
# Pairing


def stack(obj: Any, name: str, **options: Any) -> LayerStack:
    return LayerStack.build(obj, name=name, **options)


def test_by_position_without_ids() -> None:
    paired = pair(stack(X, "X"), stack(Y, "Y"))
    assert paired.note is None
    np.testing.assert_array_equal(paired.right.only(), Y)


def test_by_id_whatever_the_order() -> None:
    paired = pair(stack(X, "X", ids=IDS), stack(Y[ORDER], "Y", ids=[IDS[row] for row in ORDER]))
    np.testing.assert_array_equal(paired.right.only(), Y)
    assert paired.right.ids == IDS
    assert paired.note is not None
    assert "by id" in paired.note
    assert pair(stack(X, "X", ids=IDS), stack(Y, "Y", ids=IDS)).note is None


def test_by_id_for_every_kind() -> None:
    shuffled = [IDS[row] for row in ORDER]
    kernel = X @ X.T
    paired = pair(stack(X, "X", ids=IDS), stack(kernel[np.ix_(ORDER, ORDER)], "Y", ids=shuffled, kind="kernel"))
    np.testing.assert_allclose(paired.right.only(), kernel, rtol=1e-12)
    lists = nearest(X[ORDER], 3)
    paired = pair(stack(X, "X", ids=IDS), stack(lists, "Y", ids=shuffled, kind="neighbours"))
    np.testing.assert_array_equal(paired.right.only(), nearest(X, 3))


def test_ids_on_one_side_only_is_told() -> None:
    paired = pair(stack(X, "X", ids=IDS), stack(Y, "Y"))
    assert paired.note == "paired by position: X has ids, Y has none"
    assert pair(stack(X, "X"), stack(Y, "Y", ids=IDS)).note == "paired by position: Y has ids, X has none"


def test_the_same_sequence_may_repeat_ids() -> None:
    twice = ["a"] * 6 + ["b"] * 6
    assert pair(stack(X, "X", ids=twice), stack(Y, "Y", ids=twice)).note is None


def test_frames_are_paired_by_their_index() -> None:
    frame = pd.DataFrame(X, index=IDS)
    paired = pair(stack(frame, "X"), stack(frame.iloc[ORDER], "Y"))
    np.testing.assert_array_equal(paired.right.only(), X)


BAD_PAIRS: dict[str, tuple[LayerStack, LayerStack, list[str], list[str]]] = {
    "lost batch": (
        stack(np.ones((128, 4)), "X"),
        stack(np.ones((130, 5)), "Y"),
        ["X has 128 items, Y has 130 items"],
        ["transposed"],
    ),
    "transposed": (
        stack(np.ones((768, 50)), "X"),
        stack(np.ones((512, 50)), "Y"),
        ["X has 768 items", "Y has 512 items", "50", "transposed", "rows"],
        [],
    ),
    "one name": (stack(X, "A"), stack(Y[:9], "A"), ["A (left) has 12", "A (right) has 9"], []),
    "no partner": (
        stack(X, "X", ids=IDS),
        stack(Y, "Y", ids=[*IDS[:7], "other", *IDS[8:]]),
        ["'img_007'", "of X", "no partner in Y", "(1 only in X, 1 only in Y)"],
        [],
    ),
    "subset": (
        stack(X, "X", ids=IDS),
        stack(np.vstack([Y, Y[:1]]), "Y", ids=[*IDS, "extra"]),
        ["X has 12 items, Y has 13 items", "'extra'", "of Y", "no partner in X"],
        [],
    ),
    "repeated": (
        stack(X, "X", ids=IDS),
        stack(Y, "Y", ids=[*IDS[:11], IDS[0]]),
        ["ids of Y", "'img_000'", "2 times"],
        [],
    ),
}


@pytest.mark.parametrize("case", sorted(BAD_PAIRS))
def test_bad_pairs(case: str) -> None:
    left, right, words, absent = BAD_PAIRS[case]
    with pytest.raises(InputError) as caught:
        pair(left, right)
    sentence = str(caught.value)
    for word in words:
        assert word in sentence, (word, sentence)
    for word in absent:
        assert word not in sentence
