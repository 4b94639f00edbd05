#!/bin/sh
# retentioneering 5.2.4 (PyPI), a library that reads paths out of event logs.
# `split_sessions` with a `separator` or `bounds` leaves events that are in no session without a session id, and makes the ids a path column all the same.
# Every tool then takes the missing id for one session: what people did before their first app_open, ann, bob and thousands of others, is one path in
# order of time, so an event of ann leads to one of bob, and the longest session of all is nobody's. The docstring says "get no session", and the
# library knows the danger: given the same table, it refuses ids that are missing, since "every event must belong to a path".
# Seen: a transition of offer_shown, which is ann's, to push_opened, which is bob's; a session NaN of 2 events and 30 seconds; SchemaConfigError.
export RETENTIONEERING_NO_TRACK=1
exec "$(dirname "$0")/with" retentioneering==5.2.4 <<'PYTHON'
import pandas
from retentioneering.eventstream import Eventstream
from retentioneering.exceptions import SchemaConfigError
from seen import expect

events = [("ann", "offer_shown", "08:00:00"), ("bob", "push_opened", "08:00:30"), ("ann", "app_open", "08:01:00"), ("bob", "app_open", "08:01:30"),
          ("ann", "buy", "08:02:00"), ("bob", "browse", "08:03:00"), ("bob", "app_close", "08:04:00"), ("ann", "app_close", "08:05:00")]
table = pandas.DataFrame([(who, event, f"2026-01-15 {time}") for who, event, time in events], columns=["user_id", "event", "timestamp"])

def from_ann_to_bob(stream, path):
    counts = stream.transition_graph_data(edge_weight="count", path_col=path)
    return int(counts.loc["offer_shown", "push_opened"])

for how in ({"separator": "app_open"}, {"bounds": {"start_event": "app_open", "end_event": "app_close"}}):
    stream = Eventstream(table).split_sessions(**how)
    expect("paths", stream.schema.path_cols, ["user_id", "session_id"])
    expect("by person", from_ann_to_bob(stream, "user_id"), 0)
    expect("by session", from_ann_to_bob(stream, "session_id"), 1)
    sessions = stream.get_metrics([{"metric": "length"}, {"metric": "duration"}], path_col="session_id")
    nobody = sessions[sessions.index.isna()]
    expect("sessions", len(sessions), 3)
    expect("session of nobody", [(int(length), int(duration)) for length, duration in nobody.to_numpy()], [(2, 30)])

try:
    Eventstream(stream.to_dataframe()[["user_id", "session_id", "event", "timestamp"]], {"path_cols": ["user_id", "session_id"]})
    refused = False
except SchemaConfigError as error:
    refused = "must belong to a path" in str(error)
expect("refused as a table", refused, True)
PYTHON
