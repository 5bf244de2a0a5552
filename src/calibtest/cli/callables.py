"""A function of the user's own, named on the command line.

Naming a function runs the file or the module that holds it, as ``python file.py`` would: it is the user's own code.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from calibtest.errors import InputError

__all__ = ["is_reference", "load_object"]


def is_reference(text: str) -> bool:
    """Whether `text` has the form ``package.module:name`` or ``file.py:name``."""
    return ":" in text


def load_object(text: str, flag: str) -> Any:
    """The object that ``package.module:name`` or ``file.py:name`` names.

    Parameters
    ----------
    text : str
        The reference; `name` may be dotted.
    flag : str
        The flag that it was given to, for the sentence of an error.

    Raises
    ------
    InputError
        When there is no such file, module or name, or when running it fails.
    """
    place, _, name = text.rpartition(":")
    if not place or not name:
        raise InputError(f"{flag} must be a name, package.module:function or file.py:function, got {text!r}")
    module = _from_file(Path(place), flag) if place.endswith(".py") else _from_package(place, flag)
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise InputError(f"{flag}: {place} has no {name!r}; name a function that it defines") from None
    return found


def _from_file(path: Path, flag: str) -> ModuleType:
    if not path.is_file():
        raise InputError(f"{flag}: there is no file {path}; give the path of an existing .py file")
    name = f"_calibtest_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _searched_first(str(path.resolve().parent)):
            spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(
            f"{flag}: running {path} failed with {type(error).__name__}: {error}; correct the file"
        ) from error
    finally:
        # A function whose module cannot be imported by name is sent to worker processes whole.
        del sys.modules[name]
    return module


def _from_package(name: str, flag: str) -> ModuleType:
    try:
        with _searched_first(os.getcwd()):
            return importlib.import_module(name)
    except Exception as error:
        raise InputError(
            f"{flag}: importing {name} failed with {type(error).__name__}: {error}; correct the name or install its package"
        ) from error


@contextmanager
def _searched_first(folder: str) -> Iterator[None]:
    """Search `folder` before everything else while the user's code is loaded, and after everything else from then on.

    Worker processes still find the user's modules there, but a file of the user's that happens to be called like a
    package cannot take the package's place when this program imports it later.
    """
    if folder in sys.path:
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        sys.path.append(folder)
