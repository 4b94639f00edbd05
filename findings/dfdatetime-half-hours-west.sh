#!/bin/sh
# dfdatetime 20261027 (PyPI), the times of plaso and other tools that read phones: Cocoa, WebKit, POSIX and texts.
# West of Greenwich an offset with half an hour is written an hour too far: -02:30, which is summer in St. John's, leaves as -03:30, its winter, and
# -09:30 of the Marquesas as -10:30. Hours are rounded down below zero and the minutes counted up from there, but the sign is taken off the hours
# alone. The wall clock stays, so the text is another moment than the object, whose epoch is right, and reading it again keeps the wrong hour: twice
# through, two hours. Whole hours, and half hours in the east, are right.
# Seen: 12:00 UTC as epoch and "2026-07-15T09:30:00.250-03:30", which is 13:00 UTC; -04:30 when that is read and written; +05:30 and -03:00 as they
# were.
exec "$(dirname "$0")/with" dfdatetime==20261027 <<'PYTHON'
from datetime import datetime, timezone
from dfdatetime.posix_time import PosixTimeInMilliseconds
from dfdatetime.cocoa_time import CocoaTime
from dfdatetime.time_elements import TimeElementsInMilliseconds
from seen import expect

def through(text):
    time = TimeElementsInMilliseconds()
    time.CopyFromStringISO8601(text)
    return datetime.fromtimestamp(time.CopyToPosixTimestamp(), timezone.utc).strftime("%H:%M"), time.CopyToDateTimeStringISO8601()

wall = "2026-07-15T09:30:00.250"
expect("summer in St. John's", through(wall + "-02:30"), ("12:00", wall + "-03:30"))
expect("written, read and written", through(wall + "-03:30"), ("13:00", wall + "-04:30"))
expect("Marquesas", through(wall + "-09:30"), ("19:00", wall + "-10:30"))
for offset, moment in ("+05:30", "04:00"), ("-03:00", "12:30"), ("+00:00", "09:30"):
    expect(offset, through(wall + offset), (moment, wall + offset))
for kind, digits in (CocoaTime, ".250000"), (PosixTimeInMilliseconds, ".250"):
    time = kind()
    time.CopyFromDateTimeString("2026-07-15 09:30:00.250-02:30")
    expect(kind.__name__, time.CopyToDateTimeStringISO8601(), f"2026-07-15T09:30:00{digits}-03:30")
PYTHON
