from bank import E, trial

TRIAL = trial(
    id="L10",
    kind="L score tables (CSV)",
    source=[
        "github.com/py-econometrics/pyfixest issue #960",
        "github.com/statsmodels/statsmodels issue #5554 and #5187 (exog contains inf or nans)",
    ],
    fault=(
        "A baseline has 0 parameters; log10 gives -inf, and the model answers with NaN everywhere or 'exog "
        "contains inf'."
    ),
    right="Error naming the column and the row (params, row 3, value 0) BEFORE fitting; no silent drop.",
)
ROWS = [
    {"family": f, "params": p, "score": s}
    for f, p, s in (
        ("a", 10, 0.1),
        ("a", 100, 0.2),
        ("a", 0, 0.05),
        ("a", 1000, 0.3),
        ("b", 10, 0.1),
        ("b", 100, 0.3),
        ("b", 1000, 0.5),
    )
]
EXPECT = [
    E(
        "interaction",
        "raises",
        args=dict(rows=ROWS, score="score", family="family", x="params", log_x=True),
        says=["params", ("3", "row", "index 2"), ("0", "zero", "positive")],
    )
]
