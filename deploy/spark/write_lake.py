"""Writes events, findings and decisions of a night to a lake, as Parquet by day and code (docs/scale.md).

    spark-submit write_lake.py LAKE NIGHT [--events FILE] [--findings FILE] [--decisions FILE]

FILE is what --events-out, --findings-out or --decisions-out wrote, where all executors see it. LAKE is a folder of any file system that
Spark's Hadoop knows. A night that is written again takes the place of what it wrote before.
"""

import argparse

from pyspark.sql import SparkSession, functions

GAME = "eventName string, userID string, eventUUID string, eventTimestamp timestamp"
# Of each file its columns, and the one that is the code of a row. Of two forms the one counts that the first line has.
FORMS = {
    "events": [
        ("eventTypeCode string, eventTimestamp timestamp, attributes array<struct<name: string, value: string>>", "eventTypeCode"),
        (f"{GAME}, sessionID string, eventParams string", "eventName"),
    ],
    "findings": [(f"{GAME}, findings array<struct<id: string, path: string>>", "eventName")],
    "decisions": [
        (
            "eventTimestamp timestamp, userID string, sessionID string, decisionPoint string, flavour string, status int, "
            "cached boolean, error string, transactionID string, parameters string, eventParams string, image string",
            "decisionPoint",
        )
    ],
}


def write(spark, table, file, target):
    first = "".join(row.value for row in spark.read.text(file).limit(1).collect())
    columns, code = next((form for form in FORMS[table] if f'"{form[1]}":' in first), FORMS[table][0])
    rows = spark.read.schema(columns).json(file, mode="FAILFAST")
    rows = rows.withColumn("day", functions.to_date("eventTimestamp")).withColumn("code", functions.col(code))
    # A file for each day and code, and not one of each task.
    rows.repartition("day", "code").write.partitionBy("day", "code").mode("overwrite").parquet(target)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Writes what a night decided to a lake, as Parquet by day and code.")
    arguments.add_argument("lake")
    arguments.add_argument("night")
    for table in FORMS:
        arguments.add_argument(f"--{table}", metavar="FILE")
    options = arguments.parse_args()
    session = SparkSession.builder.appName("engage-batch lake").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    try:
        for table in FORMS:
            if getattr(options, table):
                write(session, table, getattr(options, table), f"{options.lake}/{table}/night={options.night}")
    finally:
        session.stop()
