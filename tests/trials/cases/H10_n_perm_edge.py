import numpy as np

from bank import E, trial

TRIAL = trial(
    id="H10",
    kind="H permutation p-values and calibration",
    source=["github.com/scipy/scipy PR #4824 (negative permutations accepted, then an error somewhere)"],
    fault="n_perm = 0 gives p = 1/1 or a division by zero; -5, 2.5 or '100' fail deep inside.",
    right="ValueError/TypeError that names n_perm and says a whole number >= 1; n_perm = 1 is allowed with a warning.",
)
r = np.random.default_rng(42)
X, Y = r.standard_normal((20, 3)), r.standard_normal((20, 3))
EXPECT = [
    E("test", "raises", args=dict(metric="cka", X=X, Y=Y, n_perm=b, seed=0), says=[("n_perm", "permutation")])
    for b in (0, -5, 2.5, "100")
]
