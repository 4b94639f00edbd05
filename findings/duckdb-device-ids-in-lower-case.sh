#!/bin/sh
# duckdb 2.0.1 (PyPI), reading lines of JSON and writing them again.
# A member whose first values look like UUIDs gets the type UUID, and leaves in lower case. iOS writes its vendor and advertising ids in upper case,
# so the devices of a file that went through DuckDB match none of the others. One id of another form among the first, as Android has them, and all
# keep their case: it depends on which rows come first.
# Seen: 6D92078A-... comes out as 6d92078a-...; beside an Android id it stays.
exec "$(dirname "$0")/with" duckdb==2.0.1 <<'PYTHON'
import json
import duckdb
from seen import expect

def through(*ids):
    with open("in.json", "w") as file:
        file.writelines(json.dumps({"device": device}) + "\n" for device in ids)
    duckdb.sql("COPY (SELECT * FROM read_json_auto('in.json')) TO 'out.json' (FORMAT json)")
    with open("out.json") as file:
        return [json.loads(line)["device"] for line in file]

vendor = "6D92078A-8246-4BA4-AE5B-76104861E7DC"
expect("alone", through(vendor), [vendor.lower()])
expect("beside another form", through(vendor, "9774d56d682e549c"), [vendor, "9774d56d682e549c"])
PYTHON
