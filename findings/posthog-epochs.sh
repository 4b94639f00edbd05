#!/bin/sh
# posthog 7.91.1 (PyPI), the vendor's client for Python.
# A timestamp is a datetime or an ISO text. With an epoch as text the event is sent at the present time; with an epoch as a number it is not sent at
# all, and `capture` returns as usual: both have only a line in the log.
# Seen: of three events two arrive, "1768464000" at the clock of the machine, "2026-01-15T08:00:00Z" as it was, and 1768464000 never.
exec "$(dirname "$0")/with" posthog==7.91.1 <<'PYTHON'
import json
from datetime import datetime, timezone
from posthog import Posthog
from seen import Server, expect

server = Server(b'{"status": 1}')
client = Posthog("phc_key", host=server.address, sync_mode=True, debug=False)
began = datetime.now(timezone.utc)
for value in (1768464000, "1768464000", "2026-01-15T08:00:00Z"):
    client.capture("launch", distinct_id="P-1", timestamp=value)
events = [event for _, body in server.bodies for event in json.loads(body).get("batch", [])]
times = [datetime.fromisoformat(event["timestamp"].replace("Z", "+00:00")) for event in events]
expect("events", len(times), 2)
expect("a text of digits is now", times[0] >= began, True)
expect("an ISO time", times[1].isoformat(), "2026-01-15T08:00:00+00:00")
PYTHON
