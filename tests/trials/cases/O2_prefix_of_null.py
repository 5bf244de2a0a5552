import numpy as np

from bank import E, trial

TRIAL = trial(
    id="O2",
    kind="O reproducibility and parallel runs",
    variant_of="O1",
    source=["variant of O1"],
    fault=(
        "Permutations are drawn per chunk: another chunk size, another metric or a longer run changes all of "
        "them, so two metrics are not tested against the same shuffles."
    ),
    right=(
        "Same seed: the null of n_perm = 40 is the beginning of the null of n_perm = 120; and X = Y relabelled "
        "columns give the same permutations (null of (X, Y) equals null of (X, Y with columns reversed))."
    ),
)
r = np.random.default_rng(49)
X, Y = r.standard_normal((30, 5)), r.standard_normal((30, 4))


def check(call):
    def n(K, B):
        return np.asarray(call("test", metric="cka", X=X, Y=B, n_perm=K, seed=5)["null"])

    return np.allclose(n(40, Y), n(120, Y)[:40], rtol=0, atol=1e-12) and np.allclose(
        n(40, Y), n(40, Y[:, ::-1]), rtol=0, atol=1e-9
    )


EXPECT = [E("test", "prop", prop=check)]
