import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="G2",
    kind="G CCA family",
    source=[
        "github.com/scikit-learn/scikit-learn issue #4419",
        "github.com/gallantlab/pyrcca issue #15 (not positive definite)",
        "github.com/yuanli2333/CKA-Centered-Kernel-Alignment issue #5 (SVD did not converge)",
    ],
    fault=(
        "A repeated column (or a column that is the sum of two others) makes the covariance singular: "
        "LinAlgError, NaN, or an extra correlation of random size."
    ),
    right="Equals the result with the redundant columns taken out.",
)
r = np.random.default_rng(33)
X = r.standard_normal((50, 4))
Y = X[:, :3] + r.standard_normal((50, 3))
X2 = np.c_[X, X[:, 0], X[:, 1] + X[:, 2]]
Y2 = np.c_[Y, 5 * Y[:, 1]]
EXPECT = [E("score", "value", args=dict(metric="cca", X=X2, Y=Y2), value=R.cca(X, Y), tol=1e-7)]
