"""Tell the user, once, when the first run compiles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from calibtest.cli.screen import say

__all__ = ["announced_compilation"]


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Say one line on stderr when, inside the block, a loop is really compiled and not read from disk.

    The compiler itself is asked, so nothing is said before input that is refused, or when the loops are there already.
    """
    # Loaded inside a command only, so that --help stays quick; the kernels need it anyway.
    events: Any = import_module("numba.core.event")
    told = False

    def begin(listener: object, found: object) -> None:
        nonlocal told
        if not told:
            told = True
            say("compiling kernels for this machine (once)")

    def end(listener: object, found: object) -> None:
        """Nothing is said when it is done."""

    announcement = type("Announcement", (events.Listener,), {"on_start": begin, "on_end": end})()
    events.register("numba:compile", announcement)
    try:
        yield
    finally:
        events.unregister("numba:compile", announcement)
