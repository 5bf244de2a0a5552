import numpy as np

from bank import E, trial

TRIAL = trial(
    id="I2",
    kind="I exchangeability: time, groups, blocks, folds",
    source=[
        "github.com/LAION-AI/CLIP_benchmark issue #7 (several captions per image)",
        "github.com/sarahESL/AlignCLIP issue #3",
        "github.com/neurodata/hyppo PR #242 (block permutations)",
    ],
    fault=(
        "40 images with 5 captions each, unrelated at image level: free permutation of the 200 rows breaks the "
        "clusters and rejects in 30 of 30 runs."
    ),
    right=(
        "scheme='whole-groups' moves all rows of an image together: rate over 30 runs <= 0.2. With scheme='free' "
        "a warning: only 40 different rows among 200 in X."
    ),
)
RUNS = []
for s in range(30):
    r = np.random.default_rng(s)
    RUNS.append(
        (
            np.repeat(r.standard_normal((40, 8)), 5, 0),
            np.repeat(r.standard_normal((40, 8)), 5, 0) + 0.5 * r.standard_normal((200, 8)),
        )
    )
G = np.repeat([f"img{i}" for i in range(40)], 5)


def rate(call):
    return np.mean(
        [
            call("test", metric="cka", X=a, Y=b, n_perm=99, seed=0, scheme="whole-groups", groups=G)["pvalue"] <= 0.05
            for a, b in RUNS
        ]
    )


EXPECT = [
    E("test", "prop", prop=lambda call: rate(call) <= 0.2),
    E(
        "test",
        "warns",
        args=dict(metric="cka", X=RUNS[0][0], Y=RUNS[0][1], n_perm=19, seed=0, scheme="free"),
        says=[("duplicate", "repeat", "distinct", "unique"), "40"],
    ),
]
