#!/bin/sh
# pytd 2.4.0 (PyPI) with pandas 2.3.3, Treasure Data's own driver for Python, here its `pandas_td.to_td`.
# The levels of a MultiIndex become columns, by default, and `time_index` makes one the time of the events. What is written is not the values of the
# rows but the sorted list of those that occur, level by level. For a table of the last open of each device, indexed by device and time, that list is
# just as long as the table, so nothing raises: each campaign goes out with the device of one row and the time of another. Sorted by device, the ids are
# right and only the times are somebody else's. `reset_index` and `time_col` write what is there. No documentation limits the index.
# Seen: bob at 08:00 by summer, eve at 10:00 by spring and ann at 09:00 by winter are written as ann at 08:00, bob at 09:00 and eve at 10:00, in the
# order of these campaigns.
exec "$(dirname "$0")/with" pytd==2.4.0 td-client==1.7.0 pandas==2.3.3 <<'PYTHON'
import pandas
from pytd import pandas_td
from seen import expect

class Connection:
    def get_table(self, database, table):
        return self

    def import_dataframe(self, frame, writer, mode, **_):
        clock = pandas.to_datetime(frame["time"], unit="s").dt.strftime("%H:%M")
        self.rows = list(zip(frame["device"], clock, frame["campaign"]))

def written(frame, **options):
    connection = Connection()
    pandas_td.to_td(frame, "app.last_opens", connection, **options)
    return connection.rows

def table(*rows):
    frame = pandas.DataFrame(rows, columns=["device", "at", "campaign"])
    return frame.assign(at=pandas.to_datetime("2026-01-15 " + frame["at"]))

bob, eve, ann = ("bob", "08:00", "summer"), ("eve", "10:00", "spring"), ("ann", "09:00", "winter")
opens = table(bob, eve, ann)
expect("from columns", written(opens, time_col="at", index=False), [bob, eve, ann])
indexed = opens.set_index(["device", "at"])
expect("from the index", written(indexed, time_index=1), [("ann", "08:00", "summer"), ("bob", "09:00", "spring"), ("eve", "10:00", "winter")])
expect("from a sorted index", written(indexed.sort_index(), time_index=1),
       [("ann", "08:00", "winter"), ("bob", "09:00", "summer"), ("eve", "10:00", "spring")])
devices = written(indexed.reset_index("at"), time_col="at")
expect("from an index of devices", devices, [bob, eve, ann])
PYTHON
