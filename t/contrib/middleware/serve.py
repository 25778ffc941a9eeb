"""The API of t/contrib/middleware.t as an application of ASGI or WSGI: serve.py KIND PORT. asgi and wsgi run on servers of the
standard library, uvicorn and gunicorn run Starlette and Flask."""

import asyncio
import json
import os
import socketserver
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from wsgiref import simple_server

from authz_middleware import Asgi, Guard, Rule, Wsgi

kind, port = sys.argv[1], int(sys.argv[2])
READ = Rule(scopes=["orders.read"])


def tier(request):
    if "fail" in request.query:
        raise ValueError("top-secret")
    return {"tier": "gold", "method": "PUT", "resource": "https://other.example"}


RULES = {
    ("POST", "/shop/orders"): Rule(scopes=["orders.write"], action="make"),
    ("GET", "/shop/pay"): Rule(scopes=["orders.read"], acr=["mfa", "hwk"], max_age=300),
    ("GET", "/shop/fresh"): Rule(scopes=["orders.read"], max_age=5),
    ("GET", "/shop/tier"): Rule(scopes=["orders.read"], action="look", context=tier),
}
client = (os.environ["AUTHZ_CLIENT_ID"], os.environ["AUTHZ_CLIENT_SECRET"], os.environ["API_RESOURCE"])
more = {"scopes_supported": ["orders.read", "orders.write"], "obligations": ["tenant"]}
GUARDS = {
    "/shop/": Guard(os.environ["AUTHZ_ISSUER"], *client, **more),
    "/away/": Guard(os.environ["API_PEER"], *client, **more),
}


def rule(method, path):
    if path == "/shop/wrong":
        return ["orders.read"]  # no rule
    return None if path.startswith("/shop/open/") else RULES.get((method, path), READ)


NAMES = ["orders", "kept", "brief", "closed", "nested/closed", "tenant", "redact", "pay", "fresh", "tier"]


def answer(token, at=""):
    if token is None:
        return b"open " + at.encode()
    said = json.dumps({"for": token["sub"], "client": token["client_id"], "at": at}).encode()
    token["sub"] = "changed"
    return said


async def asgi_app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": answer(scope["authz"])})


def wsgi_app(environ, start_response):
    start_response("200 OK", [("Content-Type", "application/json")])
    return [answer(environ["authz"])]


def choose(path, apps):
    return next((app for prefix, app in apps.items() if path.startswith(prefix)), apps["/shop/"])


class AsgiHost(BaseHTTPRequestHandler):
    """As much of a server of ASGI as the test needs."""

    apps = {prefix: Asgi(asgi_app, guard, rule) for prefix, guard in GUARDS.items()}

    def serve(self):
        path, _, query = self.path.partition("?")
        scope = {
            "type": "http", "method": self.command, "path": urllib.parse.unquote(path), "raw_path": path.encode(), "query_string": query.encode(),
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()],
        }
        sent = []

        async def send(event):
            sent.append(event)

        asyncio.run(choose(path, self.apps)(scope, None, send))
        self.send_response(sent[0]["status"])
        for name, value in sent[0]["headers"]:
            self.send_header(name.decode("latin-1"), value.decode("latin-1"))
        self.end_headers()
        self.wfile.write(sent[1].get("body", b""))

    do_GET = do_POST = do_DELETE = serve

    def log_message(self, *text):
        pass


class WsgiQuiet(simple_server.WSGIRequestHandler):
    def log_message(self, *text):
        pass


class WsgiHost(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True


def starlette_app():
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    def route(path, at):
        async def handler(request):
            return Response(answer(request.scope["authz"], at), media_type="application/json")

        return Route(path, handler, methods=["GET", "POST", "DELETE"])

    shop = [route("/" + name, name) for name in NAMES] + [route(f"/{name}/{{rest:path}}", name) for name in ("of", "open")]
    return Starlette(routes=[Mount("/shop", routes=shop), route("/away/orders", "orders")])


def flask_app():
    import flask

    app = flask.Flask("api")

    def route(path, at):
        def handler(rest=""):
            return flask.Response(answer(flask.request.environ["authz"], at), mimetype="application/json")

        app.add_url_rule(path, path, handler, methods=["GET", "POST", "DELETE"])

    for name in NAMES:
        route("/shop/" + name, name)
    for name in ("of", "open"):
        route(f"/shop/{name}/<path:rest>", name)
    route("/away/orders", "orders")
    return app.wsgi_app


def wsgi(app):
    apps = {prefix: Wsgi(app, guard, rule) for prefix, guard in GUARDS.items()}
    return lambda environ, start_response: choose(environ["PATH_INFO"], apps)(environ, start_response)


if kind == "asgi":
    ThreadingHTTPServer(("127.0.0.1", port), AsgiHost).serve_forever()
elif kind == "wsgi":
    simple_server.make_server("127.0.0.1", port, wsgi(wsgi_app), WsgiHost, WsgiQuiet).serve_forever()
elif kind == "uvicorn":
    import uvicorn

    apps = {prefix: Asgi(starlette_app(), guard, rule) for prefix, guard in GUARDS.items()}

    async def chosen(scope, receive, send):
        if scope["type"] == "http":
            await choose(scope["path"], apps)(scope, receive, send)

    uvicorn.run(chosen, host="127.0.0.1", port=port, lifespan="off", log_level="warning")
else:
    from gunicorn.app.base import BaseApplication

    class Server(BaseApplication):
        def load_config(self):
            for name, value in {"bind": f"127.0.0.1:{port}", "threads": 8}.items():
                self.cfg.set(name, value)

        def load(self):
            return wsgi(flask_app())

    Server().run()
