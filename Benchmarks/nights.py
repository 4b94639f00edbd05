"""A store night after night: each brings the records of a day, and one in twenty of the day before, which its phone had kept.

The last night may take 1.15 times the CPU of the first one, whatever the store holds by then. NIGHTS (30) says how many.
"""
import datetime
import os
import shutil

import measure
from measure import WORK

NIGHTS = int(os.environ.get("NIGHTS") or 30)
FIRST = datetime.date(2026, 1, 1)
LATE = 20
# How much is told of those between the first one and the last.
STEP = 5


class Day:
    """A day's lines, of which each night's are made by another date: those in time, and those that come a night late.

    Never more than some of them at once: a program that is started from here counts what is held here as its own peak.
    """

    def __init__(self, shape, events, seed):
        source = measure.generated("events", shape, events, seed)
        self.parts = {"today": source + ".today", "late": source + ".late"}
        with open(source, "rb") as lines, open(self.parts["today"], "wb") as today, open(self.parts["late"], "wb") as late:
            for number, line in enumerate(lines):
                (today if number % LATE else late).write(line)

    def write(self, night, folder):
        """The export of a night; each has as many lines as the day."""
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for name, path in self.parts.items():
            day = night if name == "today" else night - 1
            stamps = [('"timestamp":"%sT' % date).encode() for date in (FIRST, FIRST + datetime.timedelta(day))]
            with open(path, "rb") as lines, open(os.path.join(folder, name + ".ndjson"), "wb") as out:
                while some := lines.readlines(1 << 20):
                    out.write(b"".join(some).replace(*stamps))


def table(name, shape, events, seed, run, store, more):
    """The table of all nights, and the rows that hold its aims.

    `run` takes the folder of an export, its lines, whether the store is new, and members of the job; it returns a `Usage`.
    """
    day, folder = Day(shape, events, seed), os.path.join(WORK, "night")
    rows = [["%s, %d records a day" % (name, events), "wall s", "CPU s", "CPU, it / first", "peak MB",
             "written MB", "store MB", "others' CPU"]]
    usages = []
    for night in range(NIGHTS):
        day.write(night, folder)
        end = FIRST + datetime.timedelta(night + 1)
        usage = run(folder, events, night == 0, dict(more, asOf="%sT01:00:00Z" % end))
        usages.append(usage)
        print("%-10s night %2d %6.2f s wall %6.2f s CPU %6.0f MB, others %3.0f %%"
              % (name, night + 1, usage.wall, usage.cpu, usage.peak, usage.others * 100), flush=True)
        if night in (0, 1, NIGHTS - 1) or (night + 1) % STEP == 0:
            rows.append(["night %d" % (night + 1), "%.2f" % usage.wall, "%.2f" % usage.cpu,
                         "%.2f" % (usage.cpu / usages[0].cpu), "%.0f" % usage.peak, "%.0f" % usage.written,
                         "%.0f" % (os.path.getsize(store) / 1e6), "%.0f %%" % (usage.others * 100)])
    shutil.rmtree(folder)
    ratio = usages[-1].cpu / usages[0].cpu
    peak = max(usage.peak for usage in usages)
    aims = [["aim", "limit", "measured", ""]]
    for aim, limit, value, form in [("CPU of the last night / of the first", 1.15, ratio, "%.2f"), ("peak MB", 200, peak, "%.0f")]:
        aims.append([aim, form % limit, form % value, "met" if value <= limit else "missed"])
    return measure.table(rows) + "\n\n" + measure.table(aims)


def compare(events, seed, run, store):
    return "\n\n".join([
        table("Engage", "night", events, seed, run, store, {}),
        table("deltaDNA", "game-night", events, seed, run, store, {"destination": "deltadna"}),
    ])
