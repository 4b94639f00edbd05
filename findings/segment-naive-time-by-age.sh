#!/bin/sh
# segment-analytics-python 2.4.0 (PyPI), the vendor's client for Python; rudder-sdk-python has the same code.
# What a datetime without a zone means depends on how old it is: less than five seconds, or in the future, and it is in the zone of the machine;
# older, and it is UTC. West of Greenwich `datetime.utcnow()` lies ahead of the wall clock, so it gets the zone of the machine and moves by its
# offset; the same call east of Greenwich is right. A phone's clock that runs ahead moves the same way.
# Seen, in America/Los_Angeles: an hour ago is "+00:00", an hour ahead is "-08:00", and utcnow() is sent eight hours (in summer seven) too late.
exec "$(dirname "$0")/with" segment-analytics-python==2.4.0 <<'PYTHON'
import os, time
os.environ["TZ"] = "America/Los_Angeles"
time.tzset()
from datetime import datetime, timedelta, timezone
from segment.analytics.client import Client
from seen import expect

client = Client("key", send=False)
def sent(moment):
    return datetime.fromisoformat(client.track("P-1", "launch", timestamp=moment)[1]["timestamp"])

here = datetime.now().astimezone().utcoffset()
expect("an hour ago", sent(datetime.now() - timedelta(hours=1)).utcoffset(), timedelta(0))
expect("an hour ahead", sent(datetime.now() + timedelta(hours=1)).utcoffset(), here)
utc = datetime.now(timezone.utc)
expect("utcnow() is off by", round((sent(utc.replace(tzinfo=None)) - utc).total_seconds()), -round(here.total_seconds()))
PYTHON
