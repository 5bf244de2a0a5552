import numpy as np

from bank import E, trial

TRIAL = trial(
    id="H8",
    kind="H permutation p-values and calibration",
    source=[
        "github.com/moskomule/anatome issue #6 (similarity or distance? one of them lacked the 1 -)",
        "github.com/vegandevs/vegan issue #410 (one-sided p near 1)",
    ],
    fault="A user metric that is a distance (small = alike) is tested in the upper tail: a perfect match gets p = 1.",
    right=(
        "The direction must be told (or is asked for); with it, p = 1/100 for X = Y. The report says which "
        "direction was used."
    ),
)
X = np.random.default_rng(41).standard_normal((30, 4))


def rms(A, B):
    return float(np.sqrt(((np.asarray(A) - np.asarray(B)) ** 2).mean()))


EXPECT = [
    E(
        "test_fn",
        "value",
        args=dict(fn=rms, X=X, Y=X, n_perm=99, seed=0, larger_is_closer=False),
        field="pvalue",
        value=0.01,
        tol=1e-12,
    )
]
