#!/bin/sh
# airbyte-source-mixpanel 4.0.2 (PyPI), Airbyte's source for the export of Mixpanel; it needs Python 3.10 or 3.11.
# Properties lose their "$", and of two names that are equal then, the later one gets an underscore. The schema compares all names of the project, but
# each record only its own. `$city`, which Mixpanel adds from the IP address, is the column `city`, and the app's `city` is `_city` in events with both;
# in events without an address, as servers send them, the app's city is in Mixpanel's column. Nothing checks that the new name is free either: of
# `Plan`, `_plan` and `plan` two values are kept.
# Seen: 'Graz' in `_city` for the first event and in `city` for the second; `_plan` is 'gold', and 'trial' is gone.
exec "$(dirname "$0")/with" airbyte-source-mixpanel==4.0.2 airbyte-cdk==6.61.6 setuptools==80.9.0 <<'PYTHON'
import json
from types import SimpleNamespace
from source_mixpanel import streams
from seen import expect

def event(**properties):
    return {"event": "opened", "properties": {"time": 1768464000, "distinct_id": "D-1", **properties}}

exported = [event(**{"$city": "Wien", "city": "Graz"}), event(city="Graz"), event(Plan="basic", _plan="trial", plan="gold")]
names = sorted({name for record in exported for name in record["properties"]})
streams.ExportSchema = lambda **_: SimpleNamespace(read_records=lambda **_: names)
export = streams.Export(authenticator=None, region="US")
columns = export.get_json_schema()["properties"]
answer = SimpleNamespace(iter_lines=lambda **_: [json.dumps(record) for record in exported])
rows = list(export.process_response(answer))
expect("columns of the schema", [name for name in ("city", "_city") if name in columns], ["city", "_city"])
expect("the app's city", [[name for name, value in row.items() if value == "Graz"] for row in rows[:2]], [["_city"], ["city"]])
expect("plans", {name: value for name, value in rows[2].items() if "plan" in name.lower()}, {"Plan": "basic", "_plan": "gold"})
PYTHON
