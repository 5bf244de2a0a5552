"""The vocabulary of the trials, and the judge that runs one expectation.

A trial is a situation from a public fault report: data, the fault that was reported, what is right, and expectations
on a small made-up interface of *operations*. An adapter, one function ``call(op, **kw)``, maps the operations to a
package, so that the trials know nothing of how its functions are called:

    score(metric, X, Y, **options)             -> float
        metric:  cka | mutual_knn | cknna | rsa | cca | svcca | pwcca | procrustes | ridge
        options: kernel='linear'|'rbf', debiased=bool, bandwidth=float|None, k=int, dist='cosine'|'euclidean',
                 rdm='correlation'|'euclidean'|'cosine', compare='spearman'|'pearson', var=0.99, alpha=1.0, cv=5,
                 groups=labels, pool=None|'mean'|'flatten', ids_x, ids_y
    test(metric, X, Y, n_perm, seed, groups=None, scheme='free'|'whole-groups'|'within-groups'|'circular-shift',
         alternative='greater'|'less', n_jobs=1, **options)
                                               -> dict(score, pvalue, null, calibrated, min_pvalue)
    test_fn(fn, X, Y, n_perm, seed, larger_is_closer=True)   the same for a callable
    calibrate(observed, null, alpha)           -> dict(pvalue, calibrated)
    test_layers(metric, Xs, Ys, n_perm, seed)  -> dict(score, pvalue, best=(i, j), skipped=[...])
    bootstrap(metric, X, Y, n_boot, seed)      -> dict(replicates, low, high)
    minibatch_cka(batches)                     -> float
    sign_test(diffs)                           -> dict(n_pos, n_neg, n_zero, pvalue)
    adjust(pvalues, method)                    -> list
    load(path, key=None)                       -> array (n, d)
    load_table(path)                           -> list of dict rows, numbers as float
    interaction(rows, score, family, x, cluster=None, log_x=False)  -> dict(slopes, pvalue, dropped)
    validate(fn, claims)                       -> dict(claim -> 'holds' | 'violated' | 'undefined')
    script                                     a process of its own; the test is in ``test_scripts.py``

What an expectation may ask for (`then`):

    value          the call returns this number within `tol`
    raises         it raises ValueError or TypeError, and the sentence holds every entry of `says` (an entry may be a
                   tuple of alternatives)
    raises_or_nan  as `raises`, or it returns NaN and warns with such a sentence
    warns          it warns with such a sentence (a value may be asked for as well)
    prop           ``prop(call)`` is true
    script         see ``test_scripts.py``
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Call = Callable[..., Any]
Needles = Sequence[str | tuple[str, ...]]

OUTCOMES = ("value", "raises", "raises_or_nan", "warns", "prop", "script")
KEYS = {"op", "then", "args", "says", "value", "field", "tol", "prop"}

# Errors that only ever escape by accident: whoever meets one of them was told nothing.
RAW = frozenset(
    {
        "ArithmeticError", "AssertionError", "AttributeError", "BadZipFile", "EOFError", "IndexError", "KeyError",
        "LinAlgError", "MemoryError", "NameError", "OSError", "UnboundLocalError", "UnicodeDecodeError",
        "UnpicklingError", "ZeroDivisionError",
    }
)  # fmt: skip


class NotCovered(BaseException):
    """An operation that the package does not have; a BaseException, so that a trial's own ``except`` lets it pass."""


class Verdict(NamedTuple):
    """Outcome of one expectation: ``"pass"``, ``"fail"`` or ``"uncovered"``, and why."""

    outcome: str
    note: str = ""


def trial(
    *,
    id: str,
    kind: str,
    source: list[str],
    fault: str,
    right: str,
    variant_of: str | None = None,
    needs: Sequence[str] = (),
    auto: bool = True,
) -> dict[str, Any]:
    """Describe a situation: where it was reported, what went wrong there and what is right."""
    assert id and kind and source and fault and right, id
    return {
        "id": id,
        "kind": kind,
        "source": source,
        "fault": fault,
        "right": right,
        "variant_of": variant_of,
        "needs": tuple(needs),
        "auto": auto,
    }


def E(op: str, then: str, **details: Any) -> dict[str, Any]:
    """Expect an outcome of an operation."""
    assert then in OUTCOMES, then
    assert set(details) <= KEYS, set(details) - KEYS
    return {"op": op, "then": then, **details}


def missing_words(text: str, says: Needles) -> list[str | tuple[str, ...]]:
    """Entries of `says` that `text` lacks."""
    low = text.lower()
    return [
        entry
        for entry in says
        if not any(word.lower() in low for word in (entry if isinstance(entry, tuple) else (entry,)))
    ]


def shielded(call: Call) -> Call:
    """`call` with NotImplementedError turned into `NotCovered`."""

    def shield(op: str, **kw: Any) -> Any:
        try:
            return call(op, **kw)
        except NotImplementedError as absent:
            raise NotCovered(str(absent)) from None

    return shield


def judge(expectation: dict[str, Any], call: Call) -> Verdict:
    """Run one expectation through an adapter's `call`."""
    call = shielded(call)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if expectation["then"] == "prop":
                return Verdict("pass") if expectation["prop"](call) else Verdict("fail", "the property is false")
            found, error = call(expectation["op"], **expectation["args"]), None
        except NotCovered as absent:
            return Verdict("uncovered", str(absent))
        except Exception as raised:
            if expectation["then"] == "prop":
                return Verdict("fail", f"{type(raised).__name__}: {raised}")
            found, error = None, raised
    said = " | ".join(str(warning.message) for warning in caught)
    if expectation["then"] in ("raises", "raises_or_nan"):
        return _judge_error(expectation, found, error, said)
    if error is not None:
        return Verdict("fail", f"{type(error).__name__}: {error}")
    if "value" in expectation:
        value = found[expectation["field"]] if "field" in expectation else found
        if value is None or not abs(float(value) - expectation["value"]) <= expectation.get("tol", 1e-9):
            return Verdict("fail", f"got {value}, want {expectation['value']}")
    if expectation["then"] == "warns":
        lacking = missing_words(said, expectation["says"])
        if lacking:
            return Verdict("fail", f"the warnings lack {lacking}: {said!r}")
    return Verdict("pass")


def _judge_error(expectation: dict[str, Any], found: Any, error: Exception | None, said: str) -> Verdict:
    if error is None:
        value = found.get("pvalue", found.get("score")) if isinstance(found, dict) else found
        nan = isinstance(value, float | np.floating) and math.isnan(value)
        if expectation["then"] == "raises_or_nan" and nan and not missing_words(said, expectation["says"]):
            return Verdict("pass", "NaN and a warning")
        return Verdict("fail", f"no error, got {found!r}")
    if type(error).__name__ in RAW or not isinstance(error, ValueError | TypeError):
        return Verdict("fail", f"raw {type(error).__name__}: {error}")
    lacking = missing_words(str(error), expectation["says"])
    return Verdict("fail", f"the sentence lacks {lacking}: {error}") if lacking else Verdict("pass")
