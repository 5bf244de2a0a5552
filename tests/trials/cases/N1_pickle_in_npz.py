import os
import tempfile

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="N1",
    kind="N files, safety, memory",
    source=[
        "github.com/CoNLL-UD-2018/UDPipe-Future issue #10",
        "github.com/sentinel-hub/eo-learn PR #478 (safety switched off for convenience)",
    ],
    fault=(
        "Ragged embeddings are saved as an object array; the quick fix allow_pickle=True runs any code that the "
        "file holds."
    ),
    right=(
        "ValueError that says 'object array' / 'pickle', why it is refused and how to save instead. The planted "
        "code must NOT run."
    ),
)


def check(call):
    with tempfile.TemporaryDirectory() as d:
        mark = os.path.join(d, "ran")
        p = os.path.join(d, "emb.npz")

        class Bomb:
            def __reduce__(self):
                return (open, (mark, "w"))

        a = np.empty(1, dtype=object)
        a[0] = Bomb()
        np.savez(p, emb=a)
        try:
            call("load", path=p, key="emb")
        except (ValueError, TypeError) as e:
            return not os.path.exists(mark) and any(q in str(e).lower() for q in ("object", "pickle"))
    return False


EXPECT = [E("load", "prop", prop=check)]
