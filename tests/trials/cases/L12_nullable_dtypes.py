from bank import E, trial

TRIAL = trial(
    id="L12",
    kind="L score tables (CSV)",
    needs=["pandas"],
    source=["github.com/statsmodels/statsmodels issue #8982 and #8794 (Float64 / pd.NA become object)"],
    fault="A DataFrame with Float64 / string[pyarrow] columns: 'Pandas data cast to numpy dtype of object'.",
    right="Same slopes as with plain float64; a pd.NA score counts as missing (see L7).",
)


def check(call):
    import pandas as pd

    rows = [
        {"family": f, "logp": float(i), "score": s}
        for f, i, s in (("a", 1, 0.2), ("a", 2, 0.25), ("a", 3, 0.33), ("b", 1, 0.3), ("b", 2, 0.5), ("b", 3, 0.71))
    ]
    df = pd.DataFrame(rows)
    want = call("interaction", rows=rows, score="score", family="family", x="logp")["slopes"]
    got = call(
        "interaction",
        rows=df.convert_dtypes().astype({"score": "Float64", "logp": "Float64"}),
        score="score",
        family="family",
        x="logp",
    )["slopes"]
    return set(got) == set(want) and all(abs(got[k] - want[k]) < 1e-9 for k in want)


EXPECT = [E("interaction", "prop", prop=check)]
