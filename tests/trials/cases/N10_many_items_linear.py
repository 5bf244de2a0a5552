import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="N10",
    kind="N files, safety, memory",
    source=[
        "github.com/yuanli2333/CKA-Centered-Kernel-Alignment issue #2 (memory for large matrices)",
        "github.com/Jianbo-Lab/CCM issue #1 (n*n*d array)",
    ],
    fault="60000 items with 8 features: an n x n Gram matrix asks for 28.8 GB, though linear CKA needs only 8 x 8.",
    right="Value below within 2 s and without an n x n array (peak below 500 MB).",
)
r = np.random.default_rng(46)
X = r.standard_normal((60000, 8))
Y = X[:, :4] + r.standard_normal((60000, 4))
EXPECT = [E("score", "value", args=dict(metric="cka", X=X, Y=Y), value=R.cka(X, Y), tol=1e-9)]
