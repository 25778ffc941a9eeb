#include "config.h"

#include "oauth/client_auth/client_auth.h"

#include <string.h>

#include "base/b64url.h"
#include "env.h"
#include "http/fake_io.h"
#include "http/form.h"
#include "store/db/db.h"
#include "tap.h"

static const struct route_param params[] = {CLIENT_AUTH_PARAMS, {.name = NULL}};

/* A request with an Authorization header and a form; NULL for none. */
static struct request *
make_request(TALLOC_CTX *mem, const char *header, const char *form)
{
    const char **set = talloc_zero_array(mem, const char *, 3);
    if (header != NULL)
        set[0] = "HTTP_AUTHORIZATION", set[1] = header;
    struct request *req = fake_request(mem, fake_new(mem, set, ""), params);
    req->op.az = env_az(mem);
    req->op.now_ms = ENV_NOW * 1000;
    if (form != NULL)
        request_parse_form(req, form, strlen(form));
    return req;
}

static const char *
basic(TALLOC_CTX *mem, const char *pair, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = talloc_strdup(mem, "Basic ");
    for (size_t i = 0; i < length; i += 3) {
        unsigned n = (unsigned char) pair[i] << 16;
        n |= i + 1 < length ? (unsigned) (unsigned char) pair[i + 1] << 8 : 0;
        n |= i + 2 < length ? (unsigned char) pair[i + 2] : 0;
        text = talloc_asprintf_append(text, "%c%c%c%c", digits[n >> 18], digits[n >> 12 & 63],
                                      i + 1 < length ? digits[n >> 6 & 63] : '=',
                                      i + 2 < length ? digits[n & 63] : '=');
    }
    return text;
}

/* "METHOD id secret" of what was shown, "-" for NULL; or the error and its description. */
static const char *
read_shown(TALLOC_CTX *mem, const char *header, const char *form)
{
    struct request *req = make_request(mem, header, form);
    struct client_credentials shown;
    enum az_status st = client_credentials_read(req, &shown);
    if (st == AZ_INVALID_CLIENT && req->challenge == NULL)
        return "invalid_client without a challenge";
    if (st != AZ_OK)
        return st == AZ_INVALID_CLIENT ? "invalid_client"
                                       : talloc_asprintf(mem, "%s: %s", az_status_row(st)->error,
                                                         req->op.fault.public_text);
    return talloc_asprintf(mem, "%s%s %s %s", shown.other_scheme ? "another scheme: " : "",
                           shown.method, shown.id != NULL ? shown.id : "-",
                           shown.secret != NULL ? shown.secret : "-");
}

#define TWICE "invalid_request: Only one client authentication method may be used"
#define MISMATCH "invalid_request: client_id differs from the authenticated client"
#define JWT_BEARER "client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define ASSERTION JWT_BEARER "&client_assertion=a.b.c"
#define HALF "invalid_request: client_assertion and client_assertion_type must be given together"
#define KIND "invalid_request: client_assertion_type is not supported"

/* clang-format off */
static const struct { const char *pair, *form, *wanted, *name; } pairs[] = {
    {"crm:geheim", NULL, "client_secret_basic crm geheim", "id and secret (RFC 7617 2)"},
    {"crm:a:b:c", NULL, "client_secret_basic crm a:b:c", "the first colon separates (oauth.md C11)"},
    {"crm:", NULL, "client_secret_basic crm ", "an empty secret"},
    {"a%3Ab:c", NULL, "client_secret_basic a:b c", "an escaped colon belongs to the id (RFC 6749 2.3.1)"},
    {"c%72m:a%2Bb+c", NULL, "client_secret_basic crm a+b c", "both parts are form-decoded (RFC 6749 2.3.1)"},
    {"https%3A%2F%2Fapp.example%2Fid:s", NULL, "client_secret_basic https://app.example/id s", "a client_id that is a URI"},
    {"crm:100%", NULL, "client_secret_basic crm 100%", "a secret that was not encoded is taken as it is (oauth.md C11)"},
    {"crm:%zz", NULL, "client_secret_basic crm %zz", "... also with a % before other characters"},
    {"crm:a%00b", NULL, "client_secret_basic crm a%00b", "... and an escaped NUL is never decoded (oauth.md C6)"},
    {"gr\xc3\xbc\xc3\x9f" "e:s", NULL, "client_secret_basic gr\xc3\xbc\xc3\x9f" "e s", "UTF-8 (RFC 7617 2.1)"},
    {"crm:s", "client_id=crm", "client_secret_basic crm s", "the same client_id in the form (oauth.md C10)"},
    {"a%3Ab:s", "client_id=a%3Ab", "client_secret_basic a:b s", "... compared decoded"},
    {"crm:s", "client_id=", "client_secret_basic crm s", "an empty client_id is absent (oauth.md C4)"},
    {"crm:s", "client_secret=", "client_secret_basic crm s", "... and so is an empty client_secret (oauth.md C12)"},
    {"crm:s", "client_id=cr", MISMATCH, "another client_id in the form (oauth.md C10)"},
    {"crm:s", "client_id=CRM", MISMATCH, "... in another case"},
    {"crm:s", "client_secret=s", TWICE, "a secret in the form too (oauth.md C10)"},
    {"crm:s", "client_id=crm&client_secret=s", TWICE, "... with its client_id"},
    {"crm:s", ASSERTION, TWICE, "an assertion too (oauth.md C10)"},
    {"crm:s", "client_assertion=x", TWICE, "... half of one"},
    {"crm:s", "client_assertion_type=x", TWICE, "... or the other half"},
    {"crm", NULL, "invalid_client", "no colon (oauth.md C11)"},
    {"", NULL, "invalid_client", "nothing (oauth.md C11)"},
    {":", NULL, "invalid_client", "a colon alone"},
    {":secret", NULL, "invalid_client", "an empty id (oauth.md C11)"},
    {"\xff:s", NULL, "invalid_client", "an id that is no UTF-8: it never reaches SQL (oauth.md C6)"},
    {"crm:\xff", NULL, "invalid_client", "a secret that is no UTF-8"},
    {"crm:%ff\xff", NULL, "invalid_client", "... which cannot be decoded either"},
    {"\xed\xa0\x80:s", NULL, "invalid_client", "a surrogate"},
};
static const struct { const char *header, *form, *wanted, *name; } headers[] = {
    {NULL, NULL, "none - -", "nothing"},
    {NULL, "client_id=crm", "none crm -", "a public client"},
    {NULL, "client_id=crm&client_secret=", "none crm -", "an empty secret is none (oauth.md C12)"},
    {NULL, "client_id=crm&client_secret=s", "client_secret_post crm s", "a secret in the form"},
    {NULL, "client_secret=s", "client_secret_post - s", "a secret without a client_id"},
    {NULL, "client_id=crm&" ASSERTION, "invalid_client", "an assertion that is no JWT (oauth.md J2)"},
    {NULL, "client_id=crm&client_assertion=a.b.c", HALF, "an assertion without its type (oauth.md J1)"},
    {NULL, "client_id=crm&" JWT_BEARER, HALF, "a type without an assertion (oauth.md J1)"},
    {NULL, "client_assertion_type=urn:x&client_assertion=a.b.c", KIND, "an assertion of an unknown type (oauth.md J1)"},
    {NULL, JWT_BEARER "&client_assertion=", HALF, "an empty assertion is none (oauth.md C4)"},
    {NULL, "client_secret=s&" ASSERTION, TWICE, "a secret and an assertion (oauth.md C10)"},
    {"basic Y3JtOnM=", NULL, "client_secret_basic crm s", "the scheme in small letters (RFC 9110 11.1)"},
    {"BASIC Y3JtOnM=", NULL, "client_secret_basic crm s", "... in capitals"},
    {"Basic    Y3JtOnM=", NULL, "client_secret_basic crm s", "several blanks"},
    {"Basic Y3JtOnM", NULL, "client_secret_basic crm s", "base64 without its padding"},
    {"Basic", NULL, "invalid_client", "the scheme alone"},
    {"Basic ", NULL, "invalid_client", "... with a blank"},
    {"BasicY3JtOnM=", NULL, "another scheme: none - -", "no blank"},
    {"Basic\tY3JtOnM=", NULL, "another scheme: none - -", "a tab in its place"},
    {"Basic Y3JtOnM= ", NULL, "invalid_client", "a blank behind"},
    {"Basic Y3Jt OnM=", NULL, "invalid_client", "a blank inside"},
    {"Basic Y3JtOnM==", NULL, "invalid_client", "too much padding"},
    {"Basic Y3JtOn?=", NULL, "invalid_client", "a character that is no base64"},
    {"Basic Y3JtOnN=", NULL, "invalid_client", "unused bits that are not zero (RFC 4648 3.5)"},
    {"Basic Y3JtOnM=, Basic Y3JtOnM=", NULL, "invalid_client", "two at once"},
    {"Basic Y3IAbTpz", NULL, "invalid_client", "a NUL in the id (oauth.md C6)"},
    {"Basic Y3JtOnMA", NULL, "invalid_client", "a NUL in the secret (oauth.md C6)"},
    {"Bearer at_x", NULL, "another scheme: none - -", "another scheme"},
    {"Bearer at_x", "client_id=crm&client_secret=s", "another scheme: client_secret_post crm s", "... also beside good credentials in the form"},
    {"Bearer at_x", "client_secret=s&" ASSERTION, TWICE, "... beside two others"},
    {"Bearer at_x", ASSERTION, "invalid_client", "... or an assertion"},
    {"Basics Y3JtOnM=", NULL, "another scheme: none - -", "a scheme that only begins alike"},
    {"", NULL, "another scheme: none - -", "an empty header"},
    {"Digest username=\"crm\"", NULL, "another scheme: none - -", "Digest"},
};
/* clang-format on */

static void
test_read(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        is_str(read_shown(mem, basic(mem, pairs[i].pair, strlen(pairs[i].pair)), pairs[i].form),
               pairs[i].wanted, "Basic: %s", pairs[i].name);
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        is_str(read_shown(mem, headers[i].header, headers[i].form), headers[i].wanted,
               "credentials: %s", headers[i].name);
    struct request *req = make_request(mem, "Basic x", NULL);
    struct client_credentials shown;
    client_credentials_read(req, &shown);
    is_str(req->challenge, "Basic realm=\"http://localhost:8080\"",
           "a 401 names the scheme and the issuer (oauth.md C9)");
    req = make_request(mem, basic(mem, "a%3Ab:c%", 8), NULL);
    client_credentials_read(req, &shown);
    is_str(shown.raw_id, "a%3Ab", "what was sent is kept beside what it decodes to (oauth.md C11)");
    is_str(shown.raw_secret, "c%", "... of both parts");
    is_str(shown.id, "a%3Ab", "... when one part does not decode, neither is decoded");
}

/* A client of the tests: its secret is `current`, the one before `previous`. */
static struct client
make_client(const char *type, const char *method)
{
    struct client client = {.id = 1,
                            .client_id = "crm",
                            .type = type,
                            .auth_method = method,
                            .enabled = true,
                            .has_secret = true,
                            .has_previous = true,
                            .previous_expires_at = ENV_NOW + 1};
    sha256("current", 7, client.secret_hash);
    sha256("previous", 8, client.previous_hash);
    return client;
}

static bool
match(const struct client *client, const char *secret, const char *raw)
{
    struct client_credentials shown = {.id = "crm",
                                       .raw_id = raw != NULL ? "crm" : NULL,
                                       .secret = secret,
                                       .raw_secret = raw,
                                       .method = "client_secret_basic"};
    return client_credentials_match(client, &shown, ENV_NOW);
}

static void
test_secrets(void)
{
    struct client client = make_client("confidential", NULL);
    ok(match(&client, "current", NULL), "the secret (oauth.md C12)");
    ok(match(&client, "previous", NULL),
       "the previous secret, until it expires (decisions.md \"rotate-secret\")");
    ok(match(&client, "x", "current"),
       "the pair as sent, when the decoded one fails (oauth.md C11)");
    ok(match(&client, "x", "previous"), "... the previous secret too");
    ok(!match(&client, NULL, NULL), "refused: no secret");
    ok(!match(&client, "", NULL), "refused: an empty one");
    ok(!match(&client, "Current", NULL), "refused: another case");
    ok(!match(&client, "curren", NULL), "refused: a beginning");
    ok(!match(&client, "current ", NULL), "refused: one with a blank");
    ok(!match(&client, "x", "y"), "refused: neither decoded nor as sent");
    client.previous_expires_at = ENV_NOW;
    ok(!match(&client, "previous", NULL), "refused: the previous secret, in the second it expires");
    ok(match(&client, "current", NULL), "... the current secret does not expire");
    client.previous_expires_at = ENV_NOW + 1;
    client.has_previous = false;
    ok(!match(&client, "previous", NULL), "refused: a previous secret that was removed");
    client.has_secret = false;
    ok(!match(&client, "current", NULL), "refused: a client without secret");
    /* The hash of an absent secret is all zeros, and no text may match it. */
    memset(client.secret_hash, 0, sizeof(client.secret_hash));
    ok(!match(&client, "", NULL) && !match(&client, NULL, NULL) && !match(&client, NULL, ""),
       "refused: ... any text");
}

static void
test_clients(void)
{
    struct client client = make_client("confidential", NULL);
    ok(!match(NULL, "current", NULL), "refused: an unknown client (oauth.md C9)");
    ok(!match(NULL, NULL, NULL), "refused: ... without secret");
    client.enabled = false;
    ok(!match(&client, "current", NULL), "refused: a disabled client (oauth.md C9)");
    static const char *const good[] = {"client_secret_basic", "client_secret_post"};
    for (size_t i = 0; i < 2; i++) {
        client = make_client("confidential", good[i]);
        ok(match(&client, "current", NULL),
           "a client registered for %s may send its secret either way (oauth.md C12)", good[i]);
    }
    client = make_client("confidential", "private_key_jwt");
    ok(!match(&client, "current", NULL),
       "refused: a client registered for private_key_jwt, with a secret (oauth.md C12)");
    ok(!match(&client, NULL, NULL), "refused: ... and without");
    client = make_client("public", "none");
    ok(match(&client, NULL, NULL), "a public client sends no secret");
    ok(match(&client, "", NULL), "... or an empty one (oauth.md C12)");
    ok(!match(&client, "current", NULL), "refused: a public client with a secret (oauth.md C12)");
    ok(!match(&client, "x", NULL), "refused: ... any secret");
    client.enabled = false;
    ok(!match(&client, NULL, NULL), "refused: a disabled public client");
}

/* Without a database, no client gets in, and none is refused as unknown. */
static void
test_without_database(TALLOC_CTX *mem)
{
    struct request *req = make_request(mem, "Basic Y3JtOnM=", NULL);
    req->op.az->db = db_new(mem, "host=/nonexistent");
    req->op.az->clients = client_cache_new(mem);
    is_int(credential_client.check(req), AZ_UNAVAILABLE, "no database: 503, not 401");
    ok(req->client == NULL, "... and no client");
    req = make_request(mem, NULL, NULL);
    is_int(credential_client.check(req), AZ_INVALID_CLIENT,
           "no credentials at /token: 401 without a query (oauth.md C13)");
    req = make_request(mem, NULL, NULL);
    is_int(credential_client_optional.check(req), AZ_OK, "... at /revoke: anonymous");
    ok(req->client == NULL, "... without a client");
    req = make_request(mem, "Basic Y3JtOnM=", "client_secret=s&client_id=crm");
    is_int(credential_client_optional.check(req), AZ_INVALID_CLIENT,
           "two methods at /revoke: 401 (decisions.md \"/revoke\")");
    ok(req->client == NULL, "... and no client");
    req = make_request(mem, "Basic Y3JtOnM=", "client_id=other");
    is_int(credential_client_optional.check(req), AZ_INVALID_CLIENT,
           "another client_id beside Basic at /revoke: 401");
    req = make_request(mem, "Basic Y3Jt", NULL);
    is_int(credential_client_optional.check(req), AZ_INVALID_CLIENT,
           "malformed credentials at /revoke: 401 (decisions.md \"/revoke\")");
    static const char *const form[] = {NULL, "client_id=crm&client_secret=s"};
    for (size_t i = 0; i < 2; i++) {
        req = make_request(mem, "Bearer x", form[i]);
        is_int(credential_client.check(req), AZ_INVALID_CLIENT,
               "another scheme at /token: 401, also with good credentials in the form");
    }
    req = make_request(mem, "Bearer x", NULL);
    is_int(credential_client_optional.check(req), AZ_OK,
           "... at /revoke: not a client credential, so the caller is anonymous");
    ok(req->client == NULL && req->op.fault.status == AZ_OK, "... without a client");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_read(mem);
    test_secrets();
    test_clients();
    test_without_database(mem);
    talloc_free(mem);
    return done();
}
