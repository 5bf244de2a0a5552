import time

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="Q5",
    kind="Q validation of user metrics, pytest plugin",
    source=[
        "github.com/landlab/landlab issue #1401",
        "github.com/python-trio/flake8-async issue #172",
        "github.com/sgkit-dev/sgkit issue #336",
        "github.com/HypothesisWorks/hypothesis issue #2684",
    ],
    fault="The first call compiles (0.4 s): 'exceeded the deadline of 200 ms', then 'unreliable test timings'.",
    right="Holds; no deadline of any kind by default, no too-slow health check, also on a loaded CI machine.",
)
_first = [True]


def warm(A, B):
    if _first[0]:
        time.sleep(0.4)
        _first[0] = False
    A = np.asarray(A, float) - np.mean(A, 0)
    B = np.asarray(B, float) - np.mean(B, 0)
    return float(np.linalg.norm(A.T @ B) ** 2 / (np.linalg.norm(A.T @ A) * np.linalg.norm(B.T @ B)))


EXPECT = [E("validate", "prop", prop=lambda call: call("validate", fn=warm, claims=["scale"])["scale"] == "holds")]
