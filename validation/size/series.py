"""Size of the circular scheme on unrelated time series: how approximate it is.

    python validation/size/series.py

Two unrelated series of three units each, autoregressive of order 1 or random walks, tested with linear CKA under
``scheme="circular"`` at level .05. The test would be exact if the end of a series joined its beginning.
"""

from __future__ import annotations

import json
import platform
import warnings
from pathlib import Path

import numpy as np

import calibtest

ALPHA, N_SETS, N_UNITS, SEED = 0.05, 2000, 3, 20261130
CASES = {
    "AR(.9), 200 items": (0.9, 200),
    "AR(.97), 60 items": (0.97, 60),
    "AR(.97), 200 items": (0.97, 200),
    "random walk, 200 items": (1.0, 200),
}


def series(n: int, phi: float, rng: np.random.Generator) -> np.ndarray:
    """(n, N_UNITS) series; stationary from the start where `phi` is below 1."""
    steps = rng.standard_normal((n, N_UNITS))
    if phi < 1:
        steps[0] /= np.sqrt(1 - phi**2)
    for t in range(1, n):
        steps[t] += phi * steps[t - 1]
    return steps


def rejections(n: int, phi: float, seed: np.random.SeedSequence) -> int:
    count = 0
    for child in seed.spawn(N_SETS):
        rng = np.random.default_rng(child)
        result = calibtest.alignment_test(series(n, phi, rng), series(n, phi, rng), scheme="circular")
        count += result.pvalue <= ALPHA
    return count


def main() -> None:
    warnings.simplefilter("ignore", calibtest.CalibtestWarning)
    found = {}
    for (name, (phi, n)), seed in zip(CASES.items(), np.random.SeedSequence(SEED).spawn(len(CASES)), strict=True):
        count = rejections(n, phi, seed)
        found[name] = {"rejected": count, "of": N_SETS, "rate": count / N_SETS}
        print(f"{name}: {count / N_SETS:.1%}")
    versions = {"python": platform.python_version(), "calibtest": calibtest.__version__, "numpy": np.__version__}
    record = {"alpha": ALPHA, "n_units": N_UNITS, "seed": SEED, "cases": found, "versions": versions}
    Path(__file__).with_name("series.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
