#!/bin/sh
# mixpanel 5.4.1 (PyPI), the vendor's client for Python.
# Properties of the event and the fields of Mixpanel share one object, and the properties are laid over the arguments: a property `time` (how long a
# level took) is the time of the event, whatever was given as `timestamp`, a property `distinct_id` is the person, and a property `token` the project.
# A level done in 95 seconds happened in 1970.
# Seen: import_data(timestamp=1768464000) with {"time": 95, "distinct_id": "friend-7"} sends time 95 and the friend as the person.
exec "$(dirname "$0")/with" mixpanel==5.4.1 <<'PYTHON'
import json
from mixpanel import Mixpanel
from seen import expect

class Kept:
    def send(self, endpoint, message, *_):
        sent.update(json.loads(message)["properties"])

sent = {}
Mixpanel("token", Kept()).import_data(None, "P-1", "Level done", 1768464000, {"time": 95, "distinct_id": "friend-7"})
expect("time", sent["time"], 95)
expect("person", sent["distinct_id"], "friend-7")
PYTHON
