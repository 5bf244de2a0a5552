import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="B5",
    kind="B too few items, k out of range",
    variant_of="B2",
    source=[
        "github.com/gavinsimpson/permute PR #11 (enumerate when few permutations exist)",
        "github.com/0todd0000/spm1dmatlab issue #187 (alpha below the least possible p)",
        "github.com/bertis-informatics/msmu PR #4",
    ],
    fault="With 3 items only 3! = 6 orders exist; drawing 999 at random pretends to a resolution that is not there.",
    right=(
        "Least possible p is 1/6; the result says so (min_pvalue) and warns that alpha = 0.05 cannot be reached. "
        "Exact p for these data is given."
    ),
)
X = np.array([[0.0, 1.0], [2.0, 0.5], [5.0, -1.0]])
Y = np.array([[0.1, 0.9], [1.8, 0.7], [5.5, -1.2]])
EXPECT = [
    E(
        "test",
        "warns",
        args=dict(metric="cka", X=X, Y=Y, n_perm=999, seed=0),
        says=[("permutation", "distinct", "items"), "6"],
        value=R.exact_p(R.cka, X, Y),
        field="pvalue",
        tol=1e-9,
    ),
    E(
        "test",
        "value",
        args=dict(metric="cka", X=X, Y=Y, n_perm=999, seed=0),
        value=1 / 6,
        field="min_pvalue",
        tol=1e-9,
    ),
]
