#!/bin/sh
# pipelinewise-transform-field 2.3.0 (PyPI), which changes records between a Singer tap and a target.
# By its README a transformation with `when` "will only take place when all conditions are met". A condition `equals` 0, false or "" is skipped: alone
# it is never met, even by an equal value, and beside others it does not count, so the others decide. Of the opens that are to lose their campaign
# when they come from iOS and are not paid, the paid ones lose it as well. Nothing is logged.
# Seen: with {"paid": false} alone no record changes, with {"os": "ios"} before or after it both do, with {"paid": true} one does.
exec "$(dirname "$0")/with" pipelinewise-transform-field==2.3.0 setuptools==80.9.0 <<'PYTHON'
import json, os, subprocess, sys
from seen import expect

types = {"campaign": ["null", "string"], "os": ["string"], "paid": ["boolean"], "opens": ["integer"]}
schema = {"properties": {name: {"type": kind} for name, kind in types.items()}}
messages = [{"type": "SCHEMA", "stream": "opens", "key_properties": [], "schema": schema}]
for paid in (False, True):
    messages.append({"type": "RECORD", "stream": "opens", "record": {"campaign": "spring", "os": "ios", "paid": paid, "opens": int(paid)}})

def campaigns(*when):
    with open("config.json", "w") as file:
        json.dump({"transformations": [{"tap_stream_name": "opens", "field_id": "campaign", "type": "SET-NULL", "when": when}]}, file)
    tool = os.path.join(os.path.dirname(sys.executable), "transform-field")
    lines = "\n".join(map(json.dumps, messages))
    out = subprocess.run([tool, "--config", "config.json"], input=lines, capture_output=True, text=True, check=True).stdout
    return [message["record"]["campaign"] for message in map(json.loads, out.splitlines()) if message["type"] == "RECORD"]

ios, unpaid = {"column": "os", "equals": "ios"}, {"column": "paid", "equals": False}
expect("unpaid, paid: alone", campaigns(unpaid), ["spring", "spring"])
expect("0 alone", campaigns({"column": "opens", "equals": 0}), ["spring", "spring"])
expect("beside another", campaigns(ios, unpaid), [None, None])
expect("in front of another", campaigns(unpaid, ios), [None, None])
expect("true beside another", campaigns(ios, {"column": "paid", "equals": True}), ["spring", None])
PYTHON
