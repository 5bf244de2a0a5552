import os
import pathlib
import tempfile

from bank import E, trial

TRIAL = trial(
    id="L8",
    kind="L score tables (CSV)",
    source=["no report looked up; own knowledge of pandas (a second 'score' is renamed 'score.1')"],
    fault="Two columns called 'score' (a join gone wrong); the second is renamed in silence and the first is used.",
    right="ValueError: duplicate column name 'score'.",
)
TEXT = "family,score,score\nvit,0.41,0.9\nclip,0.52,0.8\n"


def check(call):
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "t.csv")
        pathlib.Path(p).write_text(TEXT, encoding="utf-8", newline="")
        try:
            call("load_table", path=p)
        except ValueError as e:
            return "score" in str(e) and any(q in str(e).lower() for q in ("duplicate", "twice", "repeat"))
    return False


EXPECT = [E("load_table", "prop", prop=check)]
