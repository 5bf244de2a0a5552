import numpy as np

from bank import E, trial

TRIAL = trial(
    id="I6",
    kind="I exchangeability: time, groups, blocks, folds",
    source=[
        "api.deepai.org/publication/assessing-and-tuning-brain-decoders-cross-validation-caveats-and-guidelines",
        "github.com/jsj88/neuro-hub notebook 04 (leave-one-run-out)",
    ],
    fault=(
        "Each stimulus shown 5 times: shuffled folds put copies of a test row in training, and ridge predicts "
        "RANDOM targets with R2 = 0.71."
    ),
    right=(
        "With the stimulus labels as groups no stimulus is split: R2 is negative (below 0). Without labels: a "
        "warning that test rows also occur in training."
    ),
)
r = np.random.default_rng(0)
X = np.repeat(r.standard_normal((40, 30)), 5, 0)
Y = np.repeat(r.standard_normal((40, 3)), 5, 0)
G = np.repeat(np.arange(40), 5)
p = r.permutation(200)
X, Y, G = X[p], Y[p], G[p]  # presentation order: copies are far apart
EXPECT = [
    E("score", "prop", prop=lambda call: call("score", metric="ridge", X=X, Y=Y, alpha=1.0, cv=5, groups=G) < 0),
    E(
        "score",
        "warns",
        args=dict(metric="ridge", X=X, Y=Y, alpha=1.0, cv=5),
        says=[("duplicate", "repeat", "identical", "both in training")],
    ),
]
