#!/bin/sh
# frictionless 5.21.0 (PyPI).
# A column of prices with a decimal comma, "9,90" and "12,50", is described as geopoint, for a number has a point: 9.9 euro become a place at
# longitude 9 and latitude 90, and are read as a list of two numbers. The cents are the latitude, so those over 90 are no place: one "9,95" in the
# column, and all prices stay text.
# Seen: types string and geopoint, value [9.0, 90.0].
exec "$(dirname "$0")/with" frictionless==5.21.0 <<'PYTHON'
from frictionless import Resource
from seen import expect

with open("prices.csv", "w") as file:
    file.write('device,price\nD-1,"9,90"\nD-2,"12,50"\n')
resource = Resource("prices.csv")
rows = resource.read_rows()
expect("types", [field.type for field in resource.schema.fields], ["string", "geopoint"])
with open("more.csv", "w") as file:
    file.write('device,price\nD-1,"9,90"\nD-2,"9,95"\n')
more = Resource("more.csv")
more.infer()
expect("types with 95 cents", [field.type for field in more.schema.fields], ["string", "string"])
expect("price", [float(part) for part in rows[0]["price"]], [9.0, 90.0])
PYTHON
