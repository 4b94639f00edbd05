#!/bin/sh
# betterproto 1.2.5 (PyPI), classes for Protocol Buffers, beside protobuf 7.36.2, Google's own. Its README calls its times "timezone-aware".
# One message has two times. `bytes()` converts a datetime to UTC; `to_json` and `to_dict` drop its zone, keep its wall clock and put a "Z" behind it.
# An open at 09:30 in Berlin is 08:30 UTC on the wire and 09:30 UTC in the JSON of the same object, and every reader takes the "Z" at its word.
# `from_json` keeps the offset it reads, so a relay that reads "09:30:00+01:00" and writes JSON again makes the hour later by itself. 2.0.0b7, a beta,
# does not do it.
# Seen: "2026-01-15T09:30:00Z" as JSON and 08:30 UTC from the bytes, by both libraries; the same for the relay.
exec "$(dirname "$0")/with" betterproto==1.2.5 protobuf==7.36.2 <<'PYTHON'
import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
import betterproto
from google.protobuf.timestamp_pb2 import Timestamp
from seen import expect

@dataclass
class Open(betterproto.Message):
    at: datetime = betterproto.message_field(1)

def forms(message):
    data = bytes(message)
    google = Timestamp.FromString(data[2:])  # after the tag and the length of the field
    return json.loads(message.to_json())["at"], Open().parse(data).at.isoformat(), google.ToJsonString()

berlin = Open(at=datetime(2026, 1, 15, 9, 30, tzinfo=timezone(timedelta(hours=1))))
two = ("2026-01-15T09:30:00Z", "2026-01-15T08:30:00+00:00", "2026-01-15T08:30:00Z")
expect("json, bytes, bytes by Google", forms(berlin), two)
expect("read from json", forms(Open().from_json('{"at": "2026-01-15T09:30:00+01:00"}')), two)
google = Timestamp()
google.FromDatetime(berlin.at)
expect("json by Google", google.ToJsonString(), "2026-01-15T08:30:00Z")
utc = Open(at=datetime(2026, 1, 15, 8, 30, tzinfo=timezone.utc))
expect("UTC", forms(utc), ("2026-01-15T08:30:00Z", "2026-01-15T08:30:00+00:00", "2026-01-15T08:30:00Z"))
PYTHON
