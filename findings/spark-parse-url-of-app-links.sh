#!/bin/sh
# pyspark 4.3.0 (PyPI) with Java 17 (Debian: openjdk-17-jre-headless), its SQL function parse_url.
# Links of apps are valid and parsed, but `shop://my_item/42` has no host for it, since a host has no underscore, and `shop:open?campaign=spring` no
# query, since without the slashes a URI is opaque: NULL both, as for a parameter that is not there. Of three opens with a campaign, two count as
# without.
# Seen: hosts item and NULL; campaigns spring, spring and NULL.
set -eu
command -v java >/dev/null || { apt-get install -y -q openjdk-17-jre-headless >/dev/null 2>&1; }
exec "$(dirname "$0")/with" pyspark==4.3.0 <<'PYTHON'
from pyspark.sql import SparkSession
from seen import expect

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
def part(link, *what):
    return spark.sql("SELECT parse_url(" + ", ".join(f"'{word}'" for word in (link, *what)) + ")").collect()[0][0]

links = ["shop://item/42?campaign=spring", "shop://my_item/42?campaign=spring", "shop:open?campaign=spring"]
expect("hosts", [part(link, "HOST") for link in links[:2]], ["item", None])
expect("campaigns", [part(link, "QUERY", "campaign") for link in links], ["spring", "spring", None])
spark.stop()
PYTHON
