#!/bin/sh
# chdb 4.4.0 with chdb-core 26.9.0 (PyPI): ClickHouse in a process, its type JSON.
# A name with a dot in it, as `level.name` among the properties of an event, comes back as an object in an object. Members that are null or an empty
# object do not come back at all. So the same event, read and written, has other properties than before, and `level.name` beside an object `level`
# cannot be told from a member of it.
# Seen: {"level.name": "forest", "coupon": null, "extra": {}} becomes {"level": {"name": "forest"}}.
exec "$(dirname "$0")/with" chdb==4.4.0 chdb-core==26.9.0 <<'PYTHON'
import json
import chdb
from seen import expect

def through(event):
    return json.loads(str(chdb.query(f"SELECT '{json.dumps(event)}'::JSON AS event FORMAT JSONEachRow")))["event"]

expect("properties", through({"level.name": "forest", "coupon": None, "extra": {}}), {"level": {"name": "forest"}})
PYTHON
