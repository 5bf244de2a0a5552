import numpy as np

from bank import E, trial

TRIAL = trial(
    id="D5",
    kind="D dtypes, overflow, non-finite",
    source=[
        "github.com/JeschkeLab/DeerLab issue #50 (SVD did not converge = NaN in the input)",
        "github.com/numba/numba issue #9383 (isnan is always False under fastmath)",
        "github.com/AntixK/PyTorch-Model-Compare issue #2",
    ],
    fault=(
        "One NaN in one item shows up as 'SVD did not converge', as a NaN score, or (under fast-math) as a finite "
        "wrong score."
    ),
    right=(
        "ValueError naming the array, how many values are non-finite and the first row (Y, 1, row 12), for "
        "float64 and float32 alike."
    ),
)
r = np.random.default_rng(17)
X = r.standard_normal((30, 5))
Y = r.standard_normal((30, 4))
Y[12, 2] = np.nan
EXPECT = [
    E("score", "raises", args=dict(metric=m, X=X.astype(t), Y=Y.astype(t), k=3), says=["Y", "12", ("nan", "finite")])
    for m in ("cka", "mutual_knn", "rsa", "svcca", "procrustes")
    for t in ("float64", "float32")
]
