"""The way from a path to a checked stack of layers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from calibtest.arrays import Kind, Pool
from calibtest.errors import InputError
from calibtest.io.contents import GROUP_NAMES, ID_NAMES, Contents, Request, invalid, likeness, natural_key
from calibtest.io.csv_files import read_csv
from calibtest.io.hdf5_files import read_hdf5
from calibtest.io.numpy_files import npy_array, read_npy, read_npz
from calibtest.io.parquet_files import read_parquet
from calibtest.io.safetensors_files import read_safetensors
from calibtest.io.torch_files import read_torch
from calibtest.stacks import LayerStack, check_selection, item_ids

__all__ = ["READERS", "check_readable", "load", "read_file", "require_file", "split_target"]

READERS: dict[str, Callable[[Path, Request], Contents]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".pt": read_torch,
    ".pth": read_torch,
    ".safetensors": read_safetensors,
    ".h5": read_hdf5,
    ".hdf5": read_hdf5,
    ".parquet": read_parquet,
    ".csv": read_csv,
}


def load(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    pool: Pool | None = None,
    mask: object = None,
    kind: Kind = "activations",
    ids: Iterable[object] | None = None,
    layers: str | Iterable[str] | None = None,
) -> LayerStack:
    """Read the layers of a model from a file or a folder.

    Parameters
    ----------
    path
        A ``.npy``, ``.npz``, ``.pt``, ``.pth``, ``.safetensors``, ``.h5``, ``.hdf5``, ``.parquet`` or ``.csv`` file, or
        a folder with one such file a layer. ``"acts.npz::layer12"`` selects a layer, ``"acts.npz::a,b"`` several.
    name
        What errors and reports call the stack; by default the file's name without its suffix.
    pool, mask
        How to reduce arrays with a token or spatial axis, see :func:`calibtest.arrays.as_matrix`. Without `pool`
        the middle axis of a single ``(n, L, d)`` array is taken as L layers called ``"0"``, ``"1"``, ...
    kind
        What the layers hold: ``"activations"``, ``"kernel"``, ``"distance"`` or ``"neighbours"``.
    ids
        One id an item, instead of those in the file.
    layers
        Names of the layers to read, for names that hold a comma or ``::``.

    Returns
    -------
    LayerStack
        Arrays in memory, independent of the file. Its `notes` say what was set aside.

    Raises
    ------
    InputError
        When the file is missing, damaged, unsafe to open, or holds something else than layers; one sentence says
        which file, and what to do.
    MissingDependencyError
        When the format needs a package that is not installed.

    Notes
    -----
    No file is ever unpickled and no link out of a file is followed: opening data does not run code.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "model.npz"
    >>> np.savez(path, layer_10=np.ones((4, 2)), layer_2=np.zeros((4, 3)))
    >>> load(path).names
    ('layer_2', 'layer_10')
    >>> load(f"{path}::layer_10").widths
    (2,)
    >>> folder.cleanup()
    """
    place, wanted = split_target(path, layers)
    request = Request(wanted, stackable=pool is None and kind == "activations")
    contents = _read_folder(place, request) if _is(Path.is_dir, place) else read_file(place, request)
    return LayerStack.build(
        contents.layers,
        name=name if name is not None else _default_name(place),
        ids=ids if ids is not None else contents.ids,
        kind=kind,
        pool=pool,
        mask=mask,
        source=str(place),
        notes=contents.notes,
        copy=False,
    )


def split_target(
    path: str | os.PathLike[str], layers: str | Iterable[str] | None = None
) -> tuple[Path, tuple[str, ...] | None]:
    """Take ``"file::layer,layer"`` apart into a path and the names of layers, or None for all of them."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"path must be a path, got a {type(path).__name__}; pass arrays to LayerStack.build instead")
    text = os.fspath(path)
    # the first "::" behind something that exists: both a path and a layer may hold one
    cuts = [at for at in range(len(text)) if text.startswith("::", at)]
    cut = next((at for at in cuts if _is(Path.exists, Path(text[:at]).expanduser())), cuts[-1] if cuts else None)
    if cut is None or _is(Path.exists, Path(text).expanduser()):
        file, separator, selection = text, "", ""
    else:
        file, separator, selection = text[:cut], "::", text[cut + 2 :]
    if not file:
        raise InputError(f"path must name a file or a folder, got {text!r}")
    place = Path(file).expanduser()
    if layers is not None:
        if separator:
            raise InputError(f"{text} selects layers, and layers={layers!r} does too; use one of the two ways")
        return place, (layers,) if isinstance(layers, str) else tuple(str(layer) for layer in layers)
    if not separator:
        return place, None
    wanted = tuple(part.strip() for part in selection.split(","))
    if "" in wanted:
        raise InputError(f"{text} selects a layer without a name; write '{file}::name' or '{file}::name,name'")
    return place, wanted


def _is(question: Callable[[Path], bool], path: Path) -> bool:
    # A path that may not be looked at is refused where the file is opened, with its name.
    try:
        return question(path)
    except OSError:
        return False


def read_file(path: Path, request: Request) -> Contents:
    """Read one file by its suffix."""
    check_readable(path, READERS)
    return READERS[path.suffix.lower()](path, request)


def require_file(path: Path) -> None:
    """Refuse a path that is absent or no regular file."""
    try:
        exists, regular = path.exists(), path.is_file()
    except OSError as error:
        raise InputError(
            f"{path} cannot be looked at ({error.strerror}); check the path and its access rights"
        ) from error
    if not exists:
        raise InputError(f"{path} does not exist; check the path")
    if not regular:
        raise InputError(f"{path} is not a regular file; pass a file or a folder of files")


def check_readable(path: Path, suffixes: Iterable[str]) -> None:
    """Refuse a file that is absent, not regular, empty, or of a suffix that is not among `suffixes`."""
    require_file(path)
    if path.suffix.lower() not in suffixes:
        what = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
        raise InputError(
            f"{path} is not a valid layer file: it has {what}, but must have one of {', '.join(suffixes)}; "
            f"rename it if it is one of these{likeness(path)}"
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path} is not a valid {path.suffix} file (it is empty, 0 bytes); save or download it again")


def _read_folder(folder: Path, request: Request) -> Contents:
    try:
        found = sorted((file for file in folder.iterdir() if not file.name.startswith(".")), key=_stem_key)
    except PermissionError as error:
        raise InputError(f"{folder} cannot be opened (permission denied); change its access rights") from error
    files: dict[str, Path] = {}
    notes: list[str] = []
    ids_files: list[Path] = []
    for file in found:
        if file.stem in ID_NAMES and file.suffix.lower() in (".npy", ".txt"):
            ids_files.append(file)
        elif not file.is_file() or file.suffix.lower() not in READERS or file.stem in GROUP_NAMES:
            notes.append(f"{file} set aside, because it is no layer")
        elif file.stem in files:
            raise InputError(f"{folder} has two files for the layer {file.stem!r}; keep one of them")
        else:
            files[file.stem] = file
    if not files:
        raise InputError(f"{folder} holds no layer files ({', '.join(READERS)}); save one file a layer in it")
    if request.wanted is not None:
        check_selection(request.wanted, tuple(files), str(folder))
    layers: dict[str, object] = {}
    ids, source = _folder_ids(ids_files), ids_files[0] if ids_files else folder
    for stem in request.wanted or tuple(files):
        contents = read_file(files[stem], Request(None, request.stackable))
        if len(contents.layers) > 1:
            raise InputError(
                f"{files[stem]} holds {len(contents.layers)} layers, but each file of a folder must hold one; load the "
                "file by itself, or choose pool='mean', 'last' or 'flatten' if its middle axis is tokens"
            )
        layers[stem] = next(iter(contents.layers.values()))
        notes.extend(contents.notes)
        if contents.ids is not None:
            if ids is not None and contents.ids != ids:
                raise InputError(
                    f"the ids of {files[stem]} differ from those of {source}; "
                    "bring every layer into the same order first"
                )
            ids, source = contents.ids, files[stem]
    return Contents(layers, ids, tuple(notes))


def _stem_key(file: Path) -> tuple[Any, ...]:
    return (natural_key(file.stem), file.suffix)


def _folder_ids(files: list[Path]) -> tuple[str, ...] | None:
    if not files:
        return None
    if len(files) > 1:
        raise InputError(f"{files[0]} and {files[1]} both name the items; keep one of them")
    file = files[0]
    if file.suffix.lower() == ".npy":
        check_readable(file, (".npy",))
        return item_ids(npy_array(file), str(file))
    try:
        return tuple(line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines())
    except (OSError, UnicodeError) as error:
        raise invalid(file, "text", str(error)) from error


def _default_name(place: Path) -> str:
    return place.stem if place.is_file() else (place.name or place.resolve().name)
