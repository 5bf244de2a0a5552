"""A folder of small files to run commands on, and a way to run them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import calibtest

N_ITEMS = 40

FUNCTIONS = """
import numpy as np

def agreement(x, y):
    return float(np.corrcoef(x.mean(axis=1), y.mean(axis=1))[0, 1])

def distance(x, y):
    return float(np.abs(x[:, 0] - y[:, 0]).mean())

def broken(x, y):
    return float("nan")

def largest(values):
    return values.max(axis=(1, 2))

number = 3
"""


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(3)
    n = N_ITEMS
    signal = rng.standard_normal((n, 3))
    ids = np.array([f"item{i}" for i in range(n)])
    left = {"early": rng.standard_normal((n, 25)), "late": signal @ rng.standard_normal((3, 6))}
    right = {"early": rng.standard_normal((n, 9)), "late": signal + 0.3 * rng.standard_normal((n, 3))}
    np.savez(folder / "a.npz", ids=ids, **left)
    np.savez(folder / "b.npz", ids=ids, **right)
    np.save(folder / "x.npy", left["late"])
    np.save(folder / "y.npy", right["late"])
    np.save(folder / "short.npy", left["late"][:30])
    hole = left["late"].copy()
    hole[7, 2] = np.nan
    np.save(folder / "nan.npy", hole)
    np.save(folder / "constant.npy", np.ones((n, 4)))
    np.save(folder / "objects.npy", np.array([{}] * n, dtype=object), allow_pickle=True)
    np.save(folder / "tokens.npy", rng.standard_normal((n, 5, 6)))
    mask = np.ones((n, 5), dtype=bool)
    mask[:, 3:] = False
    np.save(folder / "mask.npy", mask)
    np.save(folder / "kernel.npy", signal @ signal.T)
    np.save(folder / "neighbours.npy", (np.arange(n)[:, None] + np.arange(1, 6)) % n)
    (folder / "truncated.npz").write_bytes((folder / "a.npz").read_bytes()[:300])
    (folder / "functions.py").write_text(FUNCTIONS)
    (folder / "syntax.py").write_text("def (:\n")
    labels = ["abcd"[i % 4] for i in range(n)]
    (folder / "groups.txt").write_text("\n".join(labels) + "\n")
    (folder / "few.txt").write_text("\n".join(labels[:10]))
    (folder / "holes.txt").write_text("a\n\nb\n")
    np.save(folder / "groups.npy", np.array(labels))
    np.savez(folder / "groups.npz", groups=np.array(labels), other=np.arange(3))
    shuffled = rng.permutation(n)
    lines = [f"{ids[i]},{labels[i]}" for i in shuffled]
    (folder / "groups.csv").write_text("\n".join(["id,group", *lines]))
    (folder / "one_column.csv").write_text("kind\n" + "\n".join(labels) + "\n")
    (folder / "semicolons.csv").write_text("id;group\n" + "\n".join(line.replace(",", ";") for line in lines))
    (folder / "draws.csv").write_text("cka\n" + "\n".join(f"{i / 100}" for i in range(1, 31)))
    np.save(folder / "observed.npy", np.array([[0.3, 0.2], [0.1, 0.6]]))
    np.save(folder / "null.npy", rng.random((99, 2, 2)) / 2)
    np.save(folder / "hole_null.npy", np.array([0.1, np.nan, 0.2]))
    (folder / "one_row.csv").write_text("b,a\n0.9,0.1\n")
    (folder / "cells.csv").write_text("a,b\n" + "\n".join(f"{rng.random() / 2},{rng.random() / 2}" for _ in range(99)))
    (folder / "other_cells.csv").write_text("a,c\n0.9,0.1\n")
    header = "layer_a,layer_b,observed," + ",".join(f"null_{k}" for k in range(39))
    rows = [f"l{i},m{i},{0.5 + i / 4}," + ",".join(f"{v:.3f}" for v in rng.random(39)) for i in range(3)]
    (folder / "table.csv").write_text("\n".join([header, *rows]))
    (folder / "bare.csv").write_text("layer,observed,null,null_1\nl0,0.5,0.1,0.2\n")
    (folder / "no_null.csv").write_text("layer,observed\nl0,0.5\n")
    return folder


@pytest.fixture
def run(files: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the program in the folder of files."""
    from calibtest.cli import main

    monkeypatch.chdir(files)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments), prog_name="calibtest")

    return call


@pytest.fixture(scope="session", autouse=True)
def _compiled_kernels() -> None:
    """Compile before anything is said on stderr: a cold machine announces it, once, in whichever test comes first."""
    layers = list(np.random.default_rng(0).standard_normal((2, 12, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for metric in calibtest.metrics():
            for draws in ("cosets", "independent"):
                for precision in ("float64", "float32"):
                    options = {"k": 3} if metric == "mutual_knn" else {}
                    chosen = calibtest.get_metric(metric, **options)
                    calibtest.layers_test(
                        layers, layers, metric=chosen, draws=draws, precision=precision, n_resamples=19, rng=0
                    )
