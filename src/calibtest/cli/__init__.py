"""The command line: arguments in, reports out.

Nothing is computed here. The modules import click and nothing heavy when they load, so that ``--help`` answers at once;
each command imports what it needs when it runs.
"""

from calibtest.cli.program import main

__all__ = ["main"]
