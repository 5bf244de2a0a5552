import os
import tempfile

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="E9",
    kind="E shape and pairing",
    source=[
        "github.com/joblib/joblib issue #1627 (array is not writeable)",
        "github.com/numpy/numpy issue #23349 and github.com/pytorch/pytorch issue #92680 (negative strides)",
        "github.com/joblib/joblib issue #116 (slices of a memmap give garbage)",
    ],
    fault=(
        "Fortran order, negative strides, every-other-row views, read-only memory maps: typed kernels refuse, "
        "read garbage, or write into the input."
    ),
    right="The same score as for a fresh C-ordered copy, to 1e-12.",
)
r = np.random.default_rng(28)
X = r.standard_normal((40, 6))
Y = X[:, :4] + 0.5 * r.standard_normal((40, 4))
big = np.zeros((80, 12))
big[::2, ::2] = X


def layouts_agree(metric):
    def check(call):
        want = call("score", metric=metric, X=X.copy(), Y=Y.copy(), k=5)
        locked = X.copy()
        locked.flags.writeable = False
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.npy")
            np.save(path, np.asfortranarray(X))
            mapped = np.load(path, mmap_mode="r")
            views = (np.asfortranarray(X), X[::-1][::-1], big[::2, ::2], locked, mapped)
            same = all(abs(call("score", metric=metric, X=view, Y=Y, k=5) - want) < 1e-12 for view in views)
            del mapped, views
        return same

    return check


EXPECT = [E("score", "prop", prop=layouts_agree(m)) for m in ("cka", "mutual_knn", "rsa", "svcca", "procrustes")]
