import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="F2",
    kind="F CKA / CKNNA estimators",
    source=[
        "github.com/clovaai/rebias issue #8 (can HSIC be negative? yes)",
        "github.com/phrasenmaeher/cka issue #1",
        "github.com/dmarx/cka_pytorch issue #2 (NaN from a root of a negative number)",
    ],
    fault=(
        "The unbiased estimate may be below zero; code that takes its root returns NaN, code that clips hides the "
        "bias again."
    ),
    right=(
        "Exactly -0.0813 here: returned as it is, not NaN, not clipped to 0. (The two self terms in the root are "
        "never negative when the kernel is centred in full.)"
    ),
)
X = np.random.default_rng(1).standard_normal((12, 6))
Y = np.random.default_rng(101).standard_normal((12, 6))
EXPECT = [E("score", "value", args=dict(metric="cka", X=X, Y=Y, debiased=True), value=R.cka_debiased(X, Y), tol=1e-9)]
