from bank import E, trial

TRIAL = trial(
    id="K1",
    kind="K sign test",
    source=[
        "github.com/mayoverse/arsenal issue #326 (the N that was used must be shown)",
        "github.com/scipy/scipy issue #26082",
    ],
    fault="Ties (differences of 0) counted as losses, or kept in n; the reader cannot see how many pairs were used.",
    right="Zeros leave: 7 up, 1 down, 4 ties -> two-sided p = 18/256 = 0.0703125; n_zero = 4 in the result.",
)
D = [0.1, 0.2, 0.05, 0.3, 0.15, 0.02, 0.4, -0.1, 0, 0, 0, 0]
EXPECT = [
    E("sign_test", "value", args=dict(diffs=D), field=f, value=v, tol=1e-12)
    for f, v in (("pvalue", 18 / 256), ("n_pos", 7), ("n_neg", 1), ("n_zero", 4))
]
