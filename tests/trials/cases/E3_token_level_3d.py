import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="E3",
    kind="E shape and pairing",
    source=[
        "github.com/google-research/google-research issue #1016 (4-D activations: pool or reshape?)",
        "github.com/moskomule/cca.pytorch issue #8",
    ],
    fault=(
        "[n, tokens, d] is flattened without being asked (or tokens become items), and each library chooses "
        "differently."
    ),
    right=(
        "ValueError that shows the shape and names the choices (mean over tokens, last token, flatten). When "
        "chosen, the values below."
    ),
)
r = np.random.default_rng(23)
T = r.standard_normal((20, 7, 6))
Y = T.mean(1)[:, :4] + 0.2 * r.standard_normal((20, 4))
EXPECT = [
    E(
        "score",
        "raises",
        args=dict(metric="cka", X=T, Y=Y),
        says=["X", ("2-d", "2d", "two-dim", "dimension", "(20, 7, 6)"), ("pool", "mean", "flatten")],
    ),
    E("score", "value", args=dict(metric="cka", X=T, Y=Y, pool="mean"), value=R.cka(T.mean(1), Y), tol=1e-9),
    E("score", "value", args=dict(metric="cka", X=T, Y=Y, pool="flatten"), value=R.cka(T.reshape(20, -1), Y), tol=1e-9),
]
