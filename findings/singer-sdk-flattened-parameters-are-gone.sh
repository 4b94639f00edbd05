#!/bin/sh
# singer-sdk 0.54.9 (PyPI), Meltano's SDK, with `flattening_enabled`; its own SQLTarget reads what its own Tap writes.
# Schema and records are flattened by different rules: the schema by the members it declares, the record by those that are there. An object without
# declared members, as the parameters of events are, vanishes from the schema and goes out as `params__level`, which no schema has; so does an
# undeclared member of a declared object, though the SDK allows them by default. Where text or an object is allowed, only the object's members stay
# declared. The target makes its columns from the schema and drops the rest, with one line in its log for each name.
# Seen: columns device, push__campaign and valid__days; message id, level and "2 days" are in no column.
exec "$(dirname "$0")/with" singer-sdk==0.54.9 sqlalchemy==2.1.9 <<'PYTHON'
import contextlib, io, json, sqlite3
from singer_sdk import Stream, Tap
from singer_sdk import typing as th
from singer_sdk.sql import SQLConnector, SQLSink, SQLTarget
from seen import expect

class Opens(Stream):
    name = "opens"
    schema = th.PropertiesList(
        th.Property("device", th.StringType), th.Property("push", th.ObjectType(th.Property("campaign", th.StringType))),
        th.Property("params", th.ObjectType()),
        th.Property("valid", th.CustomType({"type": ["string", "object"], "properties": {"days": {"type": "integer"}}}))).to_dict()

    def get_records(self, context):
        yield {"device": "D-1", "push": {"campaign": "spring", "message": "m-1"}, "params": {"level": 3}, "valid": {"days": 2}}
        yield {"device": "D-2", "push": {"campaign": "spring"}, "params": {}, "valid": "2 days"}

class Acme(Tap):
    name = "tap-acme"
    config_jsonschema = th.PropertiesList().to_dict()

    def discover_streams(self):
        return [Opens(self)]

class Sink(SQLSink):
    connector_class = SQLConnector

class Table(SQLTarget):
    name = "target-acme"
    config_jsonschema = th.PropertiesList(th.Property("sqlalchemy_url", th.StringType)).to_dict()
    default_sink_class = Sink

with contextlib.redirect_stdout(io.StringIO()) as out:
    Acme(config={"flattening_enabled": True, "flattening_max_depth": 1}).sync_all()
messages = [json.loads(line) for line in out.getvalue().splitlines()]
declared = [name for message in messages if message["type"] == "SCHEMA" for name in message["schema"]["properties"]]
records = [message["record"] for message in messages if message["type"] == "RECORD"]
expect("declared", declared, ["device", "push__campaign", "valid__days"])
expect("sent, not declared", [sorted(set(record) - set(declared)) for record in records], [["params__level", "push__message"], ["valid"]])
with contextlib.redirect_stdout(io.StringIO()):
    Table(config={"sqlalchemy_url": "sqlite:///out.db", "add_record_metadata": False}).listen(io.StringIO(out.getvalue()))
rows = sqlite3.connect("out.db").execute("SELECT * FROM opens")
expect("columns", [column[0] for column in rows.description], declared)
expect("rows", rows.fetchall(), [("D-1", "spring", 2), ("D-2", "spring", None)])
PYTHON
