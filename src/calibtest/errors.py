"""The exception family, and how its sentences are made.

Every message is one sentence that names the argument, the rule, the value found and the way out. Whatever is
wrong with the *input* is an :class:`InputError`, which is a ``ValueError`` too, so that callers who know nothing
of this package can still catch it; the command line turns it into exit status 2 without a traceback.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from types import ModuleType

__all__ = [
    "CalibtestError",
    "CalibtestWarning",
    "InputError",
    "MissingDependencyError",
    "UndefinedScoreError",
    "first_line",
    "import_extra",
    "listing",
]

# Names listed in a sentence before the rest is only counted, and the longest quotation of another's message.
_LISTED = 20
_QUOTED = 200


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


# how the note begins that an error of the caller's own function bears
RAISED_BY = "raised by metric"


def listing(names: Sequence[str], most: int = _LISTED) -> str:
    """List names for a sentence, cut after `most` with the count of the rest."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def first_line(error: BaseException) -> str:
    """Return the first line of another package's message, to be quoted inside a sentence."""
    text = str(error).strip().splitlines()
    return text[0].rstrip(".;")[:_QUOTED] if text else type(error).__name__


def import_extra(module: str, *, extra: str, purpose: str, least: tuple[int, ...] = ()) -> ModuleType:
    """Import an optional package, or say how to install it.

    Parameters
    ----------
    module
        Name of the module to import, for example ``"h5py"``; its package is installed under the same name.
    extra
        The optional dependency group of this package that installs it.
    purpose
        What needs it, as the beginning of a sentence: ``"reading .h5"``.
    least
        Earliest version that does this safely, for example ``(2, 6)``.

    Returns
    -------
    ModuleType
        The imported module.

    Raises
    ------
    MissingDependencyError
        When the package is absent, is there but cannot be imported, or is older than `least`.
    """
    package = module.partition(".")[0]
    try:
        whole, imported = importlib.import_module(package), importlib.import_module(module)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == package
        trouble = f"needs {package}" if absent else f"needs {package}, which is installed but does not import ({error})"
        raise MissingDependencyError(
            f"{purpose} {trouble}; install it (pip install {package}), or calibtest with its extra {extra!r}"
        ) from error
    version = str(getattr(whole, "__version__", "a version that it does not tell"))
    if tuple(int(number) for number in re.findall(r"\d+", version)[: len(least)]) < least:
        wanted = ".".join(map(str, least))
        raise MissingDependencyError(
            f"{purpose} safely needs {package} {wanted} or later, got {version}; install it "
            f"(pip install '{package}>={wanted}'), or calibtest with its extra {extra!r}"
        )
    return imported
