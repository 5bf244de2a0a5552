import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="F8",
    kind="F CKA / CKNNA estimators",
    variant_of="F7",
    source=["arxiv.org/abs/2603.00029 and arxiv.org/abs/2503.21718 (massive activations, outlier dimensions)"],
    fault=(
        "One massive feature, driven by the same nuisance (say, token position) in both models, takes CKA of "
        "otherwise unrelated models from 0.29 to 1.0000."
    ),
    right=(
        "Values are right; warn that one feature (X column 0, Y column 5) holds nearly all the variance, so that "
        "the score is about that feature."
    ),
)
X = np.random.default_rng(0).standard_normal((80, 32))
Y = np.random.default_rng(1).standard_normal((80, 32))
t = np.random.default_rng(2).standard_normal(80)
X[:, 0] = 300 * t
Y[:, 5] = 300 * t
EXPECT = [
    E(
        "score",
        "warns",
        args=dict(metric="cka", X=X, Y=Y),
        says=[("feature", "dimension", "column", "rank")],
        value=R.cka(X, Y),
        tol=1e-8,
    ),
    E(
        "score",
        "value",
        args=dict(metric="cka", X=X[:, 1:], Y=np.delete(Y, 5, 1)),
        value=R.cka(X[:, 1:], np.delete(Y, 5, 1)),
        tol=1e-8,
    ),
]
