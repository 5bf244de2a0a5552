import numpy as np

from bank import E, trial

TRIAL = trial(
    id="A1",
    kind="A constant / zero-variance input",
    source=[
        "github.com/numpee/CKA.pytorch issue #2 (NaN matrix, cause never told)",
        "github.com/Xmaster6y/tdhook PR #48 (chooses to return nan on degenerate inputs)",
    ],
    fault="One model gives the same vector for every item; the normaliser is 0/0 and a bare NaN (or 0) comes back.",
    right=(
        "The score is undefined. Raise (or NaN plus a warning) that names which argument is constant; never 0.0, "
        "never a silent NaN."
    ),
)
X = np.random.default_rng(0).standard_normal((30, 4))
Y = np.full((30, 3), 0.25)
EXPECT = [
    E(
        "score",
        "raises_or_nan",
        args=dict(metric="cka", X=X, Y=Y),
        says=["Y", ("constant", "zero variance", "no variance", "identical rows")],
    ),
    E(
        "score",
        "raises_or_nan",
        args=dict(metric="cca", X=Y, Y=X),
        says=["X", ("constant", "zero variance", "no variance", "identical rows")],
    ),
    E(
        "score",
        "raises_or_nan",
        args=dict(metric="procrustes", X=X, Y=Y),
        says=["Y", ("constant", "zero variance", "no variance", "identical rows")],
    ),
]
