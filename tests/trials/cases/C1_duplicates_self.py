import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="C1",
    kind="C duplicates, ties, self-neighbours",
    source=[
        "github.com/scikit-learn/scikit-learn issue #16512",
        "github.com/scikit-learn/scikit-learn issue #29873",
        "github.com/tidymodels/themis issue #247",
        "github.com/pysal/pysal issue #125",
    ],
    fault=(
        "'Drop the first neighbour, it is the item itself' is false when another item has the same coordinates: "
        "the item stays in its own list."
    ),
    right="Self is left out by index. score(X, X) = 1.0 exactly and score(X, Y) = score(Y, X), duplicates or not.",
)
r = np.random.default_rng(7)
X = r.standard_normal((20, 4))
X[0] += 8
X[10] -= 8
X[1] = X[0]
X[2] = X[0]
X[11] = X[10]  # copies far out: no tie at the k-th place
Y = X + 0.05 * r.standard_normal((20, 4))  # the same geometry without copies
EXPECT = [
    E("score", "value", args=dict(metric="mutual_knn", X=X, Y=X, k=3, dist="euclidean"), value=1.0, tol=1e-12),
    E(
        "score",
        "value",
        args=dict(metric="mutual_knn", X=X, Y=Y, k=3, dist="euclidean"),
        value=R.mutual_knn(X, Y, 3, "euclidean"),
        tol=1e-9,
    ),
    E(
        "score",
        "prop",
        prop=lambda call: (
            abs(
                call("score", metric="mutual_knn", X=X, Y=Y, k=3, dist="euclidean")
                - call("score", metric="mutual_knn", X=Y, Y=X, k=3, dist="euclidean")
            )
            < 1e-12
        ),
    ),
]
