"""Protect an API with authz: ask POST /introspect about the access token of each request (RFC 7662) with the context
of the request, check DPoP proofs (RFC 9449), and refuse with the challenges of RFC 6750, 9449, 9470 and 9728. Without
an answer of authz no request passes."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import http.client
import json
import logging
import re
import socket
import threading
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any, Callable, Iterable, NamedTuple, Optional, Sequence, Union

import jwt

TIMEOUT = 5  # seconds to connect, and seconds for the whole answer of authz
ANSWER_MAX = 256 * 1024  # octets of an answer
CONTEXT_MAX = 16 * 1024  # octets; authz refuses a longer context
KEPT_MAX = 1000  # answers in the cache; while it is full, others are not kept
KEEP_MAX = 30  # seconds that an answer is kept at most, as at /auth/check
PROOFS_MAX = 100000  # DPoP proofs that are remembered; beyond it bound tokens are 503
PROOF_MAX = 8192  # octets of a proof
PROOF_WINDOW = 60  # seconds by which iat may differ from our clock
PROOF_LIFE = 2 * PROOF_WINDOW + 1  # seconds that a proof may be good for, if its iat lies in the future
CREDENTIAL = re.compile(r"(Bearer|DPoP) +([A-Za-z0-9._~+/-]{1,2048}=*)", re.I)  # RFC 6750 section 2.1
WORD = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749 3.3, and what a quoted string needs no escape for
PATH = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%(?![01]|5C|7F)[0-9A-F]{2})*")  # no backslash, no control
VAGUE = re.compile(r"/(?:\.\.?)?(?:[/;]|%3B)|/\.\.?$")  # an empty or a dot segment, also before what is cut off
PLAIN = "/!$&'()*+,;=:@"  # stand in a path as they are (RFC 3986 3.3), beside the unreserved characters
EC, RSA, OKP = ("crv", "kty", "x", "y"), ("e", "kty", "n"), ("crv", "kty", "x")  # members of keys (RFC 7638 3.2)
ALGS = {"ES256": ("EC", "P-256", EC), "ES384": ("EC", "P-384", EC), "RS256": ("RSA", None, RSA),
        "PS256": ("RSA", None, RSA), "EdDSA": ("OKP", "Ed25519", OKP)}
# Status, error code, and what the log has: the cause, which the caller gets as error_description, and the cure.
REFUSALS = {
    "path": (400, "invalid_request", "the address can be read in two ways: send none with //, /../ or %5C"),
    "prefix": (400, "invalid_request", "the prefix is another one: set prefix to SCRIPT_NAME (WSGI), root_path (ASGI)"),
    "twice": (400, "invalid_request", "the token has a wrong place: send one, by the header Authorization alone"),
    "long": (400, "invalid_request", "the context is too long: what rule and path tell has at most 16 KiB"),
    "none": (401, "", "a token is needed: send one by the header Authorization"),
    "form": (401, "invalid_token", "the credential is no token: send Bearer or DPoP, and a token of authz"),
    "inactive": (401, "invalid_token", "the token is not active: unknown, ended, revoked or denied; see the audit"),
    "scheme": (401, "invalid_token", "the token is not for this scheme: with a key use DPoP, else Bearer"),
    "audience": (401, "invalid_token", "the token is not for this API: its client must name the API by resource"),
    "proof": (401, "invalid_dpop_proof", "the proof is not good for this request: look at key, htm, htu, ath, iat"),
    "used": (401, "invalid_dpop_proof", "the proof was used before: make one for each request"),
    "scope": (403, "insufficient_scope", "the token lacks a scope: ask for it, and permit it in the binding"),
    "sign_in": (401, "insufficient_user_authentication", "the sign-in is too weak or too old: sign in again"),
    "unmet": (403, "access_denied", "policy demands what this API does not say it does: see obligations"),
    "away": (503, "temporarily_unavailable", "authz gives no answer: 401: wrong secret, 403: may not introspect"),
}
JSON_TYPE = ("Content-Type", "application/json")
LOG = logging.getLogger("authz")


@dataclass(frozen=True)
class Rule:
    """What a request needs: all scopes, one of the authentication contexts, a sign-in of at most max_age seconds
    (RFC 9470). resource_type, action and the object that context returns are told to policy as input.context."""

    scopes: Sequence[str] = ()
    acr: Sequence[str] = ()
    max_age: Optional[int] = None
    resource_type: Optional[str] = None
    action: Optional[str] = None
    context: Optional[Callable[[Request], dict[str, Any]]] = None

    def __post_init__(self) -> None:
        if str in (type(self.scopes), type(self.acr)) or not all(map(WORD.fullmatch, (*self.scopes, *self.acr))):
            raise ValueError("scopes and acr: must be lists of words")


class Request(NamedTuple):
    """A request: the path is percent-encoded, and a field that came twice counts twice."""

    method: str
    path: str
    query: str
    authorization: list[str]
    dpop: list[str]


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


Rules = Union[Rule, Callable[[str, str], Optional[Rule]]]  # one for all, or of method and decoded path; None: no token


class Refusal(Exception):
    """A refusal of the table, what it is about, for the log, and more fields of the challenge."""

    def __init__(self, name: str, why: str = "", fields: dict[str, Any] = {}) -> None:
        super().__init__(name)
        self.name, self.why, self.fields = name, why, fields


class Memory:
    """At most so many values, each until its time; they stand in the order of arrival."""

    def __init__(self, most: int) -> None:
        self.most, self.lock, self.held = most, threading.Lock(), {}

    def get(self, key: str) -> Any:
        until, value = self.held.get(key, (0, None))
        return value if time.monotonic() < until else None

    def add(self, key: str, value: Any, until: float) -> bool:
        """Keep a value. Return False if the key has one, and raise Refusal if there is no room."""
        with self.lock:
            while self.held and next(iter(self.held.values()))[0] <= time.monotonic():
                del self.held[next(iter(self.held))]
            if self.get(key) is not None:
                return False
            if len(self.held) >= self.most:
                raise Refusal("away", "too many answers or proofs are remembered")
            self.held[key] = (until, value)
            return True


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def digest(text: str) -> str:
    return base64url(hashlib.sha256(text.encode()).digest())


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def address(text: str, name: str) -> urllib.parse.SplitResult:
    """Return an address that tokens and secrets may be sent to, or that names this API."""
    url = urllib.parse.urlsplit(text)
    loopback = url.scheme == "http" and url.hostname in ("127.0.0.1", "::1", "localhost")
    if not url.hostname or not (url.scheme == "https" or loopback):
        raise ValueError(f"{name}: must be https")
    if re.search("[?#@]", text):
        raise ValueError(f"{name}: must have no query, fragment or user")
    return url


def place(address: str) -> tuple[Any, ...]:
    """Return what two spellings of an address have in common (RFC 9449 4.3), without the query."""
    url = urllib.parse.urlsplit(address)
    port = url.port or {"https": 443, "http": 80}.get(url.scheme)
    return url.scheme, url.hostname, port, urllib.parse.unquote(url.path or "/")


def canonical(path: str) -> str:
    """Return a path in one spelling, so that no rule about it is passed by another one: what may stand as it is (RFC
    3986 3.3) does, as frameworks decode values. They disagree about empty and dot segments, a backslash, controls."""

    def plain(code: re.Match[str]) -> str:
        octet = chr(int(code.group(1), 16))
        return octet if re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=:@-]", octet) else code.group().upper()

    one = re.sub(r"%([0-9A-Fa-f]{2})", plain, path)
    try:
        urllib.parse.unquote(one, errors="strict")
    except UnicodeDecodeError:
        one = ""
    if not PATH.fullmatch(one) or VAGUE.search(one.replace("%2F", "/")):
        raise Refusal("path")
    return one


def check_proof(proofs: list[str], method: str, url: str, token: str, jkt: str) -> str:
    """Check a proof, except whether it was used before (RFC 9449 4.3). Return the name to remember it by."""
    try:
        [text] = proofs
        head = jwt.get_unverified_header(text) if len(text) <= PROOF_MAX else {}
        (kty, crv, members), jwk = ALGS[head["alg"]], head["jwk"]
        public = {name: jwk[name] for name in members}
        good = head["typ"] == "dpop+jwt" and "crit" not in head and jwk["kty"] == kty and jwk.get("crv") == crv
        good = good and jwk.keys().isdisjoint(("d", "p", "q", "k"))
        if good and digest(json.dumps(public, separators=(",", ":"))) == jkt:
            key = jwt.PyJWK.from_dict(public, head["alg"]).key
            claims = json.loads(jwt.PyJWS().decode(text, key, [head["alg"]]))
            named = isinstance(claims["jti"], str) and 1 <= len(claims["jti"]) <= 128
            recent = is_integer(claims["iat"]) and abs(claims["iat"] - time.time()) <= PROOF_WINDOW
            here = claims["htm"] == method and place(claims["htu"]) == place(url) and claims["ath"] == digest(token)
            if named and recent and here and (kty != "RSA" or 2048 <= key.key_size <= 4096):
                return digest(f"{jkt} {claims['jti']}")
    except Exception:  # noqa: S110 - it has not the form of a proof, and what jwt raises depends on how
        pass
    raise Refusal("proof")


class Guard:
    """The guard of one API. The client has the endpoint introspect and the resource in its binding. cache_seconds: most
    seconds that an answer is kept. obligations: names of those that this API meets; a token with another one is 403.
    require_audience=False: a token that names no resource passes. proof_used(name, until): True if the proof was used
    before; remembers it until then (seconds since 1970). The default remembers in this process alone."""

    def __init__(self, issuer: str, client_id: str, client_secret: str, resource: str, *,
                 scopes_supported: Sequence[str] = (), cache_seconds: int = KEEP_MAX, obligations: Sequence[str] = (),
                 require_audience: bool = True, proof_used: Optional[Callable[[str, float], bool]] = None) -> None:
        if not client_id or not client_secret:
            raise ValueError("client_id and client_secret: must be set")
        self.issuer, here = address(issuer, "issuer"), address(resource, "resource")
        self.resource, self.cache_seconds, self.met = resource, cache_seconds, frozenset(obligations)
        self.require_audience, self.proof_used = require_audience, proof_used or self._proof_used
        self.origin, path = f"{here.scheme}://{here.netloc}", "" if here.path == "/" else here.path
        self.names = [resource] if path else [self.origin, self.origin + "/"]
        # Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
        pair = ":".join(urllib.parse.quote(part, safe="") for part in (client_id, client_secret))
        self.fields = {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode(),
                       "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
        self.metadata_path = "/.well-known/oauth-protected-resource" + path
        self.metadata = json.dumps({
            "resource": resource, "authorization_servers": [issuer], "bearer_methods_supported": ["header"],
            "scopes_supported": Rule(scopes_supported).scopes, "dpop_signing_alg_values_supported": list(ALGS)})
        self.kept, self.proofs = Memory(KEPT_MAX), Memory(PROOFS_MAX)

    def sort(self, request: Request, rules: Rules) -> Union[Rule, Answer, None]:
        """Return the rule of a request that check() is for, the answer to one without a rule, or None: it passes."""
        try:
            path = canonical(request.path)
        except Refusal as refusal:
            return self.refuse(refusal, request)
        if path == self.metadata_path and request.method in ("GET", "HEAD"):
            body = self.metadata.encode() if request.method == "GET" else b""
            return Answer(200, [JSON_TYPE, ("Access-Control-Allow-Origin", "*")], body)
        return rules if isinstance(rules, Rule) else rules(request.method, urllib.parse.unquote(path))

    def check(self, request: Request, rule: Rule = Rule()) -> Union[Answer, dict[str, Any]]:
        """Return the claims of the token of a request that passes, or the answer to the caller."""
        try:
            return self._permit(request, rule)
        except Refusal as refusal:
            return self.refuse(refusal, request, rule)
        except Exception as fault:  # refuse when unsure; the log has no messages, which may quote what they are about
            why = str(fault) if isinstance(fault, OSError) else type(fault).__name__
            return self.refuse(Refusal("away", why), request, rule)

    def _permit(self, request: Request, rule: Rule) -> dict[str, Any]:
        if "access_token" in urllib.parse.parse_qs(request.query, True) or len(request.authorization) > 1:
            raise Refusal("twice")
        if not request.authorization:
            raise Refusal("none")
        credential = CREDENTIAL.fullmatch(request.authorization[0])
        if not credential:
            raise Refusal("form")
        dpop, token = credential.group(1).lower() == "dpop", credential.group(2)
        told = {**(rule.context(request) if rule.context else {}), "resource": self.resource, "method": request.method,
                "resource_type": rule.resource_type, "action": rule.action, "path": canonical(request.path)}
        context = json.dumps({name: value for name, value in told.items() if value is not None}, ensure_ascii=False)
        if len(context.encode()) > CONTEXT_MAX:
            raise Refusal("long")
        claims = self._introspect(token, context)
        self._judge(claims, dpop)
        if dpop:
            jkt = claims["cnf"]["jkt"]
            name = check_proof(request.dpop, request.method, self.origin + request.path, token, jkt)
            if self.proof_used(name, time.time() + PROOF_LIFE):
                raise Refusal("used")
        self._require(claims, rule)
        return claims

    def _introspect(self, token: str, context: str) -> dict[str, Any]:
        """Return what authz says about a token, or said at most so long ago as policy permits."""
        key, asked = f"{digest(token)} {context}", time.monotonic()
        known = self.kept.get(key)
        text = known or self._ask(urllib.parse.urlencode({"token": token, "context": context}))
        claims = json.loads(text)
        if not isinstance(claims, dict) or not isinstance(claims.get("obligations", {}), dict):
            raise Refusal("away", "the answer is not as expected")
        if not known and claims.get("active") is True and not claims.get("obligations"):
            word = claims.get("extensions", {}).get("cache_seconds")
            keep = min(word, self.cache_seconds, KEEP_MAX, claims["exp"] - time.time()) if is_integer(word) else 0
            if keep > 0:
                with contextlib.suppress(Refusal):  # no room
                    self.kept.add(key, text, asked + keep)
        return claims

    def _ask(self, form: str) -> bytes:
        kind = http.client.HTTPSConnection if self.issuer.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.issuer.hostname or "", self.issuer.port, timeout=TIMEOUT)
        connection.connect()
        # The time-out of a socket is for each read. This one is for all of them.
        timer = threading.Timer(TIMEOUT, shut, [connection.sock])
        timer.daemon = True
        timer.start()
        try:
            connection.request("POST", self.issuer.path.rstrip("/") + "/introspect", form, self.fields)
            answer = connection.getresponse()
            if answer.status != 200:
                raise Refusal("away", f"authz answered {answer.status}")
            octets = answer.read(ANSWER_MAX + 1)
        finally:
            timer.cancel()
            connection.close()
        if len(octets) > ANSWER_MAX:
            raise Refusal("away", "the answer is too long")
        return octets

    def _judge(self, claims: dict[str, Any], dpop: bool) -> None:
        """Judge what authz says, before the proof."""
        kind, cnf, exp, audience = (claims.get(name) for name in ("token_type", "cnf", "exp", "aud"))
        # A refresh token has no token_type, and is no credential for an API.
        bound = kind == "DPoP" and isinstance(cnf, dict) and isinstance(cnf.get("jkt"), str)
        lives = claims.get("active") is True and is_integer(exp) and exp > time.time()
        audience = [audience] if isinstance(audience, str) else audience or []
        meant = any(name in self.names for name in audience) if audience else not self.require_audience
        checks = {"inactive": lives, "scheme": bound if dpop else kind == "Bearer" and cnf is None, "audience": meant,
                  "unmet": self.met.issuperset(claims.get("obligations", {}))}
        for name, good in checks.items():
            if not good:
                raise Refusal(name, self.resource)

    def _require(self, claims: dict[str, Any], rule: Rule) -> None:
        """Hold a good token against what this request needs."""
        if not set(rule.scopes) <= set(str(claims.get("scope", "")).split(" ")):
            raise Refusal("scope", " ".join(rule.scopes))
        signed_in = claims.get("auth_time")
        fresh = rule.max_age is None or (is_integer(signed_in) and time.time() - signed_in <= rule.max_age)
        if (rule.acr and claims.get("acr") not in rule.acr) or not fresh:
            raise Refusal("sign_in", "", {"acr_values": " ".join(rule.acr), "max_age": rule.max_age})

    def _proof_used(self, name: str, until: float) -> bool:
        return not self.proofs.add(name, True, time.monotonic() + PROOF_LIFE)

    def refuse(self, refusal: Refusal, request: Request, rule: Rule = Rule()) -> Answer:
        """Return the answer to the caller. The log has cause and cure, and nothing of the request."""
        status, code, text = REFUSALS[refusal.name]
        cause, headers = text.partition(": ")[0], [JSON_TYPE, ("Cache-Control", "no-store")]
        LOG.warning("authz: %d %s: %s%s", status, code or "unauthorized", text, refusal.why and f" ({refusal.why})")
        own = {"error": code, **refusal.fields, "error_description": cause} if code else {}
        dpop = "".join(request.authorization[:1])[:5].lower() == "dpop "
        # The first field of a challenge names the metadata, by which clients find authz.
        shared = {"resource_metadata": self.origin + self.metadata_path, "scope": " ".join(rule.scopes)}
        if status == 503:
            headers.append(("Retry-After", "1"))
        elif code != "access_denied":
            headers.append(challenge("Bearer", {**shared, **({} if dpop else own)}))
            headers.append(challenge("DPoP", {**shared, **(own if dpop else {}), "algs": " ".join(ALGS)}))
        body = {"error": code or "unauthorized", "error_description": cause}
        return Answer(status, headers, json.dumps(body).encode())


def challenge(scheme: str, fields: dict[str, Any]) -> tuple[str, str]:
    told = ", ".join(f'{name}="{value}"' for name, value in fields.items() if value not in ("", None))
    return "WWW-Authenticate", f"{scheme} {told}"


def shut(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has ended
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


class Adapter:
    """prefix: where the application is mounted ("/shop"), as the operator knows it, not as a request says (gunicorn
    takes SCRIPT_NAME from a header). It stands before the path by which the application routes."""

    def __init__(self, app: Any, guard: Guard, rule: Rules = Rule(), prefix: str = "") -> None:
        if not re.fullmatch("(?:/[A-Za-z0-9._~-]+)*", prefix):
            raise ValueError("prefix: must be a path without a slash at the end")
        self.app, self.guard, self.rules, self.prefix = app, guard, rule, prefix

    def sort(self, prefix: str, request: Request) -> Union[Rule, Answer, None]:
        if prefix != self.prefix:
            return self.guard.refuse(Refusal("prefix", self.prefix), request)
        return self.guard.sort(request, self.rules)


class Asgi(Adapter):
    """A request that passes has the claims of its token in scope["authz"]."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] not in ("http", "websocket"):
            raise ValueError(f"a scope of type {scope['type']} cannot be protected")
        given = [[value.decode("latin-1") for field, value in scope["headers"] if field.lower() == name]
                 for name in (b"authorization", b"dpop")]
        # Most servers and frameworks leave the prefix in the path, some take it off: applications act alike on both.
        root, path, query = scope.get("root_path", ""), scope["path"], scope.get("query_string", b"").decode("latin-1")
        inside = path[len(root):] if (path + "/").startswith(root + "/") else path
        request = Request(scope.get("method", "GET"), urllib.parse.quote(self.prefix + inside, PLAIN), query, *given)
        verdict: Any = self.sort(root, request)
        if verdict is not None and not isinstance(verdict, Answer):
            verdict = await asyncio.get_running_loop().run_in_executor(None, self.guard.check, request, verdict)
        if not isinstance(verdict, Answer):
            return await self.app({**scope, "authz": verdict}, receive, send)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008})
        headers = [(name.lower().encode(), value.encode()) for name, value in verdict.headers]
        headers.append((b"content-length", str(len(verdict.body)).encode()))
        await send({"type": "http.response.start", "status": verdict.status, "headers": headers})
        await send({"type": "http.response.body", "body": verdict.body})


class Wsgi(Adapter):
    """A request that passes has the claims of its token in environ["authz"]."""

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        # PATH_INFO has decoded octets as latin-1 (PEP 3333): this is the path by which the application acts.
        path = urllib.parse.quote(self.prefix.encode() + environ.get("PATH_INFO", "").encode("latin-1"), PLAIN)
        given = ([environ[name]] if name in environ else [] for name in ("HTTP_AUTHORIZATION", "HTTP_DPOP"))
        request = Request(environ["REQUEST_METHOD"], path, environ.get("QUERY_STRING", ""), *given)
        verdict: Any = self.sort(environ.get("SCRIPT_NAME", ""), request)
        if verdict is not None and not isinstance(verdict, Answer):
            verdict = self.guard.check(request, verdict)
        if not isinstance(verdict, Answer):
            environ["authz"] = verdict
            return self.app(environ, start_response)
        start_response(f"{verdict.status} {http.HTTPStatus(verdict.status).phrase}", verdict.headers)
        return [verdict.body]
