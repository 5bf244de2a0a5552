"""The trials that need a process of their own: an unwritable home, forked workers, BLAS threads, a file from a GPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pytest

import calibtest

SCRIPTS = ("N7", "O5", "P1", "P5")
PACKAGE = Path(calibtest.__file__).parent


def run(
    script: str, *, package: Path = PACKAGE, unset: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in a new process that imports the given copy of the package."""
    surroundings = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**surroundings, "PYTHONPATH": str(package.parent), **env},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_p1_works_where_nothing_can_be_written(tmp_path: Path) -> None:
    copy = tmp_path / "calibtest"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    # a file in the place of the cache folder stops every user from writing there, the superuser included
    (copy / "kernels" / "__pycache__").write_text("")
    done = run(
        """
        import numpy as np, calibtest
        print(calibtest.__file__)
        x = np.random.default_rng(0).standard_normal((30, 4))
        print(calibtest.alignment_test(x, x, n_resamples=99, rng=0).pvalue <= 0.01)
        import calibtest.kernels.neighbours, calibtest.kernels.overlap  # no second warning
        """,
        package=copy,
        unset=("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "IPYTHONDIR"),
        HOME="/dev/null/nowhere",
        PYTHONWARNINGS="always::UserWarning",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(copy / "__init__.py"), "True"]
    assert done.stderr.count("CalibtestWarning:") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_p5_forked_workers_agree_after_a_test_in_the_parent() -> None:
    done = run(
        """
        import multiprocessing
        import numpy as np, calibtest

        def work(number):
            x = np.random.default_rng(0).standard_normal((200, 6))
            y = x[:, :3] + 4 * np.random.default_rng(1).standard_normal((200, 3))
            found = []
            for metric in ("linear_cka", "mutual_knn"):
                result = calibtest.alignment_test(x, y, metric=metric, n_resamples=999, rng=0, n_jobs=2)
                found += [result.statistic, result.pvalue, result.null_distribution.sum()]
            return found

        expected = work(0)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(work, range(4)) == [expected] * 4)
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True"


def test_o5_pvalues_do_not_depend_on_blas_threads() -> None:
    script = """
        import numpy as np, calibtest
        x = np.tile([[0.1], [0.1], [0.1], [0.7], [0.7], [0.7]], (30, 1))
        for draws in ("independent", "cosets"):
            result = calibtest.alignment_test(x, x, n_resamples=999, draws=draws, rng=0)
            print(result.pvalue.hex(), repr(result.statistic))
        y = np.random.default_rng(0).integers(0, 3, (180, 300)).astype(float)
        result = calibtest.alignment_test(x, y, n_resamples=999, rng=0)
        print(result.pvalue.hex(), repr(result.statistic))
        """
    threads = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    one, two = (run(script, **dict.fromkeys(threads, number)) for number in ("1", "2"))
    assert one.returncode == two.returncode == 0, one.stderr + two.stderr
    for first, second in zip(one.stdout.splitlines(), two.stdout.splitlines(), strict=True):
        (p_one, score_one), (p_two, score_two) = first.split(), second.split()
        assert p_one == p_two
        assert abs(float(score_one) - float(score_two)) < 1e-12
    assert len(one.stdout.splitlines()) == 3


def test_n7_file_saved_from_a_gpu_opens_without_one(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="trial N7 needs torch")
    plain, from_gpu = tmp_path / "plain.pt", tmp_path / "gpu.pt"
    torch.save({"l0": torch.arange(6.0).reshape(3, 2)}, plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(from_gpu, "w") as target:
        for entry in source.infolist():
            # where a tensor lived is a text in the list of contents
            held = source.read(entry).replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
            target.writestr(entry.filename, held)
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="CUDA"):
            torch.load(from_gpu, weights_only=True)
    loaded = calibtest.load(from_gpu, layers="l0").only()
    np.testing.assert_array_equal(loaded, [[0, 1], [2, 3], [4, 5]])
