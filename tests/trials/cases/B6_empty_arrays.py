import numpy as np

from bank import E, trial

TRIAL = trial(
    id="B6",
    kind="B too few items, k out of range",
    source=["github.com/AntixK/PyTorch-Model-Compare issue #4 (no hook made, so no features came back)"],
    fault=(
        "A wrong layer name collects nothing: the array has 0 rows or 0 columns and a division by zero surfaces "
        "much later."
    ),
    right="ValueError saying 'empty' and giving the shape.",
)
X = np.ones((12, 3))
EXPECT = [
    E(
        "score",
        "raises",
        args=dict(metric="cka", X=X, Y=np.empty((12, 0))),
        says=[("empty", "0 features", "no features"), "Y"],
    ),
    E(
        "score",
        "raises",
        args=dict(metric="cka", X=np.empty((0, 3)), Y=np.empty((0, 3))),
        says=[("empty", "0 items", "no items", "at least")],
    ),
]
