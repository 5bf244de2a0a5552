import numpy as np

from bank import E, trial

TRIAL = trial(
    id="B3",
    kind="B too few items, k out of range",
    source=[
        "github.com/minyoungg/platonic-rep metrics.py (slicing [:, :k] is silently shortened)",
        "github.com/microsoft/FS-Mol PR #15",
        "github.com/SpikeInterface/spiketoolkit PR #426",
    ],
    fault="k >= n: the neighbour list is silently cut to n and takes in the item itself, so any two models score 1.0.",
    right="ValueError naming k and n. Never 1.0.",
)
r = np.random.default_rng(6)
X, Y = r.standard_normal((10, 3)), r.standard_normal((10, 3))
EXPECT = [
    E("score", "raises", args=dict(metric="mutual_knn", X=X, Y=Y, k=k), says=["k", str(k), "10"]) for k in (10, 11, 500)
]
EXPECT += [E("score", "raises", args=dict(metric="cknna", X=X, Y=Y, k=10), says=["k", "10"])]
