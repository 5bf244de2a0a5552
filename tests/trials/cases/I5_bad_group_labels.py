import numpy as np

from bank import E, trial

TRIAL = trial(
    id="I5",
    kind="I exchangeability: time, groups, blocks, folds",
    source=[
        "github.com/vegandevs/vegan issue #384 (a column name in quotes is taken as the labels)",
        "github.com/pmartinezarbizu/pairwiseAdonis issue #46",
    ],
    fault="Labels of the wrong length, a string instead of an array, NaN labels, all labels equal, all different.",
    right=(
        "Wrong length / string: ValueError with both lengths. NaN label: ValueError. One group with "
        "within-groups: same as free. One group with whole-groups: ValueError (nothing to permute). All different "
        "with within-groups: ValueError (nothing to permute)."
    ),
)
r = np.random.default_rng(44)
X, Y = r.standard_normal((12, 3)), r.standard_normal((12, 3))
g = [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]


def a(groups, scheme):
    return dict(metric="cka", X=X, Y=Y, n_perm=19, seed=0, groups=groups, scheme=scheme)


EXPECT = [
    E("test", "raises", args=a(g[:11], "within-groups"), says=["group", "11", "12"]),
    E("test", "raises", args=a("subject", "within-groups"), says=["group"]),
    E("test", "raises", args=a([float("nan"), *g[1:]], "within-groups"), says=["group", ("nan", "missing")]),
    E("test", "raises", args=a([1] * 12, "whole-groups"), says=["group"]),
    E("test", "raises", args=a(list(range(12)), "within-groups"), says=["group"]),
]
