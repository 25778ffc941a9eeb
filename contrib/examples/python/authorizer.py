#!/usr/bin/env python3
"""A FastCGI authorizer: a web server asks it before it serves a request (FastCGI 1.0, section 6.3).

It permits a request with an access token that has the scope AUTHZ_SCOPE. See introspect.py for the other
settings. The web server starts it with the listening socket as standard input (lighttpd: bin-path); one
process handles one request at a time.
"""

import os
import socket
import struct
import sys
import time

from introspect import check

BEGIN_REQUEST, END_REQUEST, PARAMS, STDOUT = 1, 3, 4, 6
HEAD = struct.Struct(">BBHHBx")  # version, type, request id, content length, padding length
PARAMS_MAX = 1 << 20  # octets of all parameters; a web server sends a few thousand
READ_TIMEOUT = 10  # seconds; a web server sends the parameters at once


def read(stream, length):
    data = stream.read(length)
    if len(data) != length:
        raise EOFError
    return data


def read_request(stream):
    """Return the id of the request and its parameters."""
    params = b""
    while True:
        _, kind, request, length, padding = HEAD.unpack(read(stream, HEAD.size))
        content = read(stream, length + padding)[:length]
        if kind == PARAMS and not content:
            return request, dict(pairs(params))
        if kind == PARAMS:
            params += content
        if len(params) > PARAMS_MAX:
            raise ValueError("too many parameters")


def pairs(data):
    """Yield name and value. A length has one octet, or four if its first bit is set."""
    at = 0
    while at < len(data):
        lengths = []
        for _ in range(2):
            if data[at] < 0x80:
                lengths.append(data[at])
                at += 1
            else:
                lengths.append(struct.unpack_from(">I", data, at)[0] & 0x7FFFFFFF)
                at += 4
        name, value = data[at : at + lengths[0]], data[at + lengths[0] : at + sum(lengths)]
        at += sum(lengths)
        yield name.decode("latin-1"), value.decode("latin-1")


def answer(request, params):
    """Return the records of the answer. Status 200 permits the request; every other answer is sent to the caller."""
    status, challenge, _ = check(params.get("HTTP_AUTHORIZATION"), os.environ["AUTHZ_SCOPE"])
    lines = [f"Status: {status}"]
    if challenge:
        lines.append(f"WWW-Authenticate: {challenge}")
    if status != 200:
        lines.append("Content-Type: text/plain")
    text = "\r\n".join(lines + ["", "" if status == 200 else f"{status}\n"]).encode("latin-1")
    return (
        HEAD.pack(1, STDOUT, request, len(text), 0)
        + text
        + HEAD.pack(1, STDOUT, request, 0, 0)
        + HEAD.pack(1, END_REQUEST, request, 8, 0)
        + bytes(8)
    )


def main():
    listener = socket.socket(fileno=0)
    while True:
        connection, _ = listener.accept()
        connection.settimeout(READ_TIMEOUT)
        with connection, connection.makefile("rb") as stream:
            try:
                connection.sendall(answer(*read_request(stream)))
            except Exception as fault:  # pylint: disable=broad-except
                # The web server gets no answer and refuses the request; the next one is served.
                print(f"{time.strftime('%FT%T')} authorizer: {fault!r}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
