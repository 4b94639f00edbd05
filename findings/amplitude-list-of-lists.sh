#!/bin/sh
# amplitude-analytics 1.3.0 (PyPI), the vendor's client for Python.
# One property that is not of a listed type takes all properties with it: the check is of the dictionary as a whole. `None` is fine as a value but not
# in a list, a list in a list is not, and neither is a Decimal or a datetime. The event goes out with its name and time, and with no
# `event_properties` at all; the campaign that stood beside the odd value is gone.
# Seen: {'campaign': 'spring'} alone arrives; beside 'path': [[1, 2]], 'seen': [None] or 'price': Decimal('9.90') nothing arrives.
exec "$(dirname "$0")/with" amplitude-analytics==1.3.0 <<'PYTHON'
import decimal
from amplitude import BaseEvent
from seen import expect

def sent(**more):
    return BaseEvent("open", device_id="D-1", event_properties={"campaign": "spring", **more}).get_event_body().get("event_properties")

expect("alone", sent(), {"campaign": "spring"})
expect("with None", sent(note=None), {"campaign": "spring"})
expect("with a list that has None", sent(seen=[None]), None)
expect("with a list in a list", sent(path=[[1, 2]]), None)
expect("with a Decimal", sent(price=decimal.Decimal("9.90")), None)
PYTHON
