import warnings

from bank import E, trial

TRIAL = trial(
    id="K2",
    kind="K sign test",
    source=[
        "github.com/statsmodels/statsmodels PR #10012 (opaque 'n must be an integer not less than 1')",
        "github.com/scipy/scipy issue #6805 (p = 0.043 for equal series)",
    ],
    fault="All differences are 0: an opaque error from a binomial routine, NaN, or even p = 0.043.",
    right="Error saying that all pairs are tied; or p = 1.0 with that as a warning. Empty input: error.",
)


def ok(call):
    for d in ([0.0] * 5, []):
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            try:
                p = call("sign_test", diffs=d)["pvalue"]
            except ValueError as e:
                if not any(t in str(e).lower() for t in ("tie", "zero", "empty", "no pairs")):
                    return False
            else:
                if not (d and p == 1.0 and len(w)):
                    return False
    return True


EXPECT = [E("sign_test", "prop", prop=ok)]
