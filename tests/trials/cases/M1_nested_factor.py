import warnings

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="M1",
    kind="M interaction model",
    source=[
        "github.com/statsmodels/statsmodels issue #3824 and #8670 (singular design, extreme p-values)",
        "github.com/statsmodels/statsmodels issue #8721",
    ],
    fault=(
        "In one family all models have the same size: its slope does not exist, but a pseudo-inverse hands out a "
        "number and a p-value."
    ),
    right=(
        "Error or warning naming family 'b' (x does not vary in it); no slope and no p for it. The slope of 'a' "
        "stays 0.05."
    ),
)
ROWS = [
    {"family": f, "logp": float(i), "score": s}
    for f, i, s in (("a", 1, 0.20), ("a", 2, 0.26), ("a", 3, 0.30), ("b", 2, 0.4), ("b", 2, 0.5), ("b", 2, 0.45))
]


def check(call):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        try:
            t = call("interaction", rows=ROWS, score="score", family="family", x="logp")
        except ValueError as e:
            return "b" in str(e) and any(
                q in str(e).lower() for q in ("vary", "collinear", "rank", "singular", "estimable", "constant")
            )
    b = t["slopes"].get("b")
    return (b is None or np.isnan(b)) and abs(t["slopes"]["a"] - 0.05) < 1e-9 and len(w) > 0


EXPECT = [E("interaction", "prop", prop=check)]
