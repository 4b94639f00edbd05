#!/bin/sh
# airbyte-cdk 7.39.1 (PyPI), with the normalization that low-code sources switch on by `DefaultSchemaNormalization`; singer-python 6.8.0 does the
# first as well.
# Where the schema says text, an object becomes Python's idea of it, "{'name': 'spring', 'paid': True}", which is no JSON, and null becomes the word
# "None": a campaign of that name for everybody who has none.
# Seen: the two texts.
exec "$(dirname "$0")/with" airbyte-cdk==7.39.1 <<'PYTHON'
from airbyte_cdk.sources.utils.transform import TransformConfig, TypeTransformer
from seen import expect

record = {"campaign": None, "offer": {"name": "spring", "paid": True}}
TypeTransformer(TransformConfig.DefaultSchemaNormalization).transform(
    record, {"type": "object", "properties": {"campaign": {"type": "string"}, "offer": {"type": "string"}}})
expect("record", record, {"campaign": "None", "offer": "{'name': 'spring', 'paid': True}"})
PYTHON
