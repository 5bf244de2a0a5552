"""Size: how often do the tests reject when there is nothing to find?

    python validation/size/study.py            # everything, records recorded.json and the tables of README.md
    python validation/size/study.py --quick    # a few cases under a minute; exit status 1 when a rule is broken

Every case simulates null data sets, runs a whole test of the package on each and counts p-values at most a level. Few
relabellings and few items are used on purpose: validity must hold at every number of draws, and a flaw in counting, in
tie handling or in the construction of cosets is largest where there are few. The data are null but not bland: sorted
files, copies, lattices, strong groups, repeats. A case holds when `calibtest.laws.pvalue_laws.super_uniformity` finds no
level exceeded; the false-alarm probability of the whole study is at most one in a million.

The last section measures what the package warns about (a scheme that does not fit the data); it is reported, not judged.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one process a core; the matrices are tiny

import numpy as np

import calibtest
from calibtest.laws.pvalue_laws import super_uniformity

SEED = 20261130
N, N_QUICK = 4000, 2000
HERE = Path(__file__).parent
START, END = "<!-- tables: begin -->", "<!-- tables: end -->"

Matrix = np.ndarray
Rng = np.random.Generator

METRICS: dict[str, calibtest.Metric] = {
    "linear_cka": calibtest.get_metric("linear_cka"),
    "debiased_cka": calibtest.get_metric("debiased_cka"),
    "rbf_cka": calibtest.get_metric("rbf_cka", fraction=0.5),
    "rsa spearman": calibtest.get_metric("rsa", distance="euclidean", comparison="spearman"),
    "rsa pearson": calibtest.get_metric("rsa", distance="cosine", comparison="pearson"),
    "mutual_knn": calibtest.get_metric("mutual_knn", k=4),
    "mutual_knn euclidean": calibtest.get_metric("mutual_knn", k=3, distance="euclidean"),
}


# ------------------------------------------------------------------------------------------------------ null data
def sorted_file(rng: Rng) -> tuple[Matrix, Matrix, None]:
    """Left items in order along a ring, right items iid: the file order is all the structure there is."""
    angle = 2 * np.pi * np.arange(24) / 24
    return np.stack([np.cos(angle), np.sin(angle), 0.1 * np.cos(3 * angle)], axis=1), rng.standard_normal((24, 4)), None


def copies(rng: Rng) -> tuple[Matrix, Matrix, None]:
    """Both sides hold copies, sorted on the left and in random order on the right."""
    x = np.repeat(rng.standard_normal((10, 3)), 2, axis=0)
    return x, np.repeat(rng.standard_normal((5, 4)), 4, axis=0)[rng.permutation(20)], None


def lattice(rng: Rng) -> tuple[Matrix, Matrix, None]:
    """Small whole numbers: distances are nothing but ties."""
    return np.rint(rng.standard_normal((25, 3))) + 4.0, np.rint(rng.standard_normal((25, 2))) + 4.0, None


def wide(rng: Rng) -> tuple[Matrix, Matrix, None]:
    """More units than items and heavy tails, items of very different size."""
    x = rng.standard_t(3, size=(21, 60)) * np.exp(rng.standard_normal((21, 1)))
    return x, rng.standard_normal((21, 40)), None


def grouped(rng: Rng) -> tuple[Matrix, Matrix, Matrix]:
    """Four groups far apart on both sides, unrelated inside."""
    groups = np.repeat(np.arange(4), 8)
    centres = 4.0 * rng.standard_normal((4, 2))
    return centres[groups] + rng.standard_normal((32, 2)), centres[groups] + rng.standard_normal((32, 2)), groups


def unequal_groups(rng: Rng) -> tuple[Matrix, Matrix, Matrix]:
    """Groups of 6, 8, 9 and 10, in a mixed order: some items are left over by every ring."""
    groups = rng.permutation(np.repeat(np.arange(4), [6, 8, 9, 10]))
    centres = 4.0 * rng.standard_normal((4, 2))
    return centres[groups] + rng.standard_normal((33, 2)), centres[groups] + rng.standard_normal((33, 2)), groups


def repeats(rng: Rng) -> tuple[Matrix, Matrix, Matrix]:
    """Ten things with four records each (captions of one image): records of a thing are nearly the same on both sides."""
    groups = np.repeat(np.arange(10), 4)
    x, y = (rng.standard_normal((10, 3))[groups] + 0.2 * rng.standard_normal((40, 3)) for _ in range(2))
    return x, y, groups


DATA: dict[str, Callable[[Rng], tuple[Matrix, Matrix, Any]]] = {
    f.__name__: f for f in (sorted_file, copies, lattice, wide, grouped, unequal_groups, repeats)
}
SCHEME = {"grouped": "within_groups", "unequal_groups": "within_groups", "repeats": "whole_groups"}


# ---------------------------------------------------------------------------------------------------------- cases
@dataclass(frozen=True)
class Case:
    """One procedure on one kind of null data.

    Attributes
    ----------
    question : {"pair", "search", "family"}
        p of one pair; p of a search over 2 x 3 layers; least Westfall-Young adjusted p of that search.
    """

    question: str
    metric: str
    data: str
    draws: str
    n_resamples: int
    alternative: str = "greater"
    aggregate: str = "studentized_max"

    @property
    def scheme(self) -> str:
        return SCHEME.get(self.data, "exchangeable")

    def pvalue(self, rng: Rng) -> float:
        """P-value of the test that ships, on fresh null data."""
        x, y, groups = DATA[self.data](rng)
        how: dict[str, Any] = {
            "metric": METRICS[self.metric],
            "scheme": self.scheme,
            "groups": groups,
            "draws": self.draws,
            "n_resamples": self.n_resamples,
            "alternative": self.alternative,
            "rng": rng,
            "n_jobs": 1,
        }
        if self.question == "pair":
            found = calibtest.alignment_test(x, y, **how)
            assert (found.calibrated > 0) == (found.pvalue <= found.alpha), "the score and the p-value disagree"
            return found.pvalue
        a = {"narrow": x[:, :2], "all": x}
        b = {"first": y[:, :2], "all": y, "mixed": y @ np.array([[2.0], [-1.0]] + [[0.5]] * (y.shape[1] - 2))}
        if self.metric in ("mutual_knn", "rsa pearson"):  # one unit has no direction
            del b["mixed"]
        grid = calibtest.layers_test(a, b, aggregate=self.aggregate, **how)
        return grid.pvalue if self.question == "search" else float(grid.cells.adjusted_pvalue.min())


def all_cases() -> list[Case]:
    """Every metric under every scheme, kinds of data, kinds of draws and numbers of draws in turn; then searches."""
    free, inside = ("sorted_file", "copies", "lattice", "wide"), ("grouped", "unequal_groups")
    cases: list[Case] = []

    def add(question: str, metric: str, data: str, **more: str) -> None:
        turn = len(cases)
        draws = ("cosets", "independent")[(turn + turn // 4) % 2]
        cases.append(Case(question, metric, data, draws, (19, 39, 99)[turn % 3], **more))

    for number, metric in enumerate(METRICS):
        for data in (free[number % 4], free[(number + 2) % 4], inside[number % 2], "repeats"):
            add("pair", metric, data)
    for number, metric in enumerate(("linear_cka", "debiased_cka", "rsa spearman", "mutual_knn")):
        add("search", metric, free[number])
        add("search", metric, inside[(number + 1) % 2])
    for aggregate in ("max", "mean", "row_max_mean", "top_2"):
        add("search", "linear_cka", "wide", aggregate=aggregate)
    for metric, data in (("linear_cka", "sorted_file"), ("linear_cka", "grouped"), ("mutual_knn", "copies")):
        add("family", metric, data)
    add("pair", "linear_cka", "sorted_file", alternative="less")
    add("pair", "rsa pearson", "repeats", alternative="two-sided")
    add("search", "rsa spearman", "grouped", alternative="two-sided")
    return cases


def quick_cases() -> list[Case]:
    return [
        Case("pair", "linear_cka", "sorted_file", "cosets", 19),
        Case("pair", "mutual_knn", "copies", "independent", 19),
        Case("search", "linear_cka", "unequal_groups", "cosets", 19),
        Case("pair", "rsa spearman", "repeats", "independent", 39),
    ]


def measure(task: tuple[int, Case, int, float]) -> dict[str, Any]:
    """Counts of one case."""
    number, case, n, stage_alarm = task
    warnings.simplefilter("ignore", calibtest.CalibtestWarning)
    found = super_uniformity(case.pvalue, np.random.default_rng([SEED, number]), n=n, stage_alarm=stage_alarm)
    return {
        "question": case.question, "metric": case.metric, "data": case.data, "scheme": case.scheme, "draws": case.draws,
        "n_resamples": case.n_resamples, "alternative": case.alternative, "aggregate": case.aggregate,
        "seed": [SEED, number], "n": int(found.pvalues.size), "levels": found.levels, "counts": found.counts,
        "limits": found.limits, "intervals": [interval(count, found.pvalues.size) for count in found.counts],
        "least_pvalue": float(found.pvalues.min()), "flagged": found.flagged, "second_count": found.second_count,
        "second_limit": found.second_limit, "holds": found.holds, "reason": found.reason,
        "finds_at_05": round(found.detectable(0.05), 4),
    }  # fmt: skip


def interval(hits: int, n: int) -> list[float]:
    """Clopper-Pearson interval of a rate, 95 %."""
    from scipy.stats import beta

    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0
    return [round(low, 5), round(high, 5)]


# ----------------------------------------------------------------------------------------------- reported, not judged
def autoregressive(n: int, coefficient: float, rng: Rng) -> Matrix:
    steps = rng.standard_normal((n, 2))
    x = np.empty_like(steps)
    x[0] = steps[0] / math.sqrt(1 - coefficient**2) if coefficient < 1 else steps[0]
    for i in range(1, n):
        x[i] = coefficient * x[i - 1] + steps[i]
    return x


MISFITS: dict[str, tuple[int, Callable[[Rng], float]]] = {}


def misfit(name: str, n: int) -> Callable[[Callable[[Rng], float]], Callable[[Rng], float]]:
    def keep(function: Callable[[Rng], float]) -> Callable[[Rng], float]:
        MISFITS[name] = (n, function)
        return function

    return keep


@misfit("free exchange of four repeats a thing", 500)
def _(rng: Rng) -> float:
    x, y, _ = repeats(rng)
    return calibtest.alignment_test(x, y, n_resamples=99, rng=rng, n_jobs=1).pvalue


@misfit("free exchange of an AR(.9) series, n = 60", 500)
def _(rng: Rng) -> float:
    x, y = autoregressive(60, 0.9, rng), autoregressive(60, 0.9, rng)
    return calibtest.alignment_test(x, y, n_resamples=99, rng=rng, n_jobs=1).pvalue


@misfit("circular shifts of an AR(.9) series, n = 200", 2000)
def _(rng: Rng) -> float:
    x, y = autoregressive(200, 0.9, rng), autoregressive(200, 0.9, rng)
    return calibtest.alignment_test(x, y, scheme="circular", rng=rng, n_jobs=1).pvalue


@misfit("circular shifts of an AR(.97) series, n = 60", 2000)
def _(rng: Rng) -> float:
    x, y = autoregressive(60, 0.97, rng), autoregressive(60, 0.97, rng)
    return calibtest.alignment_test(x, y, scheme="circular", rng=rng, n_jobs=1).pvalue


@misfit("circular shifts of random walks, n = 60", 500)
def _(rng: Rng) -> float:
    x, y = autoregressive(60, 1.0, rng), autoregressive(60, 1.0, rng)
    return calibtest.alignment_test(x, y, scheme="circular", rng=rng, n_jobs=1).pvalue


def measure_misfit(name: str) -> dict[str, Any]:
    warnings.simplefilter("ignore", calibtest.CalibtestWarning)
    n, pvalue = MISFITS[name]
    rng = np.random.default_rng([SEED, 10_000 + list(MISFITS).index(name)])
    hits = sum(pvalue(child) <= 0.05 for child in rng.spawn(n))
    return {"what": name, "rejected": hits, "of": n, "rate": hits / n, "interval": interval(hits, n)}


# --------------------------------------------------------------------------------------------------------- running
def study(cases: list[Case], *, n: int, processes: int) -> list[dict[str, Any]]:
    stage_alarm = min(1e-3, math.sqrt(1e-6 / len(cases)))
    tasks = [(number, case, n, stage_alarm) for number, case in enumerate(cases)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        found = []
        for result in pool.map(measure, tasks):
            at = result["counts"][result["levels"].index(0.05)] / max(1, result["n"])
            mark = "ok  " if result["holds"] else "FAIL"
            print(
                f"{mark} {describe(result):90s} p <= .05: {at:.4f}  {'' if result['holds'] else result['reason']}",
                flush=True,
            )
            found.append(result)
    return found


def describe(result: dict[str, Any]) -> str:
    what = {"pair": "pair", "search": f"search ({result['aggregate']})", "family": "least adjusted p"}[
        result["question"]
    ]
    tail = "" if result["alternative"] == "greater" else f", {result['alternative']}"
    return f"{what}, {result['metric']}, {result['data']}, {result['scheme']}, {result['n_resamples']} {result['draws']}{tail}"


def tables(record: dict[str, Any]) -> str:
    """The tables of README.md."""
    hold = sum(r["holds"] for r in record["cases"])
    again = sum(r["flagged"] is not None for r in record["cases"])
    rows = [
        f"{hold} of {len(record['cases'])} cases hold; {again} had a level that was looked at again.",
        "",
        "| question | metric | data | scheme | draws | p <= .01 | p <= .05 | p <= .10 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in record["cases"]:
        rates = []
        for level in (0.01, 0.05, 0.1):
            at = r["levels"].index(level)
            rates.append(f"{r['counts'][at] / r['n']:.4f}")
        what = r["question"] if r["question"] != "search" else f"search, {r['aggregate']}"
        tail = "" if r["alternative"] == "greater" else f", {r['alternative']}"
        scheme = r["scheme"]
        rows.append(
            f"| {what}{tail} | {r['metric']} | {r['data']} | {scheme} | {r['n_resamples']} {r['draws']} | "
            + " | ".join(rates)
            + " |"
        )
    rows += ["", "Reported, not judged (rejections at .05 of null data that the scheme does not fit):", ""]
    rows += ["| what | rejected | 95 % interval |", "|---|---|---|"]
    for m in record["misfits"]:
        low, high = m["interval"]
        rows.append(f"| {m['what']} | {m['rejected']} of {m['of']} ({m['rate']:.3f}) | {low:.3f} to {high:.3f} |")
    return "\n".join(rows)


def write(record: dict[str, Any]) -> None:
    (HERE / "recorded.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    readme = HERE / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    readme.write_text(f"{before}{START}\n{tables(record)}\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="four cases, nothing recorded")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    began = time.time()
    cases = quick_cases() if asked.quick else all_cases()
    found = study(cases, n=N_QUICK if asked.quick else N, processes=asked.processes)
    failed = [r for r in found if not r["holds"]]
    seconds = round(time.time() - began)
    print(f"{len(found) - len(failed)} of {len(found)} cases hold, {seconds} s")
    if not asked.quick:
        with ProcessPoolExecutor(asked.processes, mp_context=multiprocessing.get_context("spawn")) as pool:
            misfits = list(pool.map(measure_misfit, MISFITS))
        for m in misfits:
            print(f"     {m['what']}: {m['rate']:.3f}")
        import scipy

        record = {
            "about": "rejections of true null hypotheses, counted by validation/size/study.py",
            "rule": "two stages, see calibtest.laws.pvalue_laws.super_uniformity; false alarm of the whole study at most 1e-6",
            "n": N, "seed": SEED, "seconds": round(time.time() - began), "processes": asked.processes,
            "versions": {
                "python": platform.python_version(), "calibtest": calibtest.__version__, "numpy": np.__version__,
                "scipy": scipy.__version__,
            },
            "machine": f"{platform.machine()}, {os.cpu_count()} processors",
            "all_hold": not failed, "cases": found, "misfits": misfits,
        }  # fmt: skip
        write(record)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
