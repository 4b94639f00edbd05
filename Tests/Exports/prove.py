"""Proves that what vendors' clients and tools for tables really write is read as what they were given.

    prove.py FOLDER [--only WORD] [--form]

Each group of packages gets a virtual environment below FOLDER. A tool writes the events of `events.py` there; `init --from` finds the preset or proposes
the map, and `map try` and a dry run are compared with what was put in. ENGAGE_BATCH is the program. `--form` prints the first record of each.
"""

import argparse
import concurrent.futures
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys

from events import ROWS, moment

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = {
    "clients": ["segment-analytics-python==2.4.0", "amplitude-analytics==1.3.0", "mixpanel==5.4.1", "mparticle==0.16.1", "snowplow-tracker==1.1.0",
                "snowplow-analytics-sdk==0.2.3"],
    "rudderstack": ["rudder-sdk-python==1.0.5"],
    "airship": ["urbanairship==7.4.1"],
    "tables": ["duckdb==2.0.1", "pandas==3.1.1", "polars==2.1.0", "pyarrow==26.0.1", "chdb==4.4.0", "chdb-core==26.9.0", "pyspark==4.3.0", "dlt==1.31.0",
               "openpyxl==3.1.5", "xlsx2csv==0.8.6", "csvkit==2.2.0"],
    "target": ["target-jsonl==0.1.4"],
    "tap": ["tap-jsonl==0.3.1"],
}


class Tool:
    """`preset` is what `init` has to find; `map` is a map by hand, for requests whose place no map can be guessed from. `nested` says what the tool makes of
    an object: kept, a text that is no JSON, or none. `seconds` is for tools that cut times, `digits` for those that round numbers as spreadsheets do."""

    def __init__(self, name, group="tables", script="tables.py", preset=None, map=None, nested="kept", seconds=False, digits=False, names=None):
        self.name, self.group, self.script, self.preset, self.map, self.nested = name, group, script, preset, map, nested
        self.seconds, self.digits, self.names = seconds, digits, names or (lambda name: name)


def client(name, group="clients", **more):
    return Tool(name, group, "clients.py", **more)


def snake(name):
    return name.lower().replace(" ", "_")


# Requests as the clients post them, which are no exports: amplitude's are of the HTTP API, Airship's of its custom events, both unlike what is exported.
AMPLITUDE = {
    "form": "json", "each": "events",
    "fields": {"deviceId": "device_id", "timestamp": {"path": "time", "time": "milliseconds"}, "mobileUserId": "user_id", "recordId": "insert_id"},
    "rules": [{"type": "namedEvent", "fields": {"name": "event_type", "params": {"members": "event_properties", "flatten": "."}}}],
}
AIRSHIP = {
    "form": "json",
    "fields": {"deviceId": "body.session_id", "timestamp": {"path": "occurred", "zone": "UTC"}, "mobileUserId": "user.named_user_id"},
    "rules": [{"type": "namedEvent", "fields": {"name": "body.name", "params": {"members": "body.properties", "flatten": "."}}}],
}

TOOLS = [
    client("segment", preset="segment"),
    client("rudderstack", "rudderstack", preset="segment"),
    client("amplitude", map=AMPLITUDE),
    client("mixpanel", preset="mixpanel"),
    client("mparticle", preset="mparticle", nested="none"),
    client("airship", "airship", map=AIRSHIP, seconds=True),
    client("snowplow", preset="snowplow-tsv", names=snake),
    Tool("snowplow-sdk", "clients", preset="snowplow", names=snake),
    *[Tool(name) for name in ("duckdb-json", "pandas-json", "pandas-iso", "polars-ndjson", "clickhouse-json", "clickhouse-csv", "clickhouse-null", "clickhouse-tsv",
                              "spark-json", "spark-csv",
                              "spark-escape", "postgres-csv", "postgres-json", "sqlite-json", "sqlite-csv", "dlt-jsonl", "dlt-csv")],
    *[Tool(name, nested="text") for name in ("duckdb-csv", "pandas-csv")],
    *[Tool(name, nested="none") for name in ("polars-csv", "pyarrow-csv")],
    Tool("in2csv", digits=True),
    Tool("xlsx2csv", seconds=True, digits=True),
    Tool("plistutil", seconds=True),
    Tool("target-jsonl", "target"),
    Tool("tap-jsonl", "tap"),
]


def quiet(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)


def install(folder, group):
    """None when the packages of a group are there, else why they are not."""
    home = f"{folder}/{group}"
    if not os.path.exists(f"{home}/done"):
        quiet(sys.executable, "-m", "venv", home)
        found = quiet(f"{home}/bin/pip", "install", "-q", "--disable-pip-version-check", *GROUPS[group])
        if found.returncode:
            return (found.stderr.strip().splitlines() or ["pip failed"])[-1]
        open(f"{home}/done", "w", encoding="utf-8").close()
    return None


def write(folder, tool):
    """The path of what a tool wrote, and why there is none."""
    home = f"{folder}/out/{tool.name}"
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    found = quiet(f"{folder}/{tool.group}/bin/python", f"{HERE}/{tool.script}", tool.name, home)
    files = glob.glob(f"{home}/export*")
    if found.returncode or not files:
        return None, (found.stderr.strip().splitlines() or [f"it ended with {found.returncode}"])[-1]
    return files[0], None


def batch(*words):
    return quiet(os.environ["ENGAGE_BATCH"], *words)


def same(value, text, digits=False):
    """Whether what the program keeps is the value that was put in, also where a table has only texts."""
    if digits and not isinstance(value, bool) and isinstance(value, (int, float)):
        return math.isclose(float(text), value, rel_tol=1e-14, abs_tol=1e-6)
    if isinstance(value, bool):
        return text is value or str(text).lower() in ({"true", "t", "1"} if value else {"false", "f", "0"})
    if isinstance(value, (int, float)):
        try:
            return type(value)(text) == value and not isinstance(text, bool)
        except ValueError:
            return False
    return text == value


def differences(tool, made):
    if len(made) != len(ROWS):
        return [f"{len(made)} records for {len(ROWS)}"]
    found = []
    for row, record in zip(ROWS, made):
        time = row[3] // 1000 * 1000 if tool.seconds else row[3]
        expected = {
            "deviceId": row[1], "timestamp": moment(time).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "name": tool.names(row[4]), "mobileUserId": row[2],
        }
        found += [f"{row[0]}: {name} is {record.get(name)!r}, not {value!r}" for name, value in expected.items() if record.get(name) != value]
        params = record.get("params", {})
        for name, value in (("campaign", row[5]), ("amount", row[6]), ("quantity", row[7]), ("premium", row[8])):
            got = [text for key, text in params.items() if key.split(".")[-1] == name]
            if (value is None and got not in ([], [None])) or (value is not None and (len(got) != 1 or not same(value, got[0], tool.digits))):
                found.append(f"{row[0]}: {name} is {got!r}, not {value!r}")
        if tool.nested == "kept" and row[9]:
            got = [text for key, text in params.items() if re.search(r"level(\.|__)name$", key)]
            if got != [row[9]["level"]["name"]] and (got or row[9]["level"]["name"]):
                found.append(f"{row[0]}: level.name is {got!r}, not {row[9]['level']['name']!r}, of {sorted(params)}")
    return found


def read(folder, tool, export):
    """What the program gets wrong of an export."""
    home = f"{folder}/out/{tool.name}/job"
    shutil.rmtree(home, ignore_errors=True)
    began = batch("init", home, *([] if tool.map else ["--from", export]))
    if tool.map:
        with open(f"{home}/map.json", "w", encoding="utf-8") as file:
            json.dump(tool.map, file)
        with open(f"{home}/job.json", "w", encoding="utf-8") as file:
            json.dump({"name": "own", "inputs": {"events": [{"path": export, "map": "map.json"}]}, "store": "own.sqlite"}, file)
    if not os.path.exists(f"{home}/job.json"):
        return ["init writes no job: " + (began.stderr + began.stdout).strip()[:300]]
    with open(f"{home}/job.json", encoding="utf-8") as file:
        kind, entries = next(iter(json.load(file)["inputs"].items()))
    entry = entries[0].get("map") if isinstance(entries[0], dict) else None
    found = [f"init ends with {began.returncode}"] if began.returncode else []
    if tool.preset and f"preset '{tool.preset}'" not in began.stdout + began.stderr:
        found.append(f"init does not name the preset {tool.preset}")
    if not entry:
        return found + ["init names no map"]
    tried = batch("map", "try", f"{home}/{entry}" if "." in entry else entry, export, "--kind", kind, "--limit", "100")
    made = [json.loads(line.split("becomes", 1)[1]) for line in tried.stdout.splitlines() if re.match(r" +becomes +\{", line)]
    found += differences(tool, made)
    ran = batch("run", f"{home}/job.json", "--as-of", "2026-01-20T00:00:00Z", "--dry-run", "--events-out", f"{home}/events")
    if ran.returncode:
        return found + [f"run ends with {ran.returncode}: {ran.stderr.strip()[:300]}"]
    with open(f"{home}/events", encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    named = []
    for event in events:
        if str(event.get("eventTypeCode")) == "17":
            attributes = {attribute["name"]: attribute["value"] for attribute in event["attributes"]}
            named.append((attributes.get("Device Id"), event["eventTimestamp"], attributes.get("Event Name")))
    expected = [(line.get("deviceId"), line.get("timestamp"), line.get("name")) for line in made]
    if sorted(named, key=str) != sorted(expected, key=str):
        found.append(f"a run makes {named} of {expected}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--form", action="store_true")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    os.makedirs(folder, exist_ok=True)
    tools = [tool for tool in TOOLS if options.only in tool.name]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        missing = dict(zip(GROUPS, pool.map(lambda group: install(folder, group) if any(tool.group == group for tool in tools) else None, GROUPS)))
    passed, failed, skipped = 0, 0, 0
    for tool in tools:
        export, why = (None, missing[tool.group]) if missing[tool.group] else write(folder, tool)
        if not export:
            skipped += 1
            print(f"skipped  {tool.name}: {why}")
            continue
        found = read(folder, tool, export)
        passed, failed = passed + (not found), failed + bool(found)
        print(f"{'wrong' if found else 'right':8} {tool.name}")
        for line in found:
            print(f"         {line}")
        if options.form:
            with open(export, encoding="utf-8") as file:
                print("         " + file.read(400).replace("\n", "\n         "))
        sys.stdout.flush()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    if failed or (not options.only and passed + failed < 14):
        sys.exit(1)


main()
