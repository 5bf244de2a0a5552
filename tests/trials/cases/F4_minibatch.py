import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="F4",
    kind="F CKA / CKNNA estimators",
    source=[
        "github.com/AntixK/PyTorch-Model-Compare issue #4",
        "github.com/ykumards/simtorch PR #52 (divided by layers, not batches: the diagonal is not 1)",
        "github.com/dmarx/cka_pytorch issue #2 (subtracting the diagonal as a vector)",
    ],
    fault="Averaging the CKA of each batch is not minibatch CKA; a last batch of 2 divides by zero.",
    right=(
        "Sum (or average) the unbiased HSIC terms over batches, take the ratio once: value below. A batch of "
        "fewer than 4 is left out with a warning. The self score is 1."
    ),
)
r = np.random.default_rng(31)
X = r.standard_normal((34, 5))
Y = X[:, :3] + r.standard_normal((34, 3))


def hs(K, L):
    return R.hsic_u(K, L)


def mb(X, Y):
    t = np.zeros(3)
    for a in range(0, 32, 8):
        A, B = X[a : a + 8] - X[a : a + 8].mean(0), Y[a : a + 8] - Y[a : a + 8].mean(0)
        K, L = A @ A.T, B @ B.T
        t += [hs(K, L), hs(K, K), hs(L, L)]
    return float(t[0] / np.sqrt(t[1] * t[2]))


BATCHES = [(X[a : a + 8], Y[a : a + 8]) for a in range(0, 34, 8)]  # sizes 8 8 8 8 2
EXPECT = [
    E(
        "minibatch_cka",
        "warns",
        args=dict(batches=BATCHES),
        says=["2", ("batch", "skipp", "left out", "drop")],
        value=mb(X, Y),
        tol=1e-9,
    ),
    E("minibatch_cka", "value", args=dict(batches=[(a, a) for a, _ in BATCHES[:4]]), value=1.0, tol=1e-9),
]
