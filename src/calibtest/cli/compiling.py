"""Tell the user once that the first run compiles."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from calibtest.cli.screen import say

if TYPE_CHECKING:
    from calibtest.metrics.base import Metric

__all__ = ["announce_compilation", "kernels_compiled"]

# Modules of compiled loops that each form needs. A metric of another form runs the user's own function.
_NEEDED = {"Matching": ("diagonals",), "Overlap": ("neighbours", "overlap")}
_SECONDS = {"diagonals": 2, "neighbours": 5, "overlap": 3}


def kernels_compiled(module: str) -> bool:
    """Whether the machine code of any loop of a kernel module is already on disk."""
    loaded = importlib.import_module(f"calibtest.kernels.{module}")
    for name, loop in vars(loaded).items():
        stats = getattr(loop, "stats", None)
        folder = getattr(stats, "cache_path", None)
        if folder and any(Path(folder).glob(f"{module}.{name}-*.nbi")):
            return True
    return False


def announce_compilation(*metrics: Metric) -> None:
    """One line on stderr when the loops that the metrics need have not been compiled on this machine."""
    needed = {module for metric in metrics for module in _NEEDED.get(type(metric.form).__name__, ())}
    cold = [module for module in sorted(needed) if not kernels_compiled(module)]
    if cold:
        seconds = sum(_SECONDS[module] for module in cold)
        say(f"compiling kernels for this machine (once, about {seconds} s)")
