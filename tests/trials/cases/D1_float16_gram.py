import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="D1",
    kind="D dtypes, overflow, non-finite",
    source=[
        "github.com/NVIDIA/apex issue #402 (Gram matrix is NaN in fp16)",
        "github.com/Blaizzy/mlx-vlm PR #293 (activations pass 65504)",
        "github.com/microsoft/onnxruntime PR #29043 (sum of squares overflows)",
    ],
    fault=(
        "fp16 activations of size 300 with 256 features: the inner product passes 65504 and the Gram matrix is "
        "inf, the score NaN."
    ),
    right=(
        "Half precision is widened before any product: equals the float64 result on the same stored numbers to 1e-6."
    ),
)
r = np.random.default_rng(13)
X = (300 * r.standard_normal((40, 256))).astype("float16")
Y = (X[:, :64].astype("float32") + 200 * r.standard_normal((40, 64))).astype("float16")
EXPECT = [
    E("score", "value", args=dict(metric=m, X=X, Y=Y, **o), value=v, tol=1e-6)
    for m, o, v in (
        ("cka", {}, R.cka(X, Y)),
        ("cka", {"debiased": True}, R.cka_debiased(X, Y)),
        ("mutual_knn", {"k": 5, "dist": "euclidean"}, R.mutual_knn(X, Y, 5, "euclidean")),
        ("procrustes", {}, R.procrustes(X, Y)),
    )
]
