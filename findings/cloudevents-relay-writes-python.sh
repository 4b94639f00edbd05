#!/bin/sh
# cloudevents 2.2.0 (PyPI), the Python SDK of the CloudEvents project.
# A relay reads events in structured mode and sends them on in binary mode, both with the SDK. Data that is a list, such as several taps, is sent as
# Python prints it, `[{'campaign': 'spring', 'paid': True}]`, as application/json. That is no JSON, and the SDK reads it as text without an error. Data
# or an attribute that is false is sent as "False", which is no boolean of CloudEvents, and as text it is true. Objects are fine.
# Seen: b"[{'campaign': 'spring', 'paid': True}]", which is read as a str; b"False" as data and "False" as ce-paid.
exec "$(dirname "$0")/with" cloudevents==2.2.0 <<'PYTHON'
import json
from cloudevents.core.bindings.http import HTTPMessage, from_http, to_binary
from cloudevents.core.formats.json import JSONFormat
from seen import expect

def relay(data):
    event = {"specversion": "1.0", "id": "E-1", "source": "/app", "type": "taps", "datacontenttype": "application/json", "paid": False, "data": data}
    message = HTTPMessage({"content-type": "application/cloudevents+json"}, json.dumps(event).encode())
    return to_binary(from_http(message, JSONFormat()), JSONFormat())

tap = {"campaign": "spring", "paid": True}
expect("an object", relay(tap).body, b'{"campaign": "spring", "paid": true}')
message = relay([tap])
expect("a list", message.body, b"[{'campaign': 'spring', 'paid': True}]")
expect("its type", message.headers["content-type"], "application/json")
expect("read again", from_http(message, JSONFormat()).get_data(), "[{'campaign': 'spring', 'paid': True}]")
expect("a boolean", (relay(False).body, message.headers["ce-paid"]), (b"False", "False"))
PYTHON
