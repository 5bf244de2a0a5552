import warnings

from bank import E, trial

TRIAL = trial(
    id="M4",
    kind="M interaction model",
    variant_of="M3",
    source=["github.com/statsmodels/statsmodels issue #2136 (cluster covariance loses rank)"],
    fault=(
        "Cluster-robust errors with 2 clusters: the covariance has rank 1 at most, standard errors near 0 and p near 0."
    ),
    right="Refuse or warn: 2 clusters are too few (name the number). No p below 1e-6 without that.",
)
ROWS = [
    {"family": f, "logp": float(i), "score": s, "lab": l}
    for f, i, s, l in (
        ("a", 1, 0.20, "u"),
        ("a", 2, 0.26, "v"),
        ("a", 3, 0.29, "u"),
        ("a", 4, 0.37, "v"),
        ("b", 1, 0.22, "u"),
        ("b", 2, 0.41, "v"),
        ("b", 3, 0.55, "u"),
        ("b", 4, 0.77, "v"),
    )
]


def check(call):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        try:
            call("interaction", rows=ROWS, score="score", family="family", x="logp", cluster="lab")
        except ValueError as e:
            return "cluster" in str(e).lower() and "2" in str(e)
    return any("cluster" in str(v.message).lower() and "2" in str(v.message) for v in w)


EXPECT = [E("interaction", "prop", prop=check)]
