#!/usr/bin/env python3
"""Writes recorded events for the benchmarks, one a line, the same bytes for the same arguments.

usage: generate.py events SHAPE EVENTS SEED FILE     one file in the order of time
       generate.py scatter FILE FILES SEED FOLDER    the lines of FILE over FILES files, in no order
       generate.py schema EVENTS 0 SEED FILE         an event schema that the events of `game` conform to

SHAPE is one of
  default        20 events and more a device, 70 % of them named events; 370 bytes a line
  many-devices   two events a device
  few-devices    five devices have all events
  long-payloads  8 KiB of text in each event
  deep-nesting   48 levels of objects and arrays in each event
  huge-lines     2 MB a line
  game           events of games that report to deltaDNA, 50 a player, of 60 names with those that are made by themselves
  night, game-night  as default and game, within one day
"""
import array
import datetime
import json
import mmap
import os
import random
import sys

SHAPES = ["default", "many-devices", "few-devices", "long-payloads", "deep-nesting", "huge-lines", "game", "night", "game-night"]
DAY = 86400
START = 1767225600  # 2026-01-01T00:00:00Z
SCREENS = ["Home", "Catalogue", "Basket", "Account", "Search", "Détails", "検索"]
NAMED = ["item viewed", "item added", "checkout begun", "search made", "video played"]
GOALS = ["first purchase", "newsletter", "profile complete"]
WORDS = [w for w in "lorem ipsum dolor sit amet \"consectetur\" adipiscing elit\n sed déjà eiusmod tempor \\ 東京".split(" ")]


# 60 with the four that the program makes by itself, and transactions.
GAME_EVENTS = ["levelUp", "missionStarted", "missionCompleted", "itemCollected", "shopEntered", "options"] + [
    "gameAction%02d" % number for number in range(49)]


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
    kind = r.random() if shape in ("default", "many-devices", "few-devices", "night") else 0.0
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
        # A night is played again with later dates, so what is said there must not have one.
        end = "CampaignValidFor=2%20days" if shape == "night" else "CampaignEndTimeStamp=%d" % (seconds + 2 * DAY)
        return {"type": "deepLink", "url": "player://item/%d?CurrentCampaign=spring-%d&%s"
                % (r.randint(1, 99999), r.randint(1, 150), end)}
    return {"type": "foreground" if kind < 0.97 else "background"}


def reward(r):
    return {"rewardName": "chest", "rewardProducts": {
        "virtualCurrencies": [{"virtualCurrency": {
            "virtualCurrencyName": "Gold", "virtualCurrencyType": "GRIND", "virtualCurrencyAmount": r.randint(1, 500)}}],
        "items": [{"item": {"itemName": r.choice(SCREENS), "itemType": "Weapon", "itemAmount": 1}}]}}


def game_record(r):
    """What happened in a game."""
    kind = r.random()
    if kind < 0.90:
        values = {"userLevel": r.randint(1, 99), "userScore": r.randint(0, 999999), "missionName": r.choice(SCREENS),
                  "difficulty": r.choice(["EASY", "NORMAL", "HARD"]), "duration": round(r.random() * 200, 2)}
        if kind < 0.10:
            values["reward"] = reward(r)
        return {"type": "gameEvent", "name": GAME_EVENTS[int(len(GAME_EVENTS) * r.random() ** 2)], "params": values}
    if kind < 0.93:
        return {"type": "transaction", "name": "chest", "transactionType": "PURCHASE",
                "received": {"items": [{"name": "Sword", "type": "Weapon", "amount": 1}]},
                "spent": {"realCurrency": {"type": r.choice(["USD", "EUR", "JPY"]), "value": "%.2f" % (r.random() * 50)}},
                "transactionID": "%d" % r.getrandbits(40)}
    return {"type": ["launch", "background", "foreground"][int((kind - 0.93) / 0.07 * 3)]}


def write_schema(events, path):
    """As many events as are asked for, with the parameters that they have; then those that are made by themselves."""
    def parameter(name, type, **more):
        return dict({"name": name, "type": type}, **more)
    product = [parameter("virtualCurrencies", "ARRAY", items={"type": "OBJECT", "parameters": [
        parameter("virtualCurrency", "OBJECT", parameters=[
            parameter("virtualCurrencyName", "STRING", required=True),
            parameter("virtualCurrencyType", "STRING", enumeration=["GRIND", "PREMIUM", "PREMIUM_GRIND"]),
            parameter("virtualCurrencyAmount", "INTEGER", required=True)])]}),
        parameter("items", "ARRAY", items={"type": "OBJECT", "parameters": [
            parameter("item", "OBJECT", parameters=[
                parameter("itemName", "STRING", required=True), parameter("itemType", "STRING"),
                parameter("itemAmount", "INTEGER", required=True)])]}),
        parameter("realCurrency", "OBJECT", parameters=[
            parameter("realCurrencyType", "STRING", format="[A-Z]{3}"), parameter("realCurrencyAmount", "INTEGER")])]
    common = [parameter("missionName", "STRING", required=True),
              parameter("difficulty", "STRING", enumeration=["EASY", "NORMAL", "HARD"]), parameter("duration", "FLOAT"),
              parameter("reward", "OBJECT", parameters=[
                  parameter("rewardName", "STRING"), parameter("rewardProducts", "OBJECT", parameters=product)])]
    schema = [{"name": name, "parameters": common} for name in GAME_EVENTS[:events - 5]]
    schema += [{"name": name} for name in ("newPlayer", "gameStarted", "clientDevice", "gameEnded")]
    schema.append({"name": "transaction", "parameters": [
        parameter("transactionName", "STRING", required=True), parameter("transactionType", "STRING", required=True),
        parameter("transactionID", "STRING"), parameter("productsReceived", "OBJECT", parameters=product),
        parameter("productsSpent", "OBJECT", parameters=product)]})
    with open(path, "w") as out:
        json.dump({"events": schema}, out)


def write_events(shape, events, seed, path):
    r = random.Random("%s %d" % (shape, seed))
    fleet = []
    for number in range(device_count(shape, events)):
        fleet.append(("%016X-%04d" % (r.getrandbits(64), number % 10000), "user-%d" % number,
                      {"name": "Phone", "version": "15,%d" % r.randint(1, 4), "osName": r.choice(["iOS", "Android"]),
                       "osVersion": r.choice(["15", "16.4", "17.2", "18.1"]), "appName": "Shop",
                       "appVersion": r.choice(["7.0.1", "7.1.0", "8.0"])}))
    now, rate = float(START), events / (DAY if shape in ("night", "game-night") else 30 * DAY)
    with open(path + ".part", "w", buffering=1 << 20) as out:
        for _ in range(events):
            now += r.expovariate(rate)
            seconds = int(now)
            device, user, info = fleet[int(len(fleet) * r.random() ** 2)]
            stamp = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
            line = {"deviceId": device, "mobileUserId": user,
                    "timestamp": "%s.%03dZ" % (stamp.strftime("%Y-%m-%dT%H:%M:%S"), int(now * 1000) % 1000)}
            line.update(game_record(r) if shape in ("game", "game-night") else record(shape, r, seconds), device=info)
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
        elif what == "schema":
            write_schema(int(a), d)
        elif what == "scatter":
            scatter(a, int(b), int(c), d)
        else:
            raise ValueError
    except ValueError:
        sys.exit(__doc__)
