import numpy as np

from bank import E, trial

TRIAL = trial(
    id="E10",
    kind="E shape and pairing",
    variant_of="E9",
    source=["github.com/giotto-ai/giotto-tda PR #428 (workers change the input in place)", "variant of E9"],
    fault=(
        "Centring or normalising in place changes the caller's arrays; passing the same object twice makes it worse."
    ),
    right="Bytes of X and Y are the same before and after every call; score(X, X) with one object = 1.",
)
r = np.random.default_rng(29)
X = np.ascontiguousarray(r.standard_normal((40, 6)) + 5)
Y = np.ascontiguousarray(r.standard_normal((40, 4)) - 2)


def untouched(op, **kw):
    def check(call):
        before = X.tobytes(), Y.tobytes()
        call(op, X=X, Y=Y, **kw)
        return (X.tobytes(), Y.tobytes()) == before

    return check


METRICS = ("cka", "mutual_knn", "cknna", "rsa", "cca", "svcca", "pwcca", "procrustes", "ridge")
EXPECT = [E("score", "prop", prop=untouched("score", metric=m, k=5)) for m in METRICS]
EXPECT += [
    E("test", "prop", prop=untouched("test", metric="cka", n_perm=9, seed=0)),
    E("score", "value", args=dict(metric="cka", X=X, Y=X), value=1.0, tol=1e-9),
]
