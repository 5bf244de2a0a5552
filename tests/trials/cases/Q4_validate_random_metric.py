import numpy as np

from bank import E, trial

TRIAL = trial(
    id="Q4",
    kind="Q validation of user metrics, pytest plugin",
    variant_of="Q2",
    source=[
        "github.com/arviz-devs/arviz-plots issue #50",
        "github.com/HypothesisWorks/hypothesis issue #892 (Flaky as the only message)",
    ],
    fault="A metric with unseeded randomness: the failure does not repeat and the user gets a long 'Flaky' traceback.",
    right=(
        "Reported as 'undefined' (or an error) with the words 'not deterministic' / 'random', found by calling it "
        "twice on the same input first."
    ),
)
_rng = np.random.default_rng()


def noisy(A, B):
    return float(_rng.random())


def check(call):
    try:
        return call("validate", fn=noisy, claims=["scale"])["scale"] == "undefined"
    except Exception as e:
        return any(w in str(e).lower() for w in ("determin", "random")) and "Flaky" not in type(e).__name__


EXPECT = [E("validate", "prop", prop=check)]
