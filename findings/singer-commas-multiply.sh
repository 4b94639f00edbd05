#!/bin/sh
# singer-python 6.8.0 (PyPI), its conversion of records to a schema.
# Where the schema says number or integer, commas are deleted from a text before it is read, as if they could only separate thousands: a price of
# "9,90" becomes 990, a session of "1,5" minutes 15, and "1.234,56" is 1.23456. The factor depends on the digits behind the comma, so no division puts
# a column right. The same where text is allowed as well, as in ["null", "number", "string"]; no error, no line in the log, and no documentation.
# Seen: 990.0, 15.0, 1.23456, and 1250 for "12,50" as integer; "9.90" and "1,000" as one would think.
exec "$(dirname "$0")/with" singer-python==6.8.0 setuptools==80.9.0 <<'PYTHON'
import singer
from seen import expect

def read(text, *types):
    return singer.transform({"value": text}, {"type": "object", "properties": {"value": {"type": list(types)}}})["value"]

expect("price", read("9,90", "null", "number"), 990.0)
expect("minutes", read("1,5", "null", "number"), 15.0)
expect("more than a thousand", read("1.234,56", "null", "number"), 1.23456)
expect("integer", read("12,50", "null", "integer"), 1250)
expect("with text allowed", read("9,90", "null", "number", "string"), 990.0)
expect("others", (read("9.90", "number"), read("1,000", "number")), (9.9, 1000.0))
PYTHON
