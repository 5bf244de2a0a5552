"""Threads over kernels that release the interpreter lock.

The kernels are sequential; parallelism lives here, in plain threads made for one call. A process that forks
afterwards therefore carries no half-alive thread pool, and a result never depends on how many threads there were,
because every item writes its own output.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["default_threads", "map_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def default_threads() -> int:
    """Number of processors this process may use; ``CALIBTEST_NUM_THREADS`` sets a smaller or larger number."""
    asked = os.environ.get("CALIBTEST_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def map_threads(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None
) -> list[Result]:
    """Apply `function` to every item on a small pool of threads; results in the order of the items."""
    work = list(items)
    workers = min(len(work), default_threads() if threads is None else threads)
    if workers <= 1:
        return [function(item) for item in work]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, work))
