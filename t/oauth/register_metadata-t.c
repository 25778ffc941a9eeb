#include "config.h"

#include "oauth/registration/register_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

#define MAX_URIS 3 /* SVC_MAX_REDIRECT_URIS of the tests */
#define RU "\"redirect_uris\":[\"https://a.example/cb\"]"
/* RFC 7517 appendix A.1 and A.2: one key pair, its public half and all of it. */
#define EC_PUBLIC                                                                                  \
    "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","      \
    "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\""
#define EC_PRIVATE EC_PUBLIC ",\"d\":\"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE\""
#define JWKS_SORTED                                                                                \
    "\"jwks\":{\"keys\":[{\"crv\":\"P-256\",\"kty\":\"EC\","                                       \
    "\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","                                       \
    "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}]}"
#define JWKS "\"jwks\":{\"keys\":[{" EC_PUBLIC "}]}"

static const char *algs_now[] = {"RS256", NULL}, *algs_later[] = {"RS256", "ES256", NULL};
static const struct register_rules now = {MAX_URIS, algs_now, false};
/* Rules with everything that a setting can turn on. */
static const struct register_rules later = {MAX_URIS, algs_later, true};

static json_t *
parse(TALLOC_CTX *mem, const char *text)
{
    json_t *object = NULL;
    if (text == NULL)
        return NULL;
    if (jsonx_parse(mem, text, strlen(text), 32, &object, NULL) != AZ_OK) {
        fprintf(stderr, "test input is not JSON: %s\n", text);
        exit(2);
    }
    return object;
}

/* "error: text" of a refusal, or the members that are registered. */
static const char *
read_as(TALLOC_CTX *mem, const char *plain, const char *claims, const struct register_rules *rules)
{
    struct op op = env_op(mem, NULL);
    struct register_metadata metadata = {.members = NULL};
    enum az_status st =
        register_metadata_read(&op, parse(mem, plain), parse(mem, claims), rules, &metadata);
    if (st == AZ_OK)
        return jsonx_dump_sorted(mem, metadata.members);
    if (metadata.members != NULL || op.fault.status != st)
        return "an output beside the refusal, or another fault than the status";
    return talloc_asprintf(mem, "%s: %s", az_status_row(st)->error, op.fault.public_text);
}

/* A refusal is known by how it begins. */
static void
is_refused(const char *seen, const char *wanted, const char *name)
{
    bool good = strncmp(seen, wanted, strlen(wanted)) == 0;
    if (!ok(good, "refused: %s", name))
        fprintf(stderr, "# %s\n", seen);
}

#define MD "invalid_client_metadata: "
#define RD "invalid_redirect_uri: redirect_uris "
#define RD0 "invalid_redirect_uri: redirect_uris[0] "

/* clang-format off */
static const struct { const char *plain, *wanted, *name; } refused[] = {
    /* oauth.md 3.5: redirect addresses */
    {"{}", RD "must have at least 1 item", "no redirect_uris"},
    {"{\"redirect_uris\":null}", RD "must have at least 1 item", "null for them"},
    {"{\"redirect_uris\":[]}", RD "must have at least 1 item", "an empty list"},
    {"{\"redirect_uris\":\"https://a.example/cb\"}", RD "must be an array", "a string for the list"},
    {"{\"redirect_uris\":[5]}", RD0 "must be a string", "a number in it"},
    {"{\"redirect_uris\":[null]}", RD0 "must be a string", "null in it"},
    {"{\"redirect_uris\":[\"\"]}", RD0, "an empty address"},
    {"{\"redirect_uris\":[\"https://a.example/1\",\"https://a.example/2\",\"https://a.example/3\",\"https://a.example/4\"]}", RD "must have at most 3 items", "one more than SVC_MAX_REDIRECT_URIS"},
    {"{\"redirect_uris\":[\"https://a.example/cb\",\"/cb\"]}", "invalid_redirect_uri: redirect_uris[1] ", "a relative address, by its place"},
    {"{\"redirect_uris\":[\"https://a.example/#f\"]}", RD0 "must not have a fragment", "a fragment"},
    {"{\"redirect_uris\":[\"https://u:p@a.example/\"]}", RD0 "must not have user", "a user"},
    {"{\"redirect_uris\":[\"http://a.example/cb\"]}", RD0 "must use https", "http to another machine"},
    {"{\"redirect_uris\":[\"JavaScript:alert(1)\"]}", RD0, "javascript in any case (CVE-2026-9086)"},
    {"{\"redirect_uris\":[\"data:text/html,x\"]}", RD0, "data"},
    {"{\"redirect_uris\":[\"file:///etc/passwd\"]}", RD0, "file"},
    {"{\"redirect_uris\":[\"intent://x#Intent;end\"]}", RD0, "intent, which a browser opens by itself"},
    {"{\"redirect_uris\":[\"httpx:/cb\"]}", RD0, "a scheme that begins as http"},
    {"{\"redirect_uris\":[\"https://a.example/?code=x\"]}", RD0 "must not have a query", "a query parameter that the answer has (CVE-2026-9689)"},
    {"{\"redirect_uris\":[\"https://*.a.example/\"]}", RD0, "a wildcard"},
    {"{\"application_type\":\"web\",\"redirect_uris\":[\"http://127.0.0.1/cb\"]}", RD0 "must use https for application_type web", "loopback for a web application"},
    {"{\"application_type\":\"web\",\"redirect_uris\":[\"com.example.app:/cb\"]}", RD0 "must use https for application_type web", "a private scheme for a web application"},
    {"{" RU ",\"post_logout_redirect_uris\":[\"http://a.example/\"]}", MD "post_logout_redirect_uris[0] ", "http for the return from a logout: the rules of redirect URIs"},
    {"{" RU ",\"post_logout_redirect_uris\":[\"https://a.example/#x\"]}", MD "post_logout_redirect_uris[0] ", "... a fragment"},
    {"{" RU ",\"post_logout_redirect_uris\":\"https://a.example/\"}", MD "post_logout_redirect_uris must be an array", "... a string for the list"},
    {"{" RU ",\"application_type\":\"web\",\"post_logout_redirect_uris\":[\"http://127.0.0.1/bye\"]}", MD "post_logout_redirect_uris[0] must use https for application_type web", "... loopback for a web application"},
    {"{\"application_type\":\"service\"," RU "}", MD "application_type must be web or native", "another application_type"},

    /* types */
    {"{" RU ",\"client_name\":5}", MD "client_name must be a string", "a number for client_name"},
    {"{" RU ",\"client_uri\":[]}", MD "client_uri must be a string", "a list for client_uri"},
    {"{" RU ",\"contacts\":\"a@a.example\"}", MD "contacts must be an array", "a string for contacts"},
    {"{" RU ",\"contacts\":[1]}", MD "contacts[0] must be a string", "a number in contacts"},
    {"{" RU ",\"scope\":[\"a\"]}", MD "scope must be a string", "a list for scope"},
    {"{" RU ",\"jwks\":[]}", MD "jwks must be an object", "a list for jwks"},
    {"{" RU ",\"grant_types\":\"authorization_code\"}", MD "grant_types must be an array", "a string for grant_types"},
    {"{" RU ",\"grant_types\":[{}]}", MD "grant_types[0] must be a string", "an object in grant_types"},
    {"{" RU ",\"response_types\":{}}", MD "response_types must be an array", "an object for response_types"},
    {"{" RU ",\"token_endpoint_auth_method\":true}", MD "token_endpoint_auth_method must be a string", "a boolean for the method"},
    {"{" RU ",\"dpop_bound_access_tokens\":\"true\"}", MD "dpop_bound_access_tokens must be true or false", "a string for a boolean"},
    {"{" RU ",\"software_id\":1}", MD "software_id must be a string", "a number for software_id"},
    {"{" RU ",\"application_type\":[\"native\"]}", MD "application_type must be a string", "a list for application_type"},

    /* what people see and follow */
    {"{" RU ",\"client_name\":\"a\\u202eb\"}", MD "client_name must not have control or invisible", "a name that turns text round"},
    {"{" RU ",\"client_name\":\" \"}", MD "client_name must not be blank", "a name of a space"},
    {"{" RU ",\"client_name\":\"\\u3164\\u00a0\"}", MD "client_name must not be blank", "a name of a filler and a space"},
    {"{" RU ",\"client_name\":\"\\u180ea\"}", MD "client_name must not have control or invisible", "a name with a character without width"},
    {"{" RU ",\"contacts\":[\"\"]}", MD "contacts[0] must not be empty", "an empty contact"},
    {"{" RU ",\"contacts\":[\"a\\nb\"]}", MD "contacts[0] ", "a line end in a contact"},
    {"{" RU ",\"client_uri\":\"javascript:alert(1)\"}", MD "client_uri must use https or http", "a link that runs script"},
    {"{" RU ",\"logo_uri\":\"data:,\"}", MD "logo_uri must use https or http", "a logo that is data"},
    {"{" RU ",\"tos_uri\":\"/tos\"}", MD "tos_uri is not a valid absolute URI", "relative terms of service"},
    {"{" RU ",\"policy_uri\":\"https://u@a.example/\"}", MD "policy_uri must not have user", "a policy with a user"},

    /* scope (RFC 6749 3.3) */
    {"{" RU ",\"scope\":\"a\\\"b\"}", MD "scope must have at most 100 valid scope tokens", "a quote in scope"},
    {"{" RU ",\"scope\":\"\\u00e9\"}", MD "scope must have at most 100 valid scope tokens", "a letter beyond ASCII in scope"},

    /* grant and response types */
    {"{" RU ",\"grant_types\":[]}", MD "grant_types must have at least 1 item", "no grant types"},
    {"{" RU ",\"grant_types\":[\"implicit\"]}", MD "grant_types contains a grant type that is not supported", "implicit"},
    {"{" RU ",\"grant_types\":[\"authorization_code\",\"password\"]}", MD "grant_types contains a grant type that is not supported", "password beside a good one"},
    {"{" RU ",\"grant_types\":[\"urn:ietf:params:oauth:grant-type:uma-ticket\"]}", MD "grant_types contains a grant type that is not supported", "uma-ticket"},
    {"{" RU ",\"grant_types\":[\"Authorization_Code\"]}", MD "grant_types contains a grant type that is not supported", "another case"},
    {"{" RU ",\"grant_types\":[\"\"]}", MD "grant_types[0] must not be empty", "an empty one"},
    {"{" RU ",\"token_endpoint_auth_method\":\"none\",\"grant_types\":[\"urn:openid:params:grant-type:ciba\"]}", MD "grant_types must not contain urn:openid:params:grant-type:ciba if token_endpoint_auth_method is none", "CIBA without a secret"},
    {"{" RU ",\"response_types\":[\"token\"]}", MD "response_types[0] must be code", "the implicit response"},
    {"{" RU ",\"response_types\":[\"code\",\"code id_token\"]}", MD "response_types[1] must be code", "a hybrid response"},
    {"{" RU ",\"response_types\":[]}", MD "response_types must be code with", "a code without response"},
    {"{" RU ",\"grant_types\":[\"client_credentials\"],\"response_types\":[\"code\"]}", MD "response_types must be code with", "a response without code"},

    /* authentication and keys */
    {"{" RU ",\"token_endpoint_auth_method\":\"client_secret_jwt\"}", MD "token_endpoint_auth_method must be none", "an unknown method"},
    {"{" RU ",\"token_endpoint_auth_method\":\"tls_client_auth\"}", MD "token_endpoint_auth_method must be none", "another"},
    {"{" RU ",\"token_endpoint_auth_method\":\"NONE\"}", MD "token_endpoint_auth_method must be none", "another case"},
    {"{" RU ",\"token_endpoint_auth_method\":\"none\",\"grant_types\":[\"client_credentials\"]}", MD "grant_types must not contain client_credentials", "client_credentials without a secret"},
    {"{" RU ",\"id_token_signed_response_alg\":\"ES256\"}", MD "id_token_signed_response_alg must be one of id_token_signing_alg_values_supported", "ES256, which is not listed"},
    {"{" RU ",\"id_token_signed_response_alg\":\"none\"}", MD "id_token_signed_response_alg must be RS256 or ES256", "ID tokens without signature"},
    {"{" RU ",\"id_token_signed_response_alg\":\"HS256\"}", MD "id_token_signed_response_alg must be RS256 or ES256", "ID tokens by HS256"},
    {"{" RU ",\"id_token_signed_response_alg\":\"rs256\"}", MD "id_token_signed_response_alg must be RS256 or ES256", "another case"},
    {"{" RU ",\"id_token_signed_response_alg\":[\"RS256\"]}", MD "id_token_signed_response_alg must be a string", "a list of algorithms"},
    {"{" RU ",\"dpop_bound_access_tokens\":true}", MD "dpop_bound_access_tokens true is not supported here", "DPoP where it is off"},
    {"{" RU "," JWKS ",\"jwks_uri\":\"https://a.example/jwks\"}", MD "jwks_uri cannot be given together with jwks", "keys twice (RFC 7591 2)"},
    {"{" RU ",\"jwks\":{}}", MD "jwks must be a JWK Set", "no array of keys"},
    {"{" RU ",\"jwks\":{\"keys\":[{" EC_PRIVATE "}]}}", MD "jwks must be a JWK Set", "a private key"},
    {"{" RU ",\"jwks\":{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}}", MD "jwks must be a JWK Set", "a shared secret"},
    {"{" RU ",\"jwks_uri\":\"jwks\"}", MD "jwks_uri is not a valid", "a relative jwks_uri"},
    {"{" RU ",\"jwks_uri\":\"https://u@a.example/\"}", MD "jwks_uri must not have user", "a jwks_uri with a user"},
};

#define DEF(members) "{" members "\"token_endpoint_auth_method\":\"client_secret_basic\"}"
static const struct { const char *plain, *claims, *wanted, *name; } taken[] = {
    {"{" RU "}", NULL, "{\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"client_secret_basic\"}", "redirect_uris alone: the defaults of RFC 7591 2"},
    {"{\"redirect_uris\":[\"http://127.0.0.1:5173/cb\"],\"token_endpoint_auth_method\":\"none\"}", NULL,
     "{\"grant_types\":[\"authorization_code\"],\"redirect_uris\":[\"http://127.0.0.1:5173/cb\"],\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"none\"}", "loopback without application_type"},
    {"{\"redirect_uris\":[\"http://localhost/cb\",\"com.example.app:/cb\"],\"application_type\":\"native\"}", NULL,
     DEF("\"grant_types\":[\"authorization_code\"],\"redirect_uris\":[\"http://localhost/cb\",\"com.example.app:/cb\"],\"response_types\":[\"code\"],"), "loopback and private schemes for a native application, whose type is not echoed"},
    {"{" RU ",\"application_type\":\"web\"}", NULL, DEF("\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],"), "https for a web application"},
    {"{\"redirect_uris\":[\"HTTPS://a.example/cb\"],\"application_type\":\"web\"}", NULL, DEF("\"grant_types\":[\"authorization_code\"],\"redirect_uris\":[\"HTTPS://a.example/cb\"],\"response_types\":[\"code\"],"), "a scheme in capitals"},
    {"{" RU ",\"client_name\":\"\",\"client_uri\":null,\"scope\":\"\",\"jwks\":null}", NULL, DEF("\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],"), "empty and null members are absent"},
    {"{" RU ",\"client_name\":\"A \\u2764\\ufe0f B\"}", NULL, "{\"client_name\":\"A \xe2\x9d\xa4\xef\xb8\x8f B\",\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"client_secret_basic\"}", "a name with spaces and an emoji that has a selector"},
    {"{" RU ",\"client_id\":\"x\",\"client_secret\":\"y\",\"client_id_issued_at\":1,\"registration_access_token\":\"z\",\"other\":{}}", NULL, DEF("\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],"), "unknown members, and those that are ours, are ignored"},
    {"{" RU ",\"grant_types\":[\"client_credentials\"]}", NULL, DEF("\"grant_types\":[\"client_credentials\"]," RU ",\"response_types\":[],"), "a client without codes has no response"},
    {"{" RU ",\"grant_types\":[\"refresh_token\",\"authorization_code\",\"refresh_token\"],\"response_types\":[\"code\",\"code\"]}", NULL, DEF("\"grant_types\":[\"refresh_token\",\"authorization_code\"]," RU ",\"response_types\":[\"code\"],"), "a repeated item counts once"},
    {"{" RU ",\"jwks_uri\":\"http://a.example/jwks\"}", NULL, DEF("\"grant_types\":[\"authorization_code\"],\"jwks_uri\":\"http://a.example/jwks\"," RU ",\"response_types\":[\"code\"],"), "an http jwks_uri without private_key_jwt (oauth.md S12)"},
    {"{" RU ",\"token_endpoint_auth_method\":\"private_key_jwt\",\"jwks_uri\":\"https://a.example/k\"}", NULL, "{\"grant_types\":[\"authorization_code\"],\"jwks_uri\":\"https://a.example/k\"," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"private_key_jwt\"}", "private_key_jwt with an address of keys"},
    {"{" RU ",\"token_endpoint_auth_method\":\"private_key_jwt\"," JWKS "}", NULL, "{\"grant_types\":[\"authorization_code\"]," JWKS_SORTED "," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"private_key_jwt\"}", "private_key_jwt with keys"},
    {"{" RU ",\"dpop_bound_access_tokens\":false}", NULL, "{\"dpop_bound_access_tokens\":false,\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"client_secret_basic\"}", "DPoP that is not wanted"},
    {"{" RU ",\"id_token_signed_response_alg\":\"RS256\"}", NULL, "{\"grant_types\":[\"authorization_code\"],\"id_token_signed_response_alg\":\"RS256\"," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"client_secret_basic\"}", "ID tokens by RS256, which is registered when it is sent"},
    {"{" RU ",\"id_token_signed_response_alg\":null}", NULL, DEF("\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],"), "null for the algorithm"},
    {"{" RU ",\"software_id\":\"s\",\"software_version\":\"1\"}", NULL, DEF("\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],\"software_id\":\"s\",\"software_version\":\"1\","), "software_id without a statement"},
    /* RFC 7591 2.3 */
    {"{" RU ",\"client_name\":\"Plain\"}", "{\"client_name\":\"Stated\",\"iss\":\"x\",\"grants\":[\"z\"]}", "{\"client_name\":\"Stated\",\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"client_secret_basic\"}", "what the statement says takes the place of what is sent"},
    {"{}", "{" RU "}", DEF("\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],"), "the statement may say it all"},
    {"{" RU ",\"client_name\":\"Plain\"}", "{\"client_name\":null}", "{\"client_name\":\"Plain\",\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"client_secret_basic\"}", "null in it says nothing"},
    {"{" RU ",\"software_id\":\"mine\",\"software_version\":\"9\"}", "{\"client_name\":\"S\"}", "{\"client_name\":\"S\",\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"client_secret_basic\"}", "software_id beside a statement without one does not count: it would pass for verified"},
    {"{" RU ",\"software_id\":\"mine\"}", "{\"software_id\":\"theirs\"}", DEF("\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],\"software_id\":\"theirs\","), "software_id of the statement counts"},
    {"{" RU "," JWKS "}", "{\"jwks_uri\":\"https://b.example/jwks\"}", DEF("\"grant_types\":[\"authorization_code\"],\"jwks_uri\":\"https://b.example/jwks\"," RU ",\"response_types\":[\"code\"],"), "keys of the statement take the place of both members"},
    {"{" RU ",\"software_statement\":\"x\"}", "{\"software_statement\":\"y\"}", DEF("\"grant_types\":[\"authorization_code\"]," RU ",\"response_types\":[\"code\"],"), "a statement in a statement is nothing"},
};

/* Members that need client assertions and DPoP, with the rules of a later version. */
static const struct { const char *plain, *wanted, *name; } future[] = {
    {"{" RU ",\"token_endpoint_auth_method\":\"private_key_jwt\"}", MD "jwks or jwks_uri is required", "private_key_jwt without keys"},
    {"{" RU ",\"token_endpoint_auth_method\":\"private_key_jwt\",\"jwks\":{\"keys\":[]}}", MD "jwks must have a key that can verify signatures", "private_key_jwt with an empty set"},
    {"{" RU ",\"token_endpoint_auth_method\":\"private_key_jwt\",\"jwks\":{\"keys\":[{" EC_PUBLIC ",\"use\":\"enc\"}]}}", MD "jwks must have a key that can verify signatures", "private_key_jwt with a key for encryption alone"},
    {"{" RU ",\"token_endpoint_auth_method\":\"private_key_jwt\"," JWKS ",\"jwks_uri\":\"https://a.example/jwks\"}", MD "jwks_uri cannot be given together with jwks", "private_key_jwt with keys in two places (RFC 7591 2)"},
    {"{" RU ",\"token_endpoint_auth_method\":\"private_key_jwt\",\"jwks_uri\":\"http://a.example/jwks\"}", MD "jwks_uri must use https", "private_key_jwt with an http jwks_uri (specification 4.7)"},
};
/* clang-format on */

static void
test_tables(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        is_refused(read_as(mem, refused[i].plain, NULL, &now), refused[i].wanted, refused[i].name);
        talloc_free(mem);
    }
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        is_str(read_as(mem, taken[i].plain, taken[i].claims, &now), taken[i].wanted, "taken: %s",
               taken[i].name);
        talloc_free(mem);
    }
    for (size_t i = 0; i < sizeof(future) / sizeof(future[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        is_refused(read_as(mem, future[i].plain, NULL, &now), future[i].wanted, future[i].name);
        is_refused(read_as(mem, future[i].plain, NULL, &later), future[i].wanted, future[i].name);
        talloc_free(mem);
    }
}

static void
test_later(TALLOC_CTX *mem)
{
    static const char *const good[] = {
        "{" RU ",\"dpop_bound_access_tokens\":true}",
        "{" RU ",\"id_token_signed_response_alg\":\"ES256\"}",
        "{" RU ",\"grant_types\":[\"urn:ietf:params:oauth:grant-type:token-exchange\"]}",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ok(*read_as(mem, good[i], NULL, &later) == '{', "what works later is taken then: %s",
           good[i]);
}

/* Claims of a software statement are checked against the same table. */
static void
test_claims(TALLOC_CTX *mem)
{
    is_refused(read_as(mem, "{" RU "}", "{\"client_name\":5}", &now), MD "client_name",
               "a statement with a member of another type");
    is_refused(read_as(mem, "{" RU "}", "{\"redirect_uris\":[\"http://a.example\"]}", &now), RD0,
               "a statement with a bad address");
    is_refused(read_as(mem, "{" RU "}", "{\"grant_types\":[\"implicit\"]}", &now), MD "grant_types",
               "a statement with a grant that is not supported");
}

/* Maxima of specification 2.2, in code points: at, and one past. */
/* clang-format off */
static const struct { const char *name, *before, *after; size_t max; } lengths[] = {
    {"client_name",      "{" RU ",\"client_name\":\"",         "\"}",                                  256},
    {"client_uri",       "{" RU ",\"client_uri\":\"https://",  "\"}",                                  512 - 8},
    {"logo_uri",         "{" RU ",\"logo_uri\":\"https://",    "\"}",                                  512 - 8},
    {"tos_uri",          "{" RU ",\"tos_uri\":\"https://",     "\"}",                                  512 - 8},
    {"policy_uri",       "{" RU ",\"policy_uri\":\"https://",  "\"}",                                  512 - 8},
    {"jwks_uri",         "{" RU ",\"jwks_uri\":\"https://",    "\"}",                                  512 - 8},
    {"scope",            "{" RU ",\"scope\":\"",               "\"}",                                  1024},
    {"software_id",      "{" RU ",\"software_id\":\"",         "\"}",                                  256},
    {"software_version", "{" RU ",\"software_version\":\"",    "\"}",                                  64},
    {"contacts",         "{" RU ",\"contacts\":[\"",           "\"]}",                                 REGISTER_CONTACT_MAX},
    {"redirect_uris",    "{\"redirect_uris\":[\"https://",     "\"]}",                                 2048 - 8},
};
/* clang-format on */

static void
test_lengths(void)
{
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        for (size_t over = 0; over < 2; over++) {
            TALLOC_CTX *mem = talloc_new(NULL);
            char *letters = talloc_zero_size(mem, lengths[i].max + 2);
            memset(letters, 'a', lengths[i].max + over);
            const char *seen = read_as(
                mem, talloc_asprintf(mem, "%s%s%s", lengths[i].before, letters, lengths[i].after),
                NULL, &now);
            bool redirect = strcmp(lengths[i].name, "redirect_uris") == 0;
            if (over == 0)
                ok(*seen == '{', "%s may have its maximum (specification 2.2)", lengths[i].name);
            else
                is_refused(seen, redirect ? RD0 : talloc_asprintf(mem, MD "%s", lengths[i].name),
                           talloc_asprintf(mem, "%s one longer", lengths[i].name));
            talloc_free(mem);
        }
}

/* A body with so many contacts. */
static const char *
with_contacts(TALLOC_CTX *mem, int count)
{
    char *text = talloc_strdup(mem, "{" RU ",\"contacts\":[");
    for (int i = 0; i < count; i++)
        text = talloc_asprintf_append(text, "%s\"c%d@a.example\"", i > 0 ? "," : "", i);
    return talloc_asprintf_append(text, "]}");
}

static void
test_counts(TALLOC_CTX *mem)
{
    ok(*read_as(mem, with_contacts(mem, REGISTER_CONTACTS_MAX), NULL, &now) == '{',
       "contacts may be as many as the limit");
    is_refused(read_as(mem, with_contacts(mem, REGISTER_CONTACTS_MAX + 1), NULL, &now),
               MD "contacts must have at most", "one contact more");
    char *words = talloc_strdup(mem, "{" RU ",\"scope\":\"");
    for (int i = 0; i < 100; i++)
        words = talloc_asprintf_append(words, "%s%d", i > 0 ? " " : "", i);
    ok(*read_as(mem, talloc_asprintf(mem, "%s\"}", words), NULL, &now) == '{',
       "scope may have 100 words");
    is_refused(read_as(mem, talloc_asprintf(mem, "%s x\"}", words), NULL, &now), MD "scope",
               "a word more");
    const char *three = "{\"redirect_uris\":[\"https://a.example/1\",\"https://a.example/2\","
                        "\"https://a.example/3\"]}";
    ok(*read_as(mem, three, NULL, &now) == '{', "redirect_uris may be SVC_MAX_REDIRECT_URIS");
    char *grants = talloc_strdup(mem, "");
    for (int i = 0; i < 20; i++)
        grants = talloc_asprintf_append(grants, "%s\"authorization_code\"", i > 0 ? "," : "");
    ok(*read_as(mem, talloc_asprintf(mem, "{" RU ",\"grant_types\":[%s]}", grants), NULL, &now)
           == '{',
       "grant_types may come 20 times");
    is_refused(read_as(mem,
                       talloc_asprintf(mem, "{" RU ",\"grant_types\":[%s,\"authorization_code\"]}",
                                       grants),
                       NULL, &now),
               MD "grant_types must have at most 20 items", "grant_types 21 times");
}

static void
test_result(TALLOC_CTX *mem)
{
    struct op op = env_op(mem, NULL);
    struct register_metadata metadata = {.members = NULL};
    json_t *plain = parse(mem, "{" RU ",\"scope\":\" b  a b\",\"client_name\":\"N\","
                               "\"token_endpoint_auth_method\":\"none\"}");
    ok(register_metadata_read(&op, plain, NULL, &now, &metadata) == AZ_OK, "good metadata");
    is_str(jsonx_dump(mem, metadata.scopes), "[\"b\",\"a\"]",
           "scopes: the words of scope, once each");
    is_str(metadata.auth_method, "none", "auth_method");
    is_str(metadata.client_name, "N", "client_name");
    ok(!metadata.confidential, "none is a public client");
    plain = parse(mem, "{" RU ",\"scope\":\"  \"}");
    ok(register_metadata_read(&op, plain, NULL, &now, &metadata) == AZ_OK
           && metadata.scopes == NULL,
       "a scope of blanks names nothing");
    ok(metadata.confidential, "client_secret_basic is a confidential client");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_tables();
    test_later(mem);
    test_claims(mem);
    test_lengths();
    test_counts(mem);
    test_result(mem);
    talloc_free(mem);
    return done();
}
