#include "config.h"

#include "oauth/client_auth/cimd_document.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "tap.h"

#define HOSTS "localhost, 127.0.0.1,[::1]"
#define URL "https://app.example/client.json"
#define REDIRECTS_MAX 3 /* SVC_MAX_REDIRECT_URIS */

/* ---- the address ---- */

/* clang-format off */
static const struct { const char *text, *hosts, *why, *name; } addresses[] = {
    {"https://app.example/client.json", NULL, NULL, "https with a path"},
    {"https://app.example:8443/a/b?v=1", NULL, NULL, "a port and a query"},
    {"https://App.Example/Client", NULL, NULL, "capitals"},
    {"https://app.example/a/", NULL, NULL, "a slash at the end"},
    {"https://app.example/...", NULL, NULL, "a segment of three dots"},
    {"https://app.example/.well-known/x", NULL, NULL, "a segment that begins with a dot"},
    {"https://app.example/a..b", NULL, NULL, "dots within a segment"},
    {"https://app.example/a?b=/../c", NULL, NULL, "dots in the query are no segment"},
    {"https://app.example/%2e%2e%2e", NULL, NULL, "three escaped dots"},
    {"https://[2001:db8::1]/c", NULL, NULL, "an IPv6 address (where it lies is the fetch's matter)"},
    {"https://app.example", NULL, "path other than /", "no path"},
    {"https://app.example/", NULL, "path other than /", "the path /"},
    {"https://app.example?x=1", NULL, "path other than /", "a query without path"},
    {"https://app.example/?x=1", NULL, "path other than /", "the path / and a query"},
    {"https://app.example/c#", NULL, "fragment", "an empty fragment"},
    {"https://app.example/c#f", NULL, "fragment", "a fragment"},
    {"https://app.example/#/c", NULL, "fragment", "a path in the fragment"},
    {"https://u@app.example/c", NULL, "user information", "a user"},
    {"https://u:p@app.example/c", NULL, "user information", "a user and a password"},
    {"https://@app.example/c", NULL, "user information", "an empty user"},
    {"https://app.example/./c", NULL, "dot segment", "a dot segment"},
    {"https://app.example/a/../c", NULL, "dot segment", "two dots"},
    {"https://app.example/a/..", NULL, "dot segment", "two dots at the end"},
    {"https://app.example/.", NULL, "dot segment", "a dot alone"},
    {"https://app.example/a/../c?x", NULL, "dot segment", "two dots before a query"},
    {"https://app.example/%2e/c", NULL, "dot segment", "an escaped dot"},
    {"https://app.example/a/%2E%2e/c", NULL, "dot segment", "two escaped dots, either case"},
    {"https://app.example/a/.%2E/c", NULL, "dot segment", "a dot and an escaped one"},
    {"https://app.example/a/%2e./c", NULL, "dot segment", "an escaped dot and a dot"},
    {"https://app.example/a\\b", NULL, "backslash", "a backslash"},
    {"https://app.example\\@evil.example/c", NULL, "backslash", "a backslash before an at sign"},
    {"https://app.example/a b", NULL, "control", "a space"},
    {"https://app.example/a\tb", NULL, "control", "a tab"},
    {"https://app.example/a\r\nb", NULL, "control", "a line end"},
    {"https://app.example/a\x01", NULL, "control", "a control character"},
    {"https://app.example/a\x7f", NULL, "control", "DEL"},
    {"https://app.example/\xc3\xa9", NULL, "beyond ASCII", "a letter beyond ASCII"},
    {"https://\xd0\xb0pp.example/c", NULL, "beyond ASCII", "a host beyond ASCII"},
    {"https://bank.example%2f.evil.example/c", NULL, "name a host", "an escape in the host"},
    {"https://a*b.example/c", NULL, "name a host", "an asterisk in the host"},
    {"https:///c", NULL, "valid URL", "no host"},
    {"https://app.example/%", NULL, "valid URL", "a lone percent sign"},
    {"https://app.example:99999/c", NULL, "valid URL", "a port that is none"},
    {"https://app.example/<c>", NULL, "valid URL", "angle brackets"},
    {"ftp://app.example/c", NULL, "https", "another scheme"},
    {"javascript:alert(1)", NULL, "host", "javascript"},
    {"app.example/c", NULL, "valid URL", "no scheme"},
    {"", NULL, "valid URL", "nothing"},
    {"http://app.example/c", NULL, "https", "http, and none is allowed"},
    {"http://localhost/c", NULL, "https", "http to this machine, and none is allowed"},
    {"http://localhost/c", HOSTS, NULL, "http to a host that is listed"},
    {"http://LOCALHOST:8080/c", HOSTS, NULL, "http to it in capitals, with a port"},
    {"http://127.0.0.1/c", HOSTS, NULL, "http to the second of the list, after a space"},
    {"http://[::1]:80/c", HOSTS, NULL, "http to the third, an IPv6 address"},
    {"http://app.example/c", HOSTS, "development", "http to a host that is not listed"},
    {"http://localhost.evil.example/c", HOSTS, "development", "http to a host that begins like one"},
    {"http://xlocalhost/c", HOSTS, "development", "http to a host that ends like one"},
    {"http://local/c", HOSTS, "development", "http to the beginning of one"},
    {"http://localhost/", HOSTS, "path other than /", "the other rules hold for http too"},
    {"http://localhost/c", "", "development", "an empty list allows no host"},
    {"http://localhost/c", " , []", "development", "a list of empty entries allows no host"},
    {"https://app.example/c", HOSTS, NULL, "https to a host that is not listed"},
};
/* clang-format on */

static void
test_addresses(void)
{
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        const char *why = cimd_document_address_fault(addresses[i].text, addresses[i].hosts),
                   *wanted = addresses[i].why;
        ok(wanted == NULL ? why == NULL : why != NULL && strstr(why, wanted) != NULL,
           "address, %s: %s (specification 4.2; oauth.md 3.2): %s", addresses[i].name,
           wanted == NULL ? "taken" : "refused", why != NULL ? why : "-");
    }
}

static void
test_address_length(void)
{
    char text[CIMD_ADDRESS_MAX + 2] = "https://app.example/";
    size_t begin = strlen(text);
    memset(text + begin, 'a', CIMD_ADDRESS_MAX - begin);
    ok(cimd_document_address_fault(text, NULL) == NULL,
       "address of 256 characters: taken (ClientDto.clientId)");
    text[CIMD_ADDRESS_MAX] = 'a';
    const char *why = cimd_document_address_fault(text, NULL);
    ok(why != NULL && strstr(why, "256") != NULL, "address of 257: refused");
}

/* ---- the document ---- */

#define HEAD "\"client_id\":\"" URL "\""
#define GOOD HEAD ",\"redirect_uris\":[\"https://app.example/cb\"]"

#define KEYED ",\"token_endpoint_auth_method\":\"private_key_jwt\""
/* RFC 7517 appendix A.1. */
#define EC_PUBLIC                                                                                  \
    "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","      \
    "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\""

/* Each is the inside of an object; why NULL: it is taken. */
/* clang-format off */
static const struct { const char *text, *why, *name; } documents[] = {
    {GOOD, NULL, "the least there may be"},
    {GOOD ",\"software_id\":7,\"jwks\":null,\"x\":{\"y\":[]}", NULL, "unknown members, of any type"},
    {HEAD ",\"redirect_uris\":[\"http://127.0.0.1/cb\",\"com.example.app:/cb\"]", NULL, "redirect URIs of a native app"},
    {HEAD, "redirect_uris is required", "no redirect_uris"},
    {HEAD ",\"redirect_uris\":null", "redirect_uris is required", "redirect_uris null"},
    {HEAD ",\"redirect_uris\":[]", "redirect_uris must have at least 1 item", "redirect_uris empty"},
    {HEAD ",\"redirect_uris\":\"https://app.example/cb\"", "redirect_uris must be an array", "redirect_uris a text"},
    {HEAD ",\"redirect_uris\":[1]", "redirect_uris[0] must be a string", "redirect_uris with a number"},
    {HEAD ",\"redirect_uris\":[\"\"]", "redirect_uris[0] ", "an empty redirect URI"},
    {HEAD ",\"redirect_uris\":[\"https://a.example/\",\"javascript:alert(1)\"]", "redirect_uris[1] must use https", "javascript as redirect URI"},
    {HEAD ",\"redirect_uris\":[\"http://app.example/cb\"]", "redirect_uris[0] must use https", "http to a foreign host as redirect URI"},
    {HEAD ",\"redirect_uris\":[\"https://a.example/#f\"]", "redirect_uris[0] must not have a fragment", "a fragment in a redirect URI"},
    {HEAD ",\"redirect_uris\":[\"https://u@a.example/\"]", "redirect_uris[0] must not have user", "a user in a redirect URI"},
    {HEAD ",\"redirect_uris\":[\"https://a.example/?code=1\"]", "redirect_uris[0] must not have a query parameter", "a parameter named code in a redirect URI"},
    {HEAD ",\"redirect_uris\":[\"https://*.example/\"]", "wildcard", "a wildcard in a redirect URI"},
    {HEAD ",\"redirect_uris\":[\"https://a/1\",\"https://a/2\",\"https://a/3\"]", NULL, "as many redirect URIs as may be"},
    {HEAD ",\"redirect_uris\":[\"https://a/1\",\"https://a/2\",\"https://a/3\",\"https://a/4\"]", "at most 3", "one more"},
    {"\"redirect_uris\":[\"https://app.example/cb\"]", "client_id is required", "no client_id"},
    {"\"client_id\":7,\"redirect_uris\":[\"https://a/\"]", "client_id must be", "client_id a number"},
    {"\"client_id\":\"\",\"redirect_uris\":[\"https://a/\"]", "client_id", "client_id empty"},
    {"\"client_id\":\"https://app.example/other.json\",\"redirect_uris\":[\"https://a/\"]", "client_id must be exactly the URL of the document", "client_id of another document"},
    {"\"client_id\":\"https://APP.example/client.json\",\"redirect_uris\":[\"https://a/\"]", "client_id must be exactly the URL of the document", "client_id with a capital"},
    {"\"client_id\":\"https://app.example:443/client.json\",\"redirect_uris\":[\"https://a/\"]", "client_id must be exactly the URL of the document", "client_id with the default port"},
    {"\"client_id\":\"https://app.example/client.json/\",\"redirect_uris\":[\"https://a/\"]", "client_id must be exactly the URL of the document", "client_id with a slash more"},
    {"\"client_id\":\"https://app.example/client%2ejson\",\"redirect_uris\":[\"https://a/\"]", "client_id must be exactly the URL of the document", "client_id with an escape"},
    {GOOD ",\"client_secret\":\"s\"", "client_secret must not", "client_secret"},
    {GOOD ",\"client_secret\":null", "client_secret must not", "client_secret null"},
    {GOOD ",\"client_secret_expires_at\":0", "client_secret_expires_at is not allowed", "client_secret_expires_at"},
    {GOOD ",\"token_endpoint_auth_method\":\"none\"", NULL, "method none"},
    {GOOD ",\"token_endpoint_auth_method\":null", NULL, "method null is as good as absent"},
    {GOOD ",\"token_endpoint_auth_method\":\"client_secret_basic\"", "must be none", "method client_secret_basic"},
    {GOOD ",\"token_endpoint_auth_method\":\"client_secret_post\"", "must be none", "method client_secret_post"},
    {GOOD ",\"token_endpoint_auth_method\":\"client_secret_jwt\"", "must be none", "method client_secret_jwt"},
    {GOOD ",\"token_endpoint_auth_method\":\"None\"", "must be none", "method in another case"},
    {GOOD ",\"token_endpoint_auth_method\":\"tls_client_auth\"", "must be none", "an unknown method"},
    {GOOD ",\"token_endpoint_auth_method\":\"\"", NULL, "method empty: absent, as at /register (world.md G7)"},
    {GOOD ",\"token_endpoint_auth_method\":[\"none\"]", "token_endpoint_auth_method", "method a list"},
    {GOOD KEYED ",\"jwks_uri\":\"https://app.example/keys\"", NULL, "private_key_jwt with an address of keys"},
    {GOOD KEYED ",\"jwks\":{\"keys\":[{" EC_PUBLIC "}]}", NULL, "private_key_jwt with a key"},
    {GOOD KEYED, "jwks or jwks_uri is required", "private_key_jwt without keys: to let it in without would be a downgrade"},
    {GOOD KEYED ",\"jwks\":{\"keys\":[]}", "jwks must have a key", "... with an empty set"},
    {GOOD KEYED ",\"jwks\":{\"keys\":[{" EC_PUBLIC ",\"d\":\"AA\"}]}", "jwks must be a JWK Set of public keys", "... with a private key"},
    {GOOD KEYED ",\"jwks_uri\":\"http://app.example/keys\"", "jwks_uri must use https", "... with an http address of keys"},
    {GOOD KEYED ",\"jwks_uri\":\"https://app.example/keys\",\"jwks\":{\"keys\":[{" EC_PUBLIC "}]}", "jwks_uri cannot be given together", "... with keys in two places"},
    {GOOD ",\"jwks\":{\"keys\":[{" EC_PUBLIC "}]}", NULL, "a key that is not used"},
    {GOOD ",\"dpop_bound_access_tokens\":false", NULL, "no DPoP binding"},
    {GOOD ",\"dpop_bound_access_tokens\":true", NULL, "DPoP binding"},
    {GOOD ",\"dpop_bound_access_tokens\":\"true\"", "dpop_bound_access_tokens must be true or false", "DPoP binding as a text"},
    {GOOD ",\"id_token_signed_response_alg\":\"ES256\"", NULL, "ID tokens by ES256"},
    {GOOD ",\"id_token_signed_response_alg\":\"PS256\"", NULL, "an algorithm that this service does not know"},
    {GOOD ",\"id_token_signed_response_alg\":\"\"", NULL, "an empty algorithm: absent"},
    {GOOD ",\"id_token_signed_response_alg\":[\"ES256\"]", "id_token_signed_response_alg", "a list of algorithms"},
    {GOOD ",\"client_name\":\" \"", "client_name must not be blank", "a name of a space"},
    {GOOD ",\"redirect_uris\":[\"https://a.example;x/\"]", "repeated", "redirect_uris twice"},
    {GOOD ",\"grant_types\":[\"authorization_code\",\"refresh_token\",\"urn:x\"]", NULL, "grant types, with an unknown one"},
    {GOOD ",\"grant_types\":[\"authorization_code\",\"\"]", NULL, "grant types, with an empty one"},
    {GOOD ",\"response_types\":[\"code\",\"\"]", NULL, "response types, with an empty one"},
    {GOOD ",\"grant_types\":[]", "grant_types must contain authorization_code", "no grant type"},
    {GOOD ",\"grant_types\":[\"client_credentials\"]", "grant_types must contain authorization_code", "client_credentials alone"},
    {GOOD ",\"grant_types\":[\"authorization_code \"]", "grant_types must contain authorization_code", "authorization_code and a space"},
    {GOOD ",\"grant_types\":\"authorization_code\"", "grant_types must be an array", "grant_types a text"},
    {GOOD ",\"response_types\":[\"code\"]", NULL, "response type code"},
    {GOOD ",\"response_types\":[\"code\",\"code id_token\"]", NULL, "response type code among others"},
    {GOOD ",\"response_types\":[]", "response_types must contain code", "no response type"},
    {GOOD ",\"response_types\":[\"token\"]", "response_types must contain code", "response type token"},
    {GOOD ",\"response_types\":[\"code id_token\"]", "response_types must contain code", "a hybrid type alone"},
    {GOOD ",\"scope\":\"openid  orders.read \"", NULL, "scopes"},
    {GOOD ",\"scope\":\"open\\\"id\"", "scope has a forbidden character", "a quote in a scope"},
    {GOOD ",\"scope\":\"open\\nid\"", "scope has a forbidden character", "a line end in a scope"},
    {GOOD ",\"scope\":[\"openid\"]", "scope", "scope a list"},
    {GOOD ",\"client_name\":\"Caf\xc3\xa9\"", NULL, "a name beyond ASCII"},
    {GOOD ",\"client_name\":\"\"", NULL, "an empty name: absent"},
    {GOOD ",\"client_uri\":\"\",\"logo_uri\":\"\",\"policy_uri\":\"\",\"tos_uri\":\"\",\"jwks_uri\":\"\"", NULL, "empty addresses: absent"},
    {GOOD KEYED ",\"jwks_uri\":\"\"", "jwks or jwks_uri is required", "private_key_jwt with an empty address of keys"},
    {GOOD ",\"client_secret\":\"\"", "client_secret must not", "client_secret empty"},
    {GOOD ",\"client_name\":7", "client_name", "a name that is a number"},
    {GOOD ",\"client_name\":\"a\\u202eb\"", "client_name must not have control or invisible", "a name that reorders what is around it"},
    {GOOD ",\"client_name\":\"a\\u0007\"", "client_name must not have control or invisible", "a name with a control character"},
    {GOOD ",\"client_uri\":\"https://app.example\"", NULL, "a client_uri"},
    {GOOD ",\"client_uri\":\"javascript:alert(1)\"", "client_uri must use https or http", "javascript as client_uri"},
    {GOOD ",\"client_uri\":\"app\"", "client_uri is not a valid", "a client_uri that is none"},
    {GOOD ",\"logo_uri\":\"https://app.example/l.png\"", NULL, "a logo_uri"},
    {GOOD ",\"logo_uri\":\"data:image/png;base64,AA\"", "logo_uri must use https or http", "data as logo_uri"},
};
/* clang-format on */

/* Reads the text of an object; NULL: it is taken. */
static const char *
fault_of(TALLOC_CTX *mem, const char *text, struct client *client)
{
    json_t *document = NULL;
    const char *why = NULL, *json_why = NULL;
    if (jsonx_parse(mem, text, strlen(text), 32, &document, &json_why) != AZ_OK)
        return json_why;
    enum az_status st = cimd_document_read(mem, URL, document, REDIRECTS_MAX, &why, client);
    return st == AZ_OK ? NULL : st == AZ_INVALID && why != NULL ? why : "another status";
}

static void
test_documents(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        struct client client = {.id = 7};
        const char *text = talloc_asprintf(mem, "{%s}", documents[i].text),
                   *wanted = documents[i].why, *why = fault_of(mem, text, &client);
        ok(wanted == NULL ? why == NULL : why != NULL && strstr(why, wanted) != NULL,
           "document, %s: %s (oauth.md 3.2): %s", documents[i].name,
           wanted == NULL ? "taken" : "refused", why != NULL ? why : "-");
        if (wanted != NULL && client.redirect_uris != NULL)
            ok(false, "document, %s: a refused one fills nothing", documents[i].name);
    }
    static const char *const others[] = {"[]", "null", "7", "\"text\""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct client client = {.id = 7};
        const char *why = fault_of(mem, others[i], &client);
        ok(why != NULL && strstr(why, "object") != NULL, "document %s: refused, no object",
           others[i]);
    }
}

/* A member with a text of so many characters, of two octets each where it may be. */
static const char *
with_length(TALLOC_CTX *mem, const char *member, const char *begin, const char *filling,
            size_t length)
{
    char *text = talloc_asprintf(mem, "{" GOOD ",\"%s\":\"%s", member, begin);
    for (size_t i = strlen(begin); i < length; i++)
        text = talloc_strdup_append(text, filling);
    return talloc_strdup_append(text, "\"}");
}

/* A member with a list of so many texts, the wanted one at the end. */
static const char *
with_count(TALLOC_CTX *mem, const char *member, const char *last, size_t count)
{
    char *text = talloc_asprintf(mem, "{" GOOD ",\"%s\":[", member);
    for (size_t i = 1; i < count; i++)
        text = talloc_strdup_append(text, "\"x\",");
    return talloc_asprintf_append(text, "\"%s\"]}", last);
}

static void
test_limits(TALLOC_CTX *mem)
{
    static const struct {
        const char *member, *begin, *filling;
        size_t max;
    } texts[] = {
        {"client_name",                  "",                   "\xc3\xa9", CIMD_NAME_MAX  },
        {"client_uri",                   "https://a.example/", "a",        CIMD_URI_MAX   },
        {"logo_uri",                     "https://a.example/", "a",        CIMD_URI_MAX   },
        {"scope",                        "",                   "a",        1024           },
        {"id_token_signed_response_alg", "",                   "a",        CIMD_METHOD_MAX},
    };
    struct client client = {.id = 0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *at = with_length(mem, texts[i].member, texts[i].begin, texts[i].filling,
                                     texts[i].max),
                   *past = with_length(mem, texts[i].member, texts[i].begin, texts[i].filling,
                                       texts[i].max + 1);
        const char *why = fault_of(mem, at, &client);
        ok(why == NULL, "%s of %zu characters: taken (specification 8): %s", texts[i].member,
           texts[i].max, why != NULL ? why : "-");
        why = fault_of(mem, past, &client);
        ok(why != NULL && strstr(why, texts[i].member) != NULL, "%s of one more: refused: %s",
           texts[i].member, why != NULL ? why : "-");
    }
    static const struct {
        const char *member, *last;
    } lists[] = {
        {"grant_types",    "authorization_code"},
        {"response_types", "code"              },
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        ok(fault_of(mem, with_count(mem, lists[i].member, lists[i].last, CIMD_TYPES_MAX), &client)
               == NULL,
           "%s with %d items: taken", lists[i].member, CIMD_TYPES_MAX);
        ok(fault_of(mem, with_count(mem, lists[i].member, lists[i].last, CIMD_TYPES_MAX + 1),
                    &client)
               != NULL,
           "%s with one more: refused", lists[i].member);
    }
    char *words = talloc_strdup(mem, "{" GOOD ",\"scope\":\"a");
    for (int i = 1; i < 100; i++)
        words = talloc_strdup_append(words, " a");
    ok(fault_of(mem, talloc_asprintf(mem, "%s\"}", words), &client) == NULL,
       "scope of 100 words: taken");
    ok(fault_of(mem, talloc_asprintf(mem, "%s a\"}", words), &client) != NULL,
       "scope of 101 words: refused");
}

/* A document is the same for all servers, so it is not refused for an algorithm of others. */
static void
test_id_token_alg(TALLOC_CTX *mem)
{
    static const struct {
        const char *text, *wanted;
    } algs[] = {
        {"{" GOOD "}",                                            NULL   },
        {"{" GOOD ",\"id_token_signed_response_alg\":\"RS256\"}", "RS256"},
        {"{" GOOD ",\"id_token_signed_response_alg\":\"ES256\"}", "ES256"},
        {"{" GOOD ",\"id_token_signed_response_alg\":\"PS256\"}", NULL   },
        {"{" GOOD ",\"id_token_signed_response_alg\":\"none\"}",  NULL   },
        {"{" GOOD ",\"id_token_signed_response_alg\":\"es256\"}", NULL   },
    };
    for (size_t i = 0; i < sizeof(algs) / sizeof(algs[0]); i++) {
        struct client client = {.id = 7};
        const char *why = fault_of(mem, algs[i].text, &client);
        ok(why == NULL, "document with algorithm %zu: taken", i);
        is_str(client.id_token_alg, algs[i].wanted,
               "... the client gets %s (OpenID Connect Core 3.1.3.7)",
               algs[i].wanted != NULL ? algs[i].wanted : "the default");
    }
}

static void
test_result(TALLOC_CTX *mem)
{
    struct client client = {.id = 7, .version = 9, .type = "public"};
    const char *why = fault_of(
        mem,
        "{" HEAD ",\"redirect_uris\":[\"https://a.example/1\",\"http://localhost/cb\"],"
        "\"client_name\":\"App\",\"client_uri\":\"https://a.example\",\"scope\":\"openid\","
        "\"logo_uri\":\"https://a.example/l.png\","
        "\"grant_types\":[\"authorization_code\",\"refresh_token\"]}",
        &client);
    ok(why == NULL, "a whole document: taken");
    is_str(client.name, "App", "its name");
    is_str(client.uri, "https://a.example", "its address");
    is_str(client.logo, "https://a.example/l.png", "its logo");
    is_str(client.scope, "openid", "its scope");
    is_str(client.redirect_uris[0], "https://a.example/1", "its first redirect URI");
    is_str(client.redirect_uris[1], "http://localhost/cb", "its second");
    ok(client.redirect_uris[2] == NULL, "no third");
    is_str(client.grant_types[0], "authorization_code", "its grant types");
    is_str(client.grant_types[1], "refresh_token", "the second of them");
    ok(client.grant_types[2] == NULL, "no third");
    ok(client.id == 7 && client.version == 9 && strcmp(client.type, "public") == 0,
       "what the document does not say stays");
    ok(fault_of(mem, "{" GOOD "}", &client) == NULL && client.grant_types == NULL
           && client.name == NULL && client.uri == NULL && client.logo == NULL
           && client.scope == NULL,
       "what a document leaves out is NULL");
    ok(fault_of(mem, "{" GOOD ",\"scope\":\"  \"}", &client) == NULL && client.scope == NULL,
       "a scope of blanks names none, and is no ceiling");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_addresses();
    test_address_length();
    test_documents(mem);
    test_limits(mem);
    test_id_token_alg(mem);
    test_result(mem);
    talloc_free(mem);
    return done();
}
