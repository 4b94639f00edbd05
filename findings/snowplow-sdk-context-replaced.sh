#!/bin/sh
# snowplow-analytics-sdk 0.2.3 (PyPI), the vendor's reader of enriched events.
# Entities of the app (`contexts`) and those that enrichment adds (`derived_contexts`) are two columns, but one key in the object when both have a
# schema of the same name: the later column replaces the earlier one instead of adding to it. The key has only the model of the version, and dots and
# underscores of the vendor are the same, so com.acme 1-0-0 and com_acme 1-9-2 meet as well.
# Seen: contexts_com_acme_push_1 is [{'campaign': 'derived'}]; the app's {'campaign': 'spring'} is gone.
exec "$(dirname "$0")/with" snowplow-analytics-sdk==0.2.3 <<'PYTHON'
import json
from snowplow_analytics_sdk.event_transformer import ENRICHED_EVENT_FIELD_TYPES, transform
from seen import expect

def entities(vendor, version, campaign):
    return json.dumps({"schema": "iglu:com.snowplowanalytics.snowplow/contexts/jsonschema/1-0-0", "data": [
        {"schema": f"iglu:{vendor}/push/jsonschema/{version}", "data": {"campaign": campaign}}]})

names = [name for name, _ in ENRICHED_EVENT_FIELD_TYPES]
def row(**values):
    return "\t".join(values.get(name, "") for name in names)

for vendor, version in (("com.acme", "1-0-0"), ("com_acme", "1-9-2")):
    event = transform(row(contexts=entities("com.acme", "1-0-0", "spring"), derived_contexts=entities(vendor, version, "derived")))
    expect("entities", event["contexts_com_acme_push_1"], [{"campaign": "derived"}])
PYTHON
