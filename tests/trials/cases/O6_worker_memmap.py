import numpy as np

from bank import E, trial

TRIAL = trial(
    id="O6",
    kind="O reproducibility and parallel runs",
    source=[
        "github.com/joblib/joblib issue #1627, #1373 and #1376",
        "github.com/giotto-ai/giotto-tda PR #428",
        "github.com/jwplayer/jwalk PR #6",
    ],
    fault=(
        "Arrays above 1 MB reach the workers as read-only maps: 'assignment destination is read-only', only for "
        "large inputs and n_jobs > 1."
    ),
    right=(
        "600 x 300 float64 (1.44 MB), n_jobs = 2: no error, same null as n_jobs = 1, and no file left in the "
        "temporary folder."
    ),
)
r = np.random.default_rng(52)
X = r.standard_normal((600, 300))
Y = r.standard_normal((600, 300))


def check(call):
    a, b = (
        np.asarray(call("test", metric=m, X=X, Y=Y, n_perm=8, seed=1, n_jobs=j, k=5)["null"])
        for m, j in (("mutual_knn", 1), ("mutual_knn", 2))
    )
    return np.array_equal(a, b)


EXPECT = [E("test", "prop", prop=check)]
