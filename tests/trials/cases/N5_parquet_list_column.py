import os
import tempfile

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="N5",
    kind="N files, safety, memory",
    needs=["pyarrow"],
    source=[
        "github.com/NVIDIA/cudf issue #19497 (list columns are hard to stack)",
        "github.com/numpy/numpy issue #19113 (ragged cast)",
    ],
    fault=(
        "Embeddings as a list column: comes out as an object array of lists; one shorter row gives 'inhomogeneous "
        "shape' with no row number."
    ),
    right=(
        "Equal lengths: a float (n, d) array. Ragged: ValueError with the column, the row (2) and the lengths 3 and 4."
    ),
)


def check(call):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as d:
        p, q = os.path.join(d, "ok.parquet"), os.path.join(d, "ragged.parquet")
        pq.write_table(pa.table({"id": ["a", "b"], "emb": [[1.0, 2.0], [3.0, 4.0]]}), p)
        pq.write_table(pa.table({"emb": [[1.0, 2.0, 3.0, 4.0]] * 2 + [[1.0, 2.0, 3.0]]}), q)
        if not np.array_equal(call("load", path=p, key="emb"), [[1.0, 2.0], [3.0, 4.0]]):
            return False
        try:
            call("load", path=q, key="emb")
        except (ValueError, TypeError) as e:
            return "emb" in str(e) and "2" in str(e) and "3" in str(e) and "4" in str(e)
    return False


EXPECT = [E("load", "prop", prop=check)]
