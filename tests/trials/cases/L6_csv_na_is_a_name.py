import os
import pathlib
import tempfile

from bank import E, trial

TRIAL = trial(
    id="L6",
    kind="L score tables (CSV)",
    source=[
        "github.com/pandas-dev/pandas issue #10647 and #24681",
        "github.com/OasisLMF/OasisLMF issue #307 (country code NA is lost)",
        "github.com/datasets/country-codes issue #38",
    ],
    fault=(
        "A family or language is called 'NA', 'None', 'null' or 'nan': read as missing, its rows vanish from the model."
    ),
    right="In label columns these stay text; all rows are kept. Only an EMPTY label cell is missing.",
)
TEXT = "family,params,score\nNA,1000,0.41\nNone,2000,0.52\nnull,3000,0.3\nvit,4000,0.2\n"


def check(call):
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "t.csv")
        pathlib.Path(p).write_text(TEXT, encoding="utf-8", newline="")
        t = call("load_table", path=p)
    return [r["family"] for r in t] == ["NA", "None", "null", "vit"]


EXPECT = [E("load_table", "prop", prop=check)]
