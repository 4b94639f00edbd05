"""Exports of three kinds, made from a seed: what phones send, awkward lines among it, archives and one that is damaged."""

import gzip
import json
import os
import random

START = 1_768_435_200_000  # 2026-01-15T00:00:00Z
KINDS = {"events": "events", "notifications": "notifications", "deep-links": "deepLinks"}

# Lines that hide their device, or are none.
ODD = [
    b'\xef\xbb\xbf{"deviceId":"D-1","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"u"}\r\n\r\n',
    b'  {"\\u0064eviceId":"\\u0044-1","timestamp":"2026-01-15T08:01:00Z","type":"namedEvent","name":"E"}  \r\n',
    b'{"eventTypeCode":"17","eventTimestamp":"2026-01-15T08:02:00.000Z","attributes":'
    b'[{"name":"Device Id","value":"D-2"},{"name":"x","value":"deviceId"}]}\n',
    b'{"params":{"deviceId":"D-3"},"deviceId":"D-1","timestamp":1768464180,"type":"namedEvent","name":"N"}\n',
    b'nonsense\n{"deviceId":""}\n[]\n\n{"deviceId":"a","deviceId":"b"}\n{"deviceId":"a\xff"}\n',
    b'{"deviceId":"D-1","timestamp":"2026-01-15T08:09:00Z","type":"namedEvent","name":"' + b"l" * 3000 + b'"}\n',
]


def lines(seed, devices, records):
    """Records of phones in the order of time, with the kind of their input."""
    chance = random.Random(seed)
    found = []
    for device in range(devices):
        name = f"D-{'ß' if device % 7 == 0 else ''}{device}"
        time = START + chance.randrange(3_600_000)
        for number in range(records):
            time += 1 + chance.randrange(5_400_000 if number % 5 == 4 else 120_000)
            common = {"deviceId": name, "timestamp": time}
            kind = chance.randrange(12)
            if kind == 0:
                payload = {"aps": {"alert": "müde 🐈"}, "CurrentCampaign": chance.choice(["spring", "autumn"])}
                found.append((time, "notifications", {**common, "action": chance.choice(["received", "opened"]), "payload": payload}))
            elif kind == 1:
                found.append((time, "deep-links", {**common, "url": f"player://test/{number}?CurrentCampaign=c{number % 3}"}))
            elif kind == 2:
                found.append((time, "events", {**common, "type": chance.choice(["launch", "foreground", "background"])}))
            elif kind == 3:
                found.append((time, "events", {**common, "type": "goalCompleted", "name": "g", "params": {"value": number + 0.5}}))
            else:
                found.append((time, "events", {**common, "type": "namedEvent", "name": chance.choice(["SCREEN VIEW", "İstanbul", 'a"b\\c'])}))
    found.sort(key=lambda line: line[0])
    return [(kind, record) for _, kind, record in found]


def text(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def write_lines(folder, seed, devices, records, files):
    """Plain files and archives in nested folders with awkward names; lines twice, lines that are none; the end of an archive is gone."""
    chance = random.Random(seed + 1)
    targets = {}
    for kind, record in lines(seed, devices, records):
        number = chance.randrange(files)
        targets.setdefault((kind, number), []).append(text(record))
        if chance.randrange(50) == 0:
            targets.setdefault((kind, chance.randrange(files)), []).append(text(record))
    for (kind, number), found in targets.items():
        content = b"\n".join(found) + (b"\n" if number % 2 else b"")
        name = f"{folder}/{kind}/day {number % 3}/[{number}] 100%.ndjson"
        if number % 3 == 1:
            write(name + ".gz", gzip.compress(content, mtime=0))
        else:
            write(name, content)
    for number, content in enumerate(ODD):
        write(f"{folder}/events/odd/{number}.ndjson", content)
    write(f"{folder}/deep-links/links.tsv", b"2026-01-15T08:04:00Z\tD-1\tplayer://test/1?CurrentCampaign=c\n2026-01-15\tno\n")
    whole = gzip.compress(b"\n".join(text(record) for kind, record in lines(seed + 2, 5, 40) if kind == "events"), mtime=0)
    write(f"{folder}/events/z/cut.ndjson.gz", whole[: len(whole) * 2 // 3])
    write(f"{folder}/events/z/flipped.ndjson.gz", whole[: len(whole) // 2] + b"\0\0\0\0" + whole[len(whole) // 2 + 4 :])
    write(f"{folder}/notifications/empty.ndjson", b"")


def write_rows(folder, lines_folder, seed, devices, records, files, as_fields):
    """The same records as rows of Parquet, and beside them as the lines that they stand for, in files of the same names."""
    import pyarrow
    import pyarrow.parquet

    chance = random.Random(seed + 1)
    targets = {}
    for kind, record in lines(seed, devices, records):
        targets.setdefault((kind, chance.randrange(files)), []).append(record)
    for (kind, number), found in targets.items():
        path = f"{kind}/day {number % 3}/{number}.parquet"
        os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
        if as_fields:
            found = [record for record in found if record.get("type") != "goalCompleted"]
            columns = {
                "device": [record["deviceId"] for record in found],
                "at": pyarrow.array([record["timestamp"] for record in found], pyarrow.timestamp("ms", "UTC")),
                "what": pyarrow.array([record.get("type") for record in found], pyarrow.string()),
                "title": pyarrow.array([record.get("name") for record in found], pyarrow.string()),
            }
            as_lines = [fields(record) for record in found]
        else:
            as_lines = [text(record) for record in found] + [b"nonsense", b"", b'{"deviceId":"a\xff"}']
            columns = {"payload": pyarrow.array([line or None for line in as_lines], pyarrow.binary())}
            # Written for people: with line feeds between the words of a record, which make no lines of their own.
            columns["payload"] = pyarrow.array(
                [line and (line.replace(b'","', b'",\n"') if at % 9 == 0 else line) or None for at, line in enumerate(as_lines)],
                pyarrow.binary())
            as_lines = [line.replace(b'","', b'",\r"') if at % 9 == 0 else line for at, line in enumerate(as_lines)]
        pyarrow.parquet.write_table(pyarrow.table(columns), f"{folder}/{path}", row_group_size=37)
        write(f"{lines_folder}/{path}", b"".join(line + b"\n" for line in as_lines))


def fields(record):
    from datetime import datetime, timezone

    seconds, milliseconds = divmod(record["timestamp"], 1000)
    time = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + f".{milliseconds:03}Z"
    found = {"deviceId": record["deviceId"], "timestamp": time, "type": record.get("type"), "name": record.get("name")}
    return text({name: value for name, value in found.items() if value is not None})


def game_lines(seed, devices, records):
    chance = random.Random(seed)
    for number in range(devices * records):
        device = f"phone-{chance.randrange(devices)}"
        common = {"deviceId": device, "timestamp": START + chance.randrange(40_000) * 2000 + number % 2000}
        if number < devices:
            yield text({**common, "deviceId": f"phone-{number}", "type": "launch"})
        else:
            yield text({**common, "type": "namedEvent", "name": "levelUp", "params": {"level": chance.randrange(9)}})


def write_game(folder, seed, devices, records, files):
    found = list(game_lines(seed, devices, records)) + [b"{", b"nonsense"]
    for number in range(files):
        write(f"{folder}/events/{number}.ndjson", b"\n".join(found[number::files]))
