#!/bin/sh
# tap-mixpanel 1.8.0 and pipelinewise-tap-mixpanel 1.2.0 (PyPI), Singer's tap for the export of Mixpanel and a fork of it.
# Older projects export the wall clock of their zone as an epoch. Both taps require `project_timezone`, and both READMEs say that times of events are
# converted "from project timezone to UTC". The first adds the seconds to midnight UTC of 1970, moved to the zone and back, so no zone changes anything.
# The fork adds them to midnight of the zone's winter time, so the whole summer is an hour late. One project has two clocks, and neither is right.
# Seen, for 08:00 in US/Pacific: 08:00Z in January and July with the tap; 16:00Z in both with the fork, although July is 15:00Z.
exec "$(dirname "$0")/with" tap-mixpanel==1.8.0 setuptools==80.9.0 <<'PYTHON'
import os, subprocess, sys, venv
from seen import expect

script = """
from tap_mixpanel.transform import transform_record
def read(seconds, zone):
    record = {"event": "opened", "properties": {"time": seconds, "distinct_id": "D-1"}}
    return transform_record(record, "export", zone)["time"][:16]
print([read(seconds, zone) for zone in ("UTC", "US/Pacific") for seconds in (1768464000, 1784102400)])
"""
def times(python):
    return subprocess.run([python, "-c", script], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}).stdout.strip()

# Both are a module tap_mixpanel, so the fork gets a folder of its own.
venv.create("fork", with_pip=True)
subprocess.run(["fork/bin/pip", "install", "-q", "--disable-pip-version-check", "pipelinewise-tap-mixpanel==1.2.0", "setuptools==80.9.0"], check=True)
january, july = "2026-01-15T", "2026-07-15T"
expect("tap", times(sys.executable), str([january + "08:00", july + "08:00"] * 2))
expect("fork", times("fork/bin/python"), str([january + "08:00", july + "08:00", january + "16:00", july + "16:00"]))
PYTHON
