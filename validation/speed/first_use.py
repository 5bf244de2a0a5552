"""Run every compiled loop of the package once, on small data, and print the seconds it took.

Run in a process of its own by record.py, with an empty and then with a filled NUMBA_CACHE_DIR: the difference is the
compilation. With ``--one METRIC`` only what a first test with that metric needs.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

import calibtest


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    began = time.perf_counter()
    if "--one" in sys.argv:
        x, y = rng.standard_normal((2, 40, 5))
        calibtest.alignment_test(x, y, metric=sys.argv[-1], n_resamples=99, rng=0)
        print(time.perf_counter() - began)
        return
    everything(rng)
    print(time.perf_counter() - began)


def everything(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal((2, 40, 5))
    groups = np.repeat([0, 1, 2], [10, 14, 16])
    copies = np.repeat(x[:10], 4, axis=0)
    lattice = np.rint(2 * x)
    for precision in ("float64", "float32"):
        single = (x.astype(precision), y.astype(precision))
        for name in calibtest.metrics():
            metric = calibtest.get_metric(str(name))
            for draws in ("cosets", "independent"):
                calibtest.alignment_test(
                    *single, metric=metric, precision=precision, draws=draws, n_resamples=99, rng=0
                )
        calibtest.alignment_test(
            *single, precision=precision, scheme="within_groups", groups=groups, n_resamples=99, rng=0
        )
    for distance in ("cosine", "euclidean"):
        metric = calibtest.get_metric("mutual_knn", distance=distance)
        for left in (x, copies, lattice + 0.5):
            for draws in ("cosets", "independent"):
                calibtest.alignment_test(left, y, metric=metric, draws=draws, n_resamples=99, rng=0)
    many = rng.standard_normal((2, 1500, 3))  # so many strata that the edges' keys need a table of their own
    pairs = np.repeat(np.arange(750), 2)
    calibtest.alignment_test(*many, metric="mutual_knn", scheme="within_groups", groups=pairs, n_resamples=19, rng=0)


if __name__ == "__main__":
    main()
