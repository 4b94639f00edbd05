#!/bin/sh
# tablib 3.10.0 (PyPI), the table library of Django's import and export.
# A JSON array of objects is read by position: the first object names the columns, and the values of all others are taken in the order in which they
# stand there. JSON objects have no order, and exporters leave members out, so ids land in other columns; nothing is said as long as the number of
# members is the same.
# Seen: device and campaign change places in the second record, and of the third, `screen` becomes the campaign.
exec "$(dirname "$0")/with" tablib==3.10.0 <<'PYTHON'
import json
import tablib
from seen import expect

records = [{"device": "D-1", "campaign": "spring"}, {"campaign": "summer", "device": "D-2"}, {"device": "D-3", "screen": "Basket"}]
read = [dict(row) for row in tablib.Dataset().load(json.dumps(records), format="json").dict]
expect("second", read[1], {"device": "summer", "campaign": "D-2"})
expect("third", read[2], {"device": "D-3", "campaign": "Basket"})
PYTHON
