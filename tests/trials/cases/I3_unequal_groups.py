import numpy as np

from bank import E, trial

TRIAL = trial(
    id="I3",
    kind="I exchangeability: time, groups, blocks, folds",
    variant_of="I2",
    source=["github.com/gavinsimpson/permute issue #24 and #27 (design must be balanced)"],
    fault=(
        "Groups of sizes 3, 3, 4, 5, 5 cannot simply change places; code that permutes labels re-pairs rows "
        "across sizes, or refuses with 'must be balanced'."
    ),
    right=(
        "Only groups of equal size change places: 2! * 1! * 2! = 4 distinct arrangements, so min_pvalue = 1/4, "
        "and a warning says that 0.05 is out of reach."
    ),
)
r = np.random.default_rng(43)
G = np.repeat(list("abcde"), [3, 3, 4, 5, 5])
X, Y = r.standard_normal((20, 4)), r.standard_normal((20, 4))
EXPECT = [
    E(
        "test",
        "warns",
        args=dict(metric="cka", X=X, Y=Y, n_perm=99, seed=0, scheme="whole-groups", groups=G),
        says=[("group", "arrangement", "permutation"), "4"],
        field="min_pvalue",
        value=0.25,
        tol=1e-12,
    )
]
