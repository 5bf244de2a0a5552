import reference as R
from bank import E, trial

TRIAL = trial(
    id="K4",
    kind="K sign test",
    variant_of="K1",
    source=["github.com/mayoverse/arsenal issue #326 (one missing value breaks the test)"],
    fault="NaN in a pair: NaN > 0 and NaN < 0 are both False, so it silently becomes a tie (or the count is NaN).",
    right=(
        "Left out with a warning that counts it, apart from the ties: n_pos 3, n_neg 1, n_zero 1, 2 missing; p = 0.625."
    ),
)
D = [0.2, float("nan"), 0.1, -0.3, 0.0, 0.4, float("nan")]
EXPECT = [
    E(
        "sign_test",
        "warns",
        args=dict(diffs=D),
        field="pvalue",
        value=R.sign_p(3, 1),
        tol=1e-12,
        says=["2", ("nan", "missing")],
    ),
    E("sign_test", "value", args=dict(diffs=D), field="n_zero", value=1, tol=0),
]
