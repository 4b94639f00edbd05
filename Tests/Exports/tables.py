"""What tools for tables write of the same events: `tables.py TOOL-FORM FOLDER` writes FOLDER/export, with the ending that the tool gives it."""

import glob
import json
import os
import shutil
import subprocess
import sys

from events import COLUMNS, moment, records

TOOL, FOLDER = sys.argv[1:]
BIN = os.path.dirname(sys.executable)


def path(name):
    return os.path.join(FOLDER, name)


def arrow():
    import pyarrow
    level = pyarrow.struct([("level", pyarrow.struct([("name", pyarrow.string())]))])
    types = {"event_time": pyarrow.timestamp("ms", tz="UTC"), "amount": pyarrow.float64(), "quantity": pyarrow.int64(), "premium": pyarrow.bool_(),
             "props": level}
    return pyarrow.Table.from_pylist(records(), pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in COLUMNS]))


def nested_as_text(rows):
    return [{**row, "props": row["props"] and json.dumps(row["props"])} for row in rows]


def duckdb_json():
    import duckdb
    events = arrow()
    duckdb.sql(f"SET TimeZone = 'UTC'; COPY events TO '{path('export.json')}' (FORMAT json)")


def duckdb_csv():
    import duckdb
    events = arrow()
    duckdb.sql(f"SET TimeZone = 'UTC'; COPY events TO '{path('export.csv')}'")


def frame():
    import pandas
    table = pandas.DataFrame(records())
    table["event_time"] = pandas.to_datetime(table["event_time"], utc=True)
    return table


def pandas_json():
    frame().to_json(path("export.json"), orient="records", lines=True)


def pandas_iso():
    frame().to_json(path("export.json"), orient="records", lines=True, date_format="iso")


def pandas_csv():
    frame().to_csv(path("export.csv"), index=False)


def polars_ndjson():
    import polars
    polars.from_arrow(arrow()).write_ndjson(path("export.ndjson"))


def polars_csv():
    import polars
    polars.from_arrow(arrow()).drop("props").write_csv(path("export.csv"))


def pyarrow_csv():
    from pyarrow import csv as writer
    writer.write_csv(arrow().drop_columns("props"), path("export.csv"))


def clickhouse(form, ending, settings=""):
    import chdb
    with open(path("rows.ndjson"), "w", encoding="utf-8") as file:
        for row in records(lambda time: f"{time / 1000:.3f}"):
            file.write(json.dumps(row) + "\n")
    shape = ("event_id String, device_id String, user_id Nullable(String), event_time DateTime64(3, 'UTC'), event_name String, "
             "campaign Nullable(String), amount Float64, quantity Int64, premium Bool, props JSON")
    found = chdb.query(f"SELECT * FROM file('{path('rows.ndjson')}', JSONEachRow, $${shape}$$) FORMAT {form}{settings}")
    with open(path("export." + ending), "wb") as file:
        file.write(found.bytes())


def clickhouse_json():
    clickhouse("JSONEachRow", "json")


def clickhouse_csv():
    clickhouse("CSVWithNames", "csv")


def clickhouse_null():
    clickhouse("CSVWithNames", "csv", " SETTINGS format_csv_null_representation = ''")


def clickhouse_tsv():
    clickhouse("TSVWithNames", "tsv")


def spark(form, **options):
    from pyspark.sql import SparkSession
    session = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
               .config("spark.log.level", "ERROR").getOrCreate())
    shape = ("event_id string, device_id string, user_id string, event_time timestamp, event_name string, campaign string, amount double, "
             "quantity long, premium boolean, props struct<level: struct<name: string>>")
    table = session.createDataFrame([tuple(row.values()) for row in records()], shape)
    if form == "csv":
        table = table.selectExpr(*COLUMNS[:-1], "to_json(props) AS props")
    table.coalesce(1).write.options(**options).format(form).save(path("out"))
    session.stop()
    shutil.copy(glob.glob(path("out/part-*"))[0], path("export." + form))


def spark_json():
    spark("json")


def spark_csv():
    spark("csv", header=True)


def spark_escape():
    spark("csv", header=True, escape='"')


def postgres(query, ending):
    """A server of its own in the folder, which psql reaches by a socket."""
    programs = max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda name: int(name.split("/")[4]))
    folder = path("pg")
    os.makedirs(folder)
    prefix = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        prefix = ["runuser", "-u", "postgres", "--"]

    def run(*words, **more):
        return subprocess.run([*prefix, *words], check=True, capture_output=True, cwd="/tmp", **more)

    run(f"{programs}/initdb", "-D", f"{folder}/data", "--auth=trust", "--encoding=UTF8", "--no-locale")
    run(f"{programs}/pg_ctl", "-D", f"{folder}/data", "-o", f"-c listen_addresses= -k {folder} -c timezone=UTC", "-w", "-l", f"{folder}/log", "start")
    try:
        rows = json.dumps(records(lambda time: moment(time).isoformat()))
        shape = ("event_id text, device_id text, user_id text, event_time timestamptz, event_name text, campaign text, amount float8, "
                 "quantity bigint, premium boolean, props jsonb")
        script = f"CREATE TABLE events ({shape}); INSERT INTO events SELECT * FROM json_populate_recordset(NULL::events, $rows${rows}$rows$);"
        words = [f"{programs}/psql", "-h", folder, "-d", "postgres", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        run(*words, input=script.encode())
        with open(path("export." + ending), "wb") as file:
            file.write(run(*words, "-c", query).stdout)
    finally:
        run(f"{programs}/pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "stop")


def postgres_csv():
    postgres("COPY events TO STDOUT (FORMAT csv, HEADER)", "csv")


def postgres_json():
    postgres("SELECT row_to_json(events) FROM events", "json")


def sqlite(option, ending):
    import sqlite3
    store = sqlite3.connect(path("events.db"))
    store.execute("CREATE TABLE events (" + ", ".join(COLUMNS) + ")")
    rows = nested_as_text(records(lambda time: moment(time).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]))
    store.executemany("INSERT INTO events VALUES (" + ", ".join("?" * len(COLUMNS)) + ")", [tuple(row.values()) for row in rows])
    store.commit()
    with open(path("export." + ending), "wb") as file:
        subprocess.run(["sqlite3", *option, path("events.db"), "SELECT * FROM events"], stdout=file, check=True)


def sqlite_json():
    sqlite(["-json"], "json")


def sqlite_csv():
    sqlite(["-csv", "-header"], "csv")


def dlt_with(form):
    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    os.environ["NORMALIZE__DATA_WRITER__DISABLE_COMPRESSION"] = "true"
    import dlt
    # What is nested becomes columns, as dlt does it unless told otherwise.
    pipeline = dlt.pipeline("events", destination=dlt.destinations.filesystem(bucket_url="file://" + os.path.abspath(path("out"))),
                            dataset_name="d", pipelines_dir=path("dlt"))
    pipeline.run(records(), table_name="events", loader_file_format=form)
    found = [name for name in glob.glob(path("out/d/events/*")) if f".{form}" in name]
    shutil.copy(found[0], path("export." + form))


def dlt_jsonl():
    dlt_with("jsonl")


def dlt_csv():
    dlt_with("csv")


def workbook():
    import openpyxl
    book = openpyxl.Workbook()
    book.active.append(COLUMNS)
    for row in nested_as_text(records(lambda time: moment(time).replace(tzinfo=None))):
        book.active.append(list(row.values()))
        book.active.cell(book.active.max_row, 4).number_format = "yyyy-mm-dd hh:mm:ss"
    book.save(path("events.xlsx"))


def xlsx2csv():
    workbook()
    subprocess.run([f"{BIN}/xlsx2csv", path("events.xlsx"), path("export.csv")], check=True)


def in2csv():
    workbook()
    with open(path("export.csv"), "wb") as file:
        subprocess.run([f"{BIN}/in2csv", "-I", path("events.xlsx")], stdout=file, check=True)


def messages():
    kinds = {"amount": {"type": ["null", "number"]}, "quantity": {"type": "integer"}, "premium": {"type": "boolean"}, "props": {"type": ["null", "object"]},
             "event_time": {"type": "string", "format": "date-time"}}
    shape = {"type": "object", "properties": {name: kinds.get(name, {"type": ["null", "string"]}) for name in COLUMNS}}
    yield {"type": "SCHEMA", "stream": "events", "schema": shape, "key_properties": ["event_id"]}
    for row in records(lambda time: moment(time).isoformat()):
        yield {"type": "RECORD", "stream": "events", "record": row}


def target(program, settings, found):
    with open(path("config.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file)
    subprocess.run([f"{BIN}/{program}", "-c", "config.json"], cwd=FOLDER, check=True, capture_output=True,
                   input="".join(json.dumps(message) + "\n" for message in messages()).encode())
    shutil.copy(glob.glob(path(found))[0], path("export.jsonl"))


def target_jsonl():
    target("target-jsonl", {"destination_path": ".", "do_timestamp_file": False, "disable_collection": True}, "events*.jsonl")


def tap_jsonl():
    """The messages of a tap as they are, which some keep as files."""
    with open(path("events.jsonl"), "w", encoding="utf-8") as file:
        for row in records(lambda time: moment(time).isoformat()):
            file.write(json.dumps(row) + "\n")
    with open(path("config.json"), "w", encoding="utf-8") as file:
        json.dump({"files": [{"entity": "events", "path": os.path.abspath(path("events.jsonl")), "keys": ["event_id"]}],
                   "path": os.path.abspath(path("events.jsonl")), "name": "events"}, file)
    with open(path("export.jsonl"), "wb") as file:
        subprocess.run([f"{BIN}/tap-jsonl", "--config", path("config.json")], stdout=file, check=True)


def plistutil():
    import plistlib
    with open(path("events.plist"), "wb") as file:
        rows = [{name: value for name, value in row.items() if value is not None}
                for row in records(lambda time: moment(time).replace(tzinfo=None))]
        plistlib.dump(rows, file, fmt=plistlib.FMT_BINARY)
    subprocess.run(["plistutil", "-i", path("events.plist"), "-f", "xml", "-o", path("export.plist")], check=True)


def snowplow_sdk():
    from snowplow_analytics_sdk.event_transformer import ENRICHED_EVENT_FIELD_TYPES, transform
    names = [name for name, _ in ENRICHED_EVENT_FIELD_TYPES]
    with open(path("export.json"), "w", encoding="utf-8") as file:
        for row in records(lambda time: moment(time).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]):
            data = {name: row[name] for name in ("campaign", "amount", "quantity", "premium") if row[name] is not None}
            data |= row["props"] or {}
            values = {
                "platform": "mob", "event": "unstruct", "event_id": row["event_id"], "domain_userid": row["device_id"], "user_id": row["user_id"] or "",
                "derived_tstamp": row["event_time"], "event_vendor": "com.acme", "event_name": row["event_name"].lower().replace(" ", "_"),
                "event_format": "jsonschema", "event_version": "1-0-0",
                "unstruct_event": json.dumps({"schema": "iglu:com.snowplowanalytics.snowplow/unstruct_event/jsonschema/1-0-0", "data": {
                    "schema": f"iglu:com.acme/{row['event_name'].lower().replace(' ', '_')}/jsonschema/1-0-0", "data": data}}),
            }
            file.write(json.dumps(transform("\t".join(values.get(name, "") for name in names))) + "\n")


globals()[TOOL.replace("-", "_")]()
