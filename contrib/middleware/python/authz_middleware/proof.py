"""DPoP proofs (RFC 9449 4.3): their form, key and signature. Needs the package cryptography."""

import base64
import hashlib
import json
import re
from typing import Any, Dict, Tuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

PROOF_MAX = 8192  # octets of a proof
PART = re.compile(r"[A-Za-z0-9_-]+")
# Name: type and curve of the key, and what is needed of its members (RFC 7638 3.2).
ALGS: Dict[str, Tuple[str, Any, Tuple[str, ...]]] = {
    "ES256": ("EC", "P-256", ("crv", "kty", "x", "y")),
    "ES384": ("EC", "P-384", ("crv", "kty", "x", "y")),
    "RS256": ("RSA", None, ("e", "kty", "n")),
    "PS256": ("RSA", None, ("e", "kty", "n")),
    "EdDSA": ("OKP", "Ed25519", ("crv", "kty", "x")),
}
CURVES: Dict[str, Tuple[Any, Any, int]] = {"P-256": (ec.SECP256R1(), hashes.SHA256(), 32), "P-384": (ec.SECP384R1(), hashes.SHA384(), 48)}


class ProofError(Exception):
    """The proof is not good."""


def octets_of(text: Any) -> bytes:
    if not isinstance(text, str) or not PART.fullmatch(text):
        raise ProofError
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number_of(text: Any) -> int:
    return int.from_bytes(octets_of(text), "big")


def object_of(text: str) -> Dict[str, Any]:
    value = json.loads(octets_of(text))
    if not isinstance(value, dict):
        raise ProofError
    return value


def check_signature(name: str, jwk: Dict[str, Any], signed: bytes, signature: bytes) -> None:
    """Raise InvalidSignature, ProofError or ValueError, unless the key made the signature."""
    if jwk["kty"] == "EC":
        curve, digest, size = CURVES[jwk["crv"]]
        if len(signature) != 2 * size:
            raise ProofError
        key = ec.EllipticCurvePublicNumbers(number_of(jwk["x"]), number_of(jwk["y"]), curve).public_key()
        pair = (int.from_bytes(signature[:size], "big"), int.from_bytes(signature[size:], "big"))
        key.verify(utils.encode_dss_signature(*pair), signed, ec.ECDSA(digest))
    elif jwk["kty"] == "RSA":
        numbers = rsa.RSAPublicNumbers(number_of(jwk["e"]), number_of(jwk["n"]))
        if not 2048 <= numbers.n.bit_length() <= 4096 or numbers.e.bit_length() > 32:
            raise ProofError
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256().digest_size)
        numbers.public_key().verify(signature, signed, pss if name == "PS256" else padding.PKCS1v15(), hashes.SHA256())
    else:
        ed25519.Ed25519PublicKey.from_public_bytes(octets_of(jwk["x"])).verify(signature, signed)


def read_proof(text: str) -> Tuple[Dict[str, Any], str]:
    """Return the claims of a proof and the thumbprint of its key (RFC 7638), or raise ProofError."""
    parts = text.split(".") if len(text) <= PROOF_MAX else []
    try:
        if len(parts) != 3:
            raise ProofError
        head, claims = object_of(parts[0]), object_of(parts[1])
        name, jwk = head.get("alg"), head.get("jwk")
        if head.get("typ") != "dpop+jwt" or "crit" in head or not isinstance(jwk, dict) or name not in ALGS:
            raise ProofError
        kty, crv, members = ALGS[name]
        if jwk.get("kty") != kty or jwk.get("crv") != crv or any(private in jwk for private in ("d", "p", "q", "k")):
            raise ProofError
        check_signature(name, jwk, f"{parts[0]}.{parts[1]}".encode(), octets_of(parts[2]))
        print_of = json.dumps({member: jwk[member] for member in members}, separators=(",", ":"))
    except (InvalidSignature, ValueError, KeyError, TypeError, RecursionError) as fault:
        raise ProofError from fault
    return claims, base64.urlsafe_b64encode(hashlib.sha256(print_of.encode()).digest()).rstrip(b"=").decode()
