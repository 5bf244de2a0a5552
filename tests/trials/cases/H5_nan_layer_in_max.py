import warnings

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="H5",
    kind="H permutation p-values and calibration",
    variant_of="H4",
    source=["github.com/OHBA-analysis/osl-dynamics issue #302 (np.max of a null with NaN)", "variant of H4"],
    fault="One dead layer (all zeros) makes the maximum over layers NaN in the data and in every permutation.",
    right=(
        "The dead layer is skipped and listed (skipped = Y layer 1); best pair (0, 0) and p = 1/100 from the others."
    ),
)
r = np.random.default_rng(40)
A = r.standard_normal((50, 6))
Xs = [A, r.standard_normal((50, 6))]
Ys = [A + 0.1 * r.standard_normal((50, 6)), np.zeros((50, 4))]


def ok(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t = call("test_layers", metric="cka", Xs=Xs, Ys=Ys, n_perm=99, seed=0)
    return tuple(t["best"]) == (0, 0) and abs(t["pvalue"] - 0.01) < 1e-12 and "1" in str(t["skipped"])


EXPECT = [E("test_layers", "prop", prop=ok)]
