#!/bin/sh
# petl 1.7.30 (PyPI).
# `convertnumbers` goes on after int and float: an id of digits with a j behind it is a complex number, "12J" is 12j, and "1_000" is a thousand. A
# column of articles then has numbers of three types, and comparing them raises.
# Seen: 12j, 1000, and nan for the name Nan.
exec "$(dirname "$0")/with" petl==1.7.30 <<'PYTHON'
import petl
from seen import expect

rows = list(petl.convertnumbers([["article", "list", "name"], ["12J", "1_000", "Nan"]]))
expect("article", rows[1][0], 12j)
expect("list", rows[1][1], 1000)
expect("name is no number any more", rows[1][2] == rows[1][2], False)
PYTHON
