import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="D7",
    kind="D dtypes, overflow, non-finite",
    source=["github.com/minyoungg/platonic-rep metrics.py (denominator + 1e-6, un-normalised HSIC)"],
    fault=(
        "An absolute epsilon in the denominator: scaling both models by 1e-3 takes CKA from 0.750 to 0.007 (by "
        "1e-4: to 7e-7). The claimed scale invariance is gone."
    ),
    right="Unchanged by any positive factor on either side, down to 1e-12 and below.",
)
r = np.random.default_rng(19)
X = r.standard_normal((40, 6))
Y = X[:, :4] + 0.5 * r.standard_normal((40, 4))
EXPECT = [
    E("score", "value", args=dict(metric="cka", X=a * X, Y=b * Y), value=R.cka(X, Y), tol=1e-9)
    for a, b in ((1e-3, 1e-3), (1e-6, 1.0), (1e-12, 1e-12))
]
EXPECT += [
    E("score", "value", args=dict(metric="cka", X=1e-6 * X, Y=Y, debiased=True), value=R.cka_debiased(X, Y), tol=1e-9),
    E("score", "value", args=dict(metric="svcca", X=1e-9 * X, Y=Y), value=R.svcca(X, Y), tol=1e-9),
]
