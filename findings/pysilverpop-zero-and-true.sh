#!/bin/sh
# pysilverpop 0.2.6 (PyPI), a client for the XMLAPI of Silverpop, Watson and Acoustic Campaign.
# Columns of a recipient whose value is 0, False or "" are sent with a name and no VALUE, and those with True with an empty one. So a counter cannot
# be set back to 0, and a flag that is set to True is emptied. 0.0 and "0" differ: the text is sent.
# Seen: <COLUMN><NAME>Opens</NAME></COLUMN> for 0, <VALUE /> for True, <VALUE>0</VALUE> for "0".
exec "$(dirname "$0")/with" pysilverpop==0.2.6 <<'PYTHON'
from xml.etree import ElementTree
from silverpop.api import Silverpop
from seen import expect

class Kept(Silverpop):
    def _call(self, xml):
        return ElementTree.fromstring(xml)

sent = Kept("id", "secret", "token", "1").add_recipient("L-1", "2", columns={
    "Opens": 0, "Share": 0.0, "Optin": True, "Trial": False, "Text": "0"})
values = {column.find("NAME").text: (column.find("VALUE").text or "empty") if column.find("VALUE") is not None else "absent"
          for column in sent.iter("COLUMN")}
expect("columns", values, {"Opens": "absent", "Share": "absent", "Optin": "empty", "Trial": "absent", "Text": "0"})
PYTHON
