import os
import pathlib
import tempfile

from bank import E, trial

TRIAL = trial(
    id="L9",
    kind="L score tables (CSV)",
    variant_of="L1",
    source=[
        "github.com/useshortcut/api-cookbook issue #93",
        "github.com/niccokunzmann/open-web-calendar PR #1129 (platform default encoding)",
    ],
    fault=(
        "Files in UTF-16 (a spreadsheet's 'Unicode text') or cp1252 ('é' as one byte): a UnicodeDecodeError from "
        "deep inside, or a platform-dependent reading of a good UTF-8 file."
    ),
    right=(
        "UTF-8 is read as UTF-8 on every platform ('Électra' survives). UTF-16 with a mark is read or refused "
        "with a text naming the encoding; cp1252 bytes are refused with a text naming the file, line 2 and an "
        "encoding= option."
    ),
)


def check(call):
    text = "family,params,score\nÉlectra,1000,0.41\n"
    with tempfile.TemporaryDirectory() as d:
        for enc in ("utf-8", "utf-16", "cp1252"):
            p = os.path.join(d, enc + ".csv")
            pathlib.Path(p).write_text(text, encoding=enc, newline="")
            try:
                t = call("load_table", path=p)
            except ValueError as e:
                if enc == "utf-8" or type(e) is UnicodeDecodeError or "encoding" not in str(e).lower():
                    return False
            else:
                if t[0]["family"] != "Électra":
                    return False
    return True


EXPECT = [E("load_table", "prop", prop=check)]
