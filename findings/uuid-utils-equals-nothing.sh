#!/bin/sh
# uuid-utils 1.2.0 (PyPI), "a drop-in replacement for Python's uuid module".
# Its UUIDs print like those of the standard library and have the same int and bytes, but equal none of them, in either direction: a set of ids that
# were seen, filled by one module and asked by the other, finds nothing, so every duplicate is new.
# Seen: False for ==, 2 members in a set of both, equal texts.
exec "$(dirname "$0")/with" uuid-utils==1.2.0 <<'PYTHON'
import uuid
import uuid_utils
from seen import expect

text = "6d92078a-8246-4ba4-ae5b-76104861e7dc"
here, there = uuid.UUID(text), uuid_utils.UUID(text)
expect("equal", (here == there, there == here), (False, False))
expect("texts are equal", str(here) == str(there), True)
expect("members of a set of both", len({here, there}), 2)
PYTHON
