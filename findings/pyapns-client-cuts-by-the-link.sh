#!/bin/sh
# pyapns-client 2.0.6 (PyPI), a client for Apple's push service.
# Apple takes 4,096 bytes. The client shortens the text of an alert until the whole payload fits into 2,048, and what does not fit are mostly custom
# members: with a link of 2,000 characters the text is cut down to "..." and sent so, although the payload is still too long for the client and fine
# for Apple. It counts after escaping, so a Greek or Russian letter is six bytes, and 400 of them are cut. Nothing raises or is logged, and neither the
# README nor a docstring mentions a limit.
# Seen: 'Two days ...' with a link of 1,980 characters, '...' and 2,059 bytes with one of 2,000; 331 of 400 letters.
exec "$(dirname "$0")/with" pyapns-client==2.0.6 <<'PYTHON'
import json
from pyapns_client import IOSPayload, IOSPayloadAlert
from seen import expect

def sent(text, link=""):
    payload = IOSPayload(alert=IOSPayloadAlert(title="Spring", body=text), custom={"link": link}).to_json()
    return len(payload), json.loads(payload)["aps"]["alert"]["body"]

text = "Two days left: everything at half price"
expect("a link of 1,900", sent(text, "x" * 1900), (1995, text))
expect("a link of 1,980", sent(text, "x" * 1980), (2048, "Two days ..."))
expect("a link of 2,000", sent(text, "x" * 2000), (2059, "..."))
size, shown = sent("Ω" * 400)
expect("Greek letters shown", (shown.count("Ω"), shown[-3:]), (331, "..."))
PYTHON
