#!/bin/sh
# singer-python 6.8.0 and airbyte-cdk 7.39.1 (PyPI), each with its conversion of records to a schema, on a boolean that came as text.
# Singer's is false only for "", "false" in any case and numbers of 0; "0", "no" and "off" are true. Airbyte's is false for these three. A table that
# one tap and one source fill has both.
# Seen: True, True, True and False, False, False.
exec "$(dirname "$0")/with" airbyte-cdk==7.39.1 <<'PYTHON'
import os, subprocess, sys, venv
from airbyte_cdk.sources.utils.transform import TransformConfig, TypeTransformer
from seen import expect

record = {"push": "0", "sound": "no", "badge": "off"}
schema = {"type": "object", "properties": {name: {"type": ["null", "boolean"]} for name in record}}
# The two need different versions of jsonschema, so Singer gets a folder of its own.
venv.create("singer", with_pip=True)
subprocess.run(["singer/bin/pip", "install", "-q", "--disable-pip-version-check", "singer-python==6.8.0"], check=True)
found = subprocess.run(["singer/bin/python", "-c", f"import singer; print(list(singer.transform({record!r}, {schema!r}).values()))"],
                       capture_output=True, text=True, check=True, cwd=os.getcwd(), env={"PATH": os.environ["PATH"]})
expect("singer", found.stdout.strip(), "[True, True, True]")
TypeTransformer(TransformConfig.DefaultSchemaNormalization).transform(record, schema)
expect("airbyte", list(record.values()), [False, False, False])
PYTHON
