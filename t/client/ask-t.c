/* Requests of this service as a client: parameters (RFC 6749 3.2), client authentication (RFC 6749
 * 2.3, RFC 7523 2.2), and the secrets that a browser carries (RFC 7636). */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "client/ask.h"
#include "client/browser_secret.h"
#include "tap.h"

static void
check_url(TALLOC_CTX *mem)
{
    const struct query_pair own[] = {
        {"grant_type", "client_credentials"},
        {"scope",      "a b"               },
        {"resource",   NULL                }
    };
    json_t *more = jsonx_own(mem, json_pack("{s:s,s:s,s:s,s:s}", "scope", "all", "resource", "r",
                                            "x&grant_type", "y", "z", "1 2"));
    const char *text = client_url(mem, "", own, 3, more);
    ok(strstr(text, "scope=a%20b") != NULL && strstr(text, "scope=all") == NULL,
       "a configured parameter never replaces or repeats one of ours (RFC 6749 3.2)");
    ok(strstr(text, "&resource=r") != NULL, "... it may add one that is left out of ours");
    ok(strstr(text, "&z=1%202") != NULL, "... and others, escaped");
    ok(strstr(text, "x%26grant_type=y") != NULL, "... a name cannot begin another parameter");
    is_str(client_url(mem, "https://h/a?b=c", own, 1, NULL),
           "https://h/a?b=c&grant_type=client_credentials", "an address keeps its query");
}

static void
check_add(struct op *op)
{
    const struct client_identity identity = {.client_id = "me", .method = "none"};
    struct client_ask ask = {.url = "https://h/token", .identity = &identity};
    struct fetch_answer answer;
    client_ask_add(&ask, "scope", "a");
    client_ask_add(&ask, "audience", NULL);
    is_int((int64_t) ask.pairs, 1, "a parameter without a value is left out");
    ok(ask.fault == NULL, "... and that is no fault");
    client_ask_add(&ask, "scope", "b");
    ok(ask.fault != NULL, "a second value of one name is a fault (RFC 6749 3.2)");
    is_int(client_ask_send(op, &ask, &answer), AZ_SERVER_ERROR, "... which fails the request");
    is_int(answer.fault, FETCH_FAULT_OURS, "... before any server is asked");
    struct client_ask own = {.url = "https://h/token", .identity = &identity};
    client_ask_add(&own, "client_id", "other");
    is_int(client_ask_send(op, &own, &answer), AZ_SERVER_ERROR,
           "so does one that repeats a parameter of the client authentication");
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g",
                                        "h", "i", "j", "k", "l", "m"};
    struct client_ask full = {.pairs = 0};
    for (size_t i = 0; i < CLIENT_PAIRS_MAX; i++)
        client_ask_add(&full, names[i], "v");
    ok(full.fault == NULL, "the most parameters");
    client_ask_add(&full, names[CLIENT_PAIRS_MAX], "v");
    ok(full.fault != NULL, "one more is a fault");
}

static void
check_scopes(struct op *op)
{
    const char *text = "x";
    json_t *scopes = jsonx_own(op->mem, json_pack("[s,s]", "a", "b"));
    is_int(client_join_scopes(op, scopes, NULL, &text), AZ_OK, "scopes are joined");
    is_str(text, "a b", "... by spaces");
    client_join_scopes(op, scopes, ",", &text);
    is_str(text, "a,b", "... or by scopeSeparator");
    client_join_scopes(op, NULL, NULL, &text);
    ok(text == NULL, "no scopes are no text");
}

/* clang-format off */
static const struct { struct client_identity identity; enum az_status st; const char *header, *first, *second, *name; } proofs[] = {
    {{.client_id = "me:x", .secret = "s+:"}, AZ_OK, "Basic bWUlM0F4OnMlMkIlM0E=", NULL, NULL, "client_secret_basic is the default; both parts are form-urlencoded (RFC 6749 2.3.1)"},
    {{.client_id = "me", .method = "client_secret_post", .secret = "s"}, AZ_OK, NULL, "client_id", "client_secret", "client_secret_post"},
    {{.client_id = "me", .method = "none"}, AZ_OK, NULL, "client_id", NULL, "none"},
    {{.client_id = "me", .method = "client_secret_basic"}, AZ_UPSTREAM_AUTH, NULL, NULL, NULL, "without a secret there is no proof"},
    {{.client_id = "me", .method = "private_key_jwt", .secret = "s"}, AZ_UPSTREAM_AUTH, NULL, NULL, NULL, "without a key there is no assertion"},
    {{.client_id = "me", .method = "private_key_jwt", .private_key = "no PEM"}, AZ_UPSTREAM_AUTH, NULL, NULL, NULL, "a key that is no PEM"},
    {{.method = "none"}, AZ_UPSTREAM_AUTH, NULL, NULL, NULL, "without a client_id there is no client"},
    {{.client_id = "me", .method = "tls_client_auth", .secret = "s"}, AZ_UPSTREAM_AUTH, NULL, NULL, NULL, "a method that this service does not have"},
};
/* clang-format on */

static void
check_proofs(struct op *op)
{
    for (size_t i = 0; i < sizeof(proofs) / sizeof(proofs[0]); i++) {
        struct client_proof proof;
        az_fault_clear(&op->fault);
        enum az_status st = client_proof_make(op, &proofs[i].identity, "https://h/token", &proof);
        is_int(st, proofs[i].st, "%s", proofs[i].name);
        if (st != AZ_OK)
            continue;
        is_str(proof.authorization, proofs[i].header, "... its header");
        is_str(proof.pairs > 0 ? proof.pair[0].name : NULL, proofs[i].first, "... its parameters");
        is_str(proof.pairs > 1 ? proof.pair[1].name : NULL, proofs[i].second, "... and the second");
    }
    is_str(client_basic(op, "Aladdin", "open sesame"),
           "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic (RFC 7617 2)");
}

static void
check_secrets(struct op *op)
{
    unsigned char hash[SHA256_OCTETS], other[SHA256_OCTETS];
    const char *one = NULL, *two = NULL, *verifier = NULL, *challenge = NULL;
    is_int(browser_secret_make(op, &one, hash), AZ_OK, "a secret is made");
    browser_secret_make(op, &two, other);
    is_int((int64_t) strlen(one), 43, "... of 256 bits");
    ok(strcmp(one, two) != 0 && memcmp(hash, other, sizeof(hash)) != 0, "... each time another");
    browser_secret_verifier(op, &verifier, &challenge);
    sha256(verifier, strlen(verifier), hash);
    is_str(challenge, b64url_encode(op->mem, hash, sizeof(hash)),
           "the challenge is the hash of the verifier's text (RFC 7636 4.2)");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az az = {.pool_workers = 1};
    struct op op = {.mem = mem, .az = &az, .now_ms = 1795172300000};
    plan(0);
    check_url(mem);
    check_add(&op);
    check_scopes(&op);
    check_proofs(&op);
    check_secrets(&op);
    talloc_free(mem);
    return done();
}
