#!/bin/sh
# snowplow-tracker 1.1.0 (PyPI), the vendor's tracker for Python.
# An event object keeps the payload that it was sent with. Tracked again with `context` and `true_timestamp` cleared, it carries both of the first
# time: fields are only ever added. The second launch has the time and the entities of the first, under an event id of its own, so nothing sees it as
# a duplicate.
# Seen: `ttm` 1768464000000 and an equal `co` in both payloads, two different `eid`.
exec "$(dirname "$0")/with" snowplow-tracker==1.1.0 <<'PYTHON'
from snowplow_tracker import SelfDescribingJson, StructuredEvent, Tracker
from seen import expect

class Kept:
    def input(self, payload):
        sent.append(dict(payload))

sent = []
tracker = Tracker("app", Kept(), encode_base64=False)
event = StructuredEvent("app", "launch", true_timestamp=1768464000000, context=[
    SelfDescribingJson("iglu:com.acme/push/jsonschema/1-0-0", {"campaign": "spring"})])
tracker.track(event)
event.true_timestamp, event.context = None, []
tracker.track(event)
expect("times", [payload.get("ttm") for payload in sent], [1768464000000, 1768464000000])
expect("second has the campaign", "spring" in sent[1].get("co", ""), True)
expect("ids are equal", sent[0]["eid"] == sent[1]["eid"], False)
PYTHON
