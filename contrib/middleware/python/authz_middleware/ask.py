"""One question to authz: POST /introspect (RFC 7662), bounded in time and size."""

import http.client
import json
import socket
import threading
import urllib.parse
from typing import Any, Dict

TIMEOUT = 5  # seconds to connect, and seconds for the whole answer
ANSWER_MAX = 256 * 1024  # octets of an answer


def ask(issuer: urllib.parse.SplitResult, basic: str, token: str, context: str) -> Dict[str, Any]:
    """Return the answer, or raise OSError, HTTPException or ValueError."""
    kind = http.client.HTTPSConnection if issuer.scheme == "https" else http.client.HTTPConnection
    connection = kind(issuer.hostname or "", issuer.port, timeout=TIMEOUT)
    connection.connect()
    # The time-out of a socket is for each read. This one is for all of them.
    timer = threading.Timer(TIMEOUT, _stop, [connection.sock])
    timer.daemon = True
    timer.start()
    try:
        connection.request(
            "POST",
            issuer.path.rstrip("/") + "/introspect",
            urllib.parse.urlencode({"token": token, "context": context}),
            {"Authorization": basic, "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"},
        )
        answer = connection.getresponse()
        # 401: wrong client or secret. 403: the binding of this API lacks "endpoints": ["introspect"].
        if answer.status != 200:
            raise ValueError(f"authz answered {answer.status}")
        octets = answer.read(ANSWER_MAX + 1)
    finally:
        timer.cancel()
        connection.close()
    claims = json.loads(octets) if len(octets) <= ANSWER_MAX else None
    if not isinstance(claims, dict):
        raise ValueError("the answer of authz is too long or no object")
    return claims


def _stop(connected: socket.socket) -> None:
    try:
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:
        pass  # it has ended
