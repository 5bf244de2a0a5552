import os
import pathlib
import tempfile

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="N8",
    kind="N files, safety, memory",
    variant_of="N3",
    source=["github.com/pytorch/pytorch issue #150998 (a damaged file shows up as 'Unsupported operand 118')"],
    fault=(
        "A cut-off download, an HTML error page named .npy, an empty file, a wrong suffix: BadZipFile, EOFError "
        "or a pickle message."
    ),
    right="An error with the path and 'not a valid ... file' (never advice to allow pickle).",
)


def check(call):
    with tempfile.TemporaryDirectory() as d:
        good = os.path.join(d, "good.npz")
        np.savez(good, a=np.ones((50, 20)))
        raw = pathlib.Path(good).read_bytes()
        for name, data in (
            ("cut.npz", raw[: len(raw) // 2]),
            ("page.npy", b"<html>404 not found</html>"),
            ("empty.npy", b""),
            ("acts.xyz", raw),
        ):
            p = os.path.join(d, name)
            pathlib.Path(p).write_bytes(data)
            try:
                call("load", path=p)
                return False
            except Exception as e:
                if name not in str(e) or "allow_pickle" in str(e):
                    return False
    return True


EXPECT = [E("load", "prop", prop=check)]
