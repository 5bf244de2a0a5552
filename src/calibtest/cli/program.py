"""The program: its commands, and what its exit status means.

====  =====================================================================
0     it ran
1     an internal failure (a traceback, or a sentence that asks to report it)
2     bad input or a bad flag: one sentence on stderr
130   interrupted from the keyboard
====  =====================================================================
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from calibtest import __version__
from calibtest.cli.compare import compare
from calibtest.cli.demo import demo
from calibtest.cli.metrics import metrics
from calibtest.cli.wrap import wrap
from calibtest.errors import RAISED_BY, CalibtestError, InputError, MissingDependencyError, first_line

__all__ = ["main"]


class Program(click.Group):
    """A group of commands that turns every way of ending into an exit status."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the program and exit, with the statuses of this module."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a name that the terminal cannot write must not end the program
                stream.reconfigure(errors="replace")
        try:
            status = super().main(args, prog_name, complete_var, False, **extra)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "calibtest"
            _refuse(f"{_sentence(error.format_message())}; see '{path} --help'")
        except click.ClickException as error:
            _refuse(_sentence(error.format_message()))
        except (click.Abort, KeyboardInterrupt):
            click.echo("calibtest: interrupted", err=True)
            sys.exit(130)
        except (InputError, MissingDependencyError) as error:
            _refuse(str(error))
        except MemoryError as error:
            click.echo(f"calibtest: not enough memory ({error}); use fewer items or layers at a time", err=True)
            sys.exit(1)
        except CalibtestError as error:
            click.echo(f"calibtest: {error}", err=True)
            sys.exit(1)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF):
                raise
            click.echo(f"calibtest: the output could not be written: {error.strerror}", err=True)
            _close_stdout()
            sys.exit(1)
        except Exception as error:
            for note in getattr(error, "__notes__", ()):
                if note.startswith(RAISED_BY):
                    _refuse(f"{type(error).__name__} {note}: {first_line(error)}")
            traceback.print_exc()
            click.echo("calibtest: internal failure; please report it with the lines above", err=True)
            sys.exit(1)
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader that left (``| head``) is no failure."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _close_stdout()
            return 0
        return result


def _sentence(message: str) -> str:
    """Click's message on one line, without its full stop."""
    return " ".join(message.split()).removesuffix(".")


def _refuse(sentence: str) -> NoReturn:
    click.echo(f"calibtest: {sentence}", err=True)
    sys.exit(2)


def _close_stdout() -> None:
    """Send what is still buffered to nowhere, so that the interpreter's own flush at the end stays quiet."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Start with: calibtest demo",
)
@click.version_option(__version__, prog_name="calibtest", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Calibrated hypothesis tests for representation alignment.

    How much do two models agree beyond chance, which layers, and how sure is that?
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _command in (demo, compare, wrap, metrics):
    main.add_command(_command)
