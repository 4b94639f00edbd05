"""What somebody writes who knows Spark and not the steps of parts: Spark reads the lines and brings those of a device together.

    spark-submit --master 'local[2]' spark_repartition.py JOB pandas|arrow PARTS FOLDER EVENTS

Only to be measured beside deploy/spark/run_in_parts.py (docs/scale.md), because it decides wrongly wherever the device is not what
`get_json_object` finds: events of a phone's own store and links in lines of text all come into one part, away from their devices.
Quarantine knows no file and no offset, and each part has a store that is posted by itself.
"""
import json
import os
import subprocess
import sys

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

BINARY = os.environ.get("ENGAGE_BATCH", "engage-batch")


def main(job, way, parts, folder, events):
    with open(job, encoding="utf-8") as file:
        whole = json.load(file)
    os.makedirs(folder, exist_ok=True)

    def feed(batches, lines_of):
        """Gives the lines to a run that has standard input for its export, and a store of its own."""
        part = TaskContext.get().partitionId()
        path = f"{folder}/{part}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**whole, "inputs": {"events": ["-"]}, "store": f"{folder}/{part}.sqlite"}, file)
        process = subprocess.Popen([BINARY, "run", path, "--no-upload"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for batch in batches:
            process.stdin.write(lines_of(batch))
            process.stdin.write(b"\n")
        process.stdin.close()
        if process.wait():
            raise RuntimeError(f"part {part}: exit code {process.returncode}")
        return part

    def pandas(batches):
        import pandas

        yield pandas.DataFrame({"part": [feed(batches, lambda batch: "\n".join(batch["value"]).encode())]})

    def arrow(batches):
        import pyarrow
        import pyarrow.compute as compute

        def joined(batch):
            lines = pyarrow.ListArray.from_arrays([0, batch.num_rows], batch.column(0))
            return compute.binary_join(lines, "\n")[0].as_buffer()

        yield pyarrow.RecordBatch.from_pydict({"part": [feed(batches, joined)]})

    spark = SparkSession.builder.appName("repartition").getOrCreate()
    # As many partitions as were asked for, and not what Spark makes of them by their size.
    spark.conf.set("spark.sql.adaptive.enabled", False)
    lines = spark.read.text(events)
    lines = lines.repartition(parts, F.get_json_object("value", "$.deviceId"))
    if way == "arrow":
        lines.mapInArrow(arrow, "part long").collect()
    else:
        lines.mapInPandas(pandas, "part long").collect()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
