#!/bin/sh
# SensorsAnalyticsSDK 1.11.0 (PyPI), the client of Sensors Analytics for Python.
# A datetime among the properties is written with its milliseconds as a plain number after the point: 5 ms are ".5" and 50 ms ".50", which readers take
# for half a second. Of all times one in ten is late, by up to 0.9 seconds, and taps change their order. `$time`, the time of the event itself, is a
# number and keeps its milliseconds.
# Seen: "08:00:00.5" for .005, "08:00:00.50" for .050, "08:00:00.450" for .450, so that the first is read as the last; 5, 50 and 450 in `$time`.
exec "$(dirname "$0")/with" SensorsAnalyticsSDK==1.11.0 <<'PYTHON'
import json
from datetime import datetime
from sensorsanalytics import SensorsAnalytics
from seen import expect

class Kept:
    def send(self, message):
        sent.append(json.loads(message))

sent = []
client = SensorsAnalytics(Kept())
moments = [datetime.fromisoformat(f"2026-01-15 08:00:00.{fraction}") for fraction in ("005", "050", "450")]
for moment in moments:
    client.track("D-1", "offer_opened", {"tapped": moment, "$time": moment})
texts = [event["properties"]["tapped"] for event in sent]
expect("texts", texts, ["2026-01-15 08:00:00.5", "2026-01-15 08:00:00.50", "2026-01-15 08:00:00.450"])
read = [datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f") for text in texts]
expect("milliseconds as read", [moment.microsecond // 1000 for moment in read], [500, 500, 450])
expect("the first is before the last", (moments[0] < moments[2], read[0] < read[2]), (True, False))
expect("milliseconds of $time", [event["time"] % 1000 for event in sent], [5, 50, 450])
PYTHON
