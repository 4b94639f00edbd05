#!/usr/bin/env python3
"""Writes recorded events for the benchmarks, one a line, the same bytes for the same arguments.

usage: generate.py events SHAPE EVENTS SEED FILE     one file in the order of time
       generate.py scatter FILE FILES SEED FOLDER    the lines of FILE over FILES files, in no order

SHAPE is one of
  default        20 events and more a device, 70 % of them named events; 370 bytes a line
  many-devices   two events a device
  few-devices    five devices have all events
  long-payloads  8 KiB of text in each event
  deep-nesting   48 levels of objects and arrays in each event
  huge-lines     2 MB a line
"""
import array
import datetime
import json
import mmap
import os
import random
import sys

SHAPES = ["default", "many-devices", "few-devices", "long-payloads", "deep-nesting", "huge-lines"]
SPAN = 30 * 86400
START = 1767225600  # 2026-01-01T00:00:00Z
SCREENS = ["Home", "Catalogue", "Basket", "Account", "Search", "Détails", "検索"]
NAMED = ["item viewed", "item added", "checkout begun", "search made", "video played"]
GOALS = ["first purchase", "newsletter", "profile complete"]
WORDS = [w for w in "lorem ipsum dolor sit amet \"consectetur\" adipiscing elit\n sed déjà eiusmod tempor \\ 東京".split(" ")]


def device_count(shape, events):
    if shape == "many-devices":
        return max(1, events // 2)
    if shape == "few-devices":
        return 5
    return max(1, events // 50)


def prose(r, size):
    """About `size` bytes of words, some of which have to be escaped."""
    words = [r.choice(WORDS) for _ in range(200)]
    block = " ".join(words)
    return (block + " ") * (size // len(block) + 1)


def nested(r, depth):
    value = r.randint(0, 9)
    for level in range(depth):
        value = {"l%d" % level: value} if level % 2 else [value, level]
    return value


def params(shape, r):
    values = {"screen": r.choice(SCREENS), "position": r.randint(0, 9999), "amount": round(r.random() * 200, 2),
              "tags": ["sale", r.choice(SCREENS)]}
    if shape == "long-payloads":
        values["text"] = prose(r, 8192)
    elif shape == "deep-nesting":
        values["tree"] = nested(r, 48)
    elif shape == "huge-lines":
        values["text"] = prose(r, 2_000_000)
    return values


def record(shape, r, seconds):
    """What happened, without who and when. Unusual shapes have nothing but named events."""
    kind = r.random() if shape in ("default", "many-devices", "few-devices") else 0.0
    if kind < 0.70:
        return {"type": "namedEvent", "name": r.choice(NAMED), "params": params(shape, r)}
    if kind < 0.82:
        return {"type": "goalCompleted" if kind < 0.79 else "goalAbandoned", "name": r.choice(GOALS),
                "params": {"step": r.randint(1, 9)}}
    if kind < 0.88:
        return {"type": "pushReceived", "payload": {
            "aps": {"alert": {"title": "News", "body": "Ends \u201csoon\u201d"}, "badge": r.randint(0, 9)},
            "CurrentCampaign": "spring-%d" % r.randint(1, 150), "CampaignValidFor": r.choice(["2 days", "90minutes", "1 day 4h"])}}
    if kind < 0.91:
        return {"type": "notificationOpened", "payload": {
            "aps": {"alert": "News"}, "data": {"CurrentCampaign": "spring-%d" % r.randint(1, 150)}}}
    if kind < 0.94:
        return {"type": "deepLink", "url": "player://item/%d?CurrentCampaign=spring-%d&CampaignEndTimeStamp=%d"
                % (r.randint(1, 99999), r.randint(1, 150), seconds + 172800)}
    return {"type": "foreground" if kind < 0.97 else "background"}


def write_events(shape, events, seed, path):
    r = random.Random("%s %d" % (shape, seed))
    fleet = []
    for number in range(device_count(shape, events)):
        fleet.append(("%016X-%04d" % (r.getrandbits(64), number % 10000), "user-%d" % number,
                      {"name": "Phone", "version": "15,%d" % r.randint(1, 4), "osName": r.choice(["iOS", "Android"]),
                       "osVersion": r.choice(["15", "16.4", "17.2", "18.1"]), "appName": "Shop",
                       "appVersion": r.choice(["7.0.1", "7.1.0", "8.0"])}))
    now, rate = float(START), events / SPAN
    with open(path + ".part", "w", buffering=1 << 20) as out:
        for _ in range(events):
            now += r.expovariate(rate)
            seconds = int(now)
            device, user, info = fleet[int(len(fleet) * r.random() ** 2)]
            stamp = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
            line = {"deviceId": device, "mobileUserId": user,
                    "timestamp": "%s.%03dZ" % (stamp.strftime("%Y-%m-%dT%H:%M:%S"), int(now * 1000) % 1000)}
            line.update(record(shape, r, seconds), device=info)
            out.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
    os.rename(path + ".part", path)


def scatter(path, files, seed, folder):
    r = random.Random(seed)
    os.makedirs(folder + ".part")
    with open(path, "rb") as source, mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as text:
        starts = array.array("Q", [0])
        end = text.find(b"\n")
        while end >= 0:
            starts.append(end + 1)
            end = text.find(b"\n", end + 1)
        order = list(range(len(starts) - 1))
        r.shuffle(order)
        for number in range(files):
            with open(os.path.join(folder + ".part", "%04d.ndjson" % number), "wb", buffering=1 << 20) as out:
                for line in order[number::files]:
                    out.write(text[starts[line]:starts[line + 1]])
    os.rename(folder + ".part", folder)


if __name__ == "__main__":
    try:
        what, a, b, c, d = sys.argv[1:]
        if what == "events" and a in SHAPES:
            write_events(a, int(b), int(c), d)
        elif what == "scatter":
            scatter(a, int(b), int(c), d)
        else:
            raise ValueError
    except ValueError:
        sys.exit(__doc__)
