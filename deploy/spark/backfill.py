"""Partitions exports by device with Spark and runs engage-batch on each part.

    spark-submit --master yarn --deploy-mode cluster \\
      --conf spark.executorEnv.SWIFT_BACKTRACE=enable=no \\
      --conf spark.speculation=false --conf spark.task.maxFailures=8 \\
      backfill.py /shared/exports/events /shared/backfill 64

Every executor needs the binary and the job at the paths below; the job names its files by absolute paths. The second argument is a
folder on a shared file system with working file locks: the store of a part lives there, so that a task that is tried again goes on
where it was.

All records of a device come into one part, in the order of the export, and the number of parts must not change between runs. Nothing
is sent by the tasks (--no-upload), because together they would exceed the ten requests that the account allows at once. Afterwards
`engage-batch post PART/job.json --store PART/store.sqlite` sends each store, one after the other; only these need credentials.

Spark reads text leniently: bytes that are not UTF-8 are replaced here and cannot be found by engage-batch any more.
"""

import json
import os
import subprocess
import sys
import zlib

from pyspark.sql import SparkSession

BINARY = "/opt/engage-batch/engage-batch"
JOB = "/opt/engage-batch/backfill.json"
# Exit codes that another try does not change: bad usage, input, output, peer, credentials, configuration.
FINAL = {64, 65, 66, 73, 76, 77, 78}


def device(line):
    """The device of a line, or the line itself if it has none: engage-batch sets that aside with its reason."""
    try:
        record = json.loads(line)
        found = record.get("deviceId")
        if found is None:
            # An event as the phone stored it.
            names = {a.get("name"): a.get("value") for a in record.get("attributes", [])}
            found = names.get("Device Id")
        return found if isinstance(found, str) and found else line
    except (ValueError, AttributeError, TypeError):
        return line


def run_part(target):
    def run(index, lines):
        folder = os.path.join(target, f"part-{index:05}")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        export = os.path.join(folder, "events.ndjson")
        with open(export + ".new", "w", encoding="utf-8", newline="\n") as file:
            file.writelines(line + "\n" for line in lines)
        os.replace(export + ".new", export)
        with open(JOB, encoding="utf-8") as file:
            job = json.load(file)
        job["inputs"] = {"events": [export]}
        path = os.path.join(folder, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(job, file)
        command = [
            BINARY, "run", path, "--no-upload", "--progress", "none",
            "--store", os.path.join(folder, "store.sqlite"),
            "--report", os.path.join(folder, "reports"),
            "--summary", os.path.join(folder, "summary.json"),
        ]
        environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
        code = subprocess.run(command, env=environment, check=False).returncode
        if code and code not in FINAL:
            raise RuntimeError(f"part {index}: exit code {code}")
        yield index, code

    return run


def main(source, target, parts):
    spark = SparkSession.builder.appName("engage-batch backfill").getOrCreate()
    lines = spark.read.option("lineSep", "\n").text(source).rdd.map(lambda row: row.value)
    keyed = lines.filter(lambda line: line.strip()).zipWithIndex().map(
        lambda item: ((device(item[0]), item[1]), item[0]))
    # crc32 gives the same part in every run and on every machine; Python's hash does not.
    by_device = keyed.repartitionAndSortWithinPartitions(
        parts, lambda key: zlib.crc32(key[0].encode("utf-8", "surrogatepass")))
    ended = by_device.values().mapPartitionsWithIndex(run_part(target)).collect()
    failed = sorted((index, code) for index, code in ended if code)
    for index, code in failed:
        print(f"part {index}: exit code {code}", file=sys.stderr)
    spark.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
