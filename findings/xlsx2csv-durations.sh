#!/bin/sh
# xlsx2csv 0.8.6 (PyPI) on cells that XlsxWriter 3.3.1 wrote; openpyxl 3.1.5 reads them right.
# A duration of 25 hours and 30 minutes in the format [h]:mm:ss leaves as "01:30", the day and the seconds gone; one of 95 seconds as mm:ss leaves as
# "00:01", its minutes as hours; five minutes as [mm]:ss leave as a fraction of a day. The milliseconds of a time with .000 in its format are always
# 000.
# Seen: 01:30, 00:01, 0.003472, 2026-01-15 08:00:00.000 for .123.
exec "$(dirname "$0")/with" xlsx2csv==0.8.6 xlsxwriter==3.3.1 openpyxl==3.1.5 <<'PYTHON'
import csv, datetime, io
import openpyxl, xlsxwriter
from xlsx2csv import Xlsx2csv
from seen import expect

book = xlsxwriter.Workbook("in.xlsx")
sheet = book.add_worksheet()
def form(text):
    return book.add_format({"num_format": text})
sheet.write_number(0, 0, 25.5 / 24, form("[h]:mm:ss"))
sheet.write_number(0, 1, 95 / 86400, form("mm:ss"))
sheet.write_number(0, 2, 300 / 86400, form("[mm]:ss"))
sheet.write_datetime(0, 3, datetime.datetime(2026, 1, 15, 8, 0, 0, 123000), form("yyyy-mm-dd hh:mm:ss.000"))
book.close()
Xlsx2csv("in.xlsx").convert("out.csv")
with open("out.csv", newline="") as file:
    expect("xlsx2csv", next(csv.reader(file)), ["01:30", "00:01", "0.003472", "2026-01-15 08:00:00.000"])
expect("openpyxl", [str(cell.value) for cell in openpyxl.load_workbook("in.xlsx").active[1]],
       ["1 day, 1:30:00", "00:01:35", "0:05:00", "2026-01-15 08:00:00.123000"])
PYTHON
