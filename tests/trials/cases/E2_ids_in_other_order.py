import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="E2",
    kind="E shape and pairing",
    source=[
        "github.com/torchgeo/torchgeo-bench issue #176 (sample ids or ordering don't match)",
        "github.com/Graph-and-Geometric-Learning/TimeSeriesCCM issue #5 (silent misalignment)",
    ],
    fault=(
        "Both files hold the same items in another order; rows are paired by position and true alignment looks "
        "like noise."
    ),
    right="With ids on both sides: paired by id (value below), or an error. Never paired by position.",
)
r = np.random.default_rng(22)
X = r.standard_normal((40, 5))
Y = X[:, :3] + 0.3 * r.standard_normal((40, 3))
p = r.permutation(40)
ids = np.array([f"img_{i:03d}" for i in range(40)])
EXPECT = [
    E("score", "value", args=dict(metric="cka", X=X, Y=Y[p], ids_x=ids, ids_y=ids[p]), value=R.cka(X, Y), tol=1e-9)
]
