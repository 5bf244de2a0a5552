import warnings

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="I8",
    kind="I exchangeability: time, groups, blocks, folds",
    source=["github.com/scikit-learn/scikit-learn PR #17266 (constant target: -inf, NaN or 0?)"],
    fault=(
        "One silent neuron (constant target): R2 is 0/0 or -inf for it and the mean over targets becomes NaN or -inf."
    ),
    right="That target is left out and counted in a warning (1 of 4, column 2); the mean is over the other three.",
)
r = np.random.default_rng(45)
X = r.standard_normal((60, 5))
Y = X[:, :4] + 0.5 * r.standard_normal((60, 4))
Y[:, 2] = 1.5


def finite_mean(call):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        s = call("score", metric="ridge", X=X, Y=Y, alpha=1.0, cv=5)
        t = call("score", metric="ridge", X=X, Y=np.delete(Y, 2, 1), alpha=1.0, cv=5)
    return (
        np.isfinite(s)
        and abs(s - t) < 1e-9
        and any("2" in str(v.message) and any(q in str(v.message).lower() for q in ("constant", "variance")) for v in w)
    )


EXPECT = [E("score", "prop", prop=finite_mean)]
