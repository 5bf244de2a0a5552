import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="J1",
    kind="J many layers, many tests",
    source=[
        "arxiv.org/abs/2602.14486 (depth confounds the maximum over layers)",
        "github.com/mne-tools/mne-python issue #4959 and github.com/PyMVPA/PyMVPA issue #178 (maximum statistic)",
    ],
    fault=(
        "12 x 12 unrelated layers: the best pair (0, 9) has p = 0.005 against its own null; the choice of the "
        "best is not accounted for."
    ),
    right=(
        "p of the maximum, with ONE permutation applied to all layers of a model at a time: about 0.55; certainly "
        "above 0.2. best = (0, 9), score 0.1573."
    ),
)
r = np.random.default_rng(3)
Xs = [r.standard_normal((60, 6)) for _ in range(12)]
Ys = [r.standard_normal((60, 6)) for _ in range(12)]


def honest(call):
    t = call("test_layers", metric="cka", Xs=Xs, Ys=Ys, n_perm=99, seed=0)
    return tuple(t["best"]) == (0, 9) and abs(t["score"] - R.cka(Xs[0], Ys[9])) < 1e-9 and t["pvalue"] > 0.2


EXPECT = [E("test_layers", "prop", prop=honest)]
