#!/bin/sh
# python-dateutil 4.0.0 (PyPI), which maya 0.6.1 and delorean 2.0.0 call, and dateparser 1.5.0.
# `Date.toString()` of Android, and so many logs of apps, writes "Thu Jan 15 08:00:00 GMT+02:00 2026": two hours ahead of Greenwich. dateutil takes
# the sign as POSIX has it, two hours behind, and lands four hours away from dateparser, on the same text. "UTC+02:00" the same.
# Seen: 10:00 UTC from dateutil, maya and delorean, 06:00 UTC from dateparser.
exec "$(dirname "$0")/with" python-dateutil==4.0.0 maya==0.6.1 delorean==2.0.0 dateparser==1.5.0 setuptools==80.9.0 <<'PYTHON'
from datetime import timezone
import dateparser, dateutil.parser, delorean, maya
from seen import expect

text = "Thu Jan 15 08:00:00 GMT+02:00 2026"
expect("dateutil", dateutil.parser.parse(text).astimezone(timezone.utc).hour, 10)
expect("maya", maya.parse(text).datetime().hour, 10)
expect("delorean", delorean.parse(text).shift("UTC").datetime.hour, 10)
expect("dateparser", dateparser.parse(text).astimezone(timezone.utc).hour, 6)
expect("dateutil, UTC", dateutil.parser.parse("2026-01-15 08:00:00 UTC+02:00").astimezone(timezone.utc).hour, 10)
PYTHON
