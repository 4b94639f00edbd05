#!/bin/sh
# amplitude-analytics 1.3.0 (PyPI), the vendor's client for Python.
# An event whose `time` is not an `int` (a float such as 1768464000000.0, which is what a column of epochs with one gap in it becomes in pandas, or an
# int64 of NumPy) is sent all the same. The client writes an error to its log, drops the time and puts the present one there, so that January's event
# is stored as one of today.
# Seen: time 1768464000000 with int; the clock of the machine with the float and with numpy.int64; status 200 in all cases.
exec "$(dirname "$0")/with" amplitude-analytics==1.3.0 numpy==2.4.6 <<'PYTHON'
import json, time
import numpy
from amplitude import Amplitude, BaseEvent, Config
from seen import Server, expect

server = Server(b'{"code": 200}')
client = Amplitude("key", Config(server_url=server.address, flush_queue_size=1))
began = time.time() * 1000 - 1000
for value in (1768464000000, 1768464000000.0, numpy.int64(1768464000000)):
    client.track(BaseEvent("launch", device_id="D-1", time=value, insert_id="i-1"))
    for future in client.flush() or []:
        future and future.result()
client.shutdown()
times = [event["time"] for _, body in server.bodies for event in json.loads(body)["events"]]
expect("events", len(times), 3)
expect("sent with the time given", sorted(time == 1768464000000 for time in times), [False, False, True])
expect("sent with the time of sending", sum(time > began for time in times), 2)
PYTHON
