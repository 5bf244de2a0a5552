"""The exception family, and how its sentences are made.

Every message is one sentence that names the argument, the rule, the value found and the way out. Whatever is
wrong with the *input* is an :class:`InputError`, which is a ``ValueError`` too, so that callers who know nothing
of this package can still catch it; the command line turns it into exit status 2 without a traceback.
"""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = [
    "CalibtestError",
    "CalibtestWarning",
    "InputError",
    "MissingDependencyError",
    "UndefinedScoreError",
    "import_extra",
]


class CalibtestError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(CalibtestError, ValueError):
    """An argument or a file breaks a rule; the message says which, and what to do."""


class UndefinedScoreError(InputError):
    """The score does not exist on these data, for example because a layer is constant."""


class MissingDependencyError(CalibtestError, ImportError):
    """An optional package is absent; the message names the extra that installs it."""


class CalibtestWarning(UserWarning):
    """A result is valid, but something about it deserves to be read."""


def import_extra(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or say which extra installs it.

    Parameters
    ----------
    module
        Name of the module to import, for example ``"h5py"``.
    extra
        The optional dependency group of this package that installs it.
    purpose
        What needs it, as the beginning of a sentence: ``"reading .h5"``.

    Returns
    -------
    ModuleType
        The imported module.

    Raises
    ------
    MissingDependencyError
        When the package is absent, or is there but cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        absent = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == package
        trouble = f"needs {package}" if absent else f"needs {package}, which is installed but does not import ({error})"
        raise MissingDependencyError(
            f"{purpose} {trouble}: pip install 'calibtest[{extra}]' (from a clone: pip install '.[{extra}]')"
        ) from error
