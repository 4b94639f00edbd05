#!/bin/sh
# pyexcel-ods3 0.6.1, pandas 3.1.1 with odfpy 1.4.1 and with python-calamine 0.9.1 (PyPI) on durations of an OpenDocument sheet, `PT25H10M00S`.
# Three readers, three results: a timedelta, an error and the bare text; what is under a day is a `time` for the third. And pyexcel-ods3 makes an
# empty cell of a duration with a fraction of a second, which is how LibreOffice stores one that was computed.
# Seen: 1 day, 1:10:00; DateParseError; 'PT25H10M00S'; '' for PT00H05M00.5S.
exec "$(dirname "$0")/with" pyexcel==0.7.6 pyexcel-ods3==0.6.1 pandas==3.1.1 odfpy==1.4.1 python-calamine==0.9.1 <<'PYTHON'
import datetime
import pandas, pyexcel
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P
from seen import expect

def sheet(*durations):
    document, table, row = OpenDocumentSpreadsheet(), Table(name="events"), TableRow()
    for duration in durations:
        cell = TableCell(valuetype="time", timevalue=duration)
        cell.addElement(P(text=duration))
        row.addElement(cell)
    table.addElement(row)
    document.spreadsheet.addElement(table)
    document.save("in.ods")

sheet("PT25H10M00S", "PT00H05M00.5S", "PT00H01M00S")
expect("pyexcel-ods3", pyexcel.get_array(file_name="in.ods"), [[datetime.timedelta(days=1, hours=1, minutes=10), "", datetime.time(0, 1)]])
expect("calamine", pandas.read_excel("in.ods", engine="calamine", header=None).iloc[0].tolist(),
       ["PT25H10M00S", datetime.time(0, 5, 0, 500000), datetime.time(0, 1)])
try:
    found = pandas.read_excel("in.ods", engine="odf", header=None).iloc[0, 0]
except ValueError as error:
    found = type(error).__name__
expect("odfpy", found, "DateParseError")
PYTHON
