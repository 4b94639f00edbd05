#!/bin/sh
# snowplow-analytics-sdk 0.2.3 (PyPI), the vendor's reader of enriched events.
# `transform` takes a line as `for line in file` gives it, with its end. The last column is `true_tstamp`, empty for nearly every event; with the end
# of the line in it it is not empty any more, and becomes "\nZ". Nothing raises, and whoever prefers the true time over the derived one, as the vendor
# says, has events without a time.
# Seen: no true_tstamp for a bare row, '\nZ' for the row of a file, and '2026-01-15T08:00:00.000\nZ' where there is a true time.
exec "$(dirname "$0")/with" snowplow-analytics-sdk==0.2.3 <<'PYTHON'
from snowplow_analytics_sdk.event_transformer import ENRICHED_EVENT_FIELD_TYPES, transform
from seen import expect

row = "\t".join("E-1" if name == "event_id" else "" for name, _ in ENRICHED_EVENT_FIELD_TYPES)
expect("bare", transform(row).get("true_tstamp"), None)
expect("with the end of the line", transform(row + "\n").get("true_tstamp"), "\nZ")
expect("with a time", transform(row + "2026-01-15 08:00:00.000\n")["true_tstamp"], "2026-01-15T08:00:00.000\nZ")
PYTHON
