import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="F1",
    kind="F CKA / CKNNA estimators",
    source=[
        "arxiv.org/abs/2405.01012 (biased CKA is high for random matrices when features outnumber items)",
        "github.com/Project-MONAI/MONAI PR #9129",
        "arxiv.org/abs/2602.14486 (width confounds every raw score)",
    ],
    fault="20 items, 5000 features, unrelated data: plain linear CKA is 0.996.",
    right=(
        "Raw value is what it is (0.9956) but comes with a warning that features outnumber items; the debiased "
        "value is -0.088; the permutation test must not reject."
    ),
)
X = np.random.default_rng(0).standard_normal((20, 5000))
Y = np.random.default_rng(1).standard_normal((20, 5000))
EXPECT = [
    E(
        "score",
        "warns",
        args=dict(metric="cka", X=X, Y=Y),
        says=[("features", "bias", "debiased", "width")],
        value=R.cka(X, Y),
        tol=1e-8,
    ),
    E("score", "value", args=dict(metric="cka", X=X, Y=Y, debiased=True), value=R.cka_debiased(X, Y), tol=1e-8),
    E("test", "prop", prop=lambda call: call("test", metric="cka", X=X, Y=Y, n_perm=199, seed=0)["pvalue"] > 0.05),
]
