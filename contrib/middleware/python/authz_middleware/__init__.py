"""Protect an API with authz: ask POST /introspect about the access token of each request (RFC 7662) with the context of the
request, check DPoP proofs (RFC 9449), and refuse with the challenges of RFC 6750, 9449, 9470 and 9728. Asgi and Wsgi (adapters)
adapt Guard to the two interfaces. Without an answer of authz no request passes. The module proof needs the package
cryptography; without it tokens that are bound to a key are refused."""

import base64
import collections
import hashlib
import hmac
import json
import logging
import re
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .ask import ask

try:
    from .proof import ALGS, ProofError, read_proof
except ImportError:  # cryptography is not here
    ALGS = {}

CONTEXT_MAX = 16 * 1024  # octets; authz refuses a longer context
KEPT_MAX = 1000  # answers in the cache; the oldest gives way
KEEP_MAX = 30  # seconds that an answer is kept at most, as at /auth/check
PROOFS_MAX = 100000  # DPoP proofs that are remembered; beyond it bound tokens are 503
PROOF_WINDOW = 60  # seconds by which iat may differ from our clock
NONCE_STEP = 150  # seconds; a nonce is good for one step at least and two at most
CREDENTIAL = re.compile(r"(Bearer|DPoP) +([A-Za-z0-9._~+/-]{1,2048}=*)", re.I)  # RFC 6750 section 2.1
WORD = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749 3.3, and what a quoted string needs no escape for
LOG = logging.getLogger("authz")


@dataclass(frozen=True)
class Rule:
    """What a request needs: all scopes, one of the authentication contexts, a sign-in of at most max_age seconds (RFC 9470).
    resource_type, action and the object that context returns are told to policy as input.context."""

    scopes: Sequence[str] = ()
    acr: Sequence[str] = ()
    max_age: Optional[int] = None
    resource_type: Optional[str] = None
    action: Optional[str] = None
    context: Optional[Callable[["Request"], Dict[str, Any]]] = None

    def __post_init__(self) -> None:
        for word in (*self.scopes, *self.acr):
            if not WORD.fullmatch(word):
                raise ValueError("scopes and acr: must be lists of words")


@dataclass(frozen=True)
class Request:
    """A request: the path is percent-encoded, and a field that came twice counts twice."""

    method: str
    path: str
    query: str
    authorization: List[str]
    dpop: List[str]


@dataclass
class Verdict:
    """Status 200: the request passes, with the claims of its token. Otherwise the answer to the caller."""

    status: int
    token: Optional[Dict[str, Any]] = None
    headers: List[Tuple[str, str]] = field(default_factory=list)
    body: bytes = b""


class Refusal(Exception):
    """A refusal: its status, the error code, and more fields of the challenge (None: there is no challenge)."""

    def __init__(self, status: int, error: Optional[str] = None, fields: Optional[Dict[str, str]] = {}) -> None:
        super().__init__(error)
        self.status, self.error, self.fields = status, error, fields


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def address(text: str, name: str, allow_http: bool) -> urllib.parse.SplitResult:
    """Return an address that tokens and secrets may be sent to, or that names this API."""
    url = urllib.parse.urlsplit(text)
    loopback = url.hostname in ("127.0.0.1", "::1", "localhost")
    if url.scheme != "https" and not (url.scheme == "http" and (loopback or allow_http)) or not url.hostname:
        raise ValueError(f"{name}: must be https")
    if url.query or url.fragment or "@" in url.netloc:
        raise ValueError(f"{name}: must have no query, fragment or user")
    return url


def place(url: urllib.parse.SplitResult) -> Tuple[str, Optional[str], Optional[int], str]:
    """Return what two spellings of an address have in common (RFC 9449 4.3), without the query."""
    port = url.port or {"https": 443, "http": 80}.get(url.scheme)
    return url.scheme, url.hostname, port, urllib.parse.quote(urllib.parse.unquote(url.path or "/"))


PATH = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%(?![01]|5C|7F)[0-9A-F]{2})*")
DOTS = re.compile(r"/\.\.?(?:[/;]|%3B|$)")


def canonical(path: str) -> str:
    """Return a path in its one spelling (RFC 3986 6.2.2), so that no rule about it is passed by another one. Frameworks disagree
    about what else there is: dot segments, a backslash, controls."""

    def plain(code: "re.Match[str]") -> str:
        octet = chr(int(code.group(1), 16))
        return octet if re.fullmatch(r"[A-Za-z0-9._~-]", octet) else code.group().upper()

    one = re.sub(r"%([0-9A-Fa-f]{2})", plain, path)
    if not PATH.fullmatch(one) or DOTS.search(one):
        raise Refusal(400, "invalid_request")
    try:
        urllib.parse.unquote(one, errors="strict")
    except UnicodeDecodeError:
        raise Refusal(400, "invalid_request") from None
    return one


class Guard:
    """The guard of one API. The client has the endpoint introspect and the resource in its binding. obligations: names of those
    that this API meets; a token with another one is 403. require_audience=False: a token that names no resource passes.
    nonce_key: at least 32 octets, the same in all processes, for nonces of proofs. proof_used(id, until): True if the proof was
    used before; the default remembers in this process alone."""

    def __init__(self, issuer: str, client_id: str, client_secret: str, resource: str, *, scopes_supported: Sequence[str] = (),
                 cache_seconds: int = KEEP_MAX, obligations: Sequence[str] = (), require_audience: bool = True,
                 nonce_key: Optional[bytes] = None, proof_used: Optional[Callable[[str, float], bool]] = None,
                 allow_http: bool = False) -> None:
        if not client_id or not client_secret:
            raise ValueError("client_id and client_secret: must be set")
        if not is_integer(cache_seconds) or not 0 <= cache_seconds <= KEEP_MAX:
            raise ValueError(f"cache_seconds: must be 0 to {KEEP_MAX}")
        if nonce_key is not None and len(nonce_key) < 32:
            raise ValueError("nonce_key: must have at least 32 octets")
        self.issuer, self.here = address(issuer, "issuer", allow_http), address(resource, "resource", allow_http)
        self.resource, self.keep_max, self.met = resource, cache_seconds, frozenset(obligations)
        self.require_audience, self.nonce_key = require_audience, nonce_key
        self.proof_used = proof_used or self._proof_used
        # Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
        pair = ":".join(urllib.parse.quote(part, safe="") for part in (client_id, client_secret))
        self._basic = "Basic " + base64.b64encode(pair.encode()).decode()
        self.origin = f"{self.here.scheme}://{self.here.netloc}"
        self.metadata_path = "/.well-known/oauth-protected-resource" + ("" if self.here.path == "/" else self.here.path)
        document = {"resource": resource, "authorization_servers": [issuer], "bearer_methods_supported": ["header"],
                    "scopes_supported": list(Rule(scopes=scopes_supported).scopes)}
        self.metadata = json.dumps({**document, **({"dpop_signing_alg_values_supported": list(ALGS)} if ALGS else {})}).encode()
        self._kept: "collections.OrderedDict[str, Tuple[float, str]]" = collections.OrderedDict()
        self._proofs: "collections.OrderedDict[str, float]" = collections.OrderedDict()
        self._lock = threading.Lock()

    def check(self, request: Request, rule: Rule = Rule()) -> Verdict:
        """Return what becomes of a request."""
        try:
            return Verdict(200, self._permit(request, rule))
        except Refusal as refusal:
            return self._refuse(refusal, request, rule)
        except Exception as fault:  # refuse when unsure: without an answer of authz, no request passes
            reason = fault if isinstance(fault, (OSError, ValueError)) else type(fault).__name__
            LOG.error("authz: no answer, the request is refused: %s", reason)
            return self._refuse(Refusal(503, "temporarily_unavailable", None), request, rule)

    def _permit(self, request: Request, rule: Rule) -> Dict[str, Any]:
        query = urllib.parse.parse_qs(request.query, keep_blank_values=True)
        path = canonical(request.path)
        if "access_token" in query or len(request.authorization) > 1:
            raise Refusal(400, "invalid_request")
        if not request.authorization:
            raise Refusal(401)
        credential = CREDENTIAL.fullmatch(request.authorization[0])
        if not credential:
            raise Refusal(401, "invalid_token")
        dpop, token = credential.group(1).lower() == "dpop", credential.group(2)
        told = {"resource": self.resource, "resource_type": rule.resource_type, "action": rule.action,
                "method": request.method, "path": path}
        context = json.dumps({**(rule.context(request) if rule.context else {}), **{k: v for k, v in told.items() if v is not None}},
                             sort_keys=True, ensure_ascii=False)
        if len(context.encode()) > CONTEXT_MAX:
            raise Refusal(400, "invalid_request")
        claims = self._introspect(token, context)
        self._judge(claims, dpop)
        if dpop:
            self._check_proof(request, token, claims["cnf"]["jkt"])
        self._require(claims, rule)
        return claims

    def _introspect(self, token: str, context: str) -> Dict[str, Any]:
        """Return what authz says about a token, or said at most so long ago as policy permits."""
        key, asked = f"{digest(token)} {context}", time.monotonic()
        with self._lock:
            until, text = self._kept.get(key, (0.0, ""))
            if asked < until:
                return json.loads(text)
            self._kept.pop(key, None)
        claims = ask(self.issuer, self._basic, token, context)
        extensions = claims.get("extensions")
        word = extensions.get("cache_seconds") if isinstance(extensions, dict) else None
        keep = min(word, self.keep_max, int(claims["exp"] - time.time())) if is_integer(word) and is_integer(claims.get("exp")) else 0
        if claims.get("active") is True and keep > 0 and not claims.get("obligations"):
            with self._lock:
                while len(self._kept) >= KEPT_MAX:
                    self._kept.popitem(last=False)
                self._kept[key] = (asked + keep, json.dumps(claims))
        return claims

    def _judge(self, claims: Dict[str, Any], dpop: bool) -> None:
        """Judge what authz says, before the proof."""
        cnf, audience = claims.get("cnf"), claims.get("aud") or []
        # A refresh token has no token_type, and is no credential for an API.
        bound = claims.get("token_type") == "DPoP" and isinstance(cnf, dict) and isinstance(cnf.get("jkt"), str)
        plain = claims.get("token_type") == "Bearer" and cnf is None
        exp = claims.get("exp")
        if claims.get("active") is not True or not (bound if dpop else plain) or not is_integer(exp) or exp <= time.time():
            raise Refusal(401, "invalid_token")
        if isinstance(audience, str):
            audience = [audience]
        if not any(map(self._is_here, audience)) if audience else self.require_audience:
            raise Refusal(401, "invalid_token")
        if not set(claims.get("obligations") or {}) <= self.met:
            raise Refusal(403, "access_denied", None)

    def _is_here(self, name: Any) -> bool:
        return name == self.resource or (self.here.path in ("", "/") and name in (self.origin, self.origin + "/"))

    def _check_proof(self, request: Request, token: str, jkt: str) -> None:
        """Check the proof of a request by a token that is bound to a key."""
        invalid = Refusal(401, "invalid_dpop_proof")
        if not ALGS:
            raise Refusal(401, "invalid_token")
        if len(request.dpop) != 1:
            raise invalid
        try:
            claims, shown = read_proof(request.dpop[0])
            htu = place(urllib.parse.urlsplit(claims["htu"]))
            named, issued = 1 <= len(claims["jti"]) <= 128 and isinstance(claims["jti"], str), claims["iat"]
        except (ProofError, ValueError, KeyError, TypeError, AttributeError):
            raise invalid from None
        if claims.get("htm") != request.method or htu != place(urllib.parse.urlsplit(self.origin + request.path)) or not named:
            raise invalid
        if not is_integer(issued) or abs(issued - time.time()) > PROOF_WINDOW:
            raise invalid
        if shown != jkt or claims.get("ath") != digest(token):
            raise invalid
        if self.nonce_key:
            given, step = str(claims.get("nonce")).encode(), int(time.time()) // NONCE_STEP
            if not any(hmac.compare_digest(given, self._nonce(at).encode()) for at in (step, step - 1)):
                raise Refusal(401, "use_dpop_nonce")
        if self.proof_used(digest(f"{jkt} {claims['jti']}"), time.time() + 2 * PROOF_WINDOW + 1):
            raise invalid

    def _proof_used(self, name: str, until: float) -> bool:
        with self._lock:
            while self._proofs and next(iter(self._proofs.values())) <= time.time():
                self._proofs.popitem(last=False)
            if name in self._proofs:
                return True
            if len(self._proofs) >= PROOFS_MAX:
                raise ValueError("too many DPoP proofs are remembered")
            self._proofs[name] = until
            return False

    def _nonce(self, step: int) -> str:
        octets = hmac.digest(self.nonce_key or b"", f"authz-dpop-nonce {step}".encode(), "sha256")
        return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()

    def _require(self, claims: Dict[str, Any], rule: Rule) -> None:
        """Hold a good token against what this request needs."""
        if not set(rule.scopes) <= set(str(claims.get("scope", "")).split(" ")):
            raise Refusal(403, "insufficient_scope")
        signed_in = claims.get("auth_time")
        fresh = rule.max_age is None or (is_integer(signed_in) and time.time() - signed_in <= rule.max_age)
        if (rule.acr and claims.get("acr") not in rule.acr) or not fresh:
            fields = {"acr_values": " ".join(rule.acr)} if rule.acr else {}
            if rule.max_age is not None:
                fields["max_age"] = str(rule.max_age)
            raise Refusal(401, "insufficient_user_authentication", fields)

    def _challenge(self, scheme: str, refusal: Refusal, rule: Rule, own: bool) -> str:
        """Return the challenge of a scheme. The first field names the metadata, by which clients find authz."""
        fields = {"resource_metadata": self.origin + self.metadata_path}
        if rule.scopes:
            fields["scope"] = " ".join(rule.scopes)
        if own and refusal.error:
            fields.update({"error": refusal.error}, **(refusal.fields or {}))
        if scheme == "DPoP":
            fields["algs"] = " ".join(ALGS)
        return scheme + " " + ", ".join(f'{name}="{value}"' for name, value in fields.items())

    def _refuse(self, refusal: Refusal, request: Request, rule: Rule) -> Verdict:
        headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
        dpop = bool(request.authorization) and request.authorization[0][:5].lower() == "dpop "
        if refusal.status == 503:
            headers.append(("Retry-After", "1"))
        elif refusal.fields is not None:
            headers += [("WWW-Authenticate", self._challenge("Bearer", refusal, rule, not dpop))]
            headers += [("WWW-Authenticate", self._challenge("DPoP", refusal, rule, dpop))] if ALGS else []
        if self.nonce_key and dpop:
            headers.append(("DPoP-Nonce", self._nonce(int(time.time()) // NONCE_STEP)))
        return Verdict(refusal.status, None, headers, json.dumps({"error": refusal.error or "unauthorized"}).encode())


from .adapters import Asgi, Wsgi  # noqa: E402 - they need the names above

__all__ = ["Asgi", "Guard", "Request", "Rule", "Verdict", "Wsgi"]
