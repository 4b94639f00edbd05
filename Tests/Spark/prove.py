"""Proves that a run in parts on Spark comes to what one process comes to, also while its processes are killed.

    prove.py equal|kills FOLDER [--kills N] [--seed N]

Spark runs as `local-cluster[2,1,1024]`: two executors, processes of their own. ENGAGE_BATCH is the program.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import exports

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
SCRIPT = f"{CHECKOUT}/deploy/spark/run_in_parts.py"
BINARY = os.environ["ENGAGE_BATCH"]
FIELDS = ["deviceId=device", "timestamp=at", "type=what", "name=title"]


def engage_batch(*arguments, check=True):
    found = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, check=False)
    if check and found.returncode:
        sys.exit(f"{arguments}: {found.returncode}: {found.stderr.decode()}")
    return found


class Export:
    """An export, the job for it, and what one process makes of it."""

    def __init__(self, folder, name, scheme="", rows=(), game=False):
        self.folder, self.name, self.rows = f"{folder}/{name}", name, list(rows)
        # For Spark, and for one process; the names of files differ by what is before the folder.
        self.spark_folder = f"{self.folder}/in"
        self.lines_folder = f"{self.folder}/lines" if rows else self.spark_folder
        self.address = scheme + (self.spark_folder[len(folder):] if scheme else self.spark_folder)
        self.kinds = ["events"] if game else list(exports.KINDS)
        self.settings = {"Ingest": {"maxLineBytes": 2000}}
        self.destination = "deltadna" if game else "engage"
        self.whole = None

    def uris(self):
        return [word for kind in self.kinds for word in (f"--{kind}", f"{self.address}/{kind}")]

    def job(self, store):
        path = f"{self.folder}/{store}.json"
        job = {
            "name": "proof", "destination": self.destination, "asOf": "2026-01-18T00:00:00Z", "settings": self.settings,
            "inputs": {exports.KINDS[kind]: [f"{self.lines_folder}/{kind}"] for kind in self.kinds},
            "store": f"{self.folder}/{store}.sqlite",
        }
        if self.destination == "engage":
            job["deepLinkRoutes"] = f"{CHECKOUT}/configs/MobileDeepLinkingConfig.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(job, file)
        return path

    def content(self, store, events, summary):
        with open(events, "rb") as file:
            events = file.read()
        with open(summary, encoding="utf-8") as file:
            figures = json.load(file)
        keys = ["records", "quarantineReasons", "events", "sessions", "campaigns", "identity", "store", "deltadna"]
        listed = engage_batch("quarantine", "list", "--store", store, "--format", "json", "--show-raw", "--limit", 100000)
        bad = [
            tuple(str(line.get(key)).replace(self.address, self.lines_folder)
                  for key in ["file", "line", "offset", "reason", "detail", "raw", "rawBase64"])
            for line in json.loads(listed.stdout)
        ]
        return {"events": events, "figures": {key: figures.get(key) for key in keys}, "quarantine": sorted(bad)}

    def decide_whole(self):
        job = self.job("whole")
        files = [f"{self.folder}/whole.ndjson", f"{self.folder}/whole-summary.json"]
        engage_batch("run", job, "--no-upload", "--events-out", files[0], "--summary", files[1])
        self.whole = self.content(f"{self.folder}/whole.sqlite", *files)
        if self.whole["events"].count(b"\n") < 50 or len(self.whole["quarantine"]) < 2:
            sys.exit(f"{self.name}: {self.whole['events'].count(10)} events, {len(self.whole['quarantine'])} quarantined: proves nothing")

    def compare(self, parts, run):
        """What Spark decided, collected once more into a store of its own."""
        results = [f"{self.folder}/{run}/results/{part}" for part in range(parts)]
        files = [f"{self.folder}/{run}.ndjson", f"{self.folder}/{run}-summary.json"]
        store = f"{self.folder}/{run}-again.sqlite"
        engage_batch("collect", self.job(f"{run}-again"), *results, "--events-out", files[0], "--summary", files[1])
        found = self.content(store, *files)
        for key, value in self.whole.items():
            if found[key] != value:
                sys.exit(f"{self.name} in {parts} parts, {run}: {key} differ; see {self.folder}")
        with open(f"{self.folder}/{run}/partition/manifest.json", encoding="utf-8") as file:
            manifest = json.load(file)
        files, pieces = len({entry["path"] for entry in manifest["files"]}), len(manifest["pieces"])
        sections = len(manifest["files"])
        # Long files came in ranges, and small ones together.
        if self.name == "files" and (sections <= files or pieces >= sections):
            sys.exit(f"{self.name}: {files} files in {sections} ranges and {pieces} pieces: proves nothing")


def descendants(root):
    """Processes below another, with the words of their commands."""
    parents, commands = {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{name}/cmdline", encoding="latin-1") as file:
                commands[int(name)] = file.read().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):
            # It ended meanwhile.
            continue
    found, known = {}, {root}
    while True:
        more = [process for process, parent in parents.items() if parent in known and process not in known]
        if not more:
            return found
        known.update(more)
        found.update({process: commands.get(process, "") for process in more})


class Killer(threading.Thread):
    """Kills executors and the processes that work for them, at random moments of a run."""

    def __init__(self, root, seed, executors, workers):
        super().__init__(daemon=True)
        self.root, self.chance = root, random.Random(seed)
        self.wanted = {"executor": executors, "worker": workers}
        self.killed = {"executor": 0, "worker": 0}
        self.ends = threading.Event()

    def victims(self):
        below = descendants(self.root)
        return {
            "executor": [process for process, words in below.items() if "CoarseGrainedExecutorBackend" in words],
            # What executors start: those of Python, and the program itself.
            "worker": [
                process for process, words in below.items()
                if "pyspark.daemon" in words or words.startswith(BINARY) and (" --only " in words or " decide " in words)
            ],
        }

    def run(self):
        while not self.ends.wait(self.chance.uniform(0.1, 0.9)):
            victims = self.victims()
            # While nothing works for it, an executor has nothing to lose.
            kinds = [kind for kind in self.wanted if self.killed[kind] < self.wanted[kind] and victims[kind] and victims["worker"]]
            if not kinds:
                continue
            kind = self.chance.choice(kinds)
            try:
                os.kill(self.chance.choice(victims[kind]), signal.SIGKILL)
                self.killed[kind] += 1
            except ProcessLookupError:
                continue
            # An executor takes some seconds to come back.
            if kind == "executor":
                self.ends.wait(3)


def run_on_spark(export, parts, run, seed=0, executors=0, workers=0):
    job = export.job(run)
    settings = {
        "spark.ui.enabled": "false", "spark.task.maxFailures": 100, "spark.deploy.maxExecutorRetries": -1,
        "spark.executor.memory": "1g", "spark.local.dir": f"{export.folder}/spark", "spark.stage.maxConsecutiveAttempts": 100,
        # Another file system than the local one, through Hadoop.
        f"spark.hadoop.fs.viewfs.mounttable.exports.link./{export.name}": f"file://{export.folder}",
    }
    command = ["nice", "-n", "19", f"{os.path.dirname(sys.executable)}/spark-submit", "--master", "local-cluster[2,1,1024]"]
    command += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command += [SCRIPT, job, str(parts), f"{export.folder}/{run}", *export.uris(), *export.rows]
    environment = dict(os.environ, PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", PYTHONDONTWRITEBYTECODE="1",
                       SPARK_WORKER_DIR=f"{export.folder}/work", ENGAGE_BATCH_TOGETHER=str(export.together))
    started = time.monotonic()
    with open(f"{export.folder}/{run}.log", "wb") as log:
        spark = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=export.folder)
        killer = Killer(spark.pid, seed, executors, workers)
        killer.start()
        code = spark.wait()
        killer.ends.set()
        killer.join()
    if code:
        sys.exit(f"{export.name} in {parts} parts: Spark ended with {code}, {killer.killed}; see {export.folder}/{run}.log")
    export.compare(parts, run)
    shutil.rmtree(f"{export.folder}/work", ignore_errors=True)
    print(f"{export.name}, {parts} parts: equal, {killer.killed['executor']} executors and {killer.killed['worker']} workers killed, "
          f"{time.monotonic() - started:.0f} s", flush=True)
    return killer.killed


def make(folder, seed, devices, records, files, together):
    os.makedirs(folder, exist_ok=True)
    found = {
        "files": Export(folder, "files"), "far": Export(folder, "far", scheme="viewfs://exports"),
        "json": Export(folder, "json", rows=["--json-column", "payload"]),
        "columns": Export(folder, "columns", rows=[word for field in FIELDS for word in ("--field", field)]),
        "game": Export(folder, "game", game=True),
    }
    for name in ["files", "far"]:
        exports.write_lines(found[name].spark_folder, seed, devices, records, files)
    for name in ["json", "columns"]:
        exports.write_rows(found[name].spark_folder, found[name].lines_folder, seed, devices, records, files, name == "columns")
    exports.write_game(found["game"].spark_folder, seed, devices, records, files)
    for export in found.values():
        export.together = together
        export.decide_whole()
    return found


def prove_equal(folder, seed):
    found = make(folder, seed, devices=24, records=40, files=5, together=8_000)
    for parts in [1, 2, 3, 7]:
        run_on_spark(found["files"], parts, f"run-{parts}")
    for name, parts in [("far", 3), ("json", 2), ("columns", 7), ("game", 3)]:
        run_on_spark(found[name], parts, f"run-{parts}")


def prove_kills(folder, seed, kills):
    found = make(folder, seed, devices=60, records=200, files=12, together=60_000)
    names = ["files", "json", "far", "columns", "game"]
    total, hit, number = {"executor": 0, "worker": 0}, set(), 0
    # Of many kills each sort of export has to get some.
    share, wanted = (-(-kills // len(names)), set(names)) if kills >= len(names) else (5, set())
    while min(total.values()) < kills or not wanted <= hit:
        name = names[number % len(names)]
        least = 1 if wanted and name not in hit else 0
        left = {kind: min(share, max(kills - count, least)) for kind, count in total.items()}
        killed = run_on_spark(found[name], 8, f"kills-{number}", seed * 1000 + number, left["executor"], left["worker"])
        if min(killed.values()) > 0:
            hit.add(name)
        for kind in total:
            total[kind] += killed[kind]
        number += 1
    print(f"{total['executor']} executors and {total['worker']} workers killed in {number} runs, no wrong byte", flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("proof", choices=["equal", "kills"])
    arguments.add_argument("folder")
    arguments.add_argument("--kills", type=int, default=4)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    target = f"{os.path.abspath(options.folder)}/{options.proof}"
    shutil.rmtree(target, ignore_errors=True)
    if options.proof == "equal":
        prove_equal(target, options.seed)
    else:
        prove_kills(target, options.seed, options.kills)
