import os
import tempfile

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="Q10",
    kind="Q validation of user metrics, pytest plugin",
    source=["github.com/numpy/numpy PR #16879 (Hypothesis folders in the working directory)"],
    fault=(
        "Calling validate() from a script leaves a .hypothesis folder in the user's directory, and fails where it "
        "cannot be written; stored examples make later runs differ."
    ),
    right=(
        "No new file in the working directory; works in a read-only one; two runs give the same verdict and the "
        "same counterexample."
    ),
)


def eps_cka(A, B):
    A = np.asarray(A, float) - np.mean(A, 0)
    B = np.asarray(B, float) - np.mean(B, 0)
    return float(np.linalg.norm(A.T @ B) ** 2 / (np.linalg.norm(A.T @ A) * np.linalg.norm(B.T @ B) + 1e-6))


def check(call):
    old = os.getcwd()
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        try:
            a = call("validate", fn=eps_cka, claims=["scale"])
            b = call("validate", fn=eps_cka, claims=["scale"])
            left = os.listdir(d)
        finally:
            os.chdir(old)
    return left == [] and a["scale"] == b["scale"] == "violated"


EXPECT = [E("validate", "prop", prop=check)]
