#!/bin/sh
# timelength 3.0.4 (PyPI), a reader of durations, on how long a campaign is valid; isodate 0.7.2 writes some of them.
# Its units are read in any case ("12H", "1W", "2 DAYS"), except two letters: D is a decade and M a month, which its README does not say. "2D" is
# twenty years even with FailureFlags.ALL. With its default flags it skips letters that it does not know, and so takes the ISO 8601
# durations that isodate writes: an offer for two days lasts twenty years, one for thirty minutes two and a half, and `success` is true.
# Seen: 7300 days for "2D" and "P2D", 915 for "30M" and "PT30M", half a day for "P1DT12H"; two days for "2d" and "2 DAYS".
exec "$(dirname "$0")/with" timelength==3.0.4 isodate==0.7.2 <<'PYTHON'
from datetime import timedelta
import isodate
from timelength import English, FailureFlags, TimeLength
from seen import expect

def days(text, flags=FailureFlags.ALL):
    result = TimeLength(text, locale=English(flags=flags)).result
    return result.success and result.seconds / 86400

expect("lower case", [days(text) for text in ("2d", "12h", "1w")], [2.0, 0.5, 7.0])
expect("upper case", [days(text) for text in ("2 DAYS", "12H", "1W")], [2.0, 0.5, 7.0])
expect("2D", days("2D"), 7300.0)
expect("30M", days("30M"), 915.0)
for length, text, found in (
        (timedelta(days=2), "P2D", 7300.0), (timedelta(minutes=30), "PT30M", 915.0), (timedelta(hours=36), "P1DT12H", 0.5)):
    expect(f"isodate of {length}", isodate.duration_isoformat(length), text)
    expect(f"days of {text}", days(text, FailureFlags.NONE), found)
PYTHON
