import numpy as np

from bank import E, trial

TRIAL = trial(
    id="J3",
    kind="J many layers, many tests",
    source=[
        "github.com/statsmodels/statsmodels issue #2899",
        "github.com/tleonardi/nanocompore issue #41",
        "github.com/neurostuff/NiMARE PR #1139",
    ],
    fault="One undefined p-value (NaN) turns ALL adjusted p-values into NaN.",
    right=(
        "NaN stays NaN at its place; the others are adjusted over m = 4 tests (or m = 5, if the doc says so and a "
        "warning tells it). Benjamini-Hochberg values below are for m = 4, in brackets for m = 5."
    ),
)
P = [0.01, float("nan"), 0.02, 0.03, 0.5]
M4 = [0.04, 0.04, 0.04, 0.5]
M5 = [0.05, 0.05, 0.05, 0.625]


def ok(call):
    q = list(call("adjust", pvalues=P, method="bh"))
    v = [q[i] for i in (0, 2, 3, 4)]
    return len(q) == 5 and np.isnan(q[1]) and (np.allclose(v, M4) or np.allclose(v, M5))


EXPECT = [E("adjust", "prop", prop=ok)]
