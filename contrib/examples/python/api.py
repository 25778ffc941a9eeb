#!/usr/bin/env python3
"""An API that needs an access token with the scope orders.read. See introspect.py for its settings.

    PORT=8000 AUTHZ_INTROSPECT_URL=https://auth.example/introspect AUTHZ_CLIENT_ID=orders-api \\
      AUTHZ_CLIENT_SECRET=... python3 api.py
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from introspect import check, require_settings


class Orders(BaseHTTPRequestHandler):
    def do_GET(self):
        status, challenge, token = check(self.headers.get("Authorization"), "orders.read")
        if status == 200:
            # `sub` names the caller: it is the user, or the client itself if no user signed in.
            self.answer(200, {"orders": [1, 2, 3], "for": token.get("sub"), "client": token.get("client_id")})
        else:
            self.answer(status, {"error": status}, challenge)

    def answer(self, status, document, challenge=None):
        body = json.dumps(document).encode()
        self.send_response(status)
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    require_settings()
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Orders).serve_forever()
