import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="D9",
    kind="D dtypes, overflow, non-finite",
    needs=["torch"],
    source=[
        "github.com/pytorch/pytorch issue #110285 and #90574 (bfloat16 has no numpy type)",
        "github.com/TransformerLensOrg/TransformerLens PR #1346",
        "github.com/pytorch/pytorch issue #122602 (no float64 on MPS)",
    ],
    fault="bfloat16, requires_grad, or a device tensor: .numpy() raises three different TypeErrors.",
    right=(
        "detach -> cpu -> widen (bf16 to float32) on the user's behalf, in that order (an MPS tensor must reach "
        "the CPU BEFORE it becomes float64). Same score as from numpy."
    ),
)
r = np.random.default_rng(20)
X = r.integers(-8, 9, (20, 4)).astype("float32")
Y = r.integers(-8, 9, (20, 3)).astype("float32")  # exact in bfloat16


def torch_ok(call):
    import torch

    want = R.cka(X, Y)
    tx = torch.tensor(X)
    ty = torch.tensor(Y)
    cases = [
        (tx.to(torch.bfloat16), ty.to(torch.bfloat16)),
        (tx.clone().requires_grad_(), ty),
        (tx.t().contiguous().t(), ty[:, :]),
    ]
    return all(abs(call("score", metric="cka", X=a, Y=b) - want) < 1e-6 for a, b in cases)


EXPECT = [E("score", "prop", prop=torch_ok)]
