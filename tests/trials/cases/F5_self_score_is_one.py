import numpy as np

from bank import E, trial

TRIAL = trial(
    id="F5",
    kind="F CKA / CKNNA estimators",
    source=[
        "github.com/ykumards/simtorch PR #52 (diagonal of a self comparison is not 1)",
        "github.com/ahwillia/netrep PR #19 (square root missing under the fraction)",
    ],
    fault=(
        "A missing root, a wrong divisor or rounding makes the score of a model with itself differ from 1 (or "
        "exceed it)."
    ),
    right="Self score 1 within 1e-9 and not above 1, for every similarity, also at unusual scales (7.3e3, 2e-4).",
)
r = np.random.default_rng(32)
X = r.standard_normal((30, 5))
SIMILARITIES = (
    ("cka", {}),
    ("cka", {"debiased": True}),
    ("cka", {"kernel": "rbf"}),
    ("mutual_knn", {"k": 4}),
    ("cknna", {"k": 4}),
    ("rsa", {"rdm": "correlation"}),
    ("cca", {}),
    ("svcca", {}),
    ("pwcca", {}),
    ("procrustes", {}),
)


def self_is_one(metric, options):
    def check(call):
        for factor in (1.0, 7.3e3, 2e-4):
            value = call("score", metric=metric, X=factor * X, Y=factor * X, **options)
            if not (abs(value - 1) < 1e-9 and value <= 1.0):
                return False
        return True

    return check


EXPECT = [E("score", "prop", prop=self_is_one(metric, options)) for metric, options in SIMILARITIES]
