"""A store night after night: each brings the records of a day, and those of the day before whose phones had been offline.

The last night may take 1.15 times the CPU of the first one, whatever the store holds by then, and all nights together, while late records
are decided in their place, so much of those of a store that keeps nothing for that. NIGHTS (30) says how many nights there are, LATE (50)
of how many phones in a thousand a day comes a night late; others each night.
"""
import datetime
import os
import re
import shutil
import zlib

import measure
from measure import WORK

NIGHTS = int(os.environ.get("NIGHTS") or 30)
LATE = int(os.environ.get("LATE") or 50)
FIRST = datetime.date(2026, 1, 1)
# How much is told of those between the first one and the last.
STEP = 5
# What late records may cost beside a store that keeps nothing for them: by how many phones in a thousand are late at most.
AIMS = {5: 1.08, 50: 1.25}
WITHOUT = {"settings": {"Ingest": {"rewind": "0 seconds"}}}
PHONE = re.compile(rb'"(?:deviceId|userID)":"([^"]*)"')


class Day:
    """A day's lines, of which each night's are made by another date: those in time, and those that come a night late.

    Never more than some of them at once: a program that is started from here counts what is held here as its own peak.
    """

    def __init__(self, shape, events, seed):
        self.source = measure.generated("events", shape, events, seed)

    @staticmethod
    def is_late(line, night):
        return zlib.crc32(PHONE.search(line).group(1) + b"/%d" % night) % 1000 < LATE

    def write(self, night, folder):
        """The export of a night, and how many lines it has."""
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        count = 0
        parts = [("today", night, lambda line: not self.is_late(line, night))]
        if night > 0:
            parts.append(("late", night - 1, lambda line: self.is_late(line, night - 1)))
        for name, day, belongs in parts:
            stamps = [('"timestamp":"%sT' % date).encode() for date in (FIRST, FIRST + datetime.timedelta(day))]
            with open(self.source, "rb") as lines, open(os.path.join(folder, name + ".ndjson"), "wb") as out:
                while some := lines.readlines(1 << 20):
                    some = [line for line in some if belongs(line)]
                    count += len(some)
                    out.write(b"".join(some).replace(*stamps))
        return count


def table(name, shape, events, seed, run, store, more):
    """The table of all nights, and the rows that hold its aims.

    `run` takes the folder of an export, its lines, whether the store is new, members of the job and the store; it returns a `Usage`.
    """
    day, folder, plain = Day(shape, events, seed), os.path.join(WORK, "night"), os.path.join(WORK, "plain.sqlite")
    rows = [["%s, %d records a day" % (name, events), "wall s", "CPU s", "CPU, it / first", "CPU s without rewind", "peak MB",
             "written MB", "store MB", "others' CPU"]]
    usages, without = [], []
    for night in range(NIGHTS):
        lines = day.write(night, folder)
        # What is known ends at midnight, as a nightly job's window does.
        job = dict(more, asOf="%sT00:00:00Z" % (FIRST + datetime.timedelta(night + 1)))
        usage = run(folder, lines, night == 0, job, store)
        usages.append(usage)
        without.append(run(folder, lines, night == 0, dict(job, **WITHOUT), plain))
        print("%-10s night %2d %6.2f s wall %6.2f s CPU, %6.2f without a rewind, %6.0f MB, others %3.0f %%"
              % (name, night + 1, usage.wall, usage.cpu, without[-1].cpu, usage.peak, usage.others * 100), flush=True)
        if night in (0, 1, NIGHTS - 1) or (night + 1) % STEP == 0:
            rows.append(["night %d" % (night + 1), "%.2f" % usage.wall, "%.2f" % usage.cpu,
                         "%.2f" % (usage.cpu / usages[0].cpu), "%.2f" % without[-1].cpu, "%.0f" % usage.peak,
                         "%.0f" % usage.written, "%.0f" % (os.path.getsize(store) / 1e6), "%.0f %%" % (usage.others * 100)])
    shutil.rmtree(folder)
    measure.remove_store(plain)
    measured = [
        ("CPU of the last night / of the first", 1.15, usages[-1].cpu / usages[0].cpu, "%.2f"),
        ("peak MB", 200, max(usage.peak for usage in usages), "%.0f"),
    ]
    limit = next((AIMS[most] for most in sorted(AIMS) if LATE <= most), None)
    if limit:
        cost = sum(usage.cpu for usage in usages) / sum(usage.cpu for usage in without)
        measured.append(("CPU of all nights / without a rewind, %g %% of phones late" % (LATE / 10), limit, cost, "%.2f"))
    aims = [["aim", "limit", "measured", ""]]
    for aim, limit, value, form in measured:
        aims.append([aim, form % limit, form % value, "met" if value <= limit else "missed"])
    return measure.table(rows) + "\n\n" + measure.table(aims)


def compare(events, seed, run, store):
    return "\n\n".join([
        table("Engage", "night", events, seed, run, store, {}),
        table("deltaDNA", "game-night", events, seed, run, store, {"destination": "deltadna"}),
    ])
