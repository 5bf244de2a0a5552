"""Files named on the command line: activations, masks of real tokens, groups of items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibtest.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibtest.arrays import Kind, Pool
    from calibtest.stacks import LayerStack

__all__ = ["flagged", "groups_of", "load_pair"]


@contextmanager
def flagged(flag: str) -> Iterator[None]:
    """Put the flag that named a file in front of what is wrong with the file."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{flag}: {error}") from error


def load_pair(a: str, b: str, *, kind: Kind, pool: Pool | None, masks: Sequence[str]) -> tuple[LayerStack, LayerStack]:
    """Both sides, under names that tell them apart."""
    from calibtest.io import load

    if masks and pool is None:
        raise InputError("--mask says which tokens are real and needs --pool mean or --pool last")
    if len(masks) > 2:
        raise InputError(f"--mask was given {len(masks)} times; give it once for both sides, or twice, for A and for B")
    loaded = [_mask(path) for path in masks] or [None]
    left = load(a, kind=kind, pool=pool, mask=loaded[0])
    right = load(b, kind=kind, pool=pool, mask=loaded[-1])
    if left.name != right.name:
        return left, right
    names = [f"{Path(stack.source or '').resolve().parent.name}/{stack.name}" for stack in (left, right)]
    if names[0] == names[1]:
        names = [f"{left.name} (A)", f"{right.name} (B)"]
    return left.renamed(names[0]), right.renamed(names[1])


def _mask(path: str) -> NDArray[Any] | None:
    from calibtest.io.numpy_files import load_mask

    if path == "none":
        return None
    with flagged("--mask"):
        return load_mask(path)


def groups_of(path: str | None, stack: LayerStack) -> list[Any] | None:
    """One label an item of `stack`, in its order, from the file that ``--groups`` names; None without a file."""
    from calibtest.io.groups import load_groups

    if path is None:
        return None
    with flagged("--groups"):
        return load_groups(path, ids=stack.ids)
