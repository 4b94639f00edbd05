"""Proves reading from buckets and writing to them against two servers that are not ours and check every signature: moto, with its
policies and conditions, and nanio, which shares no code with it.

    prove.py FOLDER [--megabytes N] [--keys N]

ENGAGE_BATCH is the program.
"""

import argparse
import concurrent.futures
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import boto3

BINARY = os.environ["ENGAGE_BATCH"]
BUCKET = "exports"
# What must be allowed before the server begins to check: the bucket's owner and three users, each with key and policy.
SETUP_CALLS = 10


class Server:
    """A server of S3 in a process of its own; its requests are in its log."""

    def __init__(self, folder, command, **variables):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.log_file = f"{folder}/server.log"
        self.log = open(self.log_file, "w")
        self.process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(self.port)], stdout=self.log, stderr=self.log,
            env={**os.environ, **variables})
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.1)

    def client(self, service, key, secret):
        return boto3.client(
            service, endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id=key,
            aws_secret_access_key=secret)

    def environment(self, user="owner", **more):
        key, secret = self.users[user]
        return {
            "PATH": os.environ["PATH"], "HOME": "/nonexistent", "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret, **more}

    def requests(self, method="GET"):
        self.log.flush()
        with open(self.log_file) as log:
            return re.findall(method + r' (\S+) HTTP', log.read())

    def put(self, key, body):
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)

    def get(self, key):
        return self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def uploads(self):
        return len(self.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []))

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Moto(Server):
    def __init__(self, folder):
        server = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")
        super().__init__(
            folder, [sys.executable, server], INITIAL_NO_AUTH_ACTION_COUNT=str(SETUP_CALLS),
            S3_IGNORE_SUBDOMAIN_BUCKETNAME="1")
        iam = self.client("iam", "setup", "setup")
        self.users = {
            "owner": self.user(iam, "owner", ["s3:*"]),
            "reader": self.user(iam, "reader", ["s3:GetObject"]),
            "stranger": self.user(iam, "stranger", ["s3:ListAllMyBuckets"]),
        }
        self.s3 = self.client("s3", *self.users["owner"])
        # The tenth call.
        self.s3.create_bucket(Bucket=BUCKET)

    def user(self, iam, name, actions):
        iam.create_user(UserName=name)
        statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        iam.put_user_policy(
            UserName=name, PolicyName="own",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return key["AccessKeyId"], key["SecretAccessKey"]


class Nanio(Server):
    """Has one user, and ignores the conditions of writes."""

    def __init__(self, folder):
        self.users = {"owner": ("NANIOACCESSKEY", "nanio/secret+word")}
        key, secret = self.users["owner"]
        super().__init__(
            folder, [os.path.join(os.path.dirname(sys.executable), "nanio"), "serve", "--data-dir", f"{folder}/nanio"],
            NANIO_ACCESS_KEY=key, NANIO_SECRET_KEY=secret)
        self.s3 = self.client("s3", key, secret)
        self.s3.create_bucket(Bucket=BUCKET)

    def uploads(self):
        # It does not list them.
        folder = f"{os.path.dirname(self.log_file)}/nanio/.nanio/multipart"
        return len(os.listdir(folder)) if os.path.isdir(folder) else 0


def record(random_numbers, day, number):
    return json.dumps({
        "deviceId": f"device-{random_numbers.randrange(20_000)}", "type": "namedEvent",
        "timestamp": f"2026-01-{day}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z", "name": "seen",
        "mobileUserId": f"user-{random_numbers.randrange(20_000)}", "params": {"number": number, "word": "x" * 150},
    }, separators=(",", ":")) + "\n"


def lines(seed, day, count):
    numbers = random.Random(seed)
    return "".join(record(numbers, day, number) for number in range(count)).encode()


class Proof:
    def __init__(self, folder, server, megabytes, keys):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(f"{folder}/in")
        self.folder, self.megabytes, self.keys = folder, megabytes, keys
        self.server = server(folder)
        print(f"==> {server.__name__}", flush=True)

    def check(self, what, holds, detail=""):
        print(f"{'ok' if holds else 'FAILED'}: {what} {detail if not holds else ''}".rstrip(), flush=True)
        if not holds:
            self.server.stop()
            sys.exit(1)

    def job(self, name, inputs, **settings):
        path = f"{self.folder}/{name}.json"
        with open(path, "w") as job:
            json.dump({
                "name": name, "inputs": {"events": inputs}, "asOf": "2026-02-01T00:00:00Z",
                "store": f"{self.folder}/{name}.sqlite", "reports": f"{self.folder}/{name}-reports",
                "settings": {
                    "Storage": {"endpoint": self.server.endpoint, **settings},
                    "Networking": {"retryDelay": "0 seconds"}}}, job)
        return path

    def run(self, job, *arguments, user="owner", environment=None):
        return subprocess.run(
            [BINARY, "run", job, "--no-upload", *arguments], capture_output=True, check=False,
            env=environment or self.server.environment(user))

    def events(self, name, inputs, **settings):
        out = f"{self.folder}/{name}.events"
        found = self.run(self.job(name, inputs, **settings), "--events-out", out, "--summary", f"{self.folder}/{name}.figures")
        self.check(f"{name}: the run ends well", found.returncode == 0, found.stderr.decode())
        with open(out, "rb") as events:
            return events.read()

    def equal(self):
        names = {"2026-01-15/a.ndjson": lines(1, 15, 20_000), "2026-01-16/b c+d.ndjson": lines(2, 16, 30_000),
                 "2026-01-16/ü.ndjson.gz": gzip.compress(lines(3, 16, 10_000), mtime=0), "2026-01-16/_tmp.ndjson": b"{}\n"}
        for name, body in names.items():
            os.makedirs(os.path.dirname(f"{self.folder}/in/{name}"), exist_ok=True)
            with open(f"{self.folder}/in/{name}", "wb") as file:
                file.write(body)
            self.server.put(f"in/{name}", body)
        files = self.events("files", [f"{self.folder}/in/*/*.ndjson*"])
        objects = self.events("objects", [f"s3://{BUCKET}/in/*/*.ndjson*"])
        self.check("objects give the events of files", files == objects and files.count(b"\n") > 50_000)
        before = len([path for path in self.server.requests() if path.startswith(f"/{BUCKET}/in/")])
        again = self.run(f"{self.folder}/objects.json")
        after = len([path for path in self.server.requests() if path.startswith(f"/{BUCKET}/in/")])
        self.check("objects with the same tag are not read again", again.returncode == 0 and before == after and before > 2,
                   f"{before} {after} {again.stderr.decode()}")
        if "reader" not in self.server.users:
            return
        named = self.run(self.job("named", [f"s3://{BUCKET}/in/2026-01-15/a.ndjson"]), user="reader")
        self.check("a named object needs no right to list", named.returncode == 0, named.stderr.decode())

    def refused(self):
        for name, user, inputs, code, words in [
            ("denied", "reader", f"s3://{BUCKET}/in/*", 77, "listing is denied"),
            ("stranger", "stranger", f"s3://{BUCKET}/in/2026-01-15/a.ndjson", 77, "is denied"),
            ("bucket", "owner", "s3://no-such-bucket/in/*", 66, "there is no such bucket"),
            ("key", "owner", f"s3://{BUCKET}/none/*", 66, "nothing matches"),
        ]:
            found = self.run(self.job(name, [inputs]), user=user)
            self.check(f"{name}: {code}, {words}", found.returncode == code and words in found.stderr.decode(),
                       f"{found.returncode}: {found.stderr.decode()}")
        found = self.run(self.job("unwritten", [f"s3://{BUCKET}/in/2026-01-15/a.ndjson"]), "--events-out", f"s3://{BUCKET}/out/no",
                         user="reader")
        self.check("a reader's output ends with 73", found.returncode == 73 and "writing is denied" in found.stderr.decode(),
                   f"{found.returncode}: {found.stderr.decode()}")

    def wrong(self):
        wrong = self.server.environment()
        for name, change in [("secret", {"AWS_SECRET_ACCESS_KEY": "wrong-secret-word"}), ("id", {"AWS_ACCESS_KEY_ID": "AKIAWRONG"})]:
            found = self.run(self.job("wrong", [f"s3://{BUCKET}/in/*"]), environment={**wrong, **change})
            self.check(f"a wrong {name} is refused", found.returncode == 77
                       and "does not accept the credentials" in found.stderr.decode(), found.stderr.decode())

    def many(self):
        body = lines(4, 15, 2)
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda number: self.server.put(f"many/{number:05}.ndjson", body), range(self.keys)))
        began = time.monotonic()
        self.events("many", [f"s3://{BUCKET}/many"])
        with open(f"{self.folder}/many.figures") as figures:
            read = json.load(figures)["records"]["read"]
        self.check(f"{self.keys} keys, {-(-self.keys // 1000)} pages", read == 2 * self.keys, read)
        print(f"{self.keys} keys: {time.monotonic() - began:.1f} s")

    def written(self):
        events = self.events("here", [f"{self.folder}/in/2026-01-1*/*.ndjson*"])
        job = self.job("there", [f"s3://{BUCKET}/in/2026-01-1*/*.ndjson*"])
        found = self.run(job, "--events-out", f"s3://{BUCKET}/out/events", "--report", f"s3://{BUCKET}/reports", "--summary",
                         f"s3://{BUCKET}/out/figures", "--metrics", f"s3://{BUCKET}/out/metrics")
        self.check("a run with outputs in the bucket ends well", found.returncode == 0, found.stderr.decode())
        self.check("events in the bucket are those of a file, in parts", self.server.get("out/events") == events
                   and len(events) > 8 << 20, len(events))
        self.check("so are the figures", json.loads(self.server.get("out/figures"))["records"]["read"] == 60_000)
        report = re.search(rf"s3://{BUCKET}/(reports/\S+)/report.html", found.stderr.decode())
        self.check("the report has its files", report and all(
            self.server.get(f"{report[1]}/{name}") for name in ["report.html", "report.json", "summary.json"]))
        self.check("no upload is left", self.server.uploads() == 0, self.server.uploads())
        address = f"s3://{BUCKET}/stores/there.sqlite"
        saved = self.command("store", "backup", "--job", job, address)
        again = self.command("store", "backup", "--job", job, address)
        self.check("a store is backed up, and again", saved.returncode == again.returncode == 0, saved.stderr + again.stderr)
        restored = self.command("store", "restore", "--job", self.job("restored", ["none"]), address)
        self.check("it is restored", restored.returncode == 0, restored.stderr)
        status = [self.command("store", "status", "--store", f"{self.folder}/{name}.sqlite").stdout for name in ["there", "restored"]]
        self.check("with all that was in it", status[0] == status[1].replace(b"restored", b"there") and status[0], status)

    def locked(self):
        address = f"s3://{BUCKET}/stores/lock.sqlite"
        # Moto ignores If-Match at the end of a multipart upload, so the store must fit one request.
        for name in ["one", "two"]:
            with open(f"{self.folder}/in/{name}.ndjson", "wb") as file:
                file.write(lines(name, 15, 500))
        first = self.job("first", [f"{self.folder}/in/one.ndjson"])
        self.run(first)
        self.check("the first copy needs no other", self.command("store", "backup", "--job", first, address).returncode == 0)
        jobs = [self.job(name, [f"{self.folder}/in/two.ndjson"]) for name in ["left", "right"]]
        for job in jobs:
            self.command("store", "restore", "--job", job, address)
            self.run(job)
        both = [subprocess.Popen([BINARY, "store", "backup", "--job", job, address], env=self.server.environment(),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE) for job in jobs]
        messages = [process.communicate()[1].decode() for process in both]
        codes = [process.returncode for process in both]
        self.check("of two backups at once, one changes nothing and says so", sorted(codes) == [0, 75]
                   and "the object is not the last copy" in messages[codes.index(75)], (codes, messages))
        last = self.job("last", ["none"])
        self.command("store", "restore", "--job", last, address)
        winner = jobs[codes.index(0)].replace(".json", ".sqlite")
        status = [self.command("store", "status", "--store", path).stdout.split(b"\n", 1)[1]
                  for path in [winner, last.replace(".json", ".sqlite")]]
        self.check("the bucket has the other's store", status[0] == status[1], status)

    def command(self, *arguments):
        return subprocess.run([BINARY, *arguments], capture_output=True, check=False, env=self.server.environment())

    def large(self):
        path = f"{self.folder}/in/large.ndjson"
        count = self.megabytes * 1_000_000 // 300
        with open(path, "wb") as file:
            numbers = random.Random(5)
            for number in range(count):
                file.write(record(numbers, 17, number).encode())
        self.server.s3.upload_file(path, BUCKET, "large.ndjson")
        size = os.path.getsize(path)

        def measured(name, inputs):
            job, began = self.job(name, inputs), time.monotonic()
            process = subprocess.Popen(
                [BINARY, "run", job, "--dry-run", "--no-upload"], env=self.server.environment(),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            self.check(f"{name}: the run ends well", status == 0)
            return time.monotonic() - began, usage.ru_maxrss / 1024

        seconds, memory = measured("large-file", [path])
        remote_seconds, remote_memory = measured("large-object", [f"s3://{BUCKET}/large.ndjson"])
        began = time.monotonic()
        # As many connections as the program reads with.
        quarters = [range(size * n // 4, size * (n + 1) // 4) for n in range(4)]
        curls = [subprocess.Popen(
            ["curl", "-fsS", "-o", "/dev/null", "-r", f"{part.start}-{part.stop - 1}", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
             ":".join(self.server.users["owner"]), "-H", f"x-amz-content-sha256: {hashlib.sha256().hexdigest()}",
             f"{self.server.endpoint}/{BUCKET}/large.ndjson"]) for part in quarters]
        self.check("curl reads the object", [curl.wait() for curl in curls] == [0, 0, 0, 0])
        curl = time.monotonic() - began
        print(f"{size / 1e6:.0f} MB: file {seconds:.1f} s, {memory:.0f} MiB; object {remote_seconds:.1f} s, "
              f"{remote_memory:.0f} MiB; curl with 4 connections {curl:.1f} s")
        self.check("an object takes hardly more memory than a file", remote_memory < memory + 64)

    def killed(self):
        job = self.job("killed", [f"s3://{BUCKET}/large.ndjson"])
        for sent in [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL]:
            before = len(self.server.requests())
            process = subprocess.Popen([BINARY, "run", job, "--no-upload"], env=self.server.environment(),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while len(self.server.requests()) < before + 8 and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(sent)
            code = process.wait()
            self.check(f"{sent.name} ends the run in the middle", code in (-9, 143), code)
        found = self.run(job, "--events-out", f"{self.folder}/killed.events")
        self.check("the run after kills ends well", found.returncode == 0, found.stderr.decode())
        whole = self.events("whole", [f"{self.folder}/in/large.ndjson"])
        with open(f"{self.folder}/killed.events", "rb") as events:
            self.check("its events are those of the file", events.read() == whole)

    def upload_killed(self):
        job = self.job("uploads", [f"{self.folder}/in/large.ndjson"])
        self.server.put("out/large", b"old")
        left = 0
        for sent in [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]:
            before = len(self.server.requests("PUT"))
            process = subprocess.Popen(
                [BINARY, "run", job, "--dry-run", "--no-upload", "--events-out", f"s3://{BUCKET}/out/large"], env=self.server.environment(),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while len(self.server.requests("PUT")) < before + 2 and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(sent)
            code = process.wait()
            left += sent == signal.SIGKILL
            self.check(f"{sent.name} in the middle of an upload leaves the object as it was", code in (-9, 143, 130)
                       and self.server.get("out/large") == b"old", code)
            self.check("only a kill leaves parts behind", self.server.uploads() == left, self.server.uploads())
        found = self.run(job, "--events-out", f"s3://{BUCKET}/out/large")
        with open(f"{self.folder}/whole.events", "rb") as events:
            self.check("the next run writes all of it", found.returncode == 0
                       and self.server.get("out/large") == events.read(), found.stderr.decode())

    def replaced(self):
        job = self.job("replaced", [f"s3://{BUCKET}/large.ndjson"])
        before = len(self.server.requests())
        process = subprocess.Popen([BINARY, "run", job, "--no-upload"], env=self.server.environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while len(self.server.requests()) < before + 8 and process.poll() is None:
            time.sleep(0.02)
        self.server.put("large.ndjson", lines(6, 15, 10))
        _, messages = process.communicate()
        self.check("an object that is replaced while it is read is named", process.returncode == 74
                   and b"large.ndjson: error: the object was replaced" in messages, messages.decode())

    def secrets(self):
        words = [word.encode() for pair in self.server.users.values() for word in pair] + [b"wrong-secret-word"]
        found = []
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if name == "server.log":
                    continue
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                found += [name for word in words if word in content]
        self.check("no file has a key or a secret", not found, found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--megabytes", type=int, default=150)
    parser.add_argument("--keys", type=int, default=2_300)
    arguments = parser.parse_args()
    for server, steps in [
        (Moto, ["equal", "refused", "wrong", "many", "written", "locked", "large", "killed", "upload_killed", "replaced", "secrets"]),
        (Nanio, ["equal", "wrong", "written", "secrets"]),
    ]:
        folder = f"{os.path.abspath(arguments.folder)}/{server.__name__}"
        proof = Proof(folder, server, arguments.megabytes, arguments.keys)
        for step in steps:
            getattr(proof, step)()
        proof.server.stop()


main()
