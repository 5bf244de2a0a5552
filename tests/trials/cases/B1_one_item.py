import numpy as np

from bank import E, trial

TRIAL = trial(
    id="B1",
    kind="B too few items, k out of range",
    source=["github.com/yueyang2000/CKA_minibatch_pytorch issue #1 (batch of one errors out)"],
    fault="n = 1: centring gives zeros, everything after is 0/0.",
    right="ValueError that tells the number of items got and the least number needed.",
)
X = np.ones((1, 4))
Y = np.ones((1, 3))
EXPECT = [
    E("score", "raises", args=dict(metric=m, X=X, Y=Y, k=1), says=["1", ("at least", "need", "too few", "minimum")])
    for m in ("cka", "mutual_knn", "rsa", "cca", "procrustes")
]
