from bank import E, trial

TRIAL = trial(
    id="P5",
    kind="P numba, environment, output",
    auto=False,
    source=[
        "github.com/camUrban/PteraSoftware PR #287 (the child dies at its first kernel)",
        "github.com/numba/numba issue #7872 and #5983 (hang)",
    ],
    fault=(
        "A test in the parent starts OpenMP threads; a forked child (DataLoader, multiprocessing) then aborts or "
        "hangs at its first parallel kernel."
    ),
    right=(
        "After a test in the parent, a pool of two forked workers that run the same test four times ends within "
        "60 s with four equal results."
    ),
)
EXPECT = [E("script", "script")]
