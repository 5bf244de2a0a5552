"""The operations of the trial bank (``tests/trials/bank.py``) in terms of calibtest's public functions.

``call`` translates names and picks fields of results; it mends nothing. What the package does not have raises
NotImplementedError with the name of the missing capability.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import calibtest

SCHEMES = {
    "free": "exchangeable",
    "whole-groups": "whole_groups",
    "within-groups": "within_groups",
    "circular-shift": "circular",
}

# Metrics and operations of the bank without a counterpart here.
MISSING_METRICS = ("cca", "cknna", "procrustes", "pwcca", "ridge", "svcca")
MISSING_OPERATIONS = (
    "adjust", "bootstrap", "interaction", "load_table", "minibatch_cka", "replicate", "sign_test", "validate",
)  # fmt: skip


def call(op: str, **kw: Any) -> Any:
    """Carry out one operation of the bank."""
    if op in MISSING_OPERATIONS:
        raise NotImplementedError(op)
    return OPERATIONS[op](**kw)


def metric_of(
    name: str,
    *,
    kernel: str = "linear",
    debiased: bool = False,
    bandwidth: float | None = None,
    k: int | None = None,
    dist: str | None = None,
    rdm: str | None = None,
    compare: str | None = None,
    **_other: Any,
) -> calibtest.Metric:
    """The metric that the bank's name and options mean; options of other metrics are not looked at."""
    if name in MISSING_METRICS:
        raise NotImplementedError(name)
    if name == "cka":
        if kernel == "rbf":
            return calibtest.get_metric("rbf_cka", bandwidth=bandwidth)
        return calibtest.get_metric("debiased_cka" if debiased else "linear_cka")
    options = {"mutual_knn": {"k": k, "distance": dist}, "rsa": {"distance": rdm, "comparison": compare}}[name]
    return calibtest.get_metric(name, **{field: value for field, value in options.items() if value is not None})


def score(metric: str, X: Any, Y: Any, pool: Any = None, ids_x: Any = None, ids_y: Any = None, **options: Any) -> float:
    chosen = metric_of(metric, **options)
    # `pool` is said of whichever side has an axis to pool
    left, right = (
        calibtest.LayerStack.build(side, name=name, ids=ids, pool=pool if np.ndim(side) > 2 else None)
        for side, name, ids in ((X, "X", ids_x), (Y, "Y", ids_y))
    )
    return chosen(left, right)


def run_test(
    metric: str,
    X: Any,
    Y: Any,
    n_perm: Any,
    seed: Any,
    groups: Any = None,
    scheme: str = "free",
    alternative: str = "greater",
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    n_resamples = math.factorial(len(X)) if n_perm == "all" else n_perm
    return _read(
        calibtest.alignment_test(
            X,
            Y,
            metric=metric_of(metric, **options),
            scheme=SCHEMES[scheme],
            groups=groups,
            n_resamples=n_resamples,
            alternative=alternative,
            # the bank asks for an exact number of draws, which cosets only give in multiples of n
            draws=None if scheme == "circular-shift" else "independent",
            rng=seed,
            n_jobs=n_jobs,
        )
    )


def run_callable(
    fn: Callable[[Any, Any], float], X: Any, Y: Any, n_perm: int, seed: int, larger_is_closer: bool = True
) -> dict[str, Any]:
    metric = calibtest.FunctionMetric(fn, larger_is_more_similar=larger_is_closer)
    return _read(calibtest.alignment_test(X, Y, metric=metric, n_resamples=n_perm, rng=seed))


def _read(result: calibtest.AlignmentResult) -> dict[str, Any]:
    return {
        "score": result.statistic,
        "pvalue": result.pvalue,
        "null": result.null_distribution,
        "calibrated": result.calibrated,
        "min_pvalue": result.min_pvalue,
    }


def run_layers(metric: str, Xs: list[Any], Ys: list[Any], n_perm: int, seed: int, **options: Any) -> dict[str, Any]:
    result = calibtest.layers_test(
        Xs,
        Ys,
        metric=metric_of(metric, **options),
        aggregate="max",
        n_resamples=n_perm,
        draws="independent",
        rng=seed,
    )
    return {
        "score": result.statistic,
        "pvalue": result.pvalue,
        "best": tuple(int(layer) for layer in result.best),
        "skipped": [(skip.side, skip.layer) for skip in result.skipped],
    }


def calibrate(observed: float, null: Any, alpha: float) -> dict[str, Any]:
    result = calibtest.calibrate(observed, null, alpha=alpha)
    return {"pvalue": result.pvalue, "calibrated": result.calibrated}


def load(path: str, key: str | None = None) -> Any:
    return calibtest.load(path, layers=key).only()


OPERATIONS: dict[str, Callable[..., Any]] = {
    "score": score,
    "test": run_test,
    "test_fn": run_callable,
    "calibrate": calibrate,
    "test_layers": run_layers,
    "load": load,
}
