from bank import E, trial

TRIAL = trial(
    id="M6",
    kind="M interaction model",
    source=[
        "github.com/statsmodels/statsmodels issue #1220 and #9384 (lengths differ after rows were dropped)",
        "github.com/DeclareDesign/estimatr issue #16",
    ],
    fault=(
        "A score is missing in one row and a cluster label in another: the model drops rows, the labels do not, "
        "'weights and list don't have the same length'."
    ),
    right="Both rows leave together (listwise over all columns in use), `dropped` = 2, warning with the count.",
)
ROWS = [
    {"family": f, "logp": float(i), "score": s, "lab": l}
    for f, i, s, l in (
        ("a", 1, 0.20, "u"),
        ("a", 2, 0.26, "v"),
        ("a", 3, float("nan"), "w"),
        ("a", 4, 0.37, "x"),
        ("b", 1, 0.22, "y"),
        ("b", 2, 0.41, None),
        ("b", 3, 0.55, "z"),
        ("b", 4, 0.77, "q"),
        ("a", 5, 0.40, "r"),
        ("b", 5, 0.9, "s"),
    )
]
EXPECT = [
    E(
        "interaction",
        "warns",
        args=dict(rows=ROWS, score="score", family="family", x="logp", cluster="lab"),
        says=["2"],
        field="dropped",
        value=2,
        tol=0,
    )
]
