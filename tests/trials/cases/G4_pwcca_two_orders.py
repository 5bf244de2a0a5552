import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="G4",
    kind="G CCA family",
    source=[
        "github.com/google/svcca PR #9 (IndexError in one argument order only)",
        "github.com/moskomule/anatome issue #30 and #27",
    ],
    fault=(
        "PWCCA is not symmetric; one published code crashes when the second model is wider, another "
        "orthonormalises the wrong matrix."
    ),
    right="Both orders work; weights come from the first argument (documented), so two different values, both below.",
)
r = np.random.default_rng(35)
X = r.standard_normal((60, 4)) * [5, 1, 1, 0.2]
Y = np.c_[X[:, 0] + r.standard_normal(60), r.standard_normal((60, 6))]
EXPECT = [
    E("score", "value", args=dict(metric="pwcca", X=X, Y=Y), value=R.pwcca(X, Y), tol=1e-8),
    E("score", "value", args=dict(metric="pwcca", X=Y, Y=X), value=R.pwcca(Y, X), tol=1e-8),
]
