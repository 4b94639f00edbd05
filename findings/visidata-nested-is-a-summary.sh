#!/bin/sh
# visidata 3.4 (PyPI), converting without a screen: `vd -b IN -o OUT`.
# Into CSV and TSV an object or a list goes as what the screen would show of it: '{2} name=spring tags=[2] a; b'. It is no JSON, cannot be read back,
# and looks like a value. Into JSON the same file goes whole.
# Seen: {2} name=spring tags=[2] a; b.
exec "$(dirname "$0")/with" visidata==3.4 setuptools==80.9.0 <<'PYTHON'
import csv, os, subprocess, sys
from seen import expect

with open("in.jsonl", "w") as file:
    file.write('{"device": "D-1", "campaign": {"name": "spring", "tags": ["a", "b"]}}\n')
tool = os.path.join(os.path.dirname(sys.executable), "vd")
subprocess.run([tool, "-b", "in.jsonl", "-o", "out.csv"], check=True, capture_output=True, stdin=subprocess.DEVNULL)
with open("out.csv", newline="") as file:
    expect("campaign", list(csv.DictReader(file))[0]["campaign"], "{2} name=spring tags=[2] a; b")
PYTHON
