from bank import E, trial

TRIAL = trial(
    id="Q8",
    kind="Q validation of user metrics, pytest plugin",
    auto=False,
    source=[
        "github.com/pytest-dev/pytest-cov issue #148",
        "github.com/numirias/pytest-json-report issue #92 (imported too early)",
    ],
    fault=(
        "An installed plugin is imported in EVERY pytest run on that machine; pulling in torch, numba or pandas "
        "slows all projects and hides them from coverage."
    ),
    right=(
        "In an empty project neither torch, numba, pandas, scipy nor hypothesis is imported because of the plugin; "
        "warnings as errors raise none; switching the plugin off works."
    ),
)
EXPECT = [E("script", "script")]
