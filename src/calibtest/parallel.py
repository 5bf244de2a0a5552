"""Threads over kernels and matrix products.

Kernels are sequential and release the interpreter lock; matrix products are asked for in tiles, one BLAS thread each.
Parallelism lives here, in plain threads made for one call. A process that forks afterwards carries no half-alive
thread pool, threads of BLAS do not compete with ours, and a result never depends on how many threads there were,
because the split depends on the problem alone and every piece writes its own output.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

__all__ = ["default_threads", "map_threads", "one_blas_thread", "use_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_chosen: ContextVar[int | None] = ContextVar("threads", default=None)
_here = threading.local()
_limit_lock = threading.Lock()
_limited_by = 0
_limit: Any = None


def default_threads() -> int:
    """Number of threads for a call: that of `use_threads`, else ``CALIBTEST_NUM_THREADS``, else all processors."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    asked = os.environ.get("CALIBTEST_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


@contextmanager
def use_threads(number: int | None) -> Iterator[None]:
    """Work with so many threads inside the block; None leaves the choice as it is."""
    token = _chosen.set(_chosen.get() if number is None else int(number))
    try:
        yield
    finally:
        _chosen.reset(token)


def map_threads(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None
) -> list[Result]:
    """Apply `function` to every item on a small pool of threads; results in the order of the items.

    Called from one of its own threads it works through the items there, so that nested splits make no more threads.
    """
    work = list(items)
    workers = min(len(work), default_threads() if threads is None else threads)
    if workers <= 1 or getattr(_here, "is_worker", False):
        return [function(item) for item in work]
    with one_blas_thread(), ThreadPoolExecutor(workers, initializer=_enlist) as pool:
        return list(pool.map(function, work))


def _enlist() -> None:
    _here.is_worker = True


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread, so that products in our threads do not compete and round the same for any number.

    The limit is the process's, so the first to come sets it and the last to go takes it off.
    """
    global _limited_by, _limit
    with _limit_lock:
        if _limited_by == 0:
            _limit = _in_passing(lambda: _controller().limit(limits=1, user_api="blas"))
        _limited_by += 1
    try:
        yield
    finally:
        with _limit_lock:
            _limited_by -= 1
            if _limited_by == 0:
                _in_passing(_limit.restore_original_limits)


def _in_passing(call: Callable[[], Result]) -> Result:
    """Call in a thread that ends with it: a BLAS may obey nobody else while the thread that set its limit lives."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


@cache
def _controller() -> Any:
    import numpy  # noqa: F401 - the controller sees the libraries that are loaded when it is made
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
