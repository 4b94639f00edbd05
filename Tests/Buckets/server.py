"""moto's server, which checks signatures over the bytes on the wire.

By itself it decodes path and query first, so it refuses its own client as soon as a key or a prefix has a byte that is encoded.
"""

import flask
from moto.core.authorization import ActionAuthenticatorMixin
from moto.server import main

check = ActionAuthenticatorMixin._authenticate_and_authorize_action


def check_as_sent(self, *arguments, **more):
    decoded, self.uri = self.uri, flask.request.environ["RAW_URI"]
    try:
        return check(self, *arguments, **more)
    finally:
        self.uri = decoded


ActionAuthenticatorMixin._authenticate_and_authorize_action = check_as_sent
main()
