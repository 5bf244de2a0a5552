from bank import E, trial

TRIAL = trial(
    id="O5",
    kind="O reproducibility and parallel runs",
    auto=False,
    source=[
        "github.com/numpy/numpy issue #25100 (thread count changes the last bits)",
        "github.com/libAtoms/QUIP issue #522 (architecture too)",
    ],
    fault="Last-bit differences between 1 and 2 BLAS threads flip tied permutations, so p differs between machines.",
    right=(
        "The same p in every digit, and the score to 1e-12, with one and with two BLAS threads, on data full of "
        "ties (those of H2 thirty times over, 999 permutations)."
    ),
)
EXPECT = [E("script", "script")]
