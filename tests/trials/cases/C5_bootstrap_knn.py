import numpy as np

import reference as R
from bank import E, trial

TRIAL = trial(
    id="C5",
    kind="C duplicates, ties, self-neighbours",
    source=[
        "github.com/rsagroup/rsatoolbox issue #60 (copies compared with themselves inflate every model)",
        "github.com/tidymodels/themis issue #247",
    ],
    fault=(
        "Resampling items with replacement makes copies; copies are nearest neighbours in BOTH models, so the "
        "bootstrap distribution sits far above the score (0.26 against 0.09 here, for unrelated data)."
    ),
    right=(
        "Copies of one item never count as neighbours of each other (or the item bootstrap is refused for "
        "neighbour metrics, with a text that offers subsampling). The mean of the replicates stays within 0.05 of "
        "the score."
    ),
)
r = np.random.default_rng(11)
X, Y = r.standard_normal((60, 10)), r.standard_normal((60, 10))


def centred(call):
    try:
        b = call("bootstrap", metric="mutual_knn", X=X, Y=Y, k=5, dist="euclidean", n_boot=50, seed=0)
    except (ValueError, TypeError) as e:
        return any(t in str(e).lower() for t in ("subsampl", "duplicate", "neighbour", "neighbor"))
    return abs(float(np.mean(b["replicates"])) - R.mutual_knn(X, Y, 5, "euclidean")) < 0.05


EXPECT = [E("bootstrap", "prop", prop=centred)]
