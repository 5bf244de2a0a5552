import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="B2",
    kind="B too few items, k out of range",
    source=["github.com/AntixK/PyTorch-Model-Compare issue #4 ((N-1)(N-2) is 0 for a batch of 2)"],
    fault="The debiased estimator divides by (n-1)(n-2)(n-3): inf or NaN for n = 2 or 3.",
    right="ValueError: debiased CKA needs at least 4 items, got 2 (3). n = 4 works.",
)
r = np.random.default_rng(5)
X4, Y4 = r.standard_normal((4, 3)), r.standard_normal((4, 3))
EXPECT = [
    E("score", "raises", args=dict(metric="cka", X=X4[:n], Y=Y4[:n], debiased=True), says=["4", str(n)]) for n in (2, 3)
]
EXPECT += [
    E("score", "value", args=dict(metric="cka", X=X4, Y=Y4, debiased=True), value=R.cka_debiased(X4, Y4), tol=1e-9)
]
