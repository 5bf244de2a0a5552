import os
import tempfile

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="N3",
    kind="N files, safety, memory",
    source=["github.com/StigTerrebonne/AIS-LSTM issue #3 (guessing keys of an npz)"],
    fault="An .npz with three layers and no key given: the first one in the archive is taken.",
    right=(
        "ValueError listing the keys (layer_1, layer_2, layer_10) in natural order; one array in the file needs "
        "no key; a wrong key is told with the list."
    ),
)


def check(call):
    with tempfile.TemporaryDirectory() as d:
        p, q = os.path.join(d, "three.npz"), os.path.join(d, "one.npz")
        np.savez(p, layer_10=np.ones((3, 2)), layer_2=np.zeros((3, 2)), layer_1=np.full((3, 2), 2.0))
        np.savez(q, acts=np.ones((3, 2)))
        ok = np.array_equal(call("load", path=q), np.ones((3, 2)))
        for key in (None, "layer_3"):
            try:
                call("load", path=p, key=key)
                return False
            except (ValueError, TypeError) as e:
                ok &= all(k in str(e) for k in ("layer_1", "layer_2", "layer_10"))
    return bool(ok)


EXPECT = [E("load", "prop", prop=check)]
