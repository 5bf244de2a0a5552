import numpy as np

from bank import E, trial

TRIAL = trial(
    id="O3",
    kind="O reproducibility and parallel runs",
    source=[
        "github.com/numpy/numpy issue #17079 and PR #4676 (1 and 1 + 2**40 gave one stream)",
        "github.com/pytest-dev/pytest-randomly PR #275",
    ],
    fault="Seeds above 2**32 - 1 are refused or cut to 32 bits; numpy integers are refused.",
    right=(
        "0, 1, 2**32, 1 + 2**32, 2**63 and np.int64(7) work; 1 and 1 + 2**32 give different nulls; 7 and "
        "np.int64(7) the same; -1, 1.5 and 'x' are refused naming seed."
    ),
)
r = np.random.default_rng(50)
X, Y = r.standard_normal((25, 4)), r.standard_normal((25, 3))


def check(call):
    n = {
        s: tuple(call("test", metric="cka", X=X, Y=Y, n_perm=19, seed=s)["null"])
        for s in (0, 1, 2**32, 1 + 2**32, 2**63, 7)
    }
    return (
        len(set(n.values())) == 6
        and tuple(call("test", metric="cka", X=X, Y=Y, n_perm=19, seed=np.int64(7))["null"]) == n[7]
    )


EXPECT = [E("test", "prop", prop=check)] + [
    E("test", "raises", args=dict(metric="cka", X=X, Y=Y, n_perm=19, seed=s), says=["seed"]) for s in (-1, 1.5, "x")
]
