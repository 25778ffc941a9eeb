/* Digests, JWT decoding without verification, and UUIDs. */
#include "config.h"

#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/b64url.h"
#include "base/utf8.h"
#include "rego/builtin/builtin.h"

/* Octets of the largest digest. */
#define DIGEST_MAX 64

/* Seconds from the beginning of the times of UUIDs (15 October 1582) to 1970. */
#define UUID_EPOCH_SECONDS 12219292800LL

/* Return octets as hexadecimal digits. */
static const struct rego_value *
hex_of(struct rego_machine *machine, const unsigned char *octet, size_t count)
{
    char *text = rego_take(machine->arena, count * 2 + 1);
    for (size_t i = 0; text != NULL && i < count; i++) {
        text[i * 2] = "0123456789abcdef"[octet[i] >> 4];
        text[i * 2 + 1] = "0123456789abcdef"[octet[i] & 15];
    }
    return text != NULL ? rego_text(machine->arena, text, count * 2) : NULL;
}

static const struct rego_value *
digest_of(struct rego_machine *machine, const struct rego_value *text,
          gnutls_digest_algorithm_t algorithm)
{
    unsigned char digest[DIGEST_MAX];
    if (text->type != REGO_STRING)
        return NULL;
    if (gnutls_hash_fast(algorithm, text->text, text->count, digest) != 0)
        return rego_give_up(machine, "a digest that the library refuses");
    return hex_of(machine, digest, gnutls_hash_get_len(algorithm));
}

static const struct rego_value *
run_md5(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return digest_of(machine, arg[0], GNUTLS_DIG_MD5);
}

static const struct rego_value *
run_sha1(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return digest_of(machine, arg[0], GNUTLS_DIG_SHA1);
}

static const struct rego_value *
run_sha256(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return digest_of(machine, arg[0], GNUTLS_DIG_SHA256);
}

static const struct rego_value *
hmac_of(struct rego_machine *machine, const struct rego_value *const *arg,
        gnutls_mac_algorithm_t algorithm)
{
    unsigned char digest[DIGEST_MAX];
    if (!rego_are(arg, 2, REGO_STRING))
        return NULL;
    if (gnutls_hmac_fast(algorithm, arg[1]->text, arg[1]->count, arg[0]->text, arg[0]->count,
                         digest)
        != 0)
        return rego_give_up(machine, "a digest that the library refuses");
    return hex_of(machine, digest, gnutls_hmac_get_len(algorithm));
}

static const struct rego_value *
run_hmac_md5(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return hmac_of(machine, arg, GNUTLS_MAC_MD5);
}

static const struct rego_value *
run_hmac_sha1(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return hmac_of(machine, arg, GNUTLS_MAC_SHA1);
}

static const struct rego_value *
run_hmac_sha256(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return hmac_of(machine, arg, GNUTLS_MAC_SHA256);
}

static const struct rego_value *
run_hmac_sha512(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return hmac_of(machine, arg, GNUTLS_MAC_SHA512);
}

static const struct rego_value *
run_hmac_equal(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    if (!rego_are(arg, 2, REGO_STRING))
        return NULL;
    return rego_boolean(arg[0]->count == arg[1]->count
                        && gnutls_memcmp(arg[0]->text, arg[1]->text, arg[0]->count) == 0);
}

/* Read the JSON object of a part of a token. NULL: the engine is asked, or it is no object. */
static const struct rego_value *
token_object(struct rego_machine *machine, const char *text, size_t length)
{
    unsigned char *octets;
    const struct rego_value *value = NULL;
    if (b64url_decode(machine->arena->mem, text, length, &octets, &length) == AZ_OK
        && utf8_valid((const char *) octets, length))
        value = rego_parse(machine->arena, (const char *) octets, length);
    if (value == NULL)
        return rego_give_up(machine, "a token in an unusual form");
    return value->type == REGO_OBJECT ? value : NULL;
}

/* Return [header, claims, signature] of a token, without a check of the signature. */
static const struct rego_value *
run_jwt_decode(struct rego_machine *machine, const struct rego_value *const *arg)
{
    unsigned char *signature;
    size_t length;
    if (arg[0]->type != REGO_STRING)
        return NULL;
    const char *at = arg[0]->text, *end = at + arg[0]->count;
    const char *first = memchr(at, '.', (size_t) (end - at));
    const char *second = first != NULL ? memchr(first + 1, '.', (size_t) (end - first - 1)) : NULL;
    if (second == NULL || memchr(second + 1, '.', (size_t) (end - second - 1)) != NULL)
        return NULL;
    const struct rego_value *header = token_object(machine, at, (size_t) (first - at));
    if (header == NULL || rego_get_text(header, "enc") != NULL)
        return NULL;
    if (rego_get_text(header, "cty") != NULL)
        return rego_give_up(machine, "a token within a token");
    const struct rego_value *claims =
        token_object(machine, first + 1, (size_t) (second - first - 1));
    if (claims == NULL)
        return NULL;
    if (b64url_decode(machine->arena->mem, second + 1, (size_t) (end - second - 1), &signature,
                      &length)
        != AZ_OK)
        return rego_give_up(machine, "a token in an unusual form");
    struct rego_value *parts = rego_array(machine->arena, 3);
    bool made = parts != NULL && rego_append(machine->arena, parts, header)
                && rego_append(machine->arena, parts, claims)
                && rego_append(machine->arena, parts, hex_of(machine, signature, length));
    return made ? parts : NULL;
}

/* Read the form with hyphens (RFC 9562 4). */
static bool
read_uuid(const char *text, unsigned char octet[16])
{
    size_t digits = 0;
    memset(octet, 0, 16);
    for (size_t i = 0; i < 36; i++) {
        char c = text[i];
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (c != '-')
                return false;
            continue;
        }
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'f';
        if (!letter && (c < '0' || c > '9'))
            return false;
        octet[digits / 2] =
            (unsigned char) (octet[digits / 2] << 4 | (letter ? (c | 0x20) - 'a' + 10 : c - '0'));
        digits++;
    }
    return true;
}

static bool
put_text(struct rego_machine *machine, struct rego_value *object, const char *key, const char *text)
{
    return rego_insert(machine->arena, object, rego_string(machine->arena, key, strlen(key)),
                       rego_string(machine->arena, text, strlen(text)));
}

static bool
put_integer(struct rego_machine *machine, struct rego_value *object, const char *key,
            int64_t integer)
{
    return rego_insert(machine->arena, object, rego_string(machine->arena, key, strlen(key)),
                       rego_integer(machine->arena, integer));
}

/* Add the time and the node of UUIDs of version 1 and 2. */
static bool
put_origin(struct rego_machine *machine, struct rego_value *object, const unsigned char *octet)
{
    static const char *const casts[] = {"global:unicast", "global:multicast", "local:unicast",
                                        "local:multicast"};
    char node[24];
    uint64_t time = (uint64_t) (octet[6] & 15) << 56 | (uint64_t) octet[7] << 48
                    | (uint64_t) octet[4] << 40 | (uint64_t) octet[5] << 32
                    | (uint64_t) octet[0] << 24 | (uint64_t) octet[1] << 16
                    | (uint64_t) octet[2] << 8 | octet[3];
    int64_t ns, tenths = (int64_t) time - UUID_EPOCH_SECONDS * 10000000;
    if (__builtin_mul_overflow(tenths, 100, &ns)) {
        rego_give_up(machine, "a UUID beyond all times");
        return false;
    }
    snprintf(node, sizeof(node), "%02x-%02x-%02x-%02x-%02x-%02x", octet[10], octet[11], octet[12],
             octet[13], octet[14], octet[15]);
    return put_integer(machine, object, "time", ns) && put_text(machine, object, "nodeid", node)
           && put_text(machine, object, "macvariables", casts[octet[10] & 3])
           && put_integer(machine, object, "clocksequence", (octet[8] & 0x3f) << 8 | octet[9]);
}

static bool
put_domain(struct rego_machine *machine, struct rego_value *object, const unsigned char *octet)
{
    static const char *const domains[] = {"Person", "Group", "Org"};
    char name[16];
    snprintf(name, sizeof(name), "Domain%u", octet[9]);
    return put_text(machine, object, "domain", octet[9] < 3 ? domains[octet[9]] : name)
           && put_integer(machine, object, "id",
                          (int64_t) octet[0] << 24 | octet[1] << 16 | octet[2] << 8 | octet[3]);
}

static const struct rego_value *
run_uuid_parse(struct rego_machine *machine, const struct rego_value *const *arg)
{
    unsigned char octet[16];
    if (arg[0]->type != REGO_STRING)
        return NULL;
    if (arg[0]->count != 36)
        return rego_give_up(machine, "a UUID in another form");
    if (!read_uuid(arg[0]->text, octet))
        return NULL;
    const char *variant = (octet[8] & 0xc0) == 0x80   ? "RFC4122"
                          : (octet[8] & 0xe0) == 0xc0 ? "Microsoft"
                          : (octet[8] & 0xe0) == 0xe0 ? "Future"
                                                      : "Reserved";
    unsigned version = octet[6] >> 4;
    struct rego_value *object = rego_object(machine->arena, 8);
    bool made = object != NULL && put_integer(machine, object, "version", version)
                && put_text(machine, object, "variant", variant)
                && ((version != 1 && version != 2) || put_origin(machine, object, octet))
                && (version != 2 || put_domain(machine, object, octet));
    return made ? object : NULL;
}

const struct rego_builtin rego_token_builtins[] = {
    {"crypto.hmac.equal",  2, run_hmac_equal },
    {"crypto.hmac.md5",    2, run_hmac_md5   },
    {"crypto.hmac.sha1",   2, run_hmac_sha1  },
    {"crypto.hmac.sha256", 2, run_hmac_sha256},
    {"crypto.hmac.sha512", 2, run_hmac_sha512},
    {"crypto.md5",         1, run_md5        },
    {"crypto.sha1",        1, run_sha1       },
    {"crypto.sha256",      1, run_sha256     },
    {"io.jwt.decode",      1, run_jwt_decode },
    {"uuid.parse",         1, run_uuid_parse },
    {NULL,                 0, NULL           },
};
