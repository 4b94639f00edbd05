"""What every tool is given to write: four events of three devices, and what has to come out of them again."""

from datetime import datetime, timezone

# Name, device, user, time in milliseconds since 1970, name of the event, campaign, amount, count, premium, nested.
ROWS = [
    ("e-1", "6D92078A-8246-4BA4-AE5B-76104861E7DC", "P-1", 1768464000123, "Basket opened", "spring", 9.9, 3, True, {"level": {"name": 'a "b", c'}}),
    ("e-2", "9774d56d682e549c", None, 1768464060000, "Basket opened", None, 0.0, 0, False, None),
    ("e-3", "00123", "P-2", 1768464120500, "Article viewed", "summer", 0.1, 12345678901234567, True, {"level": {"name": "sea"}}),
    ("e-4", "00123", "P-2", 1768464120999, "Basket opened", "summer", 1e-7, -1, False, {"level": {"name": ""}}),
]
COLUMNS = ["event_id", "device_id", "user_id", "event_time", "event_name", "campaign", "amount", "quantity", "premium", "props"]


def moment(milliseconds):
    return datetime.fromtimestamp(milliseconds // 1000, timezone.utc).replace(microsecond=milliseconds % 1000 * 1000)


def records(time=moment):
    """The rows as dictionaries; `time` makes of milliseconds what a tool is given."""
    return [{**dict(zip(COLUMNS, row)), "event_time": time(row[3])} for row in ROWS]


def properties(row):
    """What a client sends with the event, nulls left out."""
    names = {"campaign": row[5], "amount": row[6], "quantity": row[7], "premium": row[8], "level": (row[9] or {}).get("level")}
    return {name: value for name, value in names.items() if value is not None}
