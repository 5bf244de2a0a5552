import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="A2",
    kind="A constant / zero-variance input",
    source=[
        "github.com/scikit-learn/scikit-learn issue #4419 (CCA not robust to rank loss)",
        "github.com/hemberg-lab/SC3 issue #97 (constant column cannot be rescaled)",
        "github.com/YosefLab/scone issue #80 (cryptic error when a feature has no variance)",
    ],
    fault="A few dead units (always 0) make z-scoring divide by zero and poison the whole score.",
    right=(
        "Constant columns carry nothing: every metric equals its value with those columns taken out, to 1e-9. No "
        "NaN, no error."
    ),
)
r = np.random.default_rng(1)
X = r.standard_normal((40, 6))
Y = X[:, :3] + 0.5 * r.standard_normal((40, 3))
Xd = np.hstack([X[:, :2], np.zeros((40, 2)), X[:, 2:]])
Yd = np.hstack([Y, np.full((40, 1), 7.0)])
EXPECT = [
    E("score", "value", args=dict(metric="cka", X=Xd, Y=Yd), value=R.cka(X, Y), tol=1e-9),
    E("score", "value", args=dict(metric="cca", X=Xd, Y=Yd), value=R.cca(X, Y), tol=1e-9),
    E("score", "value", args=dict(metric="svcca", X=Xd, Y=Yd, var=0.99), value=R.svcca(X, Y), tol=1e-9),
    E("score", "value", args=dict(metric="procrustes", X=Xd, Y=Yd), value=R.procrustes(X, Y), tol=1e-9),
]
