#!/bin/sh
# dlt 1.31.0 (PyPI) with duckdb 2.0.1.
# Names become snake case. Members that are one name then share a column, and the last one of a record wins: `deviceId`, `device_id` and `DeviceID`,
# which merged exports have side by side, leave one value, and of `a-b` and `a b` one. Nothing is logged, and the row counts.
# Seen: {'deviceId': 'A', 'device_id': 'B', 'DeviceID': 'C'} is a row with device_id 'C' alone.
exec "$(dirname "$0")/with" 'dlt[duckdb]==1.31.0' duckdb==2.0.1 <<'PYTHON'
import os
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
import dlt, duckdb
from seen import expect

pipeline = dlt.pipeline("events", destination=dlt.destinations.duckdb("store.duckdb"), dataset_name="events", pipelines_dir="dlt")
pipeline.run([{"deviceId": "A", "device_id": "B", "DeviceID": "C"}], table_name="launches")
result = duckdb.connect("store.duckdb").execute("SELECT * FROM events.launches")
row = {column[0]: value for column, value in zip(result.description, result.fetchone()) if not column[0].startswith("_dlt")}
expect("row", row, {"device_id": "C"})
PYTHON
