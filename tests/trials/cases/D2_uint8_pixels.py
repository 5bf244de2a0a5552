import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="D2",
    kind="D dtypes, overflow, non-finite",
    source=["github.com/numpy/numpy issue #6753 (no warning on array overflow)", "github.com/numpy/numpy issue #26344"],
    fault="Raw pixels as uint8: products wrap modulo 256 with no warning and a plausible wrong score comes out.",
    right="Integers are turned into floats first: equals the float64 result.",
)
r = np.random.default_rng(14)
X = r.integers(0, 256, (50, 32)).astype("uint8")
Y = np.clip(X[:, :16].astype(int) + r.integers(-60, 60, (50, 16)), 0, 255).astype("uint8")
EXPECT = [
    E("score", "value", args=dict(metric="cka", X=X, Y=Y), value=R.cka(X, Y), tol=1e-9),
    E(
        "score",
        "value",
        args=dict(metric="mutual_knn", X=X, Y=Y, k=5, dist="euclidean"),
        value=R.mutual_knn(X, Y, 5, "euclidean"),
        tol=1e-9,
    ),
]
