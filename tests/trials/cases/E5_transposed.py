import numpy as np

from bank import E, trial

TRIAL = trial(
    id="E5",
    kind="E shape and pairing",
    source=["github.com/google/svcca PR #9 (that code wants neurons x datapoints)"],
    fault="Arrays come as features x items (768 x 50 and 512 x 50), the convention of another well-known package.",
    right=(
        "ValueError on the row counts, plus a hint: the second dimensions agree (50), so the arrays may be transposed."
    ),
)
r = np.random.default_rng(25)
EXPECT = [
    E(
        "score",
        "raises",
        args=dict(metric="cka", X=r.standard_normal((768, 50)), Y=r.standard_normal((512, 50))),
        says=["768", "512", ("transpos", "items in rows", "rows")],
    )
]
