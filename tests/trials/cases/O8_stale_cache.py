import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="O8",
    kind="O reproducibility and parallel runs",
    variant_of="O1",
    source=[
        "github.com/mlbio-epfl/Aristotelian knn.py (cache keyed by a fixed name and k, not by the data); own finding"
    ],
    fault=(
        "Neighbours are cached under a fixed key (or under id(array), which is reused after deletion, or not "
        "cleared when the array is changed in place)."
    ),
    right="Results for a second data set never depend on the first; changing X in place changes the score.",
)


def check(call):
    out = []
    for s in range(6):  # arrays die each round, so ids are likely to be reused
        r = np.random.default_rng(s)
        X, Y = r.standard_normal((30, 4)), r.standard_normal((30, 4))
        out.append(abs(call("score", metric="mutual_knn", X=X, Y=Y, k=5) - R.mutual_knn(X, Y, 5)) < 1e-9)
        X[:] = r.standard_normal((30, 4))
        out.append(abs(call("score", metric="mutual_knn", X=X, Y=Y, k=5) - R.mutual_knn(X, Y, 5)) < 1e-9)
        del X, Y
    return all(out)


EXPECT = [E("score", "prop", prop=check)]
