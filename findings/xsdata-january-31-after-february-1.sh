#!/bin/sh
# xsdata 26.10 (PyPI), classes from XML schemas; fields of xs:dateTime in answers of XML APIs and in exports get its XmlDateTime.
# It compares and sorts by a number of seconds in which every month has the mean length, 30.4 days. The last hours of a month of 31 days are then
# later than the first half of the next day: an open at 23:00 on 31 January is "after" a tap at 00:00 on 1 February, and New Year's Eve after New
# Year. One moment in two zones is equal inside of a month and unequal across its end. `to_datetime()` of the same values compares right. So the order
# of events, "is this newer" and duplicates are wrong for half a day at the end of seven months, and tests in the middle of a month pass.
# Seen: the wrong order at the ends of January and December, also with 11 hours in between; the right one with 14 hours and at the end of April;
# 23:30-03:30 equals 03:00Z of the next day on 15 January, and not on 31 January.
exec "$(dirname "$0")/with" xsdata==26.10 <<'PYTHON'
from xsdata.models.datatype import XmlDateTime
from seen import expect

def order(*texts):
    times = [XmlDateTime.from_string(text) for text in texts]
    datetimes = [time.to_datetime() for time in times]
    return [sorted(times) == times, sorted(datetimes) == datetimes]

def equal(*texts):
    one, other = (XmlDateTime.from_string(text) for text in texts)
    return [one == other, one.to_datetime() == other.to_datetime()]

expect("open before tap, January", order("2026-01-31T23:00:00Z", "2026-02-01T00:00:00Z"), [False, True])
expect("open before tap, December", order("2026-12-31T23:00:00Z", "2027-01-01T00:00:00Z"), [False, True])
expect("11 hours later", order("2026-01-31T23:00:00Z", "2026-02-01T10:00:00Z"), [False, True])
expect("14 hours later", order("2026-01-31T23:00:00Z", "2026-02-01T13:00:00Z"), [True, True])
expect("open before tap, April", order("2026-04-30T23:00:00Z", "2026-05-01T00:00:00Z"), [True, True])
expect("one moment, mid-January", equal("2026-01-15T23:30:00-03:30", "2026-01-16T03:00:00Z"), [True, True])
expect("one moment, end of January", equal("2026-01-31T23:30:00-03:30", "2026-02-01T03:00:00Z"), [False, True])
PYTHON
