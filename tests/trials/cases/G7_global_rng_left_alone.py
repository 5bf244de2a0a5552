import random

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="G7",
    kind="G CCA family",
    variant_of="G6",
    source=[
        "github.com/GuyTeichman/RNAlysis PR #218 (random_seed does nothing in jitted code)",
        "github.com/HypothesisWorks/hypothesis PR #2129 (tests that pollute the global generator)",
    ],
    fault="The library seeds or consumes numpy's global generator, or its result depends on it.",
    right=(
        "np.random and random states are the same before and after; results do not change when the user seeds the "
        "global generators differently."
    ),
)
r = np.random.default_rng(37)
X, Y = r.standard_normal((30, 5)), r.standard_normal((30, 4))


def leaves_alone(run):
    def check(call):
        found = []
        for seed in (0, 12345):
            np.random.seed(seed)
            random.seed(seed)
            before = np.random.get_state()[1].tobytes(), random.getstate()
            found.append(run(call))
            if (np.random.get_state()[1].tobytes(), random.getstate()) != before:
                return False
        return found[0] == found[1]

    return check


EXPECT = [
    E(
        "test",
        "prop",
        prop=leaves_alone(lambda call: tuple(call("test", metric="cka", X=X, Y=Y, n_perm=19, seed=7)["null"])),
    ),
    E("score", "prop", prop=leaves_alone(lambda call: call("score", metric="svcca", X=X, Y=Y))),
]
