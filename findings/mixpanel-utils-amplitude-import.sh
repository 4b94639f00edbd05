#!/bin/sh
# mixpanel-utils 2.2.7 (PyPI), the vendor's tool for moving data, here its import of Amplitude's export.
# 1. `event_time` is UTC in Amplitude's export, and is read in the zone of the machine that runs the import. 2. Punctuation is taken out of
# `$insert_id`, by which Mixpanel knows duplicates: "8_1.2" and "81_2" become one id. 3. A property named `time` replaces the time of the event.
# Seen, in Asia/Tokyo: nine hours too early, ids "812" twice, and the time 95.
exec "$(dirname "$0")/with" mixpanel-utils==2.2.7 <<'PYTHON'
import os, time
os.environ["TZ"] = "Asia/Tokyo"
time.tzset()
from mixpanel_utils import MixpanelUtils
from seen import expect

def moved(insert_id, **properties):
    return MixpanelUtils("secret", token="token")._transform_amplitude_events({
        "event_type": "launch", "event_time": "2026-01-15 08:00:00.000000", "device_id": "D-1", "user_id": None, "amplitude_id": 7,
        "ip_address": "192.0.2.1", "country": "Germany", "$insert_id": insert_id, "event_properties": properties})["properties"]

expect("hours off", (moved("a")["time"] / 1000 - 1768464000) / 3600, -9.0)
expect("ids", [moved("8_1.2")["$insert_id"], moved("81_2")["$insert_id"]], ["812", "812"])
expect("time of a level of 95 seconds", moved("b", time=95)["time"], 95)
PYTHON
