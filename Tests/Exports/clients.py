"""What vendors' clients post, taken down by a server on this machine: `clients.py TOOL FOLDER` writes the requests, one a line, as FOLDER/export."""

import gzip
import http.server
import json
import os
import sys
import threading
import urllib.parse

from events import ROWS, moment, properties


class Kept:
    """A server that answers everything with 200 and keeps the bodies."""

    def __init__(self, answer):
        self.bodies = bodies = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                bodies.append(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def segment(server):
    from segment.analytics.client import Client
    client = Client("key", host=server.address, gzip=True)
    calls(client)


def rudderstack(server):
    from rudder_analytics.client import Client
    client = Client("key", host=server.address)
    calls(client)


def calls(client):
    for row in ROWS:
        # A call without a user needs an anonymous id; the device is where the Native Mobile Spec has it.
        client.track(row[2], row[4], properties(row), {"device": {"id": row[1]}}, moment(row[3]), anonymous_id=f"anon-{row[1]}", message_id=row[0])
    client.flush()
    client.join()


def amplitude(server):
    from amplitude import Amplitude, BaseEvent, Config
    client = Amplitude("key", Config(server_url=server.address))
    for row in ROWS:
        client.track(BaseEvent(row[4], user_id=row[2], device_id=row[1], time=row[3], insert_id=row[0], event_properties=properties(row)))
    for future in client.flush() or []:
        if future:
            future.result()
    client.shutdown()


def mixpanel(server):
    from mixpanel import BufferedConsumer, Mixpanel
    consumer = BufferedConsumer(events_url=server.address, import_url=server.address, request_timeout=10)
    client = Mixpanel("token", consumer)
    for row in ROWS:
        known = {"$device_id": row[1], "$insert_id": row[0], **({"$user_id": row[2]} if row[2] else {})}
        client.import_data(None, row[2] or f"$device:{row[1]}", row[4], row[3] / 1000, {**properties(row), **known})
    consumer.flush()


def mparticle(server):
    import mparticle as api
    settings = api.Configuration()
    settings.api_key, settings.api_secret = "key", "secret"
    client = api.EventsApi(settings)
    client.api_client.host = server.address
    for row in ROWS:
        event = api.AppEvent(row[4], "other")
        event.timestamp_unixtime_ms = row[3]
        event.source_message_id = row[0]
        event.custom_attributes = {name: value for name, value in properties(row).items() if not isinstance(value, dict)}
        batch = api.Batch(environment="development", device_info=api.DeviceInformation(android_uuid=row[1], platform="Android"))
        batch.events = [event]
        if row[2]:
            batch.user_identities = api.UserIdentities(customerid=row[2])
        client.upload_events(batch)


def snowplow(server):
    from snowplow_tracker import Emitter, SelfDescribing, SelfDescribingJson, Subject, Tracker
    emitter = Emitter("127.0.0.1", protocol="http", port=server.port)
    for row in ROWS:
        subject = Subject().set_platform("mob").set_domain_user_id(row[1])
        if row[2]:
            subject.set_user_id(row[2])
        data = SelfDescribingJson(f"iglu:com.acme/{row[4].lower().replace(' ', '_')}/jsonschema/1-0-0", properties(row))
        Tracker("t", emitter, subject=subject, encode_base64=False).track(SelfDescribing(data, true_timestamp=row[3]))
    emitter.flush()


def enriched(bodies):
    """The rows that Snowplow's pipeline makes of the tracker's payloads, as far as they have what is compared."""
    from snowplow_analytics_sdk.event_transformer import ENRICHED_EVENT_FIELD_TYPES
    names = {"p": "platform", "duid": "domain_userid", "uid": "user_id", "eid": "event_id", "ue_pr": "unstruct_event"}
    for body in bodies:
        for payload in json.loads(body)["data"]:
            values = {names[name]: value for name, value in payload.items() if name in names}
            schema = json.loads(payload["ue_pr"])["data"]["schema"].removeprefix("iglu:").split("/")
            values |= {"event": "unstruct", "event_vendor": schema[0], "event_name": schema[1], "event_format": schema[2], "event_version": schema[3]}
            time = moment(int(payload["ttm"])).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
            values |= {"derived_tstamp": time, "true_tstamp": time}
            yield "\t".join(values.get(name, "") for name, _ in ENRICHED_EVENT_FIELD_TYPES)


def airship(server):
    from urbanairship import BasicAuthClient
    from urbanairship.custom_events.custom_events import CustomEvent
    client = BasicAuthClient("k" * 22, "m" * 22)
    client.urls.custom_events_url = server.address + "/"
    for row in ROWS:
        user = {"named_user": row[2]} if row[2] else {"android_channel": row[1]}
        CustomEvent(client, row[4], user, properties=properties(row), session_id=row[1], transaction=row[0], occurred=moment(row[3])).send()


def main():
    tool, folder = sys.argv[1:]
    answer = {"amplitude": b'{"code": 200}', "mixpanel": b'{"status": 1}'}.get(tool, b"{}")
    server = Kept(answer)
    globals()[tool](server)
    if tool == "snowplow":
        with open(f"{folder}/export.tsv", "w", encoding="utf-8") as file:
            file.writelines(row + "\n" for row in enriched(server.bodies))
        os._exit(0)
    with open(f"{folder}/export", "w", encoding="utf-8") as file:
        for body in server.bodies:
            if body[:5] == b"data=":
                body = urllib.parse.parse_qs(body.decode())["data"][0].encode()
            file.write(json.dumps(json.loads(body), ensure_ascii=False) + "\n")
    os._exit(0)


main()
