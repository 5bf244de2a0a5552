import numpy as np

from bank import E, trial

TRIAL = trial(
    id="H2",
    kind="H permutation p-values and calibration",
    source=[
        "github.com/scipy/scipy PR #15869 and issue #7882 (numerical noise splits ties)",
        "github.com/scverse/pertpy PR #1094 (p = 1/K where it must be 1)",
        "github.com/rasbt/mlxtend PR #721",
    ],
    fault=(
        "'More extreme' instead of 'at least as extreme', or exact float comparison: tied permutations are lost "
        "and p is too small."
    ),
    right=(
        "With two groups of three equal rows, exactly 72 of the 720 orders reach the observed score, so full "
        "enumeration gives p = 0.1 exactly."
    ),
)
X = np.array([[0.1], [0.1], [0.1], [0.7], [0.7], [0.7]])
EXPECT = [
    E(
        "test",
        "value",
        args=dict(metric="cka", X=X, Y=X, n_perm="all", seed=0),
        value=72 / 720,
        field="pvalue",
        tol=1e-12,
    )
]
