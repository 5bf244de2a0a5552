from bank import E, trial

TRIAL = trial(
    id="P3",
    kind="P numba, environment, output",
    auto=False,
    source=[
        "github.com/FusionComputingLab/freegs4e issue #41 (NameError after a caught ImportError)",
        "github.com/BYUCamachoLab/SiPANN issue #25",
        "github.com/numba/numba issue #8718",
    ],
    fault=(
        "numba refuses the installed NumPy ('Numba needs NumPy 2.0 or less') and the whole package cannot be imported."
    ),
    right=(
        "With a numba that raises ImportError on import the package can be imported, plain loops are used (one "
        "warning at most) and scores equal those with numba to 1e-12."
    ),
)
EXPECT = [E("script", "script")]
