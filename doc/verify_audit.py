#!/usr/bin/env python3
"""Check the proof of an audit row: verify_audit.py PROOF KEYS

PROOF is the output of `authzctl audit prove ID`, KEYS that of `authzctl audit keys`, kept since before the row was written.
Needs Python's standard library and the program openssl. Prints the row and exits with 0 if the row is in the log that
the checkpoint signs; otherwise prints why not, and exits with 1.
"""
import base64
import hashlib
import json
import subprocess
import sys
import tempfile

# SubjectPublicKeyInfo of a P-256 key before the point (RFC 5480).
SPKI = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200") + b"\x04"


def refuse(why):
    sys.exit("verify_audit: " + why)


def read_proof(text):
    """Return the row's line, its index, the hashes of the path and the signed note (C2SP tlog-proof)."""
    head, _, note = text.partition("\n\n")
    lines = head.split("\n")
    if lines[0] != "c2sp.org/tlog-proof@v1" or not lines[1].startswith("extra ") or not lines[2].startswith("index "):
        refuse("this is no proof of an audit row")
    return base64.b64decode(lines[1][6:]), int(lines[2][6:]), [base64.b64decode(h) for h in lines[3:]], note


def root_of(line, index, size, path):
    """Return the root to which the path leads (RFC 9162 2.1.3.2)."""
    value = hashlib.sha256(b"\0" + line).digest()
    node, last = index, size - 1
    for beside in path:
        if last == 0:
            refuse("the path is too long")
        if node & 1 or node == last:
            value = hashlib.sha256(b"\1" + beside + value).digest()
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            value = hashlib.sha256(b"\1" + value + beside).digest()
        node, last = node >> 1, last >> 1
    if last != 0:
        refuse("the path is too short")
    return value


def number(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signed_by(text, signature, key):
    """True if openssl accepts the signature of the key."""
    spki = SPKI + number(key["x"]) + number(key["y"])
    if hashlib.sha256(spki).digest()[:4] != signature[:4]:
        return False
    with tempfile.NamedTemporaryFile() as pem, tempfile.NamedTemporaryFile() as sig:
        pem.write(b"-----BEGIN PUBLIC KEY-----\n" + base64.encodebytes(spki) + b"-----END PUBLIC KEY-----\n")
        sig.write(signature[4:])
        pem.flush()
        sig.flush()
        done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", pem.name, "-signature", sig.name],
                              input=text, capture_output=True, check=False)
    return done.returncode == 0


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as proof, open(sys.argv[2], encoding="utf-8") as file:
        line, index, path, note = read_proof(proof.read())
        keys = json.load(file)["keys"]
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    origin, size, root = text.split("\n")[:3]
    if index >= int(size) or root_of(line, index, int(size), path) != base64.b64decode(root):
        refuse("the row is not in the log of this checkpoint")
    for signature in signatures.strip().split("\n"):
        dash, name, value = signature.split(" ")
        if dash == "\u2014" and name == origin and any(
                signed_by(text.encode(), base64.b64decode(value), key) for key in keys):
            print(line.decode())
            return
    refuse("none of the keys has signed the checkpoint")


main()
