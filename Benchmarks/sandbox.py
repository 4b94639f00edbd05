"""A sandbox in a process of its own, for the benchmarks that need a service."""
import json
import os
import signal
import subprocess
import sys
import urllib.request

from measure import BINARY, WORK


def write(path, value):
    with open(path, "w") as out:
        json.dump(value, out)


class Sandbox:
    """`engage-batch sandbox` until its end; its base URL is the first line that it prints."""

    def __init__(self, faults):
        plan = os.path.join(WORK, "faults.json")
        write(plan, faults)
        self.process = subprocess.Popen([BINARY, "sandbox", "--port", "0", "--faults", plan], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            sys.exit("the sandbox did not start")
        self.environment = {
            "ENGAGE_BASE_URL": self.url, "ENGAGE_CLIENT_ID": "bench", "ENGAGE_SECRET": "bench",
            "ENGAGE_REFRESH_TOKEN": "bench", "SWIFT_BACKTRACE": "enable=no"}

    def totals(self):
        with urllib.request.urlopen(self.url.rstrip("/") + "/sandbox/state") as answer:
            return json.load(answer)["totals"]

    def stop(self):
        """CPU seconds that it took in all."""
        self.process.send_signal(signal.SIGTERM)
        _, _, rusage = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        return rusage.ru_utime + rusage.ru_stime
