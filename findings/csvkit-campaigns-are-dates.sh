#!/bin/sh
# csvkit 2.2.0 (PyPI) on agate 1.14.2; `csvjson` makes JSON of a CSV.
# A column whose values are all words of a calendar is one of dates: campaigns "March" and "May" become 1 March and 1 May of the year 1, "today" and
# "Friday" too, counted from the first day of that year. A column of "10d" and "2w" (for how long a campaign is valid) becomes "10 days, 0:00:00",
# which is no form that anything else of the field reads. One other campaign in the column, and all stay text.
# Seen: [{"campaign": "0001-03-01"...}, {"campaign": "0001-05-01"...}].
exec "$(dirname "$0")/with" csvkit==2.2.0 agate==1.14.2 <<'PYTHON'
import json, os, subprocess, sys
from seen import expect

def read(text):
    tool = os.path.join(os.path.dirname(sys.executable), "csvjson")
    return json.loads(subprocess.run([tool], input=text, capture_output=True, text=True, check=True).stdout)

rows = read("device,campaign,valid\nD-1,March,10d\nD-2,May,2w\n")
expect("campaigns", [row["campaign"] for row in rows], ["0001-03-01", "0001-05-01"])
expect("durations", [row["valid"] for row in rows], ["10 days, 0:00:00", "14 days, 0:00:00"])
expect("relative", [row["campaign"] for row in read("device,campaign\nD-1,today\nD-2,Friday\n")], ["0001-01-01", "0001-01-05"])
expect("with another", [row["campaign"] for row in read("device,campaign\nD-1,March\nD-2,May sale\n")], ["March", "May sale"])
PYTHON
