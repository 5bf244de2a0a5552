"""Compiled loops, and nothing else.

A kernel takes arrays and writes into its last argument. It holds no class, checks no input, draws no random number
and starts no thread: the driver one floor up has done the checking and decides the split (``calibtest.parallel``).
Kernels release the interpreter lock and are compiled once for a machine; where the compiled code cannot be kept on
disk (nothing writable), it is compiled again in each process, with one warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from calibtest.errors import CalibtestWarning

__all__ = ["kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])
_told = False


def kernel(function: Function) -> Function:
    """Compile `function` for nogil use and keep the machine code on disk where that is possible."""
    global _told
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError as error:  # numba found no folder that it can write to
        if "cannot cache" not in str(error):
            raise
        if not _told:
            _told = True
            warnings.warn(
                "compiled kernels cannot be kept on disk here, so every process compiles them again (a few seconds); "
                "set NUMBA_CACHE_DIR to a writable folder to keep them",
                CalibtestWarning,
                stacklevel=2,
            )
        return cast(Function, numba.njit(nogil=True)(function))
