import os
import pathlib
import tempfile

from bank import E, trial

TRIAL = trial(
    id="L2",
    kind="L score tables (CSV)",
    source=[
        "github.com/pandas-dev/pandas issue #8200 (5,5 becomes 55) and #12933",
        "github.com/pandas-dev/pandas PR #38420",
    ],
    fault=(
        "European export: ';' between cells, ',' as the decimal mark. Read as one column, or 0,41 becomes 41 or a "
        "text category."
    ),
    right=(
        "Either the right numbers (0.41, 0.52) or an error that names the delimiter / decimal mark. Never 41, 0, "
        "or text."
    ),
)
TEXT = "family;params;score\nvit;86000000;0,41\nclip;150000000;0,52\n"


def check(call):
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "t.csv")
        pathlib.Path(p).write_text(TEXT, encoding="utf-8", newline="")
        try:
            t = call("load_table", path=p)
        except ValueError as e:
            return any(q in str(e).lower() for q in ("delimiter", "separator", "semicolon", "';'", "decimal"))
    return [r["score"] for r in t] == [0.41, 0.52]


EXPECT = [E("load_table", "prop", prop=check)]
