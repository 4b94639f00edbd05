#!/bin/sh
# ga4mp 2.0.4 (PyPI), a client for Google Analytics 4 and Firebase.
# `send` takes a `date` for events of the past. They get that time, but the session and the engagement of the program: `session_id` is the second in
# which the client was made, after the event itself, so one user's opens of two days are one session, and `engagement_time_msec` is how long the
# program took since its previous event. A replay that reads files for a minute credits somebody with a minute in the app. The README says nothing of
# engagement, nor of what session a past event gets.
# Seen: two events 20 hours apart with one session id, later than both, and over a second of engagement each, after 1.2 seconds of sleep.
exec "$(dirname "$0")/with" ga4mp==2.0.4 <<'PYTHON'
import json, time
from datetime import datetime, timedelta
from ga4mp import FirebaseMP
from seen import Server, expect

server = Server()
began = int(time.time())
client = FirebaseMP("secret", "app", "instance")
client._base_domain = server.address
now = datetime.now().replace(microsecond=0)
for hours in (40, 20):
    time.sleep(1.2)
    client.send([{"name": "offer_opened", "params": {"campaign": "spring"}}], date=now - timedelta(hours=hours))
bodies = [json.loads(body) for _, body in server.bodies]
params = [body["events"][0]["params"] for body in bodies]
expect("hours between the events", round((bodies[1]["timestamp_micros"] - bodies[0]["timestamp_micros"]) / 3.6e9), 20)
expect("one session", params[0]["session_id"] == params[1]["session_id"], True)
expect("which began after both", params[0]["session_id"] >= began > bodies[1]["timestamp_micros"] / 1e6, True)
expect("engagement of over a second", [event["engagement_time_msec"] >= 1200 for event in params], [True, True])
PYTHON
