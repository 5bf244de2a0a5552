"""``.pt`` files: the safe way of calling torch, and what their contents become."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from calibtest.errors import InputError, MissingDependencyError
from calibtest.io import load

RNG = np.random.default_rng(6)
A = RNG.standard_normal((8, 4)).astype(np.float32)
CUBE = RNG.standard_normal((8, 3, 4)).astype(np.float32)


class Tensor:
    """The little of a tensor that a reader needs."""

    layout, dtype = "torch.strided", "torch.float32"

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.shape = values, values.shape

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.values


def pretend(monkeypatch: pytest.MonkeyPatch, saved: Any, version: str = "2.9.1+cpu") -> list[dict[str, Any]]:
    """Put a torch in place whose load returns or raises `saved`, and record how it is called."""
    calls: list[dict[str, Any]] = []

    def fake_load(path: Path, **options: Any) -> Any:
        calls.append(options)
        if isinstance(saved, Exception):
            raise saved
        return saved

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(load=fake_load, __version__=version))  # type: ignore[arg-type]
    return calls


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "model.pt"
    file.write_bytes(b"PK\x03\x04 and so on")
    return file


@pytest.mark.parametrize(
    ("saved", "names"),
    [
        (Tensor(A), ("0",)),
        (Tensor(CUBE), ("0", "1", "2")),
        ([Tensor(A), Tensor(A)], ("0", "1")),
        ((Tensor(A),), ("0",)),
        ({"stem": Tensor(A), "block_10": Tensor(A), "block_9": Tensor(A)}, ("stem", "block_10", "block_9")),
        ({"feats": Tensor(CUBE)}, ("0", "1", "2")),
        ({"feats": Tensor(CUBE), "mask": Tensor(A), "num_params": 7, "loss": Tensor(A[0])}, ("0", "1", "2")),
        ({"x": Tensor(A), "epoch": 3, "note": "x", "best": None, "ids": list("abcdefgh")}, ("x",)),
        ({3: Tensor(A), 4: Tensor(A)}, ("3", "4")),
    ],
)
def test_contents(monkeypatch: pytest.MonkeyPatch, path: Path, saved: Any, names: tuple[str, ...]) -> None:
    calls = pretend(monkeypatch, saved)
    stack = load(path)
    assert stack.names == names
    assert stack.n_items == 8
    assert calls == [{"map_location": "cpu", "weights_only": True}]


def test_ids_selection_and_notes(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    saved = {"b": Tensor(A), "a": Tensor(2 * A), "epoch": 3, "ids": Tensor(np.arange(8)), "labels": list("abcdefgh")}
    pretend(monkeypatch, saved)
    stack = load(f"{path}::a")
    np.testing.assert_array_equal(stack.only(), 2 * A)
    assert stack.ids is not None
    assert stack.ids[:2] == ("0", "1")
    assert len(stack.notes) == 2
    with pytest.raises(InputError, match="its layers are b, a"):
        load(f"{path}::c")


REFUSED = (
    "Weights only load failed. Re-run with weights_only=False. WeightsUnpickler error: Unsupported global: GLOBAL x.Y"
)
DAMAGED = "Weights only load failed. Re-run with weights_only=False. WeightsUnpickler error: Unsupported operand 118"


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        (pickle.UnpicklingError(REFUSED), ["pickled Python objects", "refused", ".safetensors"]),
        (pickle.UnpicklingError(DAMAGED), ["not a valid .pt file"]),
        (
            RuntimeError("PytorchStreamReader failed reading zip archive"),
            ["not a valid .pt file", "PytorchStreamReader"],
        ),
        (EOFError(), ["not a valid .pt file"]),
        ([], ["holds a list", "a dict of tensors"]),
        ("text", ["holds a str", "a dict of tensors"]),
        ([Tensor(A), 3], ["holds a list"]),
        ({"x": Tensor(A), "state": {"w": Tensor(A)}}, ["'state' is a dict", "flat dict"]),
        ({"x": Tensor(A), "bias": Tensor(A[0])}, ["'bias'", "(4,)"]),
        ({1: Tensor(A), "1": Tensor(A)}, ["same name"]),
        ({"epoch": 1}, ["no layers"]),
    ],
)
def test_refusals(monkeypatch: pytest.MonkeyPatch, path: Path, saved: Any, words: list[str]) -> None:
    pretend(monkeypatch, saved)
    with pytest.raises(InputError) as caught:
        load(path)
    for word in words:
        assert word in str(caught.value), str(caught.value)
    shown = f"{caught.value} {caught.value.__cause__}"
    assert str(path) in shown
    assert "weights_only" not in shown


def test_bytes_that_are_no_pickle_never_reach_torch(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    calls = pretend(monkeypatch, Tensor(A))
    path.write_bytes(b"<html>404</html>")
    with pytest.raises(InputError, match=r"not a valid \.pt file \(it begins like a web page\)"):
        load(path)
    assert not calls


@pytest.mark.parametrize("version", ["1.13.1", "2.5.1+cu121"])
def test_torch_that_cannot_load_safely_is_refused(monkeypatch: pytest.MonkeyPatch, path: Path, version: str) -> None:
    calls = pretend(monkeypatch, Tensor(A), version)
    with pytest.raises(MissingDependencyError, match=r"needs torch 2\.6 or later"):
        load(path)
    assert not calls


def test_real_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", minversion="2.6")
    path = tmp_path / "a.pth"
    torch.save({"b": torch.tensor(A).to(torch.bfloat16), "a": torch.tensor(A, requires_grad=True), "step": 3}, path)
    stack = load(path)
    assert stack.names == ("b", "a")
    np.testing.assert_array_equal(stack.layers["a"], A)
    np.testing.assert_array_equal(stack.layers["b"], torch.tensor(A).to(torch.bfloat16).float().numpy())
    torch.save({"feats": torch.tensor(CUBE)}, path)
    np.testing.assert_array_equal(load(f"{path}::1").only(), CUBE[:, 1])
    torch.save({"x": A}, path)  # a NumPy array needs a class that safe loading does not allow
    with pytest.raises(InputError, match="pickled Python objects"):
        load(path)
    raw = path.read_bytes()
    for data in (raw[: len(raw) // 2], b"\x80\x02vvvv", b"PK\x03\x04" + bytes(50)):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"not a valid \.pth file"):
            load(path)
