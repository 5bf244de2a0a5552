import os
import tempfile

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="N4",
    kind="N files, safety, memory",
    variant_of="N3",
    needs=["h5py"],
    source=["github.com/h5py/h5py issue #1101 and #1722 (locks on read-only or network disks)", "variant of N3"],
    fault=(
        "HDF5 with groups: a group is taken for a dataset, or a lazy dataset is returned and dies when the file "
        "is closed; a file on a read-only disk cannot be locked."
    ),
    right=(
        "Error listing dataset paths (vis/l1, vis/l2); with key='vis/l2' an in-memory array that outlives the "
        "file; a read-only file (mode 0444, folder 0555) opens."
    ),
)


def check(call):
    import h5py

    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "a.h5")
        with h5py.File(p, "w") as f:
            f["vis/l1"] = np.ones((4, 2))
            f["vis/l2"] = np.arange(8.0).reshape(4, 2)
        os.chmod(p, 0o444)
        os.chmod(d, 0o555)
        try:
            try:
                call("load", path=p)
                return False
            except (ValueError, TypeError) as e:
                if not ("vis/l1" in str(e) and "vis/l2" in str(e)):
                    return False
            a = call("load", path=p, key="vis/l2")
        finally:
            os.chmod(d, 0o755)
    return np.array_equal(np.asarray(a), np.arange(8.0).reshape(4, 2))


EXPECT = [E("load", "prop", prop=check)]
