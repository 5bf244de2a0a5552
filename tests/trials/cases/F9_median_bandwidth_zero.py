import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="F9",
    kind="F CKA / CKNNA estimators",
    source=[
        "github.com/deepcharles/ruptures PR #14",
        "github.com/py-why/dodiscover PR #160 (median of the non-zero distances)",
        "github.com/neurodata/hyppo issue #92",
    ],
    fault="Half of the items are copies: the median distance is 0, the RBF width is 0, the kernel NaN.",
    right=(
        "Median over the non-zero distances (1.3531), value below, with a warning about the copies. Or ValueError "
        "saying that the median distance is 0."
    ),
)
B = np.repeat(np.random.default_rng(0).standard_normal((2, 4)), [30, 10], axis=0)
B[35:] += np.random.default_rng(3).standard_normal((5, 4))
C = np.random.default_rng(1).standard_normal((40, 4))


def value_or_refuses(call):
    try:
        return abs(call("score", metric="cka", X=B, Y=C, kernel="rbf") - R.cka_rbf(B, C)) < 1e-8
    except ValueError as e:
        return "median" in str(e).lower() or "bandwidth" in str(e).lower()


EXPECT = [E("score", "prop", prop=value_or_refuses)]
