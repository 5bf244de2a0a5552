import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="F7",
    kind="F CKA / CKNNA estimators",
    source=["arxiv.org/abs/2210.16156 (moving one point or one subset moves CKA at will)"],
    fault=(
        "One item moved far away takes linear CKA of two otherwise equal models from 1 to 0.03, with neighbours "
        "almost untouched (0.95)."
    ),
    right=(
        "Values are right as they are; the report must warn that one item (row 0) holds nearly all the variance of Y."
    ),
)
X = np.random.default_rng(0).standard_normal((60, 10))
Y = X.copy()
Y[0] += 200
EXPECT = [
    E(
        "score",
        "warns",
        args=dict(metric="cka", X=X, Y=Y),
        says=["Y", ("item", "row", "outlier", "leverage"), "0"],
        value=R.cka(X, Y),
        tol=1e-8,
    ),
    E(
        "score",
        "value",
        args=dict(metric="mutual_knn", X=X, Y=Y, k=5, dist="euclidean"),
        value=R.mutual_knn(X, Y, 5, "euclidean"),
        tol=1e-9,
    ),
]
