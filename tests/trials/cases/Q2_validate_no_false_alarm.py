import numpy as np

from bank import E, trial

TRIAL = trial(
    id="Q2",
    kind="Q validation of user metrics, pytest plugin",
    source=[
        "github.com/Jebel-Quant/jquantstats issue #836 (denormal counterexample)",
        "github.com/HypothesisWorks/hypothesis issue #3155 and #3153",
    ],
    fault=(
        "A correct metric is 'refuted' by an array of 1e-30 and subnormals, where float underflow, not the "
        "metric, breaks the law."
    ),
    right=(
        "All claims of this plain float64 CKA hold (inputs are drawn within a stated range; a difference counts "
        "only above a stated relative tolerance)."
    ),
)


def plain_cka(A, B):
    A = np.asarray(A, float) - np.mean(A, 0)
    B = np.asarray(B, float) - np.mean(B, 0)
    d = np.linalg.norm(A.T @ A) * np.linalg.norm(B.T @ B)
    return float(np.linalg.norm(A.T @ B) ** 2 / d) if d > 0 else float("nan")


EXPECT = [
    E(
        "validate",
        "prop",
        prop=lambda call: all(
            v == "holds"
            for v in call(
                "validate", fn=plain_cka, claims=["scale", "rotation", "shift", "symmetry", "item_order"]
            ).values()
        ),
    )
]
