import json
import os
import struct
import tempfile

import numpy as np

from bank import E, trial

TRIAL = trial(
    id="D10",
    kind="D dtypes, overflow, non-finite",
    variant_of="D9",
    source=["github.com/safetensors/safetensors issue #598 (data type 'bfloat16' not understood)"],
    fault=(
        "A .safetensors file of bf16 activations, read through numpy, fails on the dtype name (torch need not be "
        "there)."
    ),
    right=(
        "Loads as float32 with exactly these values; without any reader installed: an error that names the extra "
        "to install."
    ),
)
# the file is written byte by byte, so neither torch nor safetensors is needed to make it
VALUES = np.array([[1.0, -2.5, 0.15625], [96.0, -0.0078125, 3.0]], dtype="float32")  # all exact in bf16


def write(path):
    raw = (VALUES.view("uint32") >> 16).astype("<u2").tobytes()
    head = json.dumps({"layer0": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, len(raw)]}}).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + raw)


def check(call):
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "acts.safetensors")
        write(p)
        return np.array_equal(np.asarray(call("load", path=p, key="layer0"), dtype="float32"), VALUES)


EXPECT = [E("load", "prop", prop=check)]
