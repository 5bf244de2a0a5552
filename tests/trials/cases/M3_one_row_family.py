import warnings

from bank import E, trial

TRIAL = trial(
    id="M3",
    kind="M interaction model",
    source=[
        "github.com/DeclareDesign/estimatr issue #395 (leverage 1 gives NaN under HC2/HC3)",
        "github.com/FixedEffects/FixedEffectModels.jl issue #47 (singletons)",
    ],
    fault="A family with one model has leverage 1: HC3 divides by 0 and every robust error is NaN or inf.",
    right=(
        "Warn that family 'c' has one row and cannot carry a slope; the slopes of a and b and the p-value equal "
        "those without that row."
    ),
)
ROWS = [
    {"family": f, "logp": float(i), "score": s}
    for f, i, s in (
        ("a", 1, 0.20),
        ("a", 2, 0.26),
        ("a", 3, 0.29),
        ("a", 4, 0.37),
        ("b", 1, 0.22),
        ("b", 2, 0.41),
        ("b", 3, 0.55),
        ("b", 4, 0.77),
        ("c", 2, 0.9),
    )
]


def check(call):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        t = call("interaction", rows=ROWS, score="score", family="family", x="logp")
        u = call("interaction", rows=ROWS[:-1], score="score", family="family", x="logp")
    return (
        all(abs(t["slopes"][k] - u["slopes"][k]) < 1e-9 for k in "ab")
        and abs(t["pvalue"] - u["pvalue"]) < 1e-9
        and any("c" in str(v.message) for v in w)
    )


EXPECT = [E("interaction", "prop", prop=check)]
