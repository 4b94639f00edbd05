#!/bin/sh
# growthbook 4.0.0 (PyPI), the vendor's client for Python, with its tracking plugin and requests 2.32.5.
# By the documentation an attribute can be an integer, and all attributes are sent along with events. The plugin takes the ids of person, device and
# session out of the attributes and sends each as null unless it is text. So a `user_id` of 42, as a database gives it, splits traffic in experiments
# and is nowhere in the events: all people are nobody, and no purchase belongs to the exposure that led to it. A number as `device_id` also takes
# the place of the `id` that would have been sent instead. Other attributes keep their numbers, and nothing is logged.
# Seen: equal bytes for the offers that 42 and 43 opened; null for three ids beside "plan": 3; "42" with text; an exposure with the hash 42 and null.
exec "$(dirname "$0")/with" growthbook==4.0.0 requests==2.32.5 <<'PYTHON'
import json, time
from growthbook import Experiment, GrowthBook, growthbook_tracking_plugin
from seen import Server, expect

def sent(act, **attributes):
    server = Server()
    plugin = growthbook_tracking_plugin(ingestor_host=server.address, batch_size=1)
    act(GrowthBook(attributes=attributes, client_key="sdk-app", plugins=[plugin]))
    for _ in range(200):
        if not server.bodies:
            time.sleep(0.05)
    return server.bodies[0][1]

def opens(client):
    client.log_event("offer_opened", {"campaign": "spring"})

def ids(body):
    event, = json.loads(body)
    return event["user_id"], event["device_id"], event["session_id"], event["context_json"]

expect("ids as text", ids(sent(opens, user_id="42", device_id="7", session_id="1", plan=3)), ("42", "7", "1", {"plan": 3}))
expect("ids as numbers", ids(sent(opens, user_id=42, device_id=7, session_id=1, plan=3)), (None, None, None, {"plan": 3}))
expect("two people are equal", sent(opens, user_id=42) == sent(opens, user_id=43), True)
expect("id without a device", ids(sent(opens, id="ann")), (None, "ann", None, {}))
expect("id beside a number", ids(sent(opens, id="ann", device_id=7)), (None, None, None, {}))

def takes_part(client):
    client.run(Experiment(key="price", variations=["9.90", "8.90"], hashAttribute="user_id"))

exposure, = json.loads(sent(takes_part, user_id=42))
expect("exposure", (exposure["event_name"], str(exposure["properties_json"]["hash_value"]), exposure["user_id"]), ("$$experiment_viewed", "42", None))
PYTHON
