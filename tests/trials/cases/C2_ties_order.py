import warnings

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="C2",
    kind="C duplicates, ties, self-neighbours",
    source=[
        "github.com/lferry007/LargeVis issue #19 (more duplicates than k)",
        "github.com/scikit-learn/scikit-learn PR #4046 (which of the tied points is 'the' neighbour?)",
    ],
    fault=(
        "Ties at the k-th distance are broken by position, so reordering the items (the same way on both sides) "
        "changes the score."
    ),
    right=(
        "Score is unchanged under a joint reordering of the items; or a warning tells that ties were broken "
        "arbitrarily and how many items are touched."
    ),
)
r = np.random.default_rng(8)
X = r.integers(0, 3, (30, 2)).astype(float)
Y = r.integers(0, 3, (30, 2)).astype(float)
P = [r.permutation(30) for _ in range(5)]


def same_or_warns(call):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        s = [call("score", metric="mutual_knn", X=X[p], Y=Y[p], k=4, dist="euclidean") for p in P]
    return max(s) - min(s) < 1e-12 or any(t in str(v.message).lower() for v in w for t in ("tie", "tied", "duplicate"))


EXPECT = [E("score", "prop", prop=same_or_warns)]
