from bank import E, trial

TRIAL = trial(
    id="P1",
    kind="P numba, environment, output",
    auto=False,
    source=["github.com/numba/numba issue #5566, #4032 and #4908", "github.com/dottxt-ai/outlines issue #983"],
    fault=(
        "cache=True with a read-only site-packages and no writable home: 'cannot cache function: no locator "
        "available' at import."
    ),
    right=(
        "Import and a first call work in a process that can write neither to the installed package nor to a home "
        "folder; at most one warning about the cache."
    ),
)
EXPECT = [E("script", "script")]
