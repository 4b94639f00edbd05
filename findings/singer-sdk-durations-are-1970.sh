#!/bin/sh
# singer-sdk 0.54.9 (PyPI), Meltano's SDK for taps and targets, beside isodate 0.7.2.
# A `timedelta` in a record is added to 1 January 1970 and written as that moment, whatever the schema says: for the SDK's own DurationType too, whose
# documentation gives `P3D` as its example, and for a number. How long a session took becomes when it took place. The text is a valid time, so a
# reader that goes by the values makes a column of times of it. No documentation of the SDK mentions it.
# Seen: two days as a duration are "1970-01-03T00:00:00+00:00", 95 seconds as a number "1970-01-01T00:01:35+00:00"; isodate writes "P2D".
exec "$(dirname "$0")/with" singer-sdk==0.54.9 isodate==0.7.2 <<'PYTHON'
import contextlib, io, json
from datetime import timedelta
import isodate
from singer_sdk import Stream, Tap
from singer_sdk import typing as th
from seen import expect

class Sessions(Stream):
    name = "sessions"
    schema = th.PropertiesList(th.Property("valid", th.DurationType), th.Property("seconds", th.NumberType)).to_dict()

    def get_records(self, context):
        yield {"valid": timedelta(days=2), "seconds": timedelta(seconds=95)}

class Acme(Tap):
    name = "tap-acme"
    config_jsonschema = th.PropertiesList().to_dict()

    def discover_streams(self):
        return [Sessions(self)]

with contextlib.redirect_stdout(io.StringIO()) as out:
    Acme().sync_all()
messages = [json.loads(line) for line in out.getvalue().splitlines()]
properties = next(message["schema"]["properties"] for message in messages if message["type"] == "SCHEMA")
record = next(message["record"] for message in messages if message["type"] == "RECORD")
expect("format in the schema", properties["valid"]["format"], "duration")
expect("duration", record["valid"], "1970-01-03T00:00:00+00:00")
expect("number", record["seconds"], "1970-01-01T00:01:35+00:00")
expect("isodate", isodate.duration_isoformat(timedelta(days=2)), "P2D")
PYTHON
