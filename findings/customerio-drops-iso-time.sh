#!/bin/sh
# customerio 3.2.0 (PyPI), the vendor's client for Python.
# `track` takes an ISO time, cannot make a number of it, and sends the event without a time; the service then takes that of arrival. `backfill` of the
# same client, which is older, raises for the same text.
# Seen: timestamp is absent for "2026-01-15T08:00:00Z", CustomerIOException from backfill, 1768464000 for a text of digits.
exec "$(dirname "$0")/with" customerio==3.2.0 <<'PYTHON'
from customerio import CustomerIO, CustomerIOException
from seen import expect

class Kept(CustomerIO):
    def send_request(self, method, url, data):
        sent.append(data.get("timestamp", "absent"))

sent = []
client = Kept("site", "key")
client.track("P-1", "opened", {}, timestamp="2026-01-15T08:00:00Z")
client.track("P-1", "opened", {}, timestamp="1768464000")
try:
    client.backfill("P-1", "opened", "2026-01-15T08:00:00Z")
except CustomerIOException:
    sent.append("raised")
expect("sent", sent, ["absent", 1768464000, "raised"])
PYTHON
