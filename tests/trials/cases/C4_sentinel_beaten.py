import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="C4",
    kind="C duplicates, ties, self-neighbours",
    variant_of="C1",
    source=[
        "github.com/minyoungg/platonic-rep metrics.py",
        "github.com/mlbio-epfl/Aristotelian knn.py (diagonal filled with -1e8 before the sort)",
    ],
    fault=(
        "Self is excluded by writing a large negative number on the diagonal; with raw activations of size 2e4 "
        "true similarities fall below it, and the item becomes its own neighbour again."
    ),
    right=(
        "Neighbour metrics are unchanged by one positive factor on all activations: the score of (2e4*Z, Z) is "
        "1.0 exactly, and (2e4*Z, 2e4*W) scores as (Z, W)."
    ),
)
Z = np.array([[1.0, 0.0], [-1.0, 0.1], [0.2, 1.0], [-0.3, -1.1], [0.7, -0.9]])
W = np.random.default_rng(10).standard_normal((5, 2))
EXPECT = [
    E("score", "value", args=dict(metric="mutual_knn", X=2e4 * Z, Y=Z, k=3, dist="cosine"), value=1.0, tol=1e-12),
    E(
        "score",
        "value",
        args=dict(metric="mutual_knn", X=2e4 * Z, Y=2e4 * W, k=3, dist="cosine"),
        value=R.mutual_knn(Z, W, 3),
        tol=1e-9,
    ),
]
