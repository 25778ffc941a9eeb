"""Ask authz whether the access token of a request permits it (RFC 7662, RFC 6750).

Settings, from the environment:
  AUTHZ_INTROSPECT_URL   https://auth.example/introspect
  AUTHZ_CLIENT_ID        the client of this API; its binding has "endpoints": ["introspect"]
  AUTHZ_CLIENT_SECRET    its secret
"""

import base64
import http.client
import json
import os
import re
import sys
import urllib.parse

SETTINGS = ("AUTHZ_INTROSPECT_URL", "AUTHZ_CLIENT_ID", "AUTHZ_CLIENT_SECRET")
TIMEOUT = 5  # seconds; a request waits no longer for an answer of the service
ANSWER_MAX = 1 << 20  # octets of an answer; the service's answers are far smaller
BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]{1,2048}=*)\Z")  # RFC 6750 section 2.1


def require_settings():
    """End the program if a setting is missing: it would answer every request with 503."""
    missing = [name for name in SETTINGS if not os.environ.get(name)]
    if missing:
        sys.exit(f"not started: set {', '.join(missing)} in the environment; introspect.py describes them")


def refuse(status, error=None, scope=None):
    """Return (status, challenge, None). A request without a token gets no error code (RFC 6750 3.1)."""
    parts = ['realm="api"']
    if error:
        parts.append(f'error="{error}"')
    if scope:
        parts.append(f'scope="{scope}"')
    return status, "Bearer " + ", ".join(parts), None


def check(authorization, scope):
    """Return (status, challenge, token) for the value of the Authorization header, or None, and the scope
    that the request needs. Status 200 permits the request, and token has the claims of the token. Every
    other status is the answer to the caller; challenge is its WWW-Authenticate header, or None."""
    if authorization is None:
        return refuse(401)
    match = BEARER.match(authorization)
    if not match:
        return refuse(401, "invalid_token")
    try:
        token = introspect(match.group(1))
    except (OSError, http.client.HTTPException, ValueError, KeyError) as fault:
        # Refuse when unsure: without an answer of the service, no request passes.
        print(f"introspection failed: {fault!r}", file=sys.stderr, flush=True)
        return 503, None, None
    # A refresh token has no token_type and is no credential for an API. A token of another type is bound to a
    # key (DPoP), and this program cannot check the proof.
    if token.get("active") is not True or token.get("token_type") != "Bearer":
        return refuse(401, "invalid_token")
    if scope not in str(token.get("scope", "")).split(" "):
        return refuse(403, "insufficient_scope", scope)
    return 200, None, token


def introspect(token):
    """Return the answer of POST /introspect. Do not keep it: a revocation or a change of policy counts at
    the next request only if the service is asked again."""
    url = urllib.parse.urlsplit(os.environ["AUTHZ_INTROSPECT_URL"])
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    # Client id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
    names = (os.environ["AUTHZ_CLIENT_ID"], os.environ["AUTHZ_CLIENT_SECRET"])
    basic = ":".join(urllib.parse.quote(name, safe="") for name in names)
    connection = kind(url.hostname, url.port, timeout=TIMEOUT)
    try:
        connection.request(
            "POST",
            url.path,
            body=urllib.parse.urlencode({"token": token}),
            headers={
                "Authorization": "Basic " + base64.b64encode(basic.encode()).decode(),
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            },
        )
        answer = connection.getresponse()
        body = answer.read(ANSWER_MAX)
    finally:
        connection.close()
    if answer.status != 200:
        # 401: wrong client or secret. 403: the binding of this API lacks "endpoints": ["introspect"].
        raise ValueError(f"the service answered {answer.status}: {body[:200]!r}")
    claims = json.loads(body)
    if not isinstance(claims, dict):
        raise ValueError("the service answered with something else than an object")
    return claims
