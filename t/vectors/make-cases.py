#!/usr/bin/env python3
"""Makes jws-cases.json, seal.json and token.json with an implementation that is not ours.

Needs Python's `cryptography`. Run in this folder; each run makes new keys and so new tokens. Not part of the build: the
files are kept, so that the tests need no Python.
"""
import base64
import hashlib
import hmac
import json
import zlib

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SHA = {256: hashes.SHA256(), 384: hashes.SHA384(), 512: hashes.SHA512()}


def b64(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(value, size=None):
    return b64(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


RSA = rsa.generate_private_key(65537, 2048)
EVIL = rsa.generate_private_key(65537, 2048)
P256 = ec.generate_private_key(ec.SECP256R1())
P384 = ec.generate_private_key(ec.SECP384R1())
P521 = ec.generate_private_key(ec.SECP521R1())
ED = ed25519.Ed25519PrivateKey.generate()
SIZES = {"P-256": 32, "P-384": 48, "P-521": 66}


def rsa_jwk(key, **more):
    n = key.public_key().public_numbers()
    return {"kty": "RSA", "n": number(n.n), "e": number(n.e), **more}


def ec_jwk(key, crv, **more):
    n = key.public_key().public_numbers()
    return {"kty": "EC", "crv": crv, "x": number(n.x, SIZES[crv]), "y": number(n.y, SIZES[crv]), **more}


def ed_jwk(key, **more):
    raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return {"kty": "OKP", "crv": "Ed25519", "x": b64(raw), **more}


KEYS = [
    rsa_jwk(RSA, kid="rsa"),
    ec_jwk(P256, "P-256", kid="p256"),
    ec_jwk(P384, "P-384", kid="p384"),
    ec_jwk(P521, "P-521", kid="p521"),
    ed_jwk(ED, kid="ed"),
]


def pkcs1(key, bits):
    return lambda m: key.sign(m, padding.PKCS1v15(), SHA[bits])


def pss(key, bits, salt=None, mgf=None):
    pad = padding.PSS(padding.MGF1(mgf or SHA[bits]), bits // 8 if salt is None else salt)
    return lambda m: key.sign(m, pad, SHA[bits])


def ecdsa(key, bits, size):
    def sign(m):
        r, s = utils.decode_dss_signature(key.sign(m, ec.ECDSA(SHA[bits])))
        return r.to_bytes(size, "big") + s.to_bytes(size, "big")
    return sign


def hs256(secret):
    return lambda m: hmac.new(secret, m, hashlib.sha256).digest()


def const(octets):
    return lambda m: octets


RS256, PS256 = pkcs1(RSA, 256), pss(RSA, 256)
ES256, ES384, ES512 = ecdsa(P256, 256, 32), ecdsa(P384, 384, 48), ecdsa(P521, 512, 66)
PAYLOAD = json.dumps({"iss": "joe", "exp": 4102444800}).encode()


def raw(header, sign, payload=PAYLOAD):
    """A token whose header is octets."""
    text = (b64(header) + "." + b64(payload)).encode()
    return text.decode() + "." + b64(sign(text))


def token(header, sign, payload=PAYLOAD):
    return raw(json.dumps(header, separators=(",", ":")).encode(), sign, payload)


def reuse(header, source):
    """Another header before the payload and the signature of a good token."""
    _, payload, signature = source.split(".")
    return b64(json.dumps(header).encode()) + "." + payload + "." + signature


def change_signature(source, change):
    header, payload, signature = source.split(".")
    return header + "." + payload + "." + b64(change(unb64(signature)))


def plus_order(signature):
    """The same Ed25519 signature with S + L."""
    order = 2**252 + 27742317777372353535851937790883648493
    s = int.from_bytes(signature[32:], "little") + order
    return signature[:32] + s.to_bytes(32, "little")


def ecdsa_negated(signature):
    return signature[:32] + b"\0" * 32


CASES = []


def case(name, wanted, text, **more):
    CASES.append({"name": name, "wanted": wanted, "token": text, **more})


good_rs = token({"alg": "RS256", "kid": "rsa"}, RS256)
good_es = token({"alg": "ES256", "kid": "p256"}, ES256)
good_ed = token({"alg": "EdDSA", "kid": "ed"}, ED.sign)

# Accepted.
case("RS256 (RFC 7518 3.3)", "NONE", good_rs)
case("PS256 (RFC 7518 3.5)", "NONE", token({"alg": "PS256", "kid": "rsa"}, PS256))
case("ES256 (RFC 7518 3.4)", "NONE", good_es)
case("ES384 (RFC 7518 3.4)", "NONE", token({"alg": "ES384", "kid": "p384"}, ES384))
case("ES512 (RFC 7518 3.4)", "NONE", token({"alg": "ES512", "kid": "p521"}, ES512))
case("EdDSA (RFC 8037 3.1)", "NONE", good_ed)
case("no kid: the fitting key is found", "NONE", token({"alg": "ES384"}, ES384))
case("typ JWT", "NONE", token({"alg": "RS256", "typ": "JWT"}, RS256))
case("typ in small letters (RFC 7515 4.1.9)", "NONE", token({"alg": "RS256", "typ": "jwt"}, RS256))
case("typ with application/ (RFC 7515 4.1.9)", "NONE", token({"alg": "RS256", "typ": "application/jwt"}, RS256))
case("unknown header members are ignored (RFC 7515 4)", "NONE", token({"alg": "RS256", "foo": {"a": [1]}}, RS256))
case("jku, x5u, x5c and jwk beside a good signature are ignored", "NONE", token(
    {"alg": "RS256", "kid": "rsa", "jku": "https://evil.example/jwks", "x5u": "https://evil.example/x5u",
     "x5c": ["MIIB"], "jwk": rsa_jwk(EVIL)}, RS256))

# Algorithm.
case("alg none without signature (RFC 8725 2.1)", "FORM", token({"alg": "none"}, const(b"")))
case("alg none with a signature", "ALG", token({"alg": "none"}, const(b"x")))
case("alg None", "ALG", token({"alg": "None"}, const(b"x")))
case("alg nOnE before a good signature", "ALG", reuse({"alg": "nOnE", "kid": "rsa"}, good_rs))
case("empty alg", "ALG", token({"alg": ""}, RS256))
case("alg in small letters", "ALG", token({"alg": "rs256"}, RS256))
case("alg with a trailing space", "ALG", token({"alg": "RS256 "}, RS256))
case("alg that is a number", "HEADER", token({"alg": 256}, RS256))
case("no alg", "HEADER", token({"kid": "rsa"}, RS256))
pem = RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
der = RSA.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
case("HS256 keyed with the RSA key's PEM (RFC 8725 2.1)", "ALG", token({"alg": "HS256", "kid": "rsa"}, hs256(pem)))
case("HS256 keyed with the RSA key's DER", "ALG", token({"alg": "HS256", "kid": "rsa"}, hs256(der)))
case("HS256 keyed with the RSA modulus", "ALG", token({"alg": "HS256", "kid": "rsa"}, hs256(unb64(KEYS[0]["n"]))))
case("HS256 keyed with nothing", "ALG", token({"alg": "HS256"}, hs256(b"")))
case("an algorithm that the caller does not allow", "ALG", good_rs, algs=["ES256"])
case("PS256 where only RS256 is allowed", "ALG", token({"alg": "PS256", "kid": "rsa"}, PS256), algs=["RS256"])
case("no algorithm allowed", "ALG", good_rs, algs=[])
case("RS256 signature under the name PS256", "SIGNATURE", token({"alg": "PS256", "kid": "rsa"}, RS256))
case("PS256 signature under the name RS256", "SIGNATURE", token({"alg": "RS256", "kid": "rsa"}, PS256))
case("RS384 signature under the name RS256", "SIGNATURE", token({"alg": "RS256", "kid": "rsa"}, pkcs1(RSA, 384)))
case("RS1 signature under the name RS256", "SIGNATURE", token(
    {"alg": "RS256", "kid": "rsa"}, lambda m: RSA.sign(m, padding.PKCS1v15(), hashes.SHA1())))

# Curves and ECDSA.
case("ES256 with the P-384 key named by kid", "KEY", token({"alg": "ES256", "kid": "p384"}, ecdsa(P384, 256, 48)))
case("ES256 with the P-384 key, no kid", "SIGNATURE", token({"alg": "ES256"}, ecdsa(P384, 256, 48)))
case("ES384 with the P-256 key named by kid", "KEY", token({"alg": "ES384", "kid": "p256"}, ecdsa(P256, 384, 32)))
case("ES512 with the P-256 key named by kid", "KEY", token({"alg": "ES512", "kid": "p256"}, ecdsa(P256, 512, 32)))
case("EdDSA with an EC key named by kid", "KEY", token({"alg": "EdDSA", "kid": "p256"}, ES256))
case("RS256 with an EC key named by kid", "KEY", token({"alg": "RS256", "kid": "p256"}, RS256))
case("ES256 signature in DER", "SIGNATURE", token({"alg": "ES256", "kid": "p256"}, lambda m: P256.sign(m, ec.ECDSA(SHA[256]))))
case("ES256 with r = s = 0 (CVE-2022-21449)", "SIGNATURE", token({"alg": "ES256", "kid": "p256"}, const(bytes(64))))
order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
case("ES256 with r = s = the order of the curve", "SIGNATURE",
     token({"alg": "ES256", "kid": "p256"}, const(order.to_bytes(32, "big") * 2)))
case("ES256 with s = 0", "SIGNATURE", change_signature(good_es, ecdsa_negated))
case("ES256 signature of 63 octets", "SIGNATURE", change_signature(good_es, lambda s: s[:63]))
case("ES256 signature of 65 octets", "SIGNATURE", change_signature(good_es, lambda s: s + b"\0"))
case("ES256 signature with a zero before r and s", "SIGNATURE",
     change_signature(good_es, lambda s: b"\0" + s[:32] + b"\0" + s[32:]))
case("ES512 signature of 130 octets", "SIGNATURE", change_signature(
    token({"alg": "ES512", "kid": "p521"}, ES512), lambda s: s[1:66] + s[67:]))
case("EdDSA signature with S + L (RFC 8032 5.1.7)", "SIGNATURE", change_signature(good_ed, plus_order))
case("EdDSA signature of 63 octets", "SIGNATURE", change_signature(good_ed, lambda s: s[:63]))
case("EdDSA signature of 65 octets", "SIGNATURE", change_signature(good_ed, lambda s: s + b"\0"))

# RSA.
for salt in (0, 20, 31, 33, 64):
    case("PS256 with a salt of %d octets (RFC 7518 3.5)" % salt, "SIGNATURE",
         token({"alg": "PS256", "kid": "rsa"}, pss(RSA, 256, salt)))
case("PS256 with a SHA-1 mask (RFC 7518 3.5)", "SIGNATURE",
     token({"alg": "PS256", "kid": "rsa"}, pss(RSA, 256, 32, hashes.SHA1())))
case("RS256 signature with a zero before it", "SIGNATURE", change_signature(good_rs, lambda s: b"\0" + s))
case("RS256 signature without its last octet", "SIGNATURE", change_signature(good_rs, lambda s: s[:-1]))
def short_rsa():
    """A good signature that begins with a zero octet, which is left out."""
    for i in range(100000):
        text = token({"alg": "RS256", "kid": "rsa"}, RS256, json.dumps({"i": i}).encode())
        if unb64(text.split(".")[2])[0] == 0:
            return change_signature(text, lambda s: s[1:])
    raise ValueError


case("RS256 signature without its leading zero (RFC 8017 8.2.2)", "SIGNATURE", short_rsa())
case("RS256 signature of 0", "SIGNATURE", change_signature(good_rs, lambda s: bytes(256)))
case("RS256 signature of 1", "SIGNATURE", change_signature(good_rs, lambda s: bytes(255) + b"\1"))

# Keys that the token brings along.
evil = pkcs1(EVIL, 256)
case("jwk in the header, new kid (CVE-2018-0114)", "KEY", token({"alg": "RS256", "kid": "mine", "jwk": rsa_jwk(EVIL)}, evil))
case("jwk in the header, no kid", "SIGNATURE", token({"alg": "RS256", "jwk": rsa_jwk(EVIL)}, evil))
case("jwk in the header, our kid", "SIGNATURE", token({"alg": "RS256", "kid": "rsa", "jwk": rsa_jwk(EVIL, kid="rsa")}, evil))
case("jku in the header", "KEY", token({"alg": "RS256", "kid": "mine", "jku": "https://evil.example/jwks"}, evil))
case("x5u in the header", "KEY", token({"alg": "RS256", "kid": "mine", "x5u": "https://evil.example/x5u"}, evil))
case("x5c in the header", "KEY", token({"alg": "RS256", "kid": "mine", "x5c": [base64.b64encode(der).decode()]}, evil))
case("a stranger's key, no kid", "SIGNATURE", token({"alg": "RS256"}, evil))
case("kid that is no key", "KEY", token({"alg": "RS256", "kid": "other"}, RS256))
case("kid that looks like a path", "KEY", token({"alg": "RS256", "kid": "../../dev/null"}, RS256))
case("empty kid", "KEY", token({"alg": "RS256", "kid": ""}, RS256))
case("kid in other letters", "KEY", token({"alg": "RS256", "kid": "RSA"}, RS256))
case("kid that is a number", "HEADER", token({"alg": "RS256", "kid": 1}, RS256))
case("kid that is null", "HEADER", token({"alg": "RS256", "kid": None}, RS256))
case("kid of 256 octets that is no key", "KEY", token({"alg": "RS256", "kid": "k" * 256}, RS256))
case("kid of 257 octets", "HEADER", token({"alg": "RS256", "kid": "k" * 257}, RS256))

# Extensions.
case("crit with a known claim (RFC 7515 4.1.11)", "EXTENSION", token({"alg": "RS256", "crit": ["exp"], "exp": 1}, RS256))
case("crit with b64 (RFC 7797)", "EXTENSION", token({"alg": "RS256", "crit": ["b64"], "b64": False}, RS256))
case("empty crit", "EXTENSION", token({"alg": "RS256", "crit": []}, RS256))
case("crit that is null", "EXTENSION", token({"alg": "RS256", "crit": None}, RS256))
case("b64 false without crit", "EXTENSION", token({"alg": "RS256", "b64": False}, RS256))
case("b64 true", "EXTENSION", token({"alg": "RS256", "b64": True}, RS256))
case("zip", "EXTENSION", token({"alg": "RS256", "zip": "DEF"}, RS256, zlib.compress(PAYLOAD)))

# typ.
case("typ dpop+jwt where JWT is expected (RFC 8725 3.11)", "TYP", token({"alg": "RS256", "typ": "dpop+jwt"}, RS256))
case("typ at+jwt", "TYP", token({"alg": "RS256", "typ": "at+jwt"}, RS256))
case("empty typ", "TYP", token({"alg": "RS256", "typ": ""}, RS256))
case("typ with a suffix", "TYP", token({"alg": "RS256", "typ": "JWT2"}, RS256))
case("typ application/ alone", "TYP", token({"alg": "RS256", "typ": "application/"}, RS256))
case("typ of another tree", "TYP", token({"alg": "RS256", "typ": "text/jwt"}, RS256))
case("no typ where it is required", "TYP", good_rs, typ_required=True)
case("typ JWT where dpop+jwt is required", "TYP", token({"alg": "RS256", "typ": "JWT"}, RS256), types=["dpop+jwt"])
case("typ dpop+jwt where it is required", "NONE", token({"alg": "RS256", "typ": "dpop+jwt"}, RS256),
     types=["dpop+jwt"], typ_required=True)
case("typ that is a number", "HEADER", token({"alg": "RS256", "typ": 1}, RS256))

# Header JSON.
case("alg twice, first none", "HEADER", raw(b'{"alg":"none","alg":"RS256"}', RS256))
case("alg twice, last none", "HEADER", raw(b'{"alg":"RS256","alg":"none"}', RS256))
case("alg twice, once escaped", "HEADER", raw(b'{"alg":"RS256","\\u0061lg":"none"}', RS256))
case("header that is an array", "HEADER", raw(b'["RS256"]', RS256))
case("header that is no JSON", "HEADER", raw(b"alg=RS256", RS256))
case("header with text after it", "HEADER", raw(b'{"alg":"RS256"}x', RS256))
case("header with a NUL", "HEADER", raw(b'{"alg":"RS256"}\0', RS256))
case("header with an escaped NUL", "HEADER", raw(b'{"alg":"RS256\\u0000"}', RS256))
case("header that is no UTF-8", "HEADER", raw(b'{"alg":"RS256","x":"\xff"}', RS256))
case("header nested 4 deep", "NONE", raw(b'{"alg":"RS256","x":[[[1]]]}', RS256))
case("header nested 5 deep", "HEADER", raw(b'{"alg":"RS256","x":[[[[1]]]]}', RS256))

# Form.
h, p, s = good_rs.split(".")
case("nothing", "FORM", "")
case("two parts", "FORM", h + "." + p)
case("two parts and a full stop", "FORM", h + "." + p + ".")
case("four parts", "FORM", good_rs + "." + s)
case("five parts, as JWE has", "FORM", good_rs + ".AA.AA")
case("no header", "FORM", "." + p + "." + s)
case("full stops alone", "FORM", "..")
case("padding", "FORM", good_rs + "==")
case("a newline at the end", "FORM", good_rs + "\n")
case("a space before it", "FORM", " " + good_rs)
case("standard base64", "FORM", h + "." + p + "." + s[:-1] + "+")
last = good_ed[-1]
twin = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
case("signature whose unused bits are not zero", "FORM", good_ed[:-1] + twin[twin.index(last) + 1])
case("JSON serialization", "FORM", json.dumps({"payload": p, "protected": h, "signature": s}))

# Changed content.
case("changed payload", "SIGNATURE", h + "." + b64(PAYLOAD.replace(b"joe", b"eve")) + "." + s)
case("detached payload (RFC 7515 F)", "SIGNATURE", h + ".." + s)
case("changed header", "SIGNATURE", reuse({"alg": "RS256", "kid": "rsa", "typ": "JWT"}, good_rs))
case("header with other white space", "SIGNATURE", reuse({"alg": "RS256", "kid": "rsa"}, good_rs))
case("one bit of the signature", "SIGNATURE", change_signature(good_rs, lambda s: bytes([s[0] ^ 1]) + s[1:]))
case("signature of another token", "SIGNATURE", h + "." + p + "." + token({"alg": "RS256"}, RS256).split(".")[2])

# Words about keys.
public = rsa_jwk(RSA)
for name, wanted, members in (
        ("key with use sig", "NONE", {"use": "sig"}),
        ("key with its alg", "NONE", {"alg": "RS256"}),
        ("key with key_ops verify", "NONE", {"key_ops": ["verify"]}),
        ("key with use enc", "KEY", {"use": "enc"}),
        ("key with use jwt-svid where none is asked for", "KEY", {"use": "jwt-svid"}),
        ("key meant for another algorithm", "KEY", {"alg": "PS256"}),
        ("key meant for encryption", "KEY", {"alg": "RSA-OAEP"}),
        ("key with key_ops sign", "KEY", {"key_ops": ["sign"]}),
        ("key with key_ops encrypt", "KEY", {"key_ops": ["encrypt"]}),
        ("key with empty key_ops", "KEY", {"key_ops": []})):
    case(name + " (RFC 7517 4)", wanted, token({"alg": "RS256"}, RS256), keys=[{**public, **members}])
case("use jwt-svid where it is asked for", "NONE", token({"alg": "RS256"}, RS256),
     keys=[{**public, "use": "jwt-svid"}], key_use="jwt-svid")
case("use sig where jwt-svid is asked for", "KEY", token({"alg": "RS256"}, RS256),
     keys=[{**public, "use": "sig"}], key_use="jwt-svid")
case("no use where jwt-svid is asked for", "KEY", token({"alg": "RS256"}, RS256), keys=[public], key_use="jwt-svid")
case("token with kid, key without", "KEY", good_rs, keys=[public])
case("no keys", "KEY", good_rs, keys=[])
strangers = [ec_jwk(ec.generate_private_key(ec.SECP256R1()), "P-256") for _ in range(20)]
mine = ec_jwk(P256, "P-256")
no_kid = token({"alg": "ES256"}, ES256)
case("the 20th fitting key is tried", "NONE", no_kid, keys=strangers[:19] + [mine])
case("the 21st fitting key is not", "SIGNATURE", no_kid, keys=strangers + [mine])
case("keys that do not fit are not counted", "NONE", no_kid, keys=[public] * 30 + strangers[:19] + [mine])
case("of two keys with one kid each is tried", "NONE", good_es,
     keys=[{**strangers[0], "kid": "p256"}, {**mine, "kid": "p256"}])

# Size: exactly 16384 characters, and one more (length 4n+1 excluded by the filling).
def sized(total):
    for fill in range(total * 3 // 4 - 400, total * 3 // 4):
        text = token({"alg": "EdDSA", "kid": "ed"}, const(bytes(64)), b'"' + b"x" * fill + b'"')
        if len(text) == total:
            return token({"alg": "EdDSA", "kid": "ed"}, ED.sign, b'"' + b"x" * fill + b'"')
    for fill in range(total * 3 // 4 - 400, total * 3 // 4):
        header = {"alg": "EdDSA", "kid": "ed", "a": ""}
        if len(token(header, const(bytes(64)), b'"' + b"x" * fill + b'"')) == total:
            return token(header, ED.sign, b'"' + b"x" * fill + b'"')
    raise ValueError(total)


case("16384 characters", "NONE", sized(16384))
case("16385 characters", "SIZE", sized(16385))

with open("jws-cases.json", "w") as f:
    json.dump({"source": "made by make-cases.py", "keys": KEYS, "cases": CASES}, f, indent=1)
    f.write("\n")


# A box as crypto/seal.h describes it.
def hkdf(secret, info, size):
    return HKDF(hashes.SHA256(), size, None, info).derive(secret)


secret, purpose, place, day = b"correct horse battery staple", b"clients", b"clients/secret/42", 20779
nonce, plain = bytes(range(12)), b"s3cret of a client"
key_id = hkdf(secret, b"authz seal 1 id " + purpose, 4)


def box(header, key):
    return (header + nonce + AESGCM(key).encrypt(nonce, plain, header + place)).hex()


root = hkdf(secret, b"authz seal 2 root " + purpose, 32)
with open("seal.json", "w") as f:
    json.dump({"source": "made by make-cases.py; octets in hex", "credential_key": secret.decode(),
               "purpose": purpose.decode(), "place": place.decode(), "plain": plain.decode(), "day": day,
               "day_key": hkdf(root, b"authz seal 2 day %d" % day, 32).hex(),
               "client_secret_1": box(b"\1" + hkdf(secret, b"authz seal 1 id client secrets", 4),
                                      hkdf(secret, b"authz seal 1 key client secrets", 32)),
               "box_1": box(b"\1" + key_id, hkdf(secret, b"authz seal 1 key " + purpose, 32)),
               "box_2": box(b"\2" + key_id + day.to_bytes(4, "big"), hkdf(root, b"authz seal 2 day %d" % day, 32))},
              f, indent=1)
    f.write("\n")

# A token as crypto/token.h describes it.
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def with_check(text):
    crc, check = zlib.crc32(text.encode()), ""
    for _ in range(6):
        check, crc = DIGITS[crc % 62] + check, crc // 62
    return text + check


def our_token(kind, version=1, shard=0, bucket=0x012345, id=bytes.fromhex("017f22e279b07cc398c4dc0c0c07398f"), secret=bytes(range(32))):
    return with_check(kind + "_" + b64(bytes([version, shard]) + bucket.to_bytes(3, "big") + id + secret))


good = our_token("at")
body = good[3:-6]
v4 = bytes.fromhex("017f22e279b04cc398c4dc0c0c07398f")
with open("token.json", "w") as f:
    json.dump({
        "source": "made by make-cases.py; octets in hex",
        "bucket": 0x012345, "id": "017f22e279b07cc398c4dc0c0c07398f",
        "secret_hash": hashlib.sha256(bytes(range(32))).hexdigest(),
        "accepted": {k: our_token(k) for k in ("at", "rt", "ac", "ar", "pt", "ak", "cs")},
        "refused": {
            "nothing": "",
            "one character too few": good[:-1],
            "one character too many": good + "0",
            "a changed checksum": good[:-1] + ("0" if good[-1] != "0" else "1"),
            "a changed body": good[:20] + ("A" if good[20] != "A" else "B") + good[21:],
            "a changed kind": "rt" + good[2:],
            "an unknown kind, good checksum": our_token("xx"),
            "a kind in capitals, good checksum": our_token("AT"),
            "another separator, good checksum": with_check("at-" + body),
            "version 0, good checksum": our_token("at", version=0),
            "version 2, good checksum": our_token("at", version=2),
            "shard 1, good checksum": our_token("at", shard=1),
            "an id of version 4, good checksum": our_token("at", id=v4),
            "unused bits that are not zero, good checksum": with_check("at_" + body[:-1] + twin[twin.index(body[-1]) + 1]),
            "standard base64, good checksum": with_check("at_" + body[:30] + "+" + body[31:]),
            "padding, good checksum": with_check("at_" + body[:-1] + "="),
            "a space before it": " " + good[:-1],
            "a newline after it": good[:-1] + "\n",
            "80 spaces": " " * 80,
            "80 underscores": "_" * 80,
        }}, f, indent=1)
    f.write("\n")
