import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="E4",
    kind="E shape and pairing",
    variant_of="E3",
    source=[
        "github.com/asrafulashiq/transfer_broad issue #3 (flatten or average pooling?)",
        "github.com/google-research/google-research issue #1016",
    ],
    fault="Conv maps [n, c, h, w]: flattening and spatial averaging give clearly different scores.",
    right="No default: ValueError until a choice is made; then these two values.",
)
r = np.random.default_rng(24)
C = r.standard_normal((18, 5, 4, 4))
Y = C.mean((2, 3)) + 0.1 * r.standard_normal((18, 5))
EXPECT = [
    E("score", "raises", args=dict(metric="cka", X=C, Y=Y), says=["X", ("pool", "mean", "flatten")]),
    E("score", "value", args=dict(metric="cka", X=C, Y=Y, pool="mean"), value=R.cka(C.mean((2, 3)), Y), tol=1e-9),
    E("score", "value", args=dict(metric="cka", X=C, Y=Y, pool="flatten"), value=R.cka(C.reshape(18, -1), Y), tol=1e-9),
]
