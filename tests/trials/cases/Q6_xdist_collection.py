from bank import E, trial

TRIAL = trial(
    id="Q6",
    kind="Q validation of user metrics, pytest plugin",
    auto=False,
    source=["github.com/pytest-dev/pytest-xdist issue #432, #598 and #63", "github.com/pytest-dev/pytest issue #596"],
    fault=(
        "Test cases made from a set (metrics, claims) come in another order in each worker: 'Different tests were "
        "collected between gw0 and gw1'."
    ),
    right=(
        "Two collections with different PYTHONHASHSEED, of a project with one marked test, list the same tests in "
        "the same order, and the tests pass when distributed over two workers."
    ),
)
EXPECT = [E("script", "script")]
