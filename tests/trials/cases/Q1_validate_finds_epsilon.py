import numpy as np

from bank import E, trial

TRIAL = trial(
    id="Q1",
    kind="Q validation of user metrics, pytest plugin",
    source=["github.com/minyoungg/platonic-rep metrics.py (+ 1e-6)", "github.com/moskomule/anatome issue #6"],
    fault=(
        "A user metric claims scale invariance but adds 1e-6 to its denominator: true at scale 1, false at 1e-3. "
        "A check at scales 0.5 to 2 passes it."
    ),
    right=(
        "'scale' is violated, with a counterexample that is small and printable (factor, shapes, both values); "
        "'rotation' and 'shift' hold."
    ),
)


def eps_cka(A, B):
    A = np.asarray(A, float) - np.mean(A, 0)
    B = np.asarray(B, float) - np.mean(B, 0)
    return float(np.linalg.norm(A.T @ B) ** 2 / (np.linalg.norm(A.T @ A) * np.linalg.norm(B.T @ B) + 1e-6))


EXPECT = [
    E(
        "validate",
        "prop",
        prop=lambda call: (lambda v: v["scale"] == "violated" and v["rotation"] == "holds" and v["shift"] == "holds")(
            call("validate", fn=eps_cka, claims=["scale", "rotation", "shift"])
        ),
    )
]
