import numpy as np

from bank import E, trial

TRIAL = trial(
    id="G6",
    kind="G CCA family",
    source=[
        "github.com/minyoungg/platonic-rep metrics.py (random low-rank SVD plus unseeded 1e-10 noise)",
        "github.com/jameschapman19/cca_zoo issue #129 (U differs from V for equal inputs)",
    ],
    fault="A randomised SVD and unseeded jitter make two calls on the same arrays differ.",
    right="Two calls give bit-equal results; no randomness without a seed argument.",
)
r = np.random.default_rng(36)
X = r.standard_normal((80, 30))
Y = X[:, :20] + r.standard_normal((80, 20))
EXPECT = [
    E("score", "prop", prop=lambda call, m=m: len({call("score", metric=m, X=X, Y=Y) for _ in range(3)}) == 1)
    for m in ("svcca", "cca", "pwcca")
]
