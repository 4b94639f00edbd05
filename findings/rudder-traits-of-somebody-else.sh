#!/bin/sh
# rudder-sdk-python 2.1.9 (PyPI), the vendor's client for Python; segment-analytics-python 2.4.0, from which it comes, does not do it.
# `identify` writes the traits of a person into the caller's context, and destinations look for traits there. A context that describes the device is
# made once and given to all calls, so all later events carry these traits: those of the next person have that person's id and the address of the
# one before. Calls without a context are fine.
# Seen: an event of bob with the traits {'email': 'ann@example.com'}; no traits with a new context, nor with Segment's client.
exec "$(dirname "$0")/with" rudder-sdk-python==2.1.9 segment-analytics-python==2.4.0 <<'PYTHON'
import json
from rudderstack.analytics.client import Client as Rudder
from segment.analytics.client import Client as Segment
from seen import Server, expect

def traits_of_bob(kind, fresh=False):
    server = Server()
    client = kind("key", host=server.address, sync_mode=True)
    context = {"device": {"id": "D-1"}}
    client.identify("ann", {"email": "ann@example.com"}, context=context)
    client.track("bob", "offer_opened", {"campaign": "spring"}, context={"device": {"id": "D-1"}} if fresh else context)
    events = [event for _, body in server.bodies for event in json.loads(body)["batch"]]
    expect("users", [event["userId"] for event in events], ["ann", "bob"])
    return events[1]["context"].get("traits")

expect("RudderStack", traits_of_bob(Rudder), {"email": "ann@example.com"})
expect("RudderStack with a context of its own", traits_of_bob(Rudder, fresh=True), None)
expect("Segment", traits_of_bob(Segment), None)
PYTHON
