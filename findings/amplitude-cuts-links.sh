#!/bin/sh
# amplitude-analytics 1.3.0 (PyPI), the vendor's client for Python.
# Every text of an event ends after 1024 characters, without a word in the log: also ids. Two device ids or insert_ids that differ only after that are
# one, and a deep link loses its last parameters, which are those a campaign is told by. A value cut inside of a percent escape is no URL any more.
# Seen: a link of 1,062 characters arrives with 1,024 and without `campaign`; two insert_ids of 1,025 characters arrive equal.
exec "$(dirname "$0")/with" amplitude-analytics==1.3.0 <<'PYTHON'
import logging
from amplitude import BaseEvent
from seen import expect

messages = []
handler = logging.Handler()
handler.emit = messages.append
logging.getLogger("amplitude").addHandler(handler)
link = "shop://basket?items=" + "4711%2C" * 146 + "&campaign=spring-26a"
bodies = [
    BaseEvent("open", device_id="D-1", insert_id="i" * 1024 + end, event_properties={"url": link}).get_event_body() for end in "12"]
expect("length put in", len(link), 1062)
expect("length sent", len(bodies[0]["event_properties"]["url"]), 1024)
expect("campaign sent", "campaign" in bodies[0]["event_properties"]["url"], False)
expect("insert ids are equal", bodies[0]["insert_id"] == bodies[1]["insert_id"], True)
expect("messages", messages, [])
PYTHON
