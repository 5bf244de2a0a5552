"""Power of the search: a signal planted in a narrow layer among wide ones.

    python validation/power/study.py [--quick]

Three left and three right layers of widths 8, 64 and 512 on 100 items. All are Gaussian noise, but the two narrow ones
share a signal. For each data set the whole grid is searched with linear CKA, and the search is judged by the studentised
maximum (the default) and by the raw maximum, from the same relabellings. The same without a signal gives the size.
"""

from __future__ import annotations

import argparse
import json
import platform
import warnings
from pathlib import Path

import numpy as np
import scipy
from scipy.stats import beta

import calibtest

WIDTHS, N_ITEMS, N_RESAMPLES, ALPHA, SEED = (8, 64, 512), 100, 199, 0.05, 20261130
SIGNAL = 0.6  # share of the standard deviation of the narrow layers that is shared


def data_set(signal: float, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    a = {str(w): rng.standard_normal((N_ITEMS, w)) for w in WIDTHS}
    b = {str(w): rng.standard_normal((N_ITEMS, w)) for w in WIDTHS}
    shared = rng.standard_normal((N_ITEMS, 8))
    for side in (a, b):
        side["8"] = np.sqrt(signal) * shared + np.sqrt(1 - signal) * side["8"]
    return a, b


def interval(hits: int, n: int) -> list[float]:
    return [
        float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0,
        float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0,
    ]


def measure(signal: float, n_sets: int, seed: int) -> dict[str, dict[str, object]]:
    hits = {"studentized_max": 0, "max": 0}
    found = {"studentized_max": 0, "max": 0}
    for child in np.random.SeedSequence(seed).spawn(n_sets):
        rng = np.random.default_rng(child)
        a, b = data_set(signal, rng)
        result = calibtest.layers_test(a, b, n_resamples=N_RESAMPLES, rng=rng)
        for aggregate in hits:
            hits[aggregate] += result.aggregate(aggregate).pvalue <= ALPHA
        found["studentized_max"] += result.best == ("8", "8")
        at = np.unravel_index(result.scores.argmax(), result.scores.shape)
        found["max"] += at == (0, 0)
    return {
        name: {
            "rejected": count,
            "of": n_sets,
            "rate": count / n_sets,
            "interval": interval(count, n_sets),
            "singled_out_narrow_pair": found[name] / n_sets,
        }
        for name, count in hits.items()
    }


def write_table(power: dict[str, dict[str, object]], size: dict[str, dict[str, object]]) -> None:
    """Put the recorded figures into the README."""
    page = Path(__file__).with_name("README.md")
    text = page.read_text(encoding="utf-8")
    rows = [
        f"| `{name}` | {power[name]['rejected']} of {power[name]['of']} | {power[name]['singled_out_narrow_pair']:.0%} | "
        f"{size[name]['rejected']} of {size[name]['of']} ({size[name]['rate']:.3f}) |"
        for name in power
    ]
    head, rest = text.split("|---|---|---|---|\n")
    tail = rest[rest.index("\n`recorded.json`") :]
    page.write_text(head + "|---|---|---|---|\n" + "\n".join(rows) + "\n" + tail, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few data sets; check, and record nothing")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", calibtest.CalibtestWarning)
    n_power, n_size = (50, 200) if quick else (500, 4000)
    power = measure(SIGNAL, n_power, SEED)
    size = measure(0.0, n_size, SEED + 1)
    record = {
        "widths": WIDTHS, "n_items": N_ITEMS, "n_resamples": N_RESAMPLES, "alpha": ALPHA, "signal": SIGNAL, "seed": SEED,
        "power": power, "size": size,
        "versions": {"python": platform.python_version(), "calibtest": calibtest.__version__, "numpy": np.__version__, "scipy": scipy.__version__},
    }  # fmt: skip
    print(json.dumps(record, indent=1))
    if quick:
        assert power["studentized_max"]["rate"] > 0.9
        assert power["max"]["rate"] < 0.5
        assert all(float(s["interval"][0]) <= ALPHA for s in size.values())
        return
    Path(__file__).with_name("recorded.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    write_table(power, size)


if __name__ == "__main__":
    main()
