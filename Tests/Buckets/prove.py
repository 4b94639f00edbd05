"""Proves reading from buckets against a server that is not ours: moto, which checks every signature and policy.

    prove.py FOLDER [--megabytes N]

ENGAGE_BATCH is the program.
"""

import argparse
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
    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.log_file = f"{folder}/server.log"
        self.log = open(self.log_file, "w")
        server = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")
        self.process = subprocess.Popen(
            [sys.executable, server, "-H", "127.0.0.1", "-p", str(self.port)], stdout=self.log, stderr=self.log,
            env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(SETUP_CALLS), "S3_IGNORE_SUBDOMAIN_BUCKETNAME": "1"})
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.1)
        owner = self.iam("setup", "setup")
        self.users = {
            "owner": self.user(owner, "owner", ["s3:*"]),
            "reader": self.user(owner, "reader", ["s3:GetObject"]),
            "stranger": self.user(owner, "stranger", ["s3:ListAllMyBuckets"]),
        }
        self.s3 = self.client("s3", *self.users["owner"])
        # The tenth call.
        self.s3.create_bucket(Bucket=BUCKET)

    def client(self, service, key, secret):
        return boto3.client(
            service, endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id=key,
            aws_secret_access_key=secret)

    def iam(self, key, secret):
        return self.client("iam", key, secret)

    def user(self, iam, name, actions):
        iam.create_user(UserName=name)
        statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        iam.put_user_policy(
            UserName=name, PolicyName="own",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return key["AccessKeyId"], key["SecretAccessKey"]

    def environment(self, user="owner", **more):
        key, secret = self.users[user]
        return {
            "PATH": os.environ["PATH"], "HOME": "/nonexistent", "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret, **more}

    def requests(self):
        self.log.flush()
        with open(self.log_file) as log:
            return re.findall(r'GET (\S+) HTTP', log.read())

    def put(self, key, body):
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)

    def stop(self):
        self.process.terminate()
        self.process.wait()


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
    def __init__(self, folder, megabytes):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(f"{folder}/in")
        self.folder, self.megabytes = folder, megabytes
        self.server = Server(folder)

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
        wrong = self.server.environment()
        for name, change in [("secret", {"AWS_SECRET_ACCESS_KEY": "wrong-secret-word"}), ("id", {"AWS_ACCESS_KEY_ID": "AKIAWRONG"})]:
            found = self.run(self.job("wrong", [f"s3://{BUCKET}/in/*"]), environment={**wrong, **change})
            self.check(f"a wrong {name} is refused", found.returncode == 77
                       and "does not accept the credentials" in found.stderr.decode(), found.stderr.decode())

    def many(self):
        body = lines(4, 15, 2)
        for number in range(2_300):
            self.server.put(f"many/{number:05}.ndjson", body)
        self.events("many", [f"s3://{BUCKET}/many"])
        with open(f"{self.folder}/many.figures") as figures:
            read = json.load(figures)["records"]["read"]
        self.check("2,300 keys, three pages", read == 4_600, read)

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
        subprocess.run(
            ["curl", "-fsS", "-o", "/dev/null", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
             ":".join(self.server.users["owner"]), "-H", f"x-amz-content-sha256: {hashlib.sha256().hexdigest()}",
             f"{self.server.endpoint}/{BUCKET}/large.ndjson"], check=True)
        curl = time.monotonic() - began
        print(f"{size / 1e6:.0f} MB: file {seconds:.1f} s, {memory:.0f} MiB; object {remote_seconds:.1f} s, "
              f"{remote_memory:.0f} MiB; curl alone {curl:.1f} s")
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
    arguments = parser.parse_args()
    proof = Proof(os.path.abspath(arguments.folder), arguments.megabytes)
    for step in [proof.equal, proof.refused, proof.many, proof.large, proof.killed, proof.replaced, proof.secrets]:
        step()
    proof.server.stop()


main()
