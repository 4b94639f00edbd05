#!/bin/sh
# segment-analytics-python 2.4.0 (PyPI), the vendor's client for Python.
# A value that JSON has no form for is left out with a line in the log. In a list the whole list is: the error is caught at the nearest dictionary. So
# of three ids of messages, one of which is a UUID and not a text, none arrives.
# Seen: 'ids': ['m-1', UUID] and 'waits': [1, timedelta] are absent; 'name' beside them arrives.
exec "$(dirname "$0")/with" segment-analytics-python==2.4.0 <<'PYTHON'
import uuid
from datetime import timedelta
from segment.analytics.client import Client
from seen import expect

_, message = Client("key", send=False).track("P-1", "opened", {
    "name": "spring", "ids": ["m-1", uuid.UUID(int=7), "m-3"], "waits": [1, timedelta(seconds=2)], "one": {"id": uuid.UUID(int=8), "n": 1}})
expect("properties", message["properties"], {"name": "spring", "one": {"n": 1}})
PYTHON
