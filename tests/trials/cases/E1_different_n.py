import numpy as np

from bank import E, trial

TRIAL = trial(
    id="E1",
    kind="E shape and pairing",
    source=[
        "github.com/jameschapman19/cca_zoo issue #109 (a loader drops the last batch)",
        "github.com/torchgeo/torchgeo-bench issue #176 (fail loudly)",
    ],
    fault=(
        "One loader drops its last batch: 128 items against 130. Broadcasting or cutting to the shorter one hides it."
    ),
    right="ValueError with both counts. Never cut silently.",
)
r = np.random.default_rng(21)
X, Y = r.standard_normal((128, 4)), r.standard_normal((130, 5))
EXPECT = [
    E("score", "raises", args=dict(metric=m, X=X, Y=Y, k=5), says=["128", "130"])
    for m in ("cka", "mutual_knn", "rsa", "cca", "procrustes", "ridge")
]
