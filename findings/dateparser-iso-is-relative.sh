#!/bin/sh
# dateparser 1.5.0 (PyPI), beside python-dateutil 4.0.0.
# Valid ISO 8601 that is not of the longest form is read as a distance from now: of "2026-01-15T08Z" and of "2026-01-15T08:00:00,5Z", with the decimal
# comma of the standard, come times that depend on the clock of the machine, and "20260115T080000Z", the basic form that log files have, is over two
# hundred years ago. "2026-W03-4", a Thursday in January, is 4 March. No error in any of the cases; all that is wrong has no zone, where
# "2026-01-15T08:00:00Z" has one.
# Seen: the year 1807 (this moved with the clock), a time of today's year and of the minute of the call, 2026-03-04.
exec "$(dirname "$0")/with" dateparser==1.5.0 python-dateutil==4.0.0 <<'PYTHON'
from datetime import datetime
import dateparser
from dateutil.parser import isoparse
from seen import expect

right = isoparse("2026-01-15T08:00:00Z")
expect("the longest form", dateparser.parse("2026-01-15T08:00:00Z") == right, True)
for text in ("20260115T080000Z", "2026-01-15T08Z", "2026-01-15T08:00:00,5Z"):
    expect(f"dateutil on {text}", isoparse(text).replace(microsecond=0) == right, True)
    found = dateparser.parse(text)
    expect(f"dateparser on {text} has no zone and is off by more than a day",
           (found.tzinfo, abs((found - right.replace(tzinfo=None)).days) > 1), (None, True))
expect("basic form", dateparser.parse("20260115T080000Z").year < 1900, True)
expect("a week", dateparser.parse("2026-W03-4"), datetime(2026, 3, 4))
PYTHON
