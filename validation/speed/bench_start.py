"""Start-up: the import, and the command line's help."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest


@pytest.mark.parametrize(
    "arguments", [("-c", "import calibtest"), ("-m", "calibtest", "--help")], ids=["import", "help"]
)
@pytest.mark.benchmark(group="start")
def test_start(benchmark: Any, arguments: tuple[str, ...]) -> None:
    benchmark.pedantic(
        lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True),
        rounds=10,
        warmup_rounds=1,
    )
