import warnings

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="P8",
    kind="P numba, environment, output",
    variant_of="P7",
    source=[
        "github.com/emdgroup/baybe PR #806 (a project that turns warnings into errors)",
        "github.com/IBM/unitxt issue #482 (warnings that confuse users)",
    ],
    fault=(
        "On ordinary data the library itself triggers 'divide by zero' or deprecation warnings; a project with "
        "filterwarnings=error cannot use it."
    ),
    right="With warnings as errors, every metric and a test run clean on well-behaved data (n = 80, d = 6 and 5).",
)
r = np.random.default_rng(55)
X = r.standard_normal((80, 6))
Y = X[:, :5] + r.standard_normal((80, 5))


def quiet(op, **kw):
    def check(call):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(op, X=X, Y=Y, **kw)
        return True

    return check


METRICS = ("cka", "mutual_knn", "cknna", "rsa", "cca", "svcca", "pwcca", "procrustes", "ridge")
EXPECT = [E("score", "prop", prop=quiet("score", metric=m, k=5)) for m in METRICS]
EXPECT += [E("test", "prop", prop=quiet("test", metric="cka", n_perm=99, seed=0))]
