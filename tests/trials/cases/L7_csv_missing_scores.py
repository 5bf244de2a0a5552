from bank import E, trial

TRIAL = trial(
    id="L7",
    kind="L score tables (CSV)",
    variant_of="L6",
    source=[
        "github.com/bambinos/bambi PR #65 (rows dropped silently)",
        "github.com/pydata/patsy issue #144",
        "github.com/statsmodels/statsmodels issue #805",
    ],
    fault=(
        "Empty score cells: the formula layer drops the rows and nobody is told; n in the report is the n of the file."
    ),
    right="2 of 8 rows dropped: said in a warning, and `dropped` = 2 in the result; slopes from the 6 others.",
)
ROWS = [
    {"family": f, "logp": float(i), "score": s}
    for f, i, s in (
        ("a", 1, 0.2),
        ("a", 2, 0.25),
        ("a", 3, 0.3),
        ("a", 4, float("nan")),
        ("b", 1, 0.3),
        ("b", 2, 0.5),
        ("b", 3, 0.71),
        ("b", 4, float("nan")),
    )
]
EXPECT = [
    E(
        "interaction",
        "warns",
        args=dict(rows=ROWS, score="score", family="family", x="logp"),
        says=["2", ("drop", "missing", "left out")],
        field="dropped",
        value=2,
        tol=0,
    )
]
