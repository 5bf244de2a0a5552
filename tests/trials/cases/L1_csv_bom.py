import os
import pathlib
import tempfile

from bank import E, trial

TRIAL = trial(
    id="L1",
    kind="L score tables (CSV)",
    source=[
        "github.com/pandas-dev/pandas issue #4793 and #13497",
        "github.com/biolab/orange3 issue #7000",
        "github.com/PIC-IRIS/PH5 issue #536",
    ],
    fault=(
        "A table saved by a spreadsheet starts with a byte order mark; the first column is then called "
        "'\\ufefffamily' and 'family' is missing."
    ),
    right="Reads as if the mark were not there.",
)
TEXT = "\ufefffamily,params,score\nvit,86000000,0.41\nclip,150000000,0.52\n"


def check(call):
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "t.csv")
        pathlib.Path(p).write_text(TEXT, encoding="utf-8", newline="")
        t = call("load_table", path=p)
    return [r["family"] for r in t] == ["vit", "clip"] and [r["score"] for r in t] == [0.41, 0.52]


EXPECT = [E("load_table", "prop", prop=check)]
