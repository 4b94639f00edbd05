"""What scripts of this folder share: a comparison that ends them, and a server on this machine that keeps what clients post."""

import gzip
import http.server
import sys
import threading


def expect(what, found, expected):
    print(f"{what}: {found!r}")
    if found != expected:
        sys.exit(f"{what} has changed; it was {expected!r}")


class Server:
    """Answers every POST and PUT with `answer`, and keeps (path, body) in `bodies`."""

    def __init__(self, answer=b"{}"):
        self.bodies = []
        bodies = self.bodies

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "gzip" or body[:2] == b"\x1f\x8b":
                    body = gzip.decompress(body)
                bodies.append((self.path, body))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_PUT = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
