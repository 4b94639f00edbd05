"""Runs a job in parts as Spark tasks, the reading of its exports too; no line passes through Python one by one.

    spark-submit --master yarn --conf spark.executorEnv.SWIFT_BACKTRACE=enable=no \\
      --conf spark.task.cpus=1 --conf spark.task.maxFailures=8 \\
      run_in_parts.py JOB 64 /shared/backfill/2026-01-15 [/shared/backfill/2026-01-14] \\
      [--events s3a://exports/2026-01-15/events] [--notifications URI] [--deep-links URI] \\
      [--json-column payload | --field deviceId=device --field "timestamp=to_timestamp(ms / 1000)" ...]

The executors read the files and decide the parts, the driver puts together and collects: `engage-batch` of ENGAGE_BATCH (or the path)
has to be there on all of them, and JOB with its configuration, at the same places. The folder is on a file system that all of them
share; it needs no locks. The last argument is the folder of the run before, whose states this one continues.

URIs are of any file system that Spark's Hadoop knows, with its settings: files, folders with all below them, patterns. Without any the
driver reads the inputs that JOB names. Files that end in .parquet are rows: each gives a line, the text of --json-column, or an object
of the --field columns, which are expressions of Spark's SQL. docs/scale.md says what reads what, and why.

A task may be killed, tried again and run twice at once (spark.speculation): what it makes is whole or absent, and the second is the
first. Afterwards `engage-batch post JOB` sends what was collected; only that needs credentials.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from urllib.parse import unquote

from pyspark import SparkContext

BINARY = os.environ.get("ENGAGE_BATCH", "engage-batch")
# Exit codes that another try does not change: bad usage, input, credentials, configuration.
FINAL = {64, 65, 66, 77, 78}
KINDS = ["events", "notifications", "deepLinks"]
# What Spark's reader of whole files takes.
LONGEST_FILE = 2**31 - 16
# Small files of a mounted file system are read together, up to so many bytes a task; longer ones that are not compressed, in ranges.
TOGETHER = int(os.environ.get("ENGAGE_BATCH_TOGETHER", 256 << 20))
MOST_TOGETHER = 1000


def command(*arguments):
    return [BINARY, *map(str, arguments)], dict(os.environ, SWIFT_BACKTRACE="enable=no")


def engage_batch(*arguments, stdin=None):
    line, environment = command(*arguments)
    return subprocess.run(line, env=environment, stdin=stdin, check=False).returncode


def outcome(task, code):
    """Spark tries again what may go better."""
    if code and code not in FINAL:
        raise RuntimeError(f"{task}: exit code {code}")
    return task, code


class Pieces:
    """Makes pieces of the partition on executors: what files that follow each other in the list give to all parts.

    A task has the entries of its own files and not the list, which would cost the square of their number.
    """

    def __init__(self, job, parts, folder):
        self.arguments = ["partition", job, "--parts", parts]
        self.folder = folder

    def open(self, first, entries, stdin=subprocess.PIPE):
        section = tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8")
        json.dump({"first": first, "files": entries}, section)
        section.flush()
        only = f"{first}-{first + len(entries) - 1}"
        line, environment = command(
            *self.arguments, "--files", section.name, "--only", only, "--out", f"{self.folder}/pieces/{first}")
        process = subprocess.Popen(line, env=environment, stdin=stdin)
        # It goes when the process is done with.
        process.section = section
        return process

    def local(self, first, entries):
        """Of files that a task can open, one behind the other; a single one is read by the program itself."""
        if len(entries) == 1 and entries[0].get("bytes") and "from" not in entries[0]:
            with open(entries[0]["path"], "rb") as file:
                return outcome(first, self.open(first, entries, file).wait())
        process = self.open(first, entries)
        for entry in entries:
            if not entry.get("bytes"):
                continue
            with open(entry["path"], "rb") as file:
                # Longer than it was listed is another file, and is told by who reads it.
                send(process, file, entry.get("from", 0), entry["bytes"] + ("from" not in entry))
        return outcome(first, finish(process))

    def contents(self, numbers):
        """Of rows with path and content: a file each, handed over whole."""

        def run(batches):
            for batch in batches:
                for row in range(batch.num_rows):
                    number, entry = numbers[batch.column(0)[row].as_py()]
                    process = self.open(number, [entry])
                    feed(process, batch.column(1)[row].as_buffer())
                    yield done(number, finish(process))

        return run

    def rows(self, numbers):
        """Of rows with path, place and line, a file after the other: the lines of a batch are handed over at once."""
        import pyarrow
        import pyarrow.compute as compute

        def run(batches):
            path, number, process, expected = None, None, None, 0
            for batch in batches:
                runs = compute.run_end_encode(batch.column(0))
                start = 0
                for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist()):
                    if name != path:
                        if process:
                            yield done(number, finish(process))
                        path, (number, entry), expected = name, numbers[unquote(name)], 0
                        process = self.open(number, [entry])
                    places = batch.column(1).slice(start, end - start)
                    if places[0].as_py() != expected or places[-1].as_py() != expected + len(places) - 1:
                        process.kill()
                        raise RuntimeError(f"{name}: rows are not in their order")
                    expected += len(places)
                    lines = pyarrow.ListArray.from_arrays([0, len(places)], batch.column(2).slice(start, end - start))
                    feed(process, compute.binary_join(lines, b"\n")[0].as_buffer(), b"\n")
                    start = end
            if process:
                yield done(number, finish(process))

        return run


def refuse(code, words):
    print(words, file=sys.stderr)
    sys.exit(code)


def done(number, code):
    import pyarrow

    return pyarrow.RecordBatch.from_pydict({"file": [outcome(number, code)[0]], "code": [code]})


def feed(process, *buffers):
    # Who does not read to the end says why with its exit code.
    try:
        for buffer in buffers:
            process.stdin.write(buffer)
        process.stdin.flush()
    except BrokenPipeError:
        pass


def send(process, file, place, count):
    """Hands over so many bytes of a file, or those to its end, which do not come through here where the system can do that."""
    end = place + count
    try:
        while place < end and (sent := os.sendfile(process.stdin.fileno(), file.fileno(), place, end - place)):
            place += sent
    except BrokenPipeError:
        pass
    except OSError:
        # Not from this file system or into no pipe; what cannot be read at all fails again.
        file.seek(place)
        while place < end and (piece := file.read(min(end - place, 1 << 20))):
            feed(process, piece)
            place += len(piece)


def finish(process):
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    return process.wait()


class Found:
    """A file of an export: under its name for people, and for Spark."""

    def __init__(self, path, kind, length):
        address = path.toUri()
        self.is_local = address.getScheme() in (None, "file")
        self.name = address.getPath() if self.is_local else path.toString()
        self.kind = kind
        self.length = length
        self.is_rows = self.name.endswith(".parquet")
        # As columns of Spark have it, decoded.
        self.address = path.toString()
        # Nothing in a name is a pattern any more.
        self.literal = "".join("\\" + letter if letter in "{}[]*?\\" else letter for letter in path.toString())

    def order(self):
        return self.name.encode(), KINDS.index(self.kind)


def find(context, addresses):
    """All files, in the order in which their records count."""
    virtual_machine, found, hidden = context._jvm, [], 0
    for kind, pattern in addresses:
        root = virtual_machine.org.apache.hadoop.fs.Path(pattern)
        system = root.getFileSystem(context._jsc.hadoopConfiguration())
        matches = system.globStatus(root)
        if not matches:
            refuse(66, f"{pattern}: error: matches nothing")
        for match in matches:
            if match.isFile():
                found.append(Found(match.getPath(), kind, match.getLen()))
                continue
            below = system.listFiles(match.getPath(), True)
            while below.hasNext():
                status = below.next()
                names = status.getPath().toString()[len(match.getPath().toString()) :].split("/")
                # What writers leave beside their files, as Spark's own readers see it.
                if any(name.startswith(("_", ".")) for name in names):
                    hidden += 1
                else:
                    found.append(Found(status.getPath(), kind, status.getLen()))
    if hidden:
        print(f"{hidden} files were left out whose names begin with _ or .", file=sys.stderr)
    files = sorted({file.order(): file for file in found}.values(), key=Found.order)
    for one, other in zip(files, files[1:]):
        if one.name == other.name:
            refuse(78, f"{one.name}: error: named for two kinds of records")
    return files


def read_rows(spark, files, json_column, fields):
    """Rows as lines, with path and place."""
    from pyspark.sql import functions as F

    # A file is one task, so its rows come in their order.
    largest = max(file.length for file in files) + 1
    for setting in ["maxPartitionBytes", "openCostInBytes"]:
        spark.conf.set(f"spark.sql.files.{setting}", largest)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1000)
    rows = spark.read.option("mergeSchema", True).parquet(*(file.literal for file in files))
    if json_column:
        # A line feed does not end a line here; both are white space to JSON between its words, and neither may be within.
        line = F.expr(f"replace(cast(`{json_column}` AS string), '\\n', '\\r')")
    else:
        columns = [F.expr(value).alias(name) for name, _, value in (field.partition("=") for field in fields)]
        line = F.to_json(F.struct(*columns), {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"})
    line = F.coalesce(line.cast("binary"), F.lit(b""))
    return rows.select(F.col("_metadata.file_path").alias("path"), F.col("_metadata.row_index").alias("row"), line.alias("line"))


def count_feeds(path, start, end):
    """Returns where the first line behind `start` begins, none if not before `end`, and how many lines end in the range."""
    first, feeds = None, 0
    with open(path, "rb") as file:
        file.seek(max(start - 1, 0))
        if start > 0 and file.read(1) == b"\n":
            first = start
        place = start
        while place < end and (piece := file.read(min(end - place, 1 << 20))):
            if first is None and b"\n" in piece:
                first = place + piece.index(b"\n") + 1
            feeds += piece.count(b"\n")
            place += len(piece)
    return (first if first is not None and first < end else None), feeds


def ranges(context, path, length, entry):
    """Cuts a long file between lines, in parts that are counted all at once."""
    starts = [(path, start, min(start + TOGETHER, length)) for start in range(0, length, TOGETHER)]
    counts = context.parallelize(starts, len(starts)).map(lambda place: count_feeds(*place)).collect()
    begins, lines = [(0, 0)], 0
    for (_, start, _), (first, feeds) in zip(starts, counts):
        if start > 0 and first is not None:
            # The line that reaches into the range ends in it.
            begins.append((first, lines + (first > start)))
        lines += feeds
    ends = [begin for begin, _ in begins[1:]] + [length]
    return [
        {**entry, "bytes": end - begin, "from": begin, "linesBefore": before} for (begin, before), end in zip(begins, ends)
    ]


def groups(entries):
    """Numbers of local files that a task reads together; a range is one of its own."""
    found, size = [], 0
    for number, entry in entries:
        follows = found and found[-1][-1] + 1 == number and size + entry["bytes"] <= TOGETHER
        if follows and len(found[-1]) < MOST_TOGETHER and "from" not in entry:
            found[-1].append(number)
            size += entry["bytes"]
        else:
            found.append([number])
            size = TOGETHER + 1 if "from" in entry else entry["bytes"]
    return found


def make_pieces(context, files, pieces, json_column, fields):
    """Returns the names of the files of each piece, with its exit code."""
    parquet = [file for file in files if file.is_rows]
    counts = {}
    if any(file.is_rows or not file.is_local for file in files):
        # Nothing else needs Spark's SQL, whose start is a quarter of Spark's.
        from pyspark.sql import SparkSession

        spark = SparkSession(context)
    if parquet:
        rows = read_rows(spark, parquet, json_column, fields)
        counts = {unquote(row.path): row["count"] for row in rows.groupBy("path").count().collect()}
    entries, local, far, listed = [], [], {}, {}
    for file in files:
        entry = {"path": file.name, "kind": file.kind}
        if file.is_rows:
            entry["lines"] = counts.get(file.address, 0)
            listed[file.address] = (len(entries), entry)
        elif file.is_local and file.length > TOGETHER and not file.name.endswith(".gz"):
            for section in ranges(context, file.name, file.length, entry):
                local.append((len(entries), section))
                entries.append(section)
            continue
        else:
            entry["bytes"] = file.length
            if file.is_local:
                local.append((len(entries), entry))
            else:
                far[file.address] = (len(entries), entry)
        entries.append(entry)
    write(f"{pieces.folder}/files.json", json.dumps(entries, indent=1, ensure_ascii=False))

    tasks = [(group[0], entries[group[0] : group[-1] + 1]) for group in groups(local)]
    # Spark makes nothing of a file that holds nothing.
    tasks += [(number, [entry]) for number, entry in [*far.values(), *listed.values()] if not entry.get("bytes", entry.get("lines"))]
    codes = []
    if tasks:
        codes += context.parallelize(tasks, len(tasks)).map(lambda task: pieces.local(*task)).collect()
    if counts:
        codes += rows.mapInArrow(pieces.rows(listed), "file long, code long").collect()
    remote = [file for file in files if file.address in far and file.length > 0]
    if remote:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1)
        spark.conf.set("spark.sql.sources.binaryFile.maxLength", LONGEST_FILE)
        contents = spark.read.format("binaryFile").load([file.literal for file in remote]).select("path", "content")
        codes += contents.mapInArrow(pieces.contents(far), "file long, code long").collect()
    return [(entries[number]["path"], code) for number, code in codes]


def write(path, text):
    """Whole or not at all."""
    with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(file.name, path)


def partition(context, options):
    after = ["--after", f"{options.before}/partition"] if options.before else []
    out = ["--out", f"{options.folder}/partition"]
    addresses = [(kind, uri) for kind in KINDS for uri in getattr(options, kind)]
    if not addresses:
        return engage_batch("partition", options.job, "--parts", options.parts, *after, *out)
    files = find(context, addresses)
    for file in files:
        if not file.is_local and not file.is_rows and file.length > LONGEST_FILE:
            refuse(66, f"{file.name}: error: longer than 2 GiB; compress it, or mount its file system and name it by its path")
        if file.is_rows and not options.json_column and not options.field:
            refuse(64, f"{file.name}: error: rows need --json-column or --field")
    os.makedirs(options.folder, exist_ok=True)
    pieces = Pieces(options.job, options.parts, options.folder)
    code = failed(make_pieces(context, files, pieces, options.json_column, options.field))
    # What was made stays where it is, and whoever decides a part reads its slices.
    return code or engage_batch(
        *pieces.arguments, "--files", f"{options.folder}/files.json", "--pieces", f"{options.folder}/pieces", *after, *out)


def decide(options):
    def run(part):
        state = ["--state-in", f"{options.before}/results/{part}"] if options.before else []
        return outcome(
            part,
            engage_batch(
                "decide", options.job, "--partition", f"{options.folder}/partition", "--part", part, *state,
                "--out", f"{options.folder}/results/{part}"))

    return run


def failed(codes):
    """Names what failed for good; returns the first exit code of it, 0 for none."""
    bad = sorted((name, code) for name, code in codes if code)
    for name, code in bad:
        print(f"{name}: exit code {code}", file=sys.stderr)
    return bad[0][1] if bad else 0


def main(options):
    context = SparkContext(appName="engage-batch")
    try:
        # It stands there when it is whole, so a second try goes on behind it.
        if not os.path.exists(f"{options.folder}/partition/manifest.json"):
            code = partition(context, options)
            if code:
                return code
        decided = context.parallelize(range(options.parts), options.parts).map(decide(options)).collect()
    finally:
        context.stop()
    return failed([(f"part {part}", code) for part, code in decided]) or engage_batch(
        "collect", options.job, *(f"{options.folder}/results/{part}" for part in range(options.parts)))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Runs a job of engage-batch in parts on Spark.")
    arguments.add_argument("job")
    arguments.add_argument("parts", type=int)
    arguments.add_argument("folder")
    arguments.add_argument("before", nargs="?")
    arguments.add_argument("--events", action="append", default=[], metavar="URI")
    arguments.add_argument("--notifications", action="append", default=[], metavar="URI")
    arguments.add_argument("--deep-links", dest="deepLinks", action="append", default=[], metavar="URI")
    rows = arguments.add_mutually_exclusive_group()
    rows.add_argument("--json-column", metavar="NAME", help="rows of Parquet hold lines of JSON in this column")
    rows.add_argument("--field", action="append", default=[], metavar="NAME=EXPRESSION", help="a field of rows of Parquet")
    sys.exit(main(arguments.parse_args()))
