#!/bin/sh
# delorean 2.0.0 (PyPI).
# A date with the year in front is read by its digits: "2026-01-02 08:00:00" is in January, "2026-1-2 8:00:00" in February, because the second is no
# ISO form any more and falls to a parser that takes the day first, also behind a year. No calendar writes year, day, month. From the 13th on both
# spellings agree, so half of each month is right.
# Seen: month 1 and month 2; with the 15th, month 1 for both.
exec "$(dirname "$0")/with" delorean==2.0.0 python-dateutil==4.0.0 <<'PYTHON'
import delorean
from seen import expect

expect("padded", delorean.parse("2026-01-02 08:00:00").datetime.month, 1)
expect("not padded", delorean.parse("2026-1-2 8:00:00").datetime.month, 2)
expect("the 15th, not padded", delorean.parse("2026-1-15 8:00:00").datetime.month, 1)
PYTHON
