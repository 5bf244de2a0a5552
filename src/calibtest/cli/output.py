"""Files that a command writes: whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from calibtest.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calibtest.procedures.layers import LayersResult
    from calibtest.procedures.scores import ScoresResult

__all__ = ["layers_files", "prepare_folder", "scores_files", "write_files"]

_DPI = 150


def prepare_folder(folder: str) -> Path:
    """Make the folder, and make sure that it can be written to, before anything long is begun.

    Raises
    ------
    InputError
        When there is something else of that name, or no permission.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise InputError(
            f"--out must be a folder that can be written to, got {folder} ({error.strerror or error}); choose another"
        ) from error
    return place


def layers_files(result: LayersResult) -> dict[str, bytes]:
    """What is written for a test: the document, the table and the picture."""
    return {
        "result.json": (result.to_json(null=True) + "\n").encode(),
        "layers.csv": result.to_frame().to_csv(index=False).encode(),
        "heatmap.png": _png(result.plot()),
    }


def scores_files(result: ScoresResult, names: tuple[str, str]) -> dict[str, bytes]:
    """What is written for scores without a test: the same three files."""
    from calibtest.report.draw import draw_scores

    return {
        "result.json": (result.to_json() + "\n").encode(),
        "layers.csv": result.to_frame().to_csv(index=False).encode(),
        "heatmap.png": _png(draw_scores(result, names=names)),
    }


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write every file beside its place and move it there, replacing one of an earlier run."""
    for name, content in files.items():
        handle, part = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as opened:
                opened.write(content)
            os.chmod(part, 0o666 & ~_umask())
            os.replace(part, folder / name)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(part)
            if isinstance(error, OSError):
                raise InputError(f"--out: {folder / name} could not be written ({error.strerror or error})") from error
            raise


def _umask() -> int:
    """The process's mask; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _png(figure: Figure) -> bytes:
    held = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)  # drawn as boxes, named in the table
        figure.savefig(held, format="png", dpi=_DPI)
    return held.getvalue()
