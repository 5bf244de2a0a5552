"""What a command prints: tables on a terminal, plain aligned text elsewhere; notes and progress on stderr."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from calibtest.errors import CalibtestWarning
from calibtest.report.words import plain_table

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Screen", "collected_notes", "progress_bar", "say"]

_PLAIN_WIDTH = 116
_SLOW = 1.0  # seconds after which progress is worth showing
_LEAST_NAME = 6


def say(line: str) -> None:
    """One line on stderr."""
    click.echo(line, err=True)


class Screen:
    """Standard output: rich where a person looks at it, plain where a program or a file does."""

    def __init__(self) -> None:
        self.terminal = sys.stdout is not None and sys.stdout.isatty()
        self.width = shutil.get_terminal_size((_PLAIN_WIDTH, 40)).columns if self.terminal else _PLAIN_WIDTH

    def line(self, text: str = "") -> None:
        """A line as it is."""
        click.echo(text)

    def title(self, text: str) -> None:
        """A line that opens a section."""
        click.secho(text, bold=True) if self.terminal else click.echo(text)

    def paragraph(self, text: str, label: str = "", *, label_width: int = 0, indent: int = 2) -> None:
        """Wrapped text, with a label in front of its first line."""
        head = " " * indent + label.ljust(label_width)
        room = max(24, min(self.width, _PLAIN_WIDTH) - 1)
        for place, line in enumerate(textwrap.wrap(text, room - len(head), break_long_words=False) or [""]):
            if place == 0 and label and self.terminal:
                click.echo(click.style(head, dim=True) + line)
            else:
                click.echo((head if place == 0 else " " * len(head)) + line)

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 2, faded: Sequence[bool] = ()
    ) -> None:
        """A table whose first `names` columns are names; numbers are never cut short.

        Parameters
        ----------
        header, rows : sequences of str
            The cells.
        names : int
            Number of columns that hold names.
        faded : sequence of bool
            Rows to print faintly, for results that are not significant.
        """
        numbers = sum(max(len(row[at]) for row in (header, *rows)) + 2 for at in range(names, len(header)))
        if not self.terminal or numbers + names * (_LEAST_NAME + 2) + 2 > self.width:
            for text in plain_table(header, rows, left=names):
                click.echo(text)
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, pad_edge=True, header_style="bold", padding=(0, 1))
        for at, heading in enumerate(header):
            if at < names:
                table.add_column(heading, overflow="fold", min_width=_LEAST_NAME)
            else:
                table.add_column(heading, justify="right", no_wrap=True)
        for at, row in enumerate(rows):
            table.add_row(*(_escaped(text) for text in row), style="dim" if at < len(faded) and faded[at] else None)
        Console(highlight=False, width=self.width).print(table)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)


@contextmanager
def collected_notes() -> Iterator[list[str]]:
    """Collect the package's warnings as sentences; those of others are shown as Python shows them."""
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", CalibtestWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
            if issubclass(category, CalibtestWarning):
                if str(message) not in notes:
                    notes.append(str(message))
            else:
                others(message, category, *place, **more)  # type: ignore[arg-type]

        warnings.showwarning = show
        yield notes


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float], None] | None]:
    """A function to call with the share done; it draws a bar on a terminal once the work has taken a while."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    begun = time.monotonic()
    bar: Progress | None = None

    def tell(share: float) -> None:
        nonlocal bar
        if bar is None:
            if time.monotonic() - begun < _SLOW or share >= 1.0:
                return
            bar = _bar(what)
            bar.start()
        bar.update(bar.task_ids[0], completed=share)

    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()


def _bar(what: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task(what, total=1.0)
    return bar
