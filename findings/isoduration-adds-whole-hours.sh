#!/bin/sh
# isoduration 20.11.0 (PyPI), ISO 8601 durations, which jsonschema installs for its formats; beside isodate 0.7.2. On when a campaign ends.
# It parses fractions, keeps them as decimals and writes them back. Added to a datetime, each unit is rounded to a whole number at the end: "PT1.5H"
# after 08:00 ends at 10:00, "P0.5D" adds a day and "P0.4D" nothing. The fraction of the datetime itself is dropped, even by "PT0S", so two opens of
# one second become one. Its README shows the sum and does not speak of fractions; the algorithm of XML Schema that its code cites keeps those of
# seconds.
# Seen: 2, 1 and 0 hours for PT1.5H, PT0.5H and PT0.4H, 24 and 0 for P0.5D and P0.4D, one second for PT0.5S, 08:00:00 for 08:00:00.250 with PT0S;
# isodate adds what was asked for.
exec "$(dirname "$0")/with" isoduration==20.11.0 isodate==0.7.2 <<'PYTHON'
from datetime import datetime, timedelta, timezone
import isodate, isoduration
from seen import expect

opened = datetime(2026, 1, 15, 8, tzinfo=timezone.utc)
for text, added, asked in (
        ("PT1.5H", timedelta(hours=2), timedelta(hours=1.5)), ("PT0.5H", timedelta(hours=1), timedelta(hours=0.5)),
        ("PT0.4H", timedelta(0), timedelta(hours=0.4)), ("P0.5D", timedelta(days=1), timedelta(days=0.5)),
        ("P0.4D", timedelta(0), timedelta(days=0.4)), ("PT0.5S", timedelta(seconds=1), timedelta(seconds=0.5)),
        ("PT90M", timedelta(hours=1.5), timedelta(hours=1.5))):
    duration = isoduration.parse_duration(text)
    expect(f"{text} read and written", isoduration.format_duration(duration), text)
    expect(f"{text} added", opened + duration - opened, added)
    expect(f"{text} added by isodate", opened + isodate.parse_duration(text) - opened, asked)
later = opened.replace(microsecond=250000)
expect("nothing added to .250", later + isoduration.parse_duration("PT0S"), opened)
expect("nothing added to .250 by isodate", later + isodate.parse_duration("PT0S"), later)
PYTHON
