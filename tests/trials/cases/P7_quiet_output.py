import contextlib
import io

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="P7",
    kind="P numba, environment, output",
    source=[
        "github.com/LiberTEM/LiberTEM issue #1417 (IProgress warning)",
        "github.com/dirac-institute/kbmod issue #688 (bars should be optional)",
        "github.com/tqdm/tqdm issue #1082",
    ],
    fault="Progress bars and prints from a library fill CI logs and notebooks; tqdm.auto complains about ipywidgets.",
    right="No output on stdout or stderr by default when not on a terminal.",
)
r = np.random.default_rng(54)
X, Y = r.standard_normal((60, 5)), r.standard_normal((60, 4))


def check(call):
    o, e = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(o), contextlib.redirect_stderr(e):
        call("test", metric="cka", X=X, Y=Y, n_perm=199, seed=0)
    return o.getvalue() == "" and e.getvalue() == ""


EXPECT = [E("test", "prop", prop=check)]
