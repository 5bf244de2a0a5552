import numpy as np

from bank import E, trial

TRIAL = trial(
    id="G1",
    kind="G CCA family",
    source=[
        "github.com/sandialabs/slycat issue #503 (always perfect correlations, uninformative)",
        "github.com/jameschapman19/cca_zoo issue #129",
    ],
    fault="20 items, 40 features on both sides: every canonical correlation is 1 for unrelated data.",
    right=(
        "Warn (or refuse) that items do not outnumber features, so CCA is 1 by construction; when tested, p = 1.0 "
        "exactly (all permutations tie)."
    ),
)
X = np.random.default_rng(0).standard_normal((20, 40))
Y = np.random.default_rng(1).standard_normal((20, 40))
EXPECT = [
    E("score", "warns", args=dict(metric="cca", X=X, Y=Y), says=[("features", "items", "rank")], value=1.0, tol=1e-9),
    E("test", "value", args=dict(metric="cca", X=X, Y=Y, n_perm=49, seed=0), value=1.0, field="pvalue", tol=1e-12),
]
