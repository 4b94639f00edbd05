#!/bin/sh
# urbanairship 7.4.1 (PyPI), the vendor's client for Python.
# `occurred` of a custom event takes any datetime and writes its wall clock, without the offset and without fractions: 09:30 in Berlin is sent as
# "2026-01-15T09:30:00", which Airship takes for UTC, and two taps of one second become one instant.
# Seen: 09:30:00.250+01:00, 09:30:00.750+01:00 and 09:30 UTC are the same text.
exec "$(dirname "$0")/with" urbanairship==7.4.1 <<'PYTHON'
from datetime import datetime
from urbanairship.custom_events.custom_events import CustomEvent
from seen import expect

def sent(text):
    event = CustomEvent(airship=None, name="opened", user={"ios_channel": "C-1"}, occurred=datetime.fromisoformat(text))
    return event._payload["occurred"]

moments = ["2026-01-15T09:30:00.250+01:00", "2026-01-15T09:30:00.750+01:00", "2026-01-15T09:30:00+00:00"]
expect("sent", [sent(moment) for moment in moments], ["2026-01-15T09:30:00"] * 3)
PYTHON
