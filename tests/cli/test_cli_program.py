"""The program as a whole: exit statuses, streams, what it loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import calibtest
from calibtest.cli import main
from calibtest.cli.output import write_files
from calibtest.errors import CalibtestError, InputError, MissingDependencyError

HEAVY = ("numpy", "scipy", "numba", "pandas", "matplotlib", "statsmodels", "sklearn", "joblib", "rich", "torch")


def python(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, calibtest, calibtest.cli\n"
        "try: calibtest.cli.main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        f"print('loaded:', [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "loaded: []\n"
    for command in ("compare", "demo", "metrics", "wrap"):
        assert command in done.stdout


def test_version_and_no_command() -> None:
    runner = CliRunner()
    assert runner.invoke(main, ["--version"], prog_name="calibtest").output == f"calibtest {calibtest.__version__}\n"
    bare = runner.invoke(main, [], prog_name="calibtest")
    assert bare.exit_code == 0
    assert "calibtest demo" in bare.output


@pytest.mark.parametrize("command", ["demo", "compare", "wrap", "metrics"])
def test_every_help_has_an_example(command: str) -> None:
    result = CliRunner().invoke(main, [command, "--help"], prog_name="calibtest")
    assert result.exit_code == 0
    assert f"Example: calibtest {command}" in result.output
    assert "--json" in result.output


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (InputError("X must be 2-D"), 2, "calibtest: X must be 2-D\n"),
        (MissingDependencyError("reading .h5 needs h5py"), 2, "calibtest: reading .h5 needs h5py\n"),
        (CalibtestError("the engine is wrong"), 1, "calibtest: the engine is wrong\n"),
        (KeyboardInterrupt(), 130, "calibtest: interrupted\n"),
        (click.Abort(), 130, "calibtest: interrupted\n"),
        (MemoryError("8 GB"), 1, "calibtest: not enough memory (8 GB); use fewer items or layers at a time\n"),
        (click.FileError("x.npy", "gone"), 2, "calibtest: Could not open file 'x.npy': gone\n"),
    ],
)
def test_exit_status(monkeypatch: pytest.MonkeyPatch, raised: BaseException, status: int, said: str) -> None:
    @click.command()
    def fails() -> None:
        raise raised

    monkeypatch.setitem(main.commands, "fails", fails)
    result = CliRunner().invoke(main, ["fails"], prog_name="calibtest")
    assert result.exit_code == status
    assert result.stderr.lstrip("\n") == said
    assert result.stdout == ""


def test_internal_failure_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def fails() -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setitem(main.commands, "fails", fails)
    result = CliRunner().invoke(main, ["fails"], prog_name="calibtest")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert result.stderr.endswith("calibtest: internal failure; please report it with the lines above\n")


def test_subprocess_refuses_quietly(files: Path) -> None:
    done = python("-m", "calibtest", "compare", "nowhere.npz", "b.npz", cwd=files)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "calibtest: nowhere.npz does not exist; check the path\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes end in another way there")
def test_reader_that_leaves_is_no_failure() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "calibtest", "metrics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        said = running.stderr.read()
    assert running.returncode == 0
    assert said == ""


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", ["100", "50"])
def test_terminal_gets_a_table_with_whole_numbers(run: Callable[..., Result], files: Path, columns: str) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": columns, "TERM": "xterm", "NO_COLOR": ""}
    with subprocess.Popen(
        [sys.executable, "-m", "calibtest", "compare", "a.npz", "b.npz", "--n-resamples", "39"],
        cwd=files,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as running:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end was closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert running.returncode == 0
    text = shown.decode()
    assert ("─" in text) == (columns == "100")  # a drawn table where it fits, plain lines where it does not
    document = json.loads(run("compare", "a.npz", "b.npz", "--n-resamples", "39", "--json").stdout)
    for cell in document["cells"]:
        assert f"{cell['score']:.4f}" in text
    assert "…" not in text


def test_cold_kernels_are_announced_once(files: Path, tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    arguments = ("-m", "calibtest", "compare", "a.npz", "b.npz", "--n-resamples", "39", "--json")
    first, second = (python(*arguments, cwd=files, env=environment) for _ in range(2))
    assert first.stderr == "compiling kernels for this machine (once)\n"
    assert second.stderr == ""
    assert first.stdout == second.stdout


def test_files_are_replaced_whole_or_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"result.json": b"old"})
    write_files(tmp_path, {"result.json": b"new"})
    assert (tmp_path / "result.json").read_bytes() == b"new"

    def fails(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(InputError, match=r"result\.json could not be written \(No space left on device\)"):
        write_files(tmp_path, {"result.json": b"newer"})
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert (tmp_path / "result.json").read_bytes() == b"new"


def test_progress_only_on_a_terminal() -> None:
    from calibtest.cli.screen import progress_bar

    with progress_bar("working") as tell:
        assert tell is None


def test_others_warnings_are_not_swallowed(recwarn: pytest.WarningsRecorder) -> None:
    import warnings

    from calibtest.cli.screen import collected_notes
    from calibtest.errors import CalibtestWarning

    shown: list[str] = []
    previous: Callable[..., None] = warnings.showwarning
    warnings.showwarning = lambda message, *rest, **more: shown.append(str(message))
    try:
        with collected_notes() as notes:
            warnings.simplefilter("always")
            warnings.warn("mind this", CalibtestWarning, stacklevel=1)
            warnings.warn("mind this", CalibtestWarning, stacklevel=1)
            warnings.warn("numpy's own", RuntimeWarning, stacklevel=1)
    finally:
        warnings.showwarning = previous
    assert notes == ["mind this"]
    assert shown == ["numpy's own"]
