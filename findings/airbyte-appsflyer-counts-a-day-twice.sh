#!/bin/sh
# airbyte-source-appsflyer 0.3.3 (PyPI), Airbyte's source for AppsFlyer, with airbyte-cdk 7.39.1.
# A report is asked for in pieces of 60 days. Each piece begins with the day on which the one before ends, and AppsFlyer takes both dates as part of
# the report, so a sync over more than 60 days, which can begin 90 days ago, has one day twice: its clicks, installs and revenue are double. The streams
# have no primary key, so that a full refresh into an empty table has the day twice as well. Which day it is depends on the start, so two
# destinations disagree about the same campaign. Airbyte's page of the source does not mention it.
# Seen, for 81 days with ten installs each: 82 rows and 820 installs, with 20 for the sixtieth day after the first.
exec "$(dirname "$0")/with" airbyte-source-appsflyer==0.3.3 airbyte-cdk==7.39.1 <<'PYTHON'
import csv, io
from collections import Counter
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit
import pendulum
from airbyte_cdk.models import SyncMode
from source_appsflyer.source import AppsflyerStream, SourceAppsflyer
from seen import Server, expect

def report(request):
    asked = parse_qs(urlsplit(request.path).query)
    first, last = (date.fromisoformat(asked[name][0]) for name in ("from", "to"))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Date", "Media Source (pid)", "Campaign (c)", "Installs"])
    writer.writerows([first + timedelta(days=count), "ads", "spring", 10] for count in range((last - first).days + 1))
    request.send_response(200)
    request.end_headers()
    request.wfile.write(out.getvalue().encode())

server = Server()
server.server.RequestHandlerClass.do_GET = report
AppsflyerStream.url_base = server.address + "/"
first = pendulum.today("UTC").subtract(days=80)
streams = SourceAppsflyer().streams({"app_id": "app", "api_token": "secret", "start_date": first.to_date_string()})
daily = next(stream for stream in streams if stream.name == "daily_report")
slices = daily.stream_slices(sync_mode=SyncMode.full_refresh)
rows = [row for part in slices for row in daily.read_records(SyncMode.full_refresh, stream_slice=part)]
installs = Counter()
for row in rows:
    installs[row["date"]] += int(row["installs"])
expect("primary key", daily.primary_key, None)
expect("days, rows, installs", (len(installs), len(rows), sum(installs.values())), (81, 82, 820))
expect("days with 20", [day for day, count in installs.items() if count == 20], [first.add(days=60).to_date_string()])
PYTHON
