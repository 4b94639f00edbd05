"""Decides the parts of a job as Spark tasks, a part each; no line passes through Python.

    spark-submit --master yarn --conf spark.executorEnv.SWIFT_BACKTRACE=enable=no \\
      --conf spark.task.cpus=1 --conf spark.task.maxFailures=8 \\
      run_in_parts.py JOB 64 /shared/backfill/2026-01-15 [/shared/backfill/2026-01-14]

The driver partitions the inputs, the executors decide the parts, the driver collects: `engage-batch` of ENGAGE_BATCH (or the path)
has to be there on all of them, and JOB with its configuration, at the same places. The folder is on a file system that all of them
share; it needs no locks. The last argument is the folder of the run before, whose states this one continues.

A task may be killed, tried again and run twice at once (spark.speculation): a result is whole or absent, and the second is the first.
Afterwards `engage-batch post JOB` sends what was collected; only that needs credentials.
"""

import os
import subprocess
import sys

from pyspark.sql import SparkSession

BINARY = os.environ.get("ENGAGE_BATCH", "engage-batch")
# Exit codes that another try does not change: bad usage, input, credentials, configuration.
FINAL = {64, 65, 66, 77, 78}


def engage_batch(*arguments):
    command = [BINARY, *map(str, arguments)]
    return subprocess.run(command, env=dict(os.environ, SWIFT_BACKTRACE="enable=no"), check=False).returncode


def decide(job, folder, before):
    def run(part):
        state = ["--state-in", f"{before}/results/{part}"] if before else []
        code = engage_batch(
            "decide", job, "--partition", f"{folder}/partition", "--part", part, *state, "--out", f"{folder}/results/{part}")
        if code and code not in FINAL:
            raise RuntimeError(f"part {part}: exit code {code}")
        return part, code

    return run


def main(job, parts, folder, before=None):
    after = ["--after", f"{before}/partition"] if before else []
    code = engage_batch("partition", job, "--parts", parts, *after, "--out", f"{folder}/partition")
    if code:
        return code
    spark = SparkSession.builder.appName("engage-batch").getOrCreate()
    decided = spark.sparkContext.parallelize(range(parts), parts).map(decide(job, folder, before)).collect()
    spark.stop()
    failed = sorted((part, code) for part, code in decided if code)
    for part, code in failed:
        print(f"part {part}: exit code {code}", file=sys.stderr)
    if failed:
        return failed[0][1]
    return engage_batch("collect", job, *(f"{folder}/results/{part}" for part in range(parts)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]))
