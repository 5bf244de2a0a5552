import numpy as np

from bank import E, trial

TRIAL = trial(
    id="A5",
    kind="A constant / zero-variance input",
    source=[
        "github.com/vlasky/sqlite-vec issue #8 (zero vectors corrupt the neighbour order)",
        "github.com/scikit-learn/scikit-learn issue #15256",
        "github.com/rragundez/chunkdot PR #3",
    ],
    fault=(
        "Empty documents give all-zero rows; their cosine is 0/0, and NaN then sorts anywhere among the "
        "neighbours of other rows."
    ),
    right=(
        "Raise, naming the rows (here 3 and 17) and the remedy (drop them from BOTH sides, or a non-cosine "
        "distance). No silent 0, no silent NaN."
    ),
)
r = np.random.default_rng(3)
X = r.standard_normal((25, 6))
Y = r.standard_normal((25, 6))
X[[3, 17]] = 0.0
EXPECT = [
    E("score", "raises_or_nan", args=dict(metric="mutual_knn", X=X, Y=Y, k=4, dist="cosine"), says=["zero", "3", "17"])
]
