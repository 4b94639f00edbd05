#!/bin/sh
# xmljson 0.2.1 (PyPI) on an answer of the shape that XMLAPI has; beside xmltodict 1.0.4.
# Four of its six conventions make numbers of texts that Python can read as such: a recipient "0012345" loses its zeros, a code "12e5" becomes
# 1200000.0, and "1_000" a thousand, because underscores are fine in Python's own numbers. The conventions `yahoo` and `cobra` leave texts alone; that
# is nowhere in what they define.
# Seen, with badgerfish: 12345, 1200000.0, 1000; with yahoo and xmltodict the texts.
exec "$(dirname "$0")/with" xmljson==0.2.1 xmltodict==1.0.4 <<'PYTHON'
from xml.etree.ElementTree import fromstring
import xmljson, xmltodict
from seen import expect

answer = "<RESULT><RecipientId>0012345</RecipientId><Code>12e5</Code><List>1_000</List></RESULT>"
found = xmljson.badgerfish.data(fromstring(answer))["RESULT"]
expect("badgerfish", [found[name]["$"] for name in ("RecipientId", "Code", "List")], [12345, 1200000.0, 1000])
expect("yahoo", list(xmljson.yahoo.data(fromstring(answer))["RESULT"].values()), ["0012345", "12e5", "1_000"])
expect("xmltodict", list(xmltodict.parse(answer)["RESULT"].values()), ["0012345", "12e5", "1_000"])
PYTHON
