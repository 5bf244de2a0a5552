import numpy as np

from bank import E, trial

TRIAL = trial(
    id="O1",
    kind="O reproducibility and parallel runs",
    source=[
        "github.com/scverse/squidpy PR #1234 (independent of n_jobs)",
        "github.com/joblib/joblib issue #36 (workers repeat each other)",
        "github.com/scipy/scipy issue #11100 and PR #11152",
    ],
    fault=(
        "The null depends on the number of workers; or forked workers share one generator state and the null "
        "values repeat in groups."
    ),
    right=(
        "Same seed: bit-equal null for n_jobs = 1 and 2; no repeated blocks (at least 95 different values among 99)."
    ),
)
r = np.random.default_rng(48)
X, Y = r.standard_normal((40, 5)), r.standard_normal((40, 4))


def check(call):
    a, b = (np.asarray(call("test", metric="cka", X=X, Y=Y, n_perm=99, seed=5, n_jobs=j)["null"]) for j in (1, 2))
    return np.array_equal(a, b) and len(np.unique(a)) >= 95


EXPECT = [E("test", "prop", prop=check)]
