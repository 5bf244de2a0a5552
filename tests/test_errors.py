"""Bad calls through the public API: one sentence that names the argument, the rule, the value and the way out.

The table holds a call, words that its sentence must hold, and the class of the error. Files have tables of their own in
``tests/io``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calibtest
from calibtest import (
    ExplicitRelabellings,
    FunctionMetric,
    InputError,
    LayerStack,
    Metric,
    MissingDependencyError,
    UndefinedScoreError,
    WithinGroups,
    alignment_scores,
    alignment_test,
    calibrate,
    chance_level,
    get_metric,
    layers_test,
    register,
)

N = 20
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((N, 5)), RNG.standard_normal((N, 4))
CONSTANT = np.full((N, 3), 0.25)
KERNEL = X @ X.T
DISTANCE = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
NEIGHBOURS = np.argsort(DISTANCE + np.diag(np.full(N, np.inf)), axis=1)[:, :3]
DRAWS = np.linspace(0.0, 1.0, 99)
NAN = float("nan")


def with_value(array: np.ndarray, rows: Any, value: float) -> np.ndarray:
    changed = array.copy()
    changed[rows] = value
    return changed


def stack(obj: Any, name: str = "X", **how: Any) -> LayerStack:
    return LayerStack.build(obj, name=name, **how)


def scored(returned: Any) -> Any:
    """Test with a callable that returns `returned` whatever it is given."""
    return alignment_test(X, Y, metric=lambda x, y: returned, n_resamples=9)


def grouped(groups: Any, scheme: str = "within_groups") -> Any:
    return alignment_test(X, Y, scheme=scheme, groups=groups, n_resamples=99)


Row = tuple[str, Callable[[], Any], tuple[str, ...], type[Exception]]

ROWS: list[Row] = [
    # --------------------------------------------------------------------------------------------------------- pairing
    ("different n", lambda: alignment_test(X, Y[:19]), ("X has 20 items", "Y has 19 items"), InputError),
    ("different n, layers", lambda: layers_test([X], {"l": Y[:11]}),
     ("A has 20", "B has 11", "drop or add"), InputError),
    ("different n, scores", lambda: alignment_scores(X, Y[:3]), ("20 items", "3 items"), InputError),
    ("different n, bare", lambda: get_metric("rsa")(X, Y[:3]), ("X has 20", "Y has 3"), InputError),
    ("transposed", lambda: alignment_test(X[:6], X), ("6 items", "20 items", "5 columns", "transposed"), InputError),
    ("layers of different n", lambda: layers_test({"a": X, "b": X[:18]}, [Y]),
     ("A['a']", "20", "A['b']", "18"), InputError),
    ("id without partner", lambda: alignment_test(stack(X, ids=range(N)), stack(Y, "Y", ids=range(1, N + 1))),
     ("id '0'", "X", "no partner in Y", "keep the shared items"), InputError),
    ("ids twice", lambda: alignment_test(stack(X, ids=["a"] * N), stack(Y, "Y", ids=range(N))),
     ("ids of X", "unique", "'a'", "20 times"), InputError),
    ("too few ids", lambda: stack(X, ids=range(5)), ("ids of X", "5", "20", "one id an item"), InputError),
    ("missing id", lambda: stack(X, ids=[None] * N), ("ids of X", "row 0", "leave ids out"), InputError),
    # ---------------------------------------------------------------------------------------------------------- values
    ("NaN", lambda: alignment_test(X, with_value(Y, (7, 1), NAN)), ("Y has 1 non-finite", "row 7", "drop"), InputError),
    ("inf", lambda: layers_test({"a": X, "bad": with_value(X, ([3, 9], 0), np.inf)}, [Y]),
     ("A['bad']", "2 non-finite", "row 3"), InputError),
    ("constant", lambda: alignment_test(X, CONSTANT),
     ("Y is constant", "zero variance", "undefined"), UndefinedScoreError),
    ("constant, bare", lambda: get_metric("debiased_cka")(CONSTANT, Y), ("X is constant",), UndefinedScoreError),
    ("constant, neighbours", lambda: alignment_test(CONSTANT, Y, metric="mutual_knn"),
     ("X is constant",), UndefinedScoreError),
    ("constant, RBF", lambda: alignment_test(CONSTANT, Y, metric="rbf_cka"), ("X is constant",), UndefinedScoreError),
    ("no layer left", lambda: layers_test([CONSTANT, 0 * CONSTANT], [Y]),
     ("layer '0' of A", "constant"), UndefinedScoreError),
    ("zero rows, cosine", lambda: alignment_test(with_value(X, [2, 5], 0.0), Y, metric="mutual_knn"),
     ("X has all-zero rows 2, 5", "both sides", "distance='euclidean'"), UndefinedScoreError),
    ("zero rows, RSA cosine", lambda: get_metric("rsa", distance="cosine")(X, with_value(Y, [2, 5], 0.0)),
     ("Y has all-zero rows", "2, 5", "euclidean"), UndefinedScoreError),
    ("flat rows, RSA", lambda: alignment_test(with_value(X, [4], 1.5), Y, metric="rsa"),
     ("X", "4", "correlation", "euclidean"), UndefinedScoreError),
    ("median distance 0", lambda: alignment_test(np.repeat([[0.0], [1.0]], [15, 5], axis=0), Y, metric="rbf_cka"),
     ("X", "median distance of 0", "bandwidth"), UndefinedScoreError),
    # --------------------------------------------------------------------------------------------------- too few items
    ("one item", lambda: alignment_test(X[:1], Y[:1]), ("X has n = 1", "at least 3", "add items"), InputError),
    ("three items, debiased", lambda: get_metric("debiased_cka")(X[:3], Y[:3]), ("n = 3", "at least 4"), InputError),
    ("k = n", lambda: alignment_test(X, Y, metric=get_metric("mutual_knn", k=20)),
     ("k = 20", "n = 20", "lower k"), InputError),
    ("k > n", lambda: get_metric("mutual_knn", k=500)(X, Y), ("k = 500", "n = 20"), InputError),
    # ---------------------------------------------------------------------------------------------------------- arrays
    ("tokens", lambda: alignment_test(np.ones((N, 3, 4)), Y),
     ("X", "(20, 3, 4)", "pool='mean'", "'last'", "'flatten'"), InputError),
    ("maps", lambda: layers_test(np.ones((N, 3, 4, 4)), [Y]), ("A", "4-D", "pool='mean'", "'flatten'"), InputError),
    ("five axes", lambda: alignment_test(np.ones((N, 1, 2, 2, 2)), Y), ("X", "5-D", "reshape"), InputError),
    ("one axis", lambda: alignment_test(X[:, 0], Y), ("X", "1-D", "reshape(-1, 1)"), InputError),
    ("a number", lambda: alignment_test(3.0, Y), ("X must be an array", "float"), InputError),
    ("None", lambda: alignment_test(X, None), ("Y must be an array", "NoneType"), InputError),
    ("a path", lambda: alignment_test("acts.npy", Y), ("X", "'acts.npy'", "calibtest.load"), InputError),
    ("objects", lambda: alignment_test(np.array([["a", 1]] * N, dtype=object), Y),
     ("X is an object array", "np.stack"), InputError),
    ("text", lambda: alignment_test(np.full((N, 2), "a"), Y), ("X holds text", "astype"), InputError),
    ("complex", lambda: alignment_test(X + 1j, Y), ("X holds complex", "X.real"), InputError),
    ("dates", lambda: alignment_test(np.zeros((N, 2), "M8[s]"), Y), ("X holds dates",), InputError),
    ("ragged", lambda: alignment_test([[1, 2], [3]], Y), ("X is ragged", "row 1", "length 1"), InputError),
    ("no columns", lambda: alignment_test(X, np.empty((N, 0))), ("Y is empty", "(20, 0)", "0 features"), InputError),
    ("no rows", lambda: alignment_test(np.empty((0, 3)), np.empty((0, 3))),
     ("X is empty", "(0, 3)", "0 items"), InputError),
    ("no layers", lambda: layers_test({}, [Y]), ("A is empty", "0 layers"), InputError),
    ("no layers in the array", lambda: layers_test(np.ones((N, 0, 4)), [Y]), ("A is empty", "(20, 0, 4)"), InputError),
    ("two layers for one", lambda: alignment_test([X, X], Y), ("X must have one layer", "got 2", "select"), InputError),
    ("two layers, bare", lambda: get_metric("linear_cka")({"a": X, "b": X}, Y), ("X", "got 2: a, b"), InputError),
    ("unknown layer", lambda: stack({"a": X}, "A").select("b"), ("A has no layer 'b'", "its layers are a"), InputError),
    ("unknown pool", lambda: stack(np.ones((N, 3, 4)), pool="max"), ("pool", "'mean'", "'max'"), InputError),
    ("mask of another shape", lambda: stack(np.ones((N, 3, 4)), pool="mean", mask=np.ones((N, 2))),
     ("mask", "(20, 3)", "(20, 2)"), InputError),
    ("mask without a token", lambda: stack(np.ones((2, 3, 4)), pool="mean", mask=[[1, 1, 0], [0, 0, 0]]),
     ("mask", "no real token", "row 1 of X"), InputError),
    # ----------------------------------------------------------------------------------------------------- precomputed
    ("kernel not square", lambda: stack(X, "K", kind="kernel"),
     ("K must be square", "(20, 5)", "activations"), InputError),
    ("kernel not symmetric", lambda: stack(np.triu(KERNEL), "K", kind="kernel"),
     ("K must be symmetric", "(M + M.T) / 2"), InputError),
    ("distance below 0", lambda: stack(KERNEL, "D", kind="distance"),
     ("D must hold distances", "kind='kernel'"), InputError),
    ("distance to itself", lambda: stack(DISTANCE + 1, "D", kind="distance"),
     ("D", "zero diagonal", "(0, 0) is 1"), InputError),
    ("neighbour lists in floats", lambda: stack(NEIGHBOURS * 1.0, "N", kind="neighbours"),
     ("N", "whole item numbers", "float64"), InputError),
    ("own neighbour", lambda: stack(np.tile(np.arange(3), (N, 1)), "N", kind="neighbours"),
     ("N", "row 0", "itself"), InputError),
    ("neighbour out of range", lambda: stack(NEIGHBOURS + N, "N", kind="neighbours"),
     ("N", "0..19", "row 0"), InputError),
    ("neighbour twice", lambda: stack(np.array([[1, 1], [2, 2], [0, 0]]), "N", kind="neighbours"),
     ("N", "row 0", "item 1 twice"), InputError),
    ("unknown kind", lambda: stack(X, kind="gram"), ("kind", "'kernel'", "'gram'"), InputError),
    ("k against lists", lambda: alignment_test(stack(NEIGHBOURS, kind="neighbours"), Y, metric="mutual_knn"),
     ("k = 10", "X lists 3", "k=3"), InputError),
    ("lists for CKA", lambda: alignment_test(stack(NEIGHBOURS, kind="neighbours"), Y),
     ("linear_cka", "neighbours", "activations, kernel"), InputError),
    ("distances for CKA", lambda: alignment_test(X, stack(DISTANCE, "D", kind="distance")),
     ("linear_cka", "distance", "activations, kernel"), InputError),
    ("constant kernel", lambda: alignment_test(stack(np.ones((N, N)), "K", kind="kernel"), Y),
     ("K", "zero variance"), UndefinedScoreError),
    ("equal distances", lambda: alignment_test(stack(1 - np.eye(N), "D", kind="distance"), Y, metric="rsa"),
     ("D", "all equal", "zero variance"), UndefinedScoreError),
    # -------------------------------------------------------------------------------------------------------- settings
    ("alpha 0", lambda: alignment_test(X, Y, alpha=0), ("alpha", "between 0 and 1", "got 0"), InputError),
    ("alpha 1", lambda: layers_test([X], [Y], alpha=1.0), ("alpha", "got 1.0"), InputError),
    ("alpha NaN", lambda: alignment_test(X, Y, alpha=NAN), ("alpha", "nan"), InputError),
    ("alpha in quotes", lambda: alignment_test(X, Y, alpha="0.05"), ("alpha", "'0.05'"), InputError),
    ("alternative", lambda: alignment_test(X, Y, alternative="two_sided"),
     ("alternative", "'two-sided'", "'two_sided'"), InputError),
    ("no draws", lambda: alignment_test(X, Y, n_resamples=0),
     ("n_resamples", "at least 1", "got 0", "alignment_scores"), InputError),
    ("negative draws", lambda: layers_test([X], [Y], n_resamples=-5), ("n_resamples", "got -5"), InputError),
    ("draws as a float", lambda: alignment_test(X, Y, n_resamples=99.0),
     ("n_resamples", "whole number", "99.0"), InputError),
    ("draws in quotes", lambda: alignment_test(X, Y, n_resamples="99"), ("n_resamples", "'99'"), InputError),
    ("draws as a bool", lambda: alignment_test(X, Y, n_resamples=True), ("n_resamples", "True"), InputError),
    ("draws beyond memory", lambda: alignment_test(X, Y, n_resamples=10**12), ("n_resamples", "GB"), InputError),
    ("kind of draws", lambda: alignment_test(X, Y, draws="random"), ("draws", "'cosets'", "'random'"), InputError),
    ("precision", lambda: layers_test([X], [Y], precision="float16"),
     ("precision", "'float32'", "'float16'"), InputError),
    ("negative seed", lambda: alignment_test(X, Y, rng=-1), ("rng", "seed", "-1"), InputError),
    ("seed as a float", lambda: alignment_test(X, Y, rng=1.5), ("rng", "1.5"), InputError),
    ("seed in quotes", lambda: alignment_test(X, Y, rng="0"), ("rng", "'0'"), InputError),
    ("legacy generator", lambda: alignment_test(X, Y, rng=np.random.RandomState(0)),
     ("rng", "numpy Generator"), InputError),
    ("no thread", lambda: alignment_test(X, Y, n_jobs=0, n_resamples=99), ("n_jobs", "got 0"), InputError),
    ("threads in quotes", lambda: alignment_test(X, Y, n_jobs="2", n_resamples=99), ("n_jobs", "'2'"), InputError),
    ("half a thread", lambda: layers_test([X], [Y], n_jobs=1.5, n_resamples=99), ("n_jobs", "1.5"), InputError),
    ("no process", lambda: alignment_test(X, Y, n_jobs=0, n_resamples=9, metric=lambda x, y: 1.0),
     ("n_jobs", "got 0"), InputError),
    ("progress", lambda: alignment_test(X, Y, progress=True, n_resamples=99), ("progress", "True"), InputError),
    # --------------------------------------------------------------------------------------------------------- schemes
    ("unknown scheme", lambda: alignment_test(X, Y, scheme="free"), ("scheme", "exchangeable", "'free'"), InputError),
    ("scheme of another type", lambda: alignment_test(X, Y, scheme=3), ("scheme", "got 3"), InputError),
    ("class for a scheme", lambda: alignment_test(X, Y, scheme=WithinGroups), ("scheme", "WithinGroups"), InputError),
    ("groups missing", lambda: alignment_test(X, Y, scheme="within_groups"), ("groups", "'within_groups'"), InputError),
    ("groups unused", lambda: alignment_test(X, Y, groups=[1] * N),
     ("groups", "exchangeable", "within_groups"), InputError),
    ("too few labels", lambda: grouped([1, 2] * 5), ("groups", "10 labels", "20 items"), InputError),
    ("text for labels", lambda: grouped("subject"), ("groups", "'subject'", "length 20"), InputError),
    ("NaN label", lambda: grouped([NAN] + [1.0] * 19), ("groups", "NaN", "item 0", "drop"), InputError),
    ("None label", lambda: grouped([1] * 19 + [None]), ("groups", "None", "item 19"), InputError),
    ("labels in two columns", lambda: grouped(np.ones((N, 2))), ("groups", "(20, 2)"), InputError),
    ("one whole group", lambda: grouped([1] * N, "whole_groups"), ("groups", "same size", "20"), InputError),
    ("unequal whole groups", lambda: grouped([1] * 3 + [2] * 7 + [3] * 10, "whole_groups"),
     ("groups", "[3, 7, 10]"), InputError),
    ("groups of one", lambda: grouped(range(N)), ("groups", "20 items", "own", "exchangeable"), InputError),
    ("not permutations", lambda: alignment_test(X, Y, scheme=ExplicitRelabellings(np.zeros((3, N), int))),
     ("relabellings", "permutation of 0..19", "row 0"), InputError),
    ("relabellings of other items", lambda: alignment_test(X, Y, scheme=ExplicitRelabellings(np.arange(19)[None])),
     ("relabellings", "(m, 20)", "(1, 19)"), InputError),
    # --------------------------------------------------------------------------------------------------------- metrics
    ("unknown metric", lambda: alignment_test(X, Y, metric="ckaa"), ("metric", "linear_cka", "'ckaa'"), InputError),
    ("metric of another type", lambda: alignment_test(X, Y, metric=5), ("metric", "callable", "int"), InputError),
    ("class that needs a function", lambda: alignment_test(X, Y, metric=FunctionMetric),
     ("metric", "FunctionMetric"), InputError),
    ("abstract class for a metric", lambda: alignment_test(X, Y, metric=Metric), ("metric", "Metric"), InputError),
    ("unknown option", lambda: get_metric("mutual_knn", n=5), ("mutual_knn", "'n'", "k, distance"), InputError),
    ("option of none", lambda: get_metric("linear_cka", k=5), ("linear_cka", "'k'", "none"), InputError),
    ("k = 0", lambda: get_metric("mutual_knn", k=0), ("k", "at least 1", "got 0"), InputError),
    ("half a neighbour", lambda: get_metric("mutual_knn", k=2.5), ("k", "whole number", "2.5"), InputError),
    ("distance of neighbours", lambda: get_metric("mutual_knn", distance="l2"),
     ("distance", "'euclidean'", "'l2'"), InputError),
    ("distance of RSA", lambda: get_metric("rsa", distance="l2"), ("distance", "'correlation'", "'l2'"), InputError),
    ("comparison of RSA", lambda: get_metric("rsa", comparison="kendall"),
     ("comparison", "'spearman'", "'kendall'"), InputError),
    ("negative bandwidth", lambda: get_metric("rbf_cka", bandwidth=-1), ("bandwidth", "positive", "-1"), InputError),
    ("NaN bandwidth", lambda: get_metric("rbf_cka", bandwidth=NAN), ("bandwidth", "positive", "nan"), InputError),
    ("fraction in quotes", lambda: get_metric("rbf_cka", fraction="0.5"),
     ("fraction", "positive", "'0.5'"), InputError),
    ("registering no metric", lambda: register(int),
     ("metric", "subclass", "int"), InputError),  # type: ignore[type-var]
    ("callable gives NaN", lambda: scored(NAN), ("metric <lambda>", "NaN", "10 of 10"), InputError),
    ("callable gives inf", lambda: scored(np.inf), ("not finite", "10 of"), InputError),
    ("callable gives an array", lambda: scored(X), ("metric <lambda>", "one number", "ndarray"), InputError),
    ("callable gives nothing", lambda: scored(None), ("metric <lambda>", "one number", "NoneType"), InputError),
    ("no callable", lambda: FunctionMetric(3), ("function", "callable"), InputError),  # type: ignore[arg-type]
    ("direction in words", lambda: FunctionMetric(max, larger_is_more_similar="no"),  # type: ignore[arg-type]
     ("larger_is_more_similar", "'no'"), InputError),
    # ------------------------------------------------------------------------------------------------------ aggregates
    ("unknown aggregate", lambda: layers_test([X], [Y], aggregate="median", n_resamples=9),
     ("aggregate", "'max'", "'median'"), InputError),
    ("too many best cells", lambda: layers_test([X], [Y], aggregate="top_5", n_resamples=9),
     ("5 best cells", "1"), InputError),
    ("aggregate of wrong shape", lambda: layers_test([X], [Y], aggregate=lambda v: v, n_resamples=9),
     ("aggregate", "one number a row", "max(axis=(1, 2))"), InputError),
    ("aggregate gives NaN", lambda: layers_test([X], [Y], aggregate=lambda v: np.full(len(v), NAN), n_resamples=9),
     ("aggregate", "not finite"), InputError),
    ("aggregate looks at row 0",
     lambda: layers_test([X, Y], [Y], aggregate=lambda v: v[:, v[0, :, 0].argmax(), 0], n_resamples=99, rng=0),
     ("aggregate", "row 0", "every row"), InputError),
    ("unknown aggregate afterwards", lambda: layers_test([X], [Y], n_resamples=9).aggregate("min"),
     ("aggregate", "'min'"), InputError),
    # ---------------------------------------------------------------------------------------------------- chance level
    ("chance of a callable", lambda: chance_level(lambda x, y: 1.0, X, Y),
     ("closed-form", "alignment_test"), InputError),
    ("chance of a grid", lambda: chance_level("linear_cka", [X, X], Y), ("one layer", "alignment_scores"), InputError),
    ("chance of a constant", lambda: chance_level("linear_cka", CONSTANT, Y), ("X is constant",), UndefinedScoreError),
    # ------------------------------------------------------------------------------------------------------- calibrate
    ("observed NaN", lambda: calibrate(NAN, DRAWS), ("observed", "1 NaN"), InputError),
    ("null NaN", lambda: calibrate(0.5, with_value(DRAWS, [4, 7], NAN)), ("null", "2 NaN", "99"), InputError),
    ("empty null", lambda: calibrate(0.5, []), ("null is empty", "at least 19"), InputError),
    ("null of another shape", lambda: calibrate([0.5, 0.6], DRAWS), ("null", "(K, 2)", "(99,)"), InputError),
    ("observed text", lambda: calibrate("0.5", DRAWS), ("observed", "real numbers"), InputError),
    ("max of separate draws", lambda: calibrate([0.5, 0.6], np.zeros((9, 2)), aggregate="max"),
     ("aggregate", "synchronised=True", "one relabelling for all cells"), InputError),
    ("alpha above 1", lambda: calibrate(0.5, DRAWS, alpha=5), ("alpha", "got 5"), InputError),
    ("s_max passed", lambda: calibrate(0.5, 3 * DRAWS, s_max=1.0), ("s_max", "3", "leave it out"), InputError),
    # ----------------------------------------------------------------------------------------------------------- files
    ("no such file", lambda: calibtest.load("/nowhere/acts.npz"), ("/nowhere/acts.npz", "does not exist"), InputError),
    ("array for a path", lambda: calibtest.load(X), ("path", "ndarray", "LayerStack.build"), InputError),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words", "kind"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_bad_call(call: Callable[[], Any], words: tuple[str, ...], kind: type[Exception]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is said before the error, and nothing is divided by zero on the way
        with pytest.raises(calibtest.CalibtestError) as caught:
            call()
    assert type(caught.value) is kind
    sentence = str(caught.value)
    for word in words:
        assert word in sentence
    assert "\n" not in sentence
    assert not sentence.endswith(".")
    assert not re.search(r"[.!?] [A-Z]", sentence), "more than one sentence"
    assert len(sentence) > 20


def test_rows_have_names_of_their_own() -> None:
    names = [row[0] for row in ROWS]
    assert len(set(names)) == len(names)


def test_bad_input_is_a_value_error_too() -> None:
    assert issubclass(InputError, ValueError)
    assert issubclass(UndefinedScoreError, InputError)
    assert issubclass(MissingDependencyError, ImportError)
    assert not issubclass(MissingDependencyError, InputError)
    for kind in (InputError, MissingDependencyError):
        assert issubclass(kind, calibtest.CalibtestError)


def test_inputs_are_not_changed_by_a_refused_call() -> None:
    bad = with_value(Y, (7, 1), NAN)
    before = X.tobytes(), bad.tobytes()
    with pytest.raises(InputError):
        alignment_test(X, bad)
    assert (X.tobytes(), bad.tobytes()) == before


def test_error_of_the_users_own_callable_reaches_the_user() -> None:
    def broken(x: np.ndarray, y: np.ndarray) -> float:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        alignment_test(X, Y, metric=broken, n_resamples=9)


def test_level_out_of_reach_is_a_warning_with_the_least_p() -> None:
    with pytest.warns(calibtest.CalibtestWarning, match=r"alpha = 0\.01 is out of reach.*0\.05"):
        result = alignment_test(X, Y, n_resamples=19, draws="independent", alpha=0.01, rng=0)
    assert result.min_pvalue == 1 / 20
    assert result.calibrated == 0.0
