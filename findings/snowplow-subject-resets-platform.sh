#!/bin/sh
# snowplow-tracker 1.1.0 (PyPI), the vendor's tracker for Python.
# A Subject of one event adds to the Subject of the tracker, with the event's in front. But every Subject is born with the platform "pc", so one that
# is made only to name the user of an event also turns that event from mobile to desktop; enrichment and every filter by platform follow.
# Seen: "mob" for an event without a Subject of its own, "pc" for one whose Subject only has a user id.
exec "$(dirname "$0")/with" snowplow-tracker==1.1.0 <<'PYTHON'
from snowplow_tracker import ScreenView, Subject, Tracker
from seen import expect

class Kept:
    def input(self, payload):
        sent.append((payload["p"], payload.get("uid")))

sent = []
tracker = Tracker("app", Kept(), subject=Subject().set_platform("mob").set_user_id("P-1"))
tracker.track(ScreenView(id_="s-1", name="Basket"))
tracker.track(ScreenView(id_="s-1", name="Basket", event_subject=Subject().set_user_id("P-2")))
expect("platform and user", sent, [("mob", "P-1"), ("pc", "P-2")])
PYTHON
