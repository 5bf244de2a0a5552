import numpy as np

from bank import E, trial

TRIAL = trial(
    id="H4",
    kind="H permutation p-values and calibration",
    source=[
        "github.com/immunogenomics/cna issue #22 (overly confident p from NaN comparisons)",
        "github.com/sritchie73/NetRep issue #14",
        "github.com/mlbio-epfl/Aristotelian calibration.py (NaN >= raw is False)",
    ],
    fault=(
        "A user metric is NaN for some permutations; NaN >= observed is False, so they count as 'not reached' and "
        "p = 1/(K+1)."
    ),
    right="Raise, or p = NaN with a warning that tells how many null values were NaN. Never a small p.",
)
r = np.random.default_rng(39)
X, Y = r.standard_normal((20, 3)), r.standard_normal((20, 3))


def moody(A, B):  # NaN for all but the original order
    return 0.01 if np.array_equal(np.asarray(B)[:3], Y[:3]) else float("nan")


def not_small(call):
    try:
        t = call("test_fn", fn=moody, X=X, Y=Y, n_perm=99, seed=0)
    except (ValueError, TypeError, ArithmeticError) as e:
        return "nan" in str(e).lower() or "finite" in str(e).lower()
    return not (t["pvalue"] <= 0.05)


EXPECT = [E("test_fn", "prop", prop=not_small)]
