"""Measure every speed and memory figure of the package side by side, and record them.

    python validation/speed/record.py [--peer PYTHON] [--only SECTION ...]

All sides of a ratio are timed in this one run, in turn, several times over; a ratio is one of medians. PYTHON is the
interpreter of an environment that holds the peer package (README.md says how to make one). With ``--only`` the figures
of some sections are printed and nothing is recorded. About eight minutes on 2 cores; nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cases
import numpy as np
from threadpoolctl import threadpool_info

import calibtest
from calibtest.parallel import default_threads

HERE = Path(__file__).parent
START, END = "<!-- tables: begin -->", "<!-- tables: end -->"
GRID, PAIR, SMALL = (12, 1024, 768), (10_000, 768), (4, 512, 256)
FUNCTIONS = {"linear_cka": ("cka_documented", "cka_features"), "mutual_knn": ("mutual_knn",)}  # of peer.py
MEMORY = "--measure-memory"

Sides = dict[str, Callable[[], Any]]


# ---------------------------------------------------------------------------------------------------------- timing
def in_turn(sides: Sides, rounds: int, *, warm: bool = True) -> dict[str, list[float]]:
    """Seconds of every side, each timed once a round, in an order that turns by one from round to round."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for turn in range(-1 if warm else 0, rounds):
        for name in names[max(turn, 0) % len(names) :] + names[: max(turn, 0) % len(names)]:
            began = time.perf_counter()
            sides[name]()
            if turn >= 0:
                seconds[name].append(time.perf_counter() - began)
    return seconds


def repeat(function: Callable[..., Any], *arguments: Any, rounds: int = 3) -> float:
    """Median seconds of one call."""
    return statistics.median(in_turn({"": partial(function, *arguments)}, rounds)[""])


def summary(seconds: Sequence[float]) -> dict[str, Any]:
    return {"median": statistics.median(seconds), "least": min(seconds), "rounds": len(seconds)}


def figure(value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None) -> dict[str, Any]:
    """A figure with its target and whether it is met."""
    found: dict[str, Any] = {"value": value, "unit": unit}
    if at_most is not None:
        found |= {"target": f"at most {at_most:g}", "met": value <= at_most}
    if at_least is not None:
        found |= {"target": f"at least {at_least:g}", "met": value >= at_least}
    return found


# ------------------------------------------------------------------------------------------------------- sections
def calibration() -> dict[str, Any]:
    """The whole test over the observed grid alone, 12 x 12 layers."""
    n_layers, n, d = GRID
    figures: dict[str, Any] = {}
    for precision in cases.PRECISIONS:
        a, b = cases.layers(n_layers, n, d, precision)
        for metric in cases.METRICS:
            sides: Sides = {"observed": partial(cases.observed_grid, a, b, metric, precision)}
            for k in (999, 9999):
                sides[str(k)] = partial(cases.whole_test, a, b, metric, precision, k)
            seconds = {name: summary(found) for name, found in in_turn(sides, 7).items()}
            observed = seconds["observed"]["median"]
            used = cases.whole_test(a, b, metric, precision, 9999).n_resamples
            more = seconds["9999"]["median"] - observed
            figures[f"{metric}, {precision}"] = {
                "seconds": seconds,
                "whole test with 999 relabellings / observed grid": figure(
                    seconds["999"]["median"] / observed, "times", at_most=1.5
                ),
                "whole test with 9,999 relabellings / observed grid": figure(
                    seconds["9999"]["median"] / observed, "times", at_most=3.0
                ),
                "cost of a relabelling and layer pair beyond the observed grid": figure(
                    1e6 * more / used / n_layers**2, "microseconds"
                ),
            }
    return figures


def pair() -> dict[str, Any]:
    """One pair, n = 10,000: the whole test over the bare statistic, and peak memory."""
    figures: dict[str, Any] = {}
    for precision, limit in (("float64", 30.0), ("float32", 20.0)):
        (x,), (y,) = cases.layers(1, *PAIR, precision)
        sides: Sides = {
            "bare statistic": partial(cases.bare_linear_cka, x, y),
            "whole test": partial(cases.whole_pair_test, x, y, precision),
        }
        seconds = in_turn(sides, 5)
        bare, whole = (summary(found) for found in seconds.values())
        peak = subprocess.run(
            [sys.executable, __file__, MEMORY, precision], check=True, capture_output=True, text=True, env=environment()
        )
        figures[precision] = {
            "seconds": {"bare statistic": bare, "whole test": whole},
            "whole test with 9,999 relabellings / bare statistic": figure(
                whole["median"] / bare["median"], "times", at_most=limit
            ),
            "peak memory of the process": figure(float(peak.stdout) / 1e9, "GB", at_most=4.0),
        }
    return figures


def measure_memory(precision: str) -> None:
    """Print the peak memory, in bytes, of a process that makes the data and runs the whole test of one pair."""
    (x,), (y,) = cases.layers(1, *PAIR, precision)
    cases.whole_pair_test(x, y, precision)
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would count what the parent process held before this one replaced its copy
        peak = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        print(1024 * int(peak.split()[1]))
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def peers(python: str) -> dict[str, Any]:
    """The package calibrated-similarity (torch, CPU) on the same data, ours before and after it."""
    figures: dict[str, Any] = {}
    n_permutations = 3
    n_layers, n, d = GRID
    a, b = cases.layers(n_layers, n, d, "float32")
    sides: Sides = {
        f"{metric}, {precision}": partial(cases.whole_test, a, b, metric, precision, 9999)
        for metric in cases.METRICS
        for precision in cases.PRECISIONS
    }
    before = in_turn(sides, 3)
    theirs = run_peer(python, a, b, n_permutations, [f for names in FUNCTIONS.values() for f in names])
    after = in_turn(sides, 3)
    ours = {name: before[name] + after[name] for name in sides}
    used = cases.whole_test(a, b, "linear_cka", "float64", 9999).n_resamples + 1
    for metric, target in (("linear_cka", 10_000.0), ("mutual_knn", 3_000.0)):
        mine = {
            precision: statistics.median(ours[f"{metric}, {precision}"]) / used / n_layers**2
            for precision in cases.PRECISIONS
        }
        found: dict[str, Any] = {}
        for precision, seconds in mine.items():
            found[f"ours in {precision}: a relabelling and layer pair"] = figure(1e6 * seconds, "microseconds")
        for function in FUNCTIONS[metric]:
            each = theirs["seconds"][function] / (n_permutations + 1) / n_layers**2
            found[f"{function}: a relabelling and layer pair"] = figure(1e3 * each, "milliseconds")
            found[f"{function}: 200 relabellings, extrapolated from 3"] = figure(201 * n_layers**2 * each, "seconds")
            judged = None if function == "cka_features" else target
            for precision, seconds in mine.items():
                found[f"{function} / ours in {precision}"] = figure(each / seconds, "times", at_least=judged)
        figures[f"{n_layers} x {n_layers} layers, {metric}"] = found
    n_layers, n, d = SMALL
    a, b = cases.layers(n_layers, n, d, "float32")
    sides = {metric: partial(cases.whole_test, a, b, metric, "float64", 199) for metric in cases.METRICS}
    before = in_turn(sides, 15)
    theirs_small = run_peer(python, a, b, 199, [f for names in FUNCTIONS.values() for f in names])
    after = in_turn(sides, 15)
    for metric in cases.METRICS:
        mine_whole = statistics.median(before[metric] + after[metric])
        found = {"ours in float64: whole call": figure(1e3 * mine_whole, "milliseconds")}
        for function in FUNCTIONS[metric]:
            whole = theirs_small["seconds"][function]
            judged = None if function == "cka_features" else 200.0
            found[f"{function}: whole call"] = figure(whole, "seconds")
            found[f"{function} / ours"] = figure(whole / mine_whole, "times", at_least=judged)
        figures[f"{n_layers} x {n_layers} layers, n = {n}, d = {d}, 199 relabellings, {metric}"] = found
    figures["versions"] = theirs["versions"] | {"torch threads": theirs["threads"]}
    return figures


def run_peer(python: str, a: list[Any], b: list[Any], n_permutations: int, functions: list[str]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layers.bin"
        np.stack(a + b).astype(np.float32).tofile(path)
        shape = (str(v) for v in (len(a), *a[0].shape))
        command = [python, "-W", "ignore", str(HERE / "peer.py"), str(path), *shape, str(n_permutations), *functions]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def start() -> dict[str, Any]:
    """Import, help, and the compilation of the first use."""
    commands = {
        "python alone": ["-c", "pass"],
        "import calibtest": ["-c", "import calibtest"],
        "calibtest --help": ["-m", "calibtest", "--help"],
    }
    sides: Sides = {name: partial(run_python, command) for name, command in commands.items()}
    seconds = {name: summary(found) for name, found in in_turn(sides, 10).items()}
    figures: dict[str, Any] = {
        "import calibtest": figure(seconds["import calibtest"]["median"], "seconds", at_most=0.3),
        "calibtest --help": figure(seconds["calibtest --help"]["median"], "seconds", at_most=0.3),
        "python alone": figure(seconds["python alone"]["median"], "seconds"),
    }
    for what, arguments, limit in (
        ("every loop of the package", [], 20.0),
        ("a first test with linear_cka", ["--one", "linear_cka"], None),
        ("a first test with mutual_knn", ["--one", "mutual_knn"], None),
    ):
        with tempfile.TemporaryDirectory() as cache:
            runs = [
                float(run_python([str(HERE / "first_use.py"), *arguments], NUMBA_CACHE_DIR=cache)) for _ in range(3)
            ]
        figures[f"compilation, {what}"] = figure(runs[0] - min(runs[1:]), "seconds", at_most=limit)
        figures[f"the same work with the compiled code on disk, {what}"] = figure(min(runs[1:]), "seconds")
    return {"start": figures}


def run_python(arguments: list[str], **more: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, text=True, env=environment() | more
    )
    return done.stdout


def environment() -> dict[str, str]:
    """Environment of a child that finds the calibtest that is being measured."""
    source = str(Path(calibtest.__file__).parents[1])
    return os.environ | {"PYTHONPATH": os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])}


def scaling() -> dict[str, Any]:
    """The forms alone, by number of items."""
    figures: dict[str, Any] = {}
    dense: dict[str, Any] = {}
    for n in (512, 1021, 1024, 2048, 4093, 4096):
        for precision in cases.PRECISIONS:
            lefts, rights = cases.relations(1, n, precision)
            rel = cases.cosets(n, 1)
            seconds = repeat(cases.matching, lefts, rights, rel)
            dense[f"n = {n:,}, {precision}"] = figure(1e6 * seconds / n, "microseconds a relabelling")
    figures["one coset by FFT, one layer pair"] = dense
    sparse: dict[str, Any] = {}
    for n in (1_024, 10_000, 100_000, 1_000_000):
        lefts, rights = cases.graphs(1, 1, n)
        rel = cases.cosets(n, 1)
        seconds = repeat(cases.overlap, lefts, rights, rel)
        sparse[f"n = {n:,}"] = figure(1e6 * seconds / n, "microseconds a relabelling")
    figures["one coset by histogram, k = 10, one layer pair"] = sparse
    listed: dict[str, Any] = {}
    for n_left, n_right in ((1, 1), (12, 12), (24, 32)):
        lefts, rights = cases.graphs(n_left, n_right, 1024)
        rel = cases.independent(1024, 399)
        seconds = repeat(cases.overlap, lefts, rights, rel)
        listed[f"mutual_knn, k = 10, {n_left} x {n_right}"] = figure(
            1e3 * seconds / 400, "milliseconds a relabelling of the grid"
        )
    left, right = cases.relations(12, 1024, "float64")
    rel = cases.independent(1024, 99)
    seconds = repeat(cases.matching, left, right, rel)
    listed["linear_cka, 12 x 12"] = figure(1e3 * seconds / 100, "milliseconds a relabelling of the grid")
    figures["listed relabellings, n = 1,024"] = listed
    return figures


# ---------------------------------------------------------------------------------------------------------- record
def machine() -> dict[str, Any]:
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    return {
        "cpu": model,
        "processors": os.cpu_count(),
        "threads": default_threads(),
        "blas": blas_libraries(),
        "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE"),
        "load average at the start": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "scipy", "numba")}
        | {"calibtest": calibtest.__version__},
    }


def blas_libraries() -> list[str]:
    import scipy.linalg  # noqa: F401 - SciPy brings a BLAS of its own

    found = (b for b in threadpool_info() if b["user_api"] == "blas")
    return sorted(
        f"{b['internal_api']} {b['version']} with {b.get('architecture')} kernels and {b['num_threads']} threads"
        for b in found
    )


def targets(found: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every figure of a section with its path."""
    if not isinstance(found, dict):
        return []
    if "value" in found and "unit" in found:
        return [(path, found)]
    return [item for name, inner in found.items() for item in targets(inner, (*path, name))]


def tables(record: dict[str, Any]) -> str:
    """The figures as Markdown."""
    about = record["machine"]
    lines = [
        f"Recorded on {record['date']}: {about['cpu']}, {about['processors']} processors, {about['threads']} threads, "
        f"{'; '.join(about['blas'])}, Python {about['python']}, "
        + ", ".join(f"{name} {number}" for name, number in about["versions"].items())
        + f"; load average at the start {about['load average at the start']:.2f}, seed {record['seed']}."
    ]
    met = [figure["met"] for _, figure in targets(record["sections"]) if "met" in figure]
    lines += ["", f"{sum(met)} of {len(met)} targets met.", ""]
    for section, found in record["sections"].items():
        lines += [f"### {TITLES[section]}", "", "| case | figure | measured | target | met |", "|---|---|---|---|---|"]
        for path, figure in targets(found):
            case = ", ".join(path[:-1])
            verdict = {True: "yes", False: "**no**", None: ""}[figure.get("met")]
            lines.append(f"| {case} | {path[-1]} | {shown(figure)} | {figure.get('target', '')} | {verdict} |")
        lines.append("")
    return "\n".join(lines)


def shown(figure: dict[str, Any]) -> str:
    value = figure["value"]
    number = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{number} {figure['unit']}"


TITLES = {
    "calibration": "The whole test over the observed grid alone (12 x 12 layers, n = 1,024, d = 768)",
    "pair": "One pair of layers, linear CKA, n = 10,000, d = 768, 9,999 relabellings",
    "start": "Start",
    "scaling": "The forms alone",
    "peers": "Against calibrated-similarity (12 x 12 layers: n = 1,024, d = 768)",
}


def main() -> None:
    if MEMORY in sys.argv:
        warnings.simplefilter("ignore")
        measure_memory(sys.argv[-1])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter of an environment with the peer package")
    parser.add_argument(
        "--only", nargs="+", choices=list(TITLES), default=[], help="print these sections, record nothing"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore", calibtest.CalibtestWarning)
    began = time.time()
    record: dict[str, Any] = {
        "about": "measured by validation/speed/record.py; all sides of a ratio in one run, ratios of medians",
        "date": time.strftime("%Y-%m-%d"),
        "seed": cases.SEED,
        "machine": machine(),
        "sections": {},
    }
    run: dict[str, Callable[[], dict[str, Any]]] = {
        "calibration": calibration,
        "pair": pair,
        "start": start,
        "scaling": scaling,
    }
    if asked.peer:
        run["peers"] = lambda: peers(asked.peer)
    for section in asked.only or run:
        if section not in run:
            parser.error("the section peers needs --peer")
        record["sections"][section] = run[section]()
        if blas_libraries() != record["machine"]["blas"]:
            sys.exit(
                f"BLAS has changed during the section {section}: {blas_libraries()}; its figures are not comparable"
            )
        for path, figure in targets(record["sections"][section]):
            print(
                f"{section}: {', '.join(path)}: {shown(figure)}  {figure.get('target', '')} {figure.get('met', '')}",
                flush=True,
            )
    record["minutes"] = round((time.time() - began) / 60, 1)
    print(f"{record['minutes']} minutes")
    if asked.only:
        return
    (HERE / "recorded.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    readme = HERE / "README.md"
    text = readme.read_text(encoding="utf-8")
    head, tail = text.split(START)[0], text.split(END)[1]
    readme.write_text(f"{head}{START}\n{tables(record)}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
