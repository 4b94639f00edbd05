#!/bin/sh
# pyhocon 0.3.63 (PyPI), HOCON for Python; with python-dateutil 4.0.0 and without. Its README has "Duration format" among what is not there.
# Text needs no quotes in HOCON. Where a number and a unit of time stand in the middle of it, they become an object of Python, whose repr or str is
# put into the text, and the space behind them goes: the alert of a push reads "Only relativedelta(days=+2)left", or "Only 2 days, 0:00:00left" when
# dateutil is not there. Single letters are units too, so a campaign "spring 5 d" and an "iPhone 5 s" have other names. Nothing raises, and the value
# is a text as it should be, so no check of types sees it.
# Seen: these texts from `get_string` and as JSON; 'iPhone relativedelta(seconds=+5)'; "Galaxy S 5" and quoted text as they were.
set -eu
check=$(cat <<'PYTHON'
import importlib.util, json
from pyhocon import ConfigFactory, HOCONConverter
from seen import expect

two, five, seconds = ("relativedelta(days=+2)", "relativedelta(days=+5)", "relativedelta(seconds=+5)") if importlib.util.find_spec("dateutil") else (
    "2 days, 0:00:00", "5 days, 0:00:00", "0:00:05")
for text, found in (
        ("Only 2 days left", f"Only {two}left"), ("spring 5 d", f"spring {five}"), ("iPhone 5 s", f"iPhone {seconds}"), ("Galaxy S 5", "Galaxy S 5"),
        ('"Only 2 days left"', "Only 2 days left")):
    config = ConfigFactory.parse_string(f"alert = {text}")
    expect(text, config.get_string("alert"), found)
    expect(f"{text} as JSON", json.loads(HOCONConverter.to_json(config)), {"alert": found})
PYTHON
)
echo "$check" | "$(dirname "$0")/with" pyhocon==0.3.63 python-dateutil==4.0.0
echo "$check" | "$(dirname "$0")/with" pyhocon==0.3.63
