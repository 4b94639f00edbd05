"""What the benchmarks share: measuring a process, the machine's description, tables, the file of results."""
import datetime
import os
import platform
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, ".build", "bench")
RESULTS = os.path.join(ROOT, "Benchmarks", "results.md")
BINARY = os.environ.get("ENGAGE_BINARY") or os.path.join(ROOT, ".build", "release", "engage-batch")


class Usage:
    """Of one process that has ended: seconds of wall and CPU, MB at its peak, MB handed to the page cache."""

    def __init__(self, wall, rusage, others):
        self.wall = wall
        self.cpu = rusage.ru_utime + rusage.ru_stime
        # Linux counts KiB; the runner's own few MB are the least that can be seen.
        self.peak = rusage.ru_maxrss / 1e3 * 1.024
        self.written = rusage.ru_oublock * 512 / 1e6
        self.others = others


def busy_seconds():
    """CPU seconds of all processes since boot; 0 where the system does not tell."""
    try:
        with open("/proc/stat") as stat:
            fields = [int(field) for field in stat.readline().split()[1:]]
    except OSError:
        return 0.0
    return (sum(fields[:3]) + sum(fields[5:7])) / os.sysconf("SC_CLK_TCK")


def run(command, environment=None, log=None, codes=(0,)):
    """Runs a command to its end. Ends the benchmark when it ends with another code."""
    os.sync()
    log = log or os.path.join(WORK, "last.log")
    with open(log, "wb") as output:
        busy, start = busy_seconds(), time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   env=dict(os.environ, **(environment or {})))
        _, status, rusage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    cpu = rusage.ru_utime + rusage.ru_stime
    others = max(0.0, busy_seconds() - busy - cpu) / (wall * (os.cpu_count() or 1))
    if process.returncode not in codes:
        with open(log, errors="replace") as output:
            sys.stderr.write(output.read()[-4000:])
        sys.exit("%s ended with %d" % (" ".join(command), process.returncode))
    return Usage(wall, rusage, others)


def median(usages, what):
    return statistics.median(getattr(usage, what) for usage in usages)


def least(usages, what):
    return min(getattr(usage, what) for usage in usages)


def spread(usages, what):
    values = [getattr(usage, what) for usage in usages]
    return "%.2f to %.2f" % (min(values), max(values))


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as info:
            model = next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return "%s, %d cores, %s %s" % (model, os.cpu_count() or 1, platform.system(), platform.release())


def commit():
    """What was measured; COMMIT tells for a program that was not built from this checkout."""
    if os.environ.get("COMMIT"):
        return os.environ["COMMIT"]

    def git(*arguments):
        return subprocess.run(("git", "-C", ROOT) + arguments, capture_output=True, text=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "Sources")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" with changes" if changed else "")


def table(rows):
    """A Markdown table; the first row is the head, the first column is text, the others are figures."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" + "--:|" * (len(rows[0]) - 1))
    return "\n".join(lines)


def publish(title, command, load, parts):
    """Prints a record and appends it to the committed results."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    head = "## %s, %s, commit %s" % (title, now, commit())
    note = "%s. Load before: %.1f. `%s`" % (machine(), load, command)
    text = "\n\n".join([head, note] + parts) + "\n"
    print("\n" + text)
    with open(RESULTS, "a") as results:
        results.write("\n" + text)


def generated(kind, *arguments):
    """Path of an input below `.build/bench`, which is made if it is not there yet."""
    name = "-".join(os.path.basename(str(argument)) for argument in (kind,) + arguments)
    path = os.path.join(WORK, name if kind == "scatter" else name + ".ndjson")
    if not os.path.exists(path):
        print("generating %s" % name, flush=True)
        subprocess.run([sys.executable, os.path.join(ROOT, "Benchmarks", "generate.py"), kind]
                       + [str(argument) for argument in arguments] + [path], check=True)
    return path


def remove_store(path):
    for suffix in ("", "-wal", "-shm", ".lock"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
