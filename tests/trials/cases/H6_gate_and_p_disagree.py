from bank import E, trial

TRIAL = trial(
    id="H6",
    kind="H permutation p-values and calibration",
    source=[
        "github.com/mlbio-epfl/Aristotelian calibration.py at 2684a875 (threshold by interpolated np.quantile, p by counting)",
        "own finding",
    ],
    fault=(
        "Threshold from an interpolated quantile, p from counting: for K = 30 the second largest value gets p = "
        "2/31 = 0.065 but a calibrated score above 0."
    ),
    right=(
        "Threshold by order statistic (the ceil((1-alpha)(K+1))-th of the K+1 values), so that calibrated > 0 "
        "exactly when p <= alpha. Here p = 2/31 and calibrated = 0."
    ),
)
null = [i / 100 for i in range(1, 31)]
EXPECT = [
    E("calibrate", "value", args=dict(observed=0.295, null=null, alpha=0.05), field="pvalue", value=2 / 31, tol=1e-12),
    E("calibrate", "value", args=dict(observed=0.295, null=null, alpha=0.05), field="calibrated", value=0.0, tol=1e-12),
    E(
        "calibrate",
        "prop",
        prop=lambda call: all(
            (lambda c: (c["calibrated"] > 0) == (c["pvalue"] <= a + 1e-12))(
                call("calibrate", observed=o, null=[i / 1000 for i in range(1, K + 1)], alpha=a)
            )
            for K in (19, 20, 30, 99, 150)
            for a in (0.01, 0.05, 0.1)
            for o in [j / 1000 + 0.0005 for j in range(K - 25, K + 1) if j > 0]
        ),
    ),
]
