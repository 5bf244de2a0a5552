import warnings

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="I1",
    kind="I exchangeability: time, groups, blocks, folds",
    source=[
        "biorxiv.org/content/10.1101/2020.11.29.402719 (up to 100 % false positives)",
        "elifesciences.org/reviewed-preprints/103703",
    ],
    fault="Two unrelated slow series (video frames, fMRI): free row permutation rejects in 40 of 40 runs at 0.05.",
    right=(
        "With scheme='free' a warning that rows are autocorrelated in their order (lag-1 0.9); with "
        "'circular-shift' the rate over 40 runs stays at or below 0.25, and the text says that shifting does not "
        "mend trends."
    ),
)


def ar(n, d, phi, r):
    e = r.standard_normal((n, d))
    x = np.empty_like(e)
    x[0] = e[0] / np.sqrt(1 - phi**2)
    for t in range(1, n):
        x[t] = phi * x[t - 1] + e[t]
    return x


PAIRS = []
for s in range(40):
    r = np.random.default_rng(s)
    PAIRS.append((ar(300, 3, 0.9, r), ar(300, 3, 0.9, r)))


def rate(call, scheme):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.mean(
            [call("test", metric="cka", X=a, Y=b, n_perm=99, seed=0, scheme=scheme)["pvalue"] <= 0.05 for a, b in PAIRS]
        )


EXPECT = [
    E(
        "test",
        "warns",
        args=dict(metric="cka", X=PAIRS[0][0], Y=PAIRS[0][1], n_perm=19, seed=0, scheme="free"),
        says=[("autocorrel", "serial", "time", "order")],
    ),
    E("test", "prop", prop=lambda call: rate(call, "circular-shift") <= 0.25),
]
