#!/bin/sh
# humanfriendly 10.0 and pytimeparse2 1.7.1 (PyPI) on how long a campaign is valid.
# A year of humanfriendly has 52 weeks, which is 364 days; one of pytimeparse2 has 365. "52w" and "1y" are equal for the one and a day apart for the
# other. A month is 30 days for the second and no unit for the first, and pytimeparse, of which it is a fork, has neither.
# Seen: 31449600 and 31536000 seconds.
exec "$(dirname "$0")/with" humanfriendly==10.0 pytimeparse2==1.7.1 pytimeparse==1.1.10 <<'PYTHON'
import humanfriendly, pytimeparse, pytimeparse2
from seen import expect

expect("humanfriendly, days", humanfriendly.parse_timespan("1y") / 86400, 364.0)
expect("pytimeparse2, days", pytimeparse2.parse("1y") / 86400, 365.0)
expect("pytimeparse", pytimeparse.parse("1y"), None)
PYTHON
