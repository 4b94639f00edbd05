#!/bin/sh
# furl 2.1.4 (PyPI), beside yarl 1.25.1 and hyperlink 21.0.0.
# Android's intent links keep their parameters in the fragment, `#Intent;scheme=shop;S.campaign=spring;end`. furl takes a fragment for a path with a
# query and quotes it again: the semicolons become %3B, so that Android finds no extras, and in `S.campaign=a%20b` the space becomes "+", which
# Android keeps as a plus sign. Reading `furl(link).url` is enough; nothing was changed.
# Seen: '#Intent%3Bscheme=shop%3BS.campaign%3Da+b%3Bend'; yarl and hyperlink leave the fragment as it is.
exec "$(dirname "$0")/with" furl==2.1.4 yarl==1.25.1 hyperlink==21.0.0 <<'PYTHON'
import furl, hyperlink, yarl
from seen import expect

link = "intent://open/#Intent;scheme=shop;S.campaign=a%20b;end"
expect("furl", furl.furl(link).url, "intent://open/#Intent%3Bscheme=shop%3BS.campaign%3Da+b%3Bend")
expect("yarl", str(yarl.URL(link)), link)
expect("hyperlink", hyperlink.parse(link).to_text(), link)
PYTHON
