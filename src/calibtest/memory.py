"""How much memory there is, so that a request beyond it is refused in a sentence and not by the system."""

from __future__ import annotations

import os

from calibtest.errors import InputError

__all__ = ["available_bytes", "require_memory"]


def available_bytes() -> int | None:
    """Memory that can be had without swapping, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None


def require_memory(needed: int, what: str, way_out: str) -> None:
    """Refuse `what` when it needs more bytes than there are.

    Raises
    ------
    InputError
        Naming both figures and the way out.
    """
    available = available_bytes()
    if available is not None and needed > available:
        raise InputError(
            f"{what} needs {needed / 1e9:.1f} GB of memory, but {available / 1e9:.1f} GB are available; {way_out}"
        )
