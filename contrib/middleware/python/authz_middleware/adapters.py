"""The guard for applications of ASGI and WSGI. `rule` is one for all requests, or a function of method and path (as the
application sees it, decoded) that returns one, or None for what everybody may see."""

import asyncio
import http
import urllib.parse
from typing import Any, Callable, Iterable, Optional, Union

from . import Guard, Request, Rule, Verdict

PLAIN = "/!$&'()*+,;=:@"  # characters that stand in a path as they are (RFC 3986 3.3), beside the unreserved ones
Rules = Union[Rule, Callable[[str, str], Optional[Rule]]]
METADATA_HEADERS = [("Content-Type", "application/json"), ("Access-Control-Allow-Origin", "*")]


def rule_for(rules: Rules, method: str, path: str) -> Optional[Rule]:
    return rules if isinstance(rules, Rule) else rules(method, path)


def whole_path(scope: Any) -> str:
    """Return the decoded path, by which applications act. Some frameworks take the place of a mounted application off."""
    path = scope.get("path", "")
    whole = urllib.parse.unquote((scope.get("raw_path") or b"").decode("latin-1").split("?")[0])
    return whole if whole.endswith(path) else path


class Asgi:
    """A request that passes has the claims of its token in scope["authz"]. Other kinds than http, websocket and lifespan end."""

    def __init__(self, app: Any, guard: Guard, rule: Rules = Rule()) -> None:
        self.app, self.guard, self.rules = app, guard, rule

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        kind, path, method = scope["type"], scope.get("path", ""), scope.get("method", "GET")
        if kind == "lifespan":
            await self.app(scope, receive, send)
            return
        if kind not in ("http", "websocket"):
            raise ValueError(f"a scope of type {kind} cannot be protected")
        if kind == "http" and path == self.guard.metadata_path and method in ("GET", "HEAD"):
            await self._answer(send, Verdict(200, None, METADATA_HEADERS, b"" if method == "HEAD" else self.guard.metadata))
            return
        rule = rule_for(self.rules, method, path)
        if rule is not None:
            fields = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
            request = Request(method, urllib.parse.quote(whole_path(scope), PLAIN), scope.get("query_string", b"").decode("latin-1"),
                              [value for name, value in fields if name == b"authorization"], [value for name, value in fields if name == b"dpop"])
            verdict = await asyncio.get_running_loop().run_in_executor(None, self.guard.check, request, rule)
            if verdict.status != 200:
                await (self._answer(send, verdict) if kind == "http" else send({"type": "websocket.close", "code": 1008}))
                return
            scope = {**scope, "authz": verdict.token}
        await self.app(scope, receive, send)

    @staticmethod
    async def _answer(send: Any, verdict: Verdict) -> None:
        headers = [(name.lower().encode(), value.encode()) for name, value in verdict.headers]
        headers.append((b"content-length", str(len(verdict.body)).encode()))
        await send({"type": "http.response.start", "status": verdict.status, "headers": headers})
        await send({"type": "http.response.body", "body": verdict.body})


class Wsgi:
    """A request that passes has the claims of its token in environ["authz"]."""

    def __init__(self, app: Any, guard: Guard, rule: Rules = Rule()) -> None:
        self.app, self.guard, self.rules = app, guard, rule

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        # PATH_INFO has decoded octets as latin-1 (PEP 3333): this is the path by which the application acts.
        octets = (environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1")
        path, method = octets.decode("utf-8", "replace"), environ["REQUEST_METHOD"]
        if path == self.guard.metadata_path and method in ("GET", "HEAD"):
            start_response("200 OK", METADATA_HEADERS)
            return [b"" if method == "HEAD" else self.guard.metadata]
        rule = rule_for(self.rules, method, path)
        if rule is not None:
            fields = ([environ[name]] if name in environ else [] for name in ("HTTP_AUTHORIZATION", "HTTP_DPOP"))
            verdict = self.guard.check(Request(method, urllib.parse.quote(octets, PLAIN), environ.get("QUERY_STRING", ""), *fields), rule)
            if verdict.status != 200:
                start_response(f"{verdict.status} {http.HTTPStatus(verdict.status).phrase}", verdict.headers)
                return [verdict.body]
            environ["authz"] = verdict.token
        return self.app(environ, start_response)
