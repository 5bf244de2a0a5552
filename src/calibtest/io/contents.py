"""What every reader shares: the entries of a file, their order, and the sentence for a file that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from calibtest.arrays import as_numeric
from calibtest.errors import CalibtestError, InputError, first_line, listing
from calibtest.memory import available_bytes
from calibtest.stacks import check_selection, item_ids

__all__ = [
    "GROUP_NAMES",
    "ID_NAMES",
    "Contents",
    "Request",
    "begins_with",
    "gather",
    "invalid",
    "likeness",
    "lone",
    "natural_key",
    "natural_order",
    "reading",
    "refuse_objects",
    "refuse_oversized",
]

# Entries and columns of these names hold no layer: they name the items, and the groups that items belong to.
ID_NAMES = frozenset({"ids", "id"})
GROUP_NAMES = frozenset({"groups", "group", "labels", "label"})

# By convention of feature dumps, a three-dimensional entry of this name holds (items, layers, features).
STACKED_ENTRY = "feats"

_SIGNATURES = (
    (b"\x93NUMPY", "a .npy file"),
    (b"PK\x03\x04", "a zip file (.npz, .pt or .pth)"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (.h5 or .hdf5)"),
    (b"PAR1", "a .parquet file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"<", "a web page"),
    (b"version https://git-lfs", "a Git LFS pointer, not the data"),
)


@dataclass(frozen=True)
class Request:
    """What the caller wants of a file.

    Attributes
    ----------
    wanted
        Names of the layers to read, in order, or None for all.
    stackable
        Whether the middle axis of a three-dimensional array may be layers (not when it is to be pooled).
    """

    wanted: tuple[str, ...] | None = None
    stackable: bool = True


@dataclass(frozen=True)
class Contents:
    """What a file holds: layers by name, in order, the names of the items, and what was set aside."""

    layers: dict[str, object]
    ids: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def natural_key(text: str) -> tuple[Any, ...]:
    """Return a sort key under which ``layer_2`` comes before ``layer_10``."""
    pieces = re.split(r"([0-9]+)", text)
    return ([_number_key(piece) if place % 2 else piece for place, piece in enumerate(pieces)], text)


def _number_key(digits: str) -> tuple[int, str]:
    # Compares like the number, at any length.
    significant = digits.lstrip("0")
    return (len(significant), significant)


def natural_order(names: Iterable[str]) -> list[str]:
    """Sort names so that the numbers in them count as numbers."""
    return sorted(names, key=natural_key)


def gather(names: Sequence[str], read: Callable[[str], object], path: Path, request: Request) -> Contents:
    """Choose the entries of a file that are layers, and read only those.

    Parameters
    ----------
    names
        Every entry of the file, in the order of the layers.
    read
        Reads one entry into memory.
    path
        The file, for error sentences.
    request
        What the caller wants.
    """
    notes = [f"{path}: {name!r} set aside, because it is no layer" for name in names if name in GROUP_NAMES]
    ids = _read_ids([name for name in names if name in ID_NAMES], read, path)
    entries = [name for name in names if name not in GROUP_NAMES and name not in ID_NAMES]
    stacked = STACKED_ENTRY if STACKED_ENTRY in entries else entries[0] if len(entries) == 1 else None
    ready: dict[str, object] = {}
    if stacked is not None and request.stackable and _may_mean_inside(request.wanted, stacked, entries):
        ready = {stacked: read(stacked)}
        if _ndim(ready[stacked]) == 3:
            rest = [name for name in entries if name != stacked]
            if rest:
                notes.append(f"{path}: {listing(rest)} set aside, because {stacked!r} holds the layers")
            inside = request if request.wanted != (stacked,) else Request()
            return Contents(_along_axis(ready[stacked], path, f"{path}: array {stacked!r}", inside), ids, tuple(notes))
    if request.wanted is not None:
        check_selection(request.wanted, entries, str(path))
    layers: dict[str, object] = {}
    for name in request.wanted or entries:
        array = ready[name] if name in ready else read(name)
        if _ndim(array) == 0 and request.wanted is None:
            notes.append(f"{path}: {name!r} set aside, because it is a single value")
            continue
        if _ndim(array) < 2:
            _refuse_flat(path, name, array)
        layers[name] = array
    if not layers:
        raise InputError(f"{path} holds no layers; save at least one 2-D array (items, features) in it")
    return Contents(layers, ids, tuple(notes))


def lone(array: object, path: Path, request: Request) -> Contents:
    """Take a file's one array without a name as a layer, or its middle axis as several."""
    if _ndim(array) == 3 and request.stackable:
        return Contents(_along_axis(array, path, str(path), request))
    if request.wanted is not None:
        check_selection(request.wanted, ("0",), str(path))
    return Contents({"0": array})


def _may_mean_inside(wanted: tuple[str, ...] | None, stacked: str, entries: Sequence[str]) -> bool:
    """Tell whether a request can be for the layers within one stacked entry."""
    return wanted is None or wanted == (stacked,) or not any(name in entries for name in wanted)


def _ndim(array: object) -> int:
    return len(getattr(array, "shape", ()))


def _along_axis(array: object, path: Path, label: str, request: Request) -> dict[str, object]:
    numbers = as_numeric(array, label)
    if 0 in numbers.shape:
        raise InputError(f"{label} is empty: shape {numbers.shape}; check that something was collected")
    names = [str(layer) for layer in range(numbers.shape[1])]
    if request.wanted is not None:
        check_selection(request.wanted, names, str(path))
    return {name: numbers[:, int(name)] for name in request.wanted or names}


def _read_ids(names: Sequence[str], read: Callable[[str], object], path: Path) -> tuple[str, ...] | None:
    if not names:
        return None
    if len(names) > 1:
        raise InputError(f"{path} names its items twice, in 'id' and in 'ids'; keep one of them")
    found: Any = read(names[0])
    if callable(getattr(found, "detach", None)):
        found = as_numeric(found, f"{path}: {names[0]!r}")
    return item_ids(found, str(path))


def _refuse_flat(path: Path, name: str, array: object) -> NoReturn:
    shape = tuple(getattr(array, "shape", ()))
    raise InputError(
        f"{path}: array {name!r} has shape {shape}, but a layer needs (items, features); "
        "call item names 'ids' and labels 'labels', or store such arrays in another file"
    )


def refuse_objects(path: Path, name: str | None = None) -> NoReturn:
    """Refuse an array of Python objects, which only unpickling could read."""
    what = f"{path} holds" if name is None else f"{path}: {name!r} is"
    better = (
        "np.asarray(ids, dtype=str)" if name in ID_NAMES else "one rectangular numeric array, as from np.stack(rows)"
    )
    raise InputError(
        f"{what} an object array, stored as a pickle that could run code when it is opened, and is refused; "
        f"save {better} instead"
    ) from None


def refuse_oversized(n_bytes: int, path: Path, name: str) -> None:
    """Refuse an entry that declares more bytes than there is memory, before anything is allocated."""
    memory = available_bytes()
    if memory is not None and n_bytes > memory:
        raise InputError(
            f"{path}: array {name!r} declares {n_bytes:,} bytes, but this machine has {memory:,} bytes of memory "
            "available; check that the file is sound, or store fewer items"
        )


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a parser raises on a damaged or wrong file into one sentence with the file's name."""
    try:
        yield
    except CalibtestError:
        raise
    except PermissionError as error:
        raise InputError(f"{path} cannot be opened (permission denied); change its access rights") from error
    except MemoryError as error:
        raise InputError(
            f"{path} needs more memory than there is; read fewer layers, as in '{path}::name', or check the file"
        ) from error
    except Exception as error:
        # Parsers of foreign bytes raise nearly anything. What some of them advise (switching safety off) is not
        # passed on, neither in the sentence nor in the traceback.
        unsafe = re.search(r"pickle|weights_only", str(error))
        raise invalid(path, what, "" if unsafe else first_line(error)) from (None if unsafe else error)


def invalid(path: Path, what: str, reason: str = "") -> InputError:
    """Return the error for a file that is not what its suffix says."""
    hint = likeness(path)
    details = hint if hint and what not in hint else f" ({reason})" if reason else ""
    return InputError(f"{path} is not a valid {what} file{details}; save or download it again, and check its suffix")


def likeness(path: Path) -> str:
    """Say in brackets what a file begins like, or return an empty text."""
    try:
        with path.open("rb") as file:
            head = file.read(32).lstrip()
    except OSError:
        return ""
    kind = next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), "")
    return f" (it begins like {kind})" if kind else ""


def begins_with(path: Path, *signatures: bytes) -> bool:
    """Tell whether a file begins with one of the given signatures."""
    with path.open("rb") as file:
        return file.read(max(map(len, signatures))).startswith(signatures)
