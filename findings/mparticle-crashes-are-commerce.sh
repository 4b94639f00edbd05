#!/bin/sh
# mparticle 0.16.1 (PyPI), the vendor's client for Python.
# A batch finds the type of an event by its class. A CrashReportEvent gets "commerce_event", which is the type of purchases, although the client knows
# "crash_report" and sends it for an event that was wrapped by hand. Crashes count as commerce, with their time and message as they were.
# Seen: commerce_event for a crash and for a purchase; crash_report only through EventBase.
exec "$(dirname "$0")/with" mparticle==0.16.1 <<'PYTHON'
from mparticle import AppEvent, Batch, CommerceEvent, CrashReportEvent, EventBase, Product, ProductAction
from mparticle.api_client import ApiClient
from seen import expect

crash = CrashReportEvent(timestamp_unixtime_ms=1768464000000, message="out of memory")
purchase = CommerceEvent(ProductAction("purchase"), timestamp_unixtime_ms=1768464060000)
wrapped = EventBase()
wrapped.event_type, wrapped.data = "crash_report", crash
batch = Batch(environment="development")
batch.events = [crash, purchase, AppEvent("offer_opened", "other"), wrapped]
sent = ApiClient.sanitize_for_serialization(batch)["events"]
expect("types", [event["event_type"] for event in sent], ["commerce_event", "commerce_event", "custom_event", "crash_report"])
expect("the crash", sent[0]["data"], {"timestamp_unixtime_ms": 1768464000000, "message": "out of memory"})
PYTHON
