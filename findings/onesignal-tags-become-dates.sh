#!/bin/sh
# onesignal-python-api 5.18.0 (PyPI), the vendor's client for Python.
# Tags of a user are text. The client that reads them makes a date or time of whatever has eight characters or more and can be read as one, the month
# first and missing parts from the clock of the machine. Whoever reads the tags, adds one and writes them, changes the others at the vendor: an order,
# a day, a campaign "Saturday", an alarm. "Friday" is too short and stays. The campaign gets another name in every week in which that is done.
# Seen: written as "2026-01-15" for "20260115", as 12 October for "10.12.2025", as the date of a Saturday, and as today's date with 12:30.
exec "$(dirname "$0")/with" onesignal-python-api==5.18.0 <<'PYTHON'
import json
from datetime import date, datetime
from types import SimpleNamespace
import onesignal
from onesignal.api.default_api import DefaultApi
from onesignal.model.properties_object import PropertiesObject
from onesignal.model.update_user_request import UpdateUserRequest
from seen import expect

tags = {"order": "20260115", "day": "10.12.2025", "campaign": "Saturday", "alarm": "12:30:00", "other": "Friday"}
sent = []
def answer(method, url, body=None, **_):
    sent.append(body)
    user = json.dumps({"properties": {"tags": tags}}).encode()
    return SimpleNamespace(status=200, reason="OK", data=user, headers={"content-type": "application/json"})

api = DefaultApi(onesignal.ApiClient(onesignal.Configuration(rest_api_key="key")))
api.api_client.rest_client.pool_manager = SimpleNamespace(request=answer)
today = date.today()
found = api.get_user("app", "external_id", "ann").properties.tags
api.update_user("app", "external_id", "ann", UpdateUserRequest(properties=PropertiesObject(tags={**found, "opened": "1"})))
written = json.loads(sent[-1])["properties"]["tags"]
expect("not of today", [written[name] for name in ("order", "day", "other", "opened")], ["2026-01-15", "2025-10-12", "Friday", "1"])
saturday = date.fromisoformat(written["campaign"])
expect("a Saturday of the next days", (saturday.weekday(), 0 <= (saturday - today).days <= 7), (5, True))
alarm = datetime.fromisoformat(written["alarm"])
expect("12:30 of today", (alarm.hour, alarm.minute, 0 <= (alarm.date() - today).days <= 1), (12, 30, True))
PYTHON
