#include "config.h"

#include "oidc/authorize_params.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "http/fake_io.h"
#include "http/form.h"
#include "tap.h"

#define CHALLENGE "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" /* RFC 7636 appendix B */
#define NEEDED "client_id=c&redirect_uri=https://a.example/cb&response_type=code"
#define GOOD NEEDED "&code_challenge=" CHALLENGE

/* Make a request of a public client, unless `query` says otherwise. */
static struct request *
make_request(TALLOC_CTX *mem, const char *query, const char *type, const char **grants)
{
    static const char *uris[] = {"https://a.example/cb", NULL};
    struct request *req = fake_request(mem, NULL, authorize_params);
    struct client *client = talloc_zero(req, struct client);
    client->client_id = "c";
    client->type = type;
    client->registration = "ADMIN";
    client->redirect_uris = uris;
    client->grant_types = grants;
    req->client = client;
    req->op = env_op(req, env_az(req));
    ((struct route *) (uintptr_t) req->route)->body = BODY_QUERY_FAULTS;
    req->query = query;
    if (request_read_body(req) != AZ_OK)
        return NULL;
    return req;
}

/* Return the refusal as "error: description", or the stored form of the request. */
static const char *
read_as(TALLOC_CTX *mem, const char *query, const char *type, const char **grants)
{
    struct request *req = make_request(mem, query, type, grants);
    struct authorization authorization, untouched;
    memset(&authorization, 0xa5, sizeof(authorization));
    memcpy(&untouched, &authorization, sizeof(untouched));
    enum az_status st = req != NULL ? authorize_params_read(req, &authorization) : AZ_INVALID;
    if (req == NULL)
        return "the form was refused";
    if (st != req->op.fault.status)
        return "another fault than the status";
    if (st != AZ_OK)
        return memcmp(&authorization, &untouched, sizeof(untouched)) != 0
                   ? "an output beside the refusal"
                   : talloc_asprintf(mem, "%s: %s", az_status_row(st)->error,
                                     req->op.fault.public_text);
    json_t *object;
    authorization.flow_id = "f";
    authorization_dump(&req->op, &authorization, &object);
    static const char *const fixed[] = {"client_id", "redirect_uri", "flow_id", "asked_at"};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        json_object_del(object, fixed[i]);
    if (authorization.max_age == AUTHORIZATION_NO_MAX_AGE)
        json_object_del(object, "max_age");
    if (authorization.scope != NULL && *authorization.scope == '\0')
        json_object_del(object, "scope");
    if (authorization.code_challenge != NULL
        && strcmp(authorization.code_challenge, CHALLENGE) == 0)
        json_object_del(object, "code_challenge");
    return jsonx_dump_sorted(mem, object);
}

/* clang-format off */
static const struct { const char *query, *wanted, *name; } cases[] = {
    {GOOD, "{}", "what a public client must send"},
    {GOOD "&x=y&x=z", "{}", "unknown parameters are ignored, repeated too (oauth.md C5)"},
    {GOOD "&scope=&state=&prompt=&max_age=&request=", "{}", "an empty value counts as absent (oauth.md C4)"},
    {GOOD "&state=a%20b%26%C3%A4&nonce=n", "{\"nonce\":\"n\",\"state\":\"a b&\xc3\xa4\"}", "state and nonce are opaque"},
    {GOOD "&dpop_jkt=0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I", "{\"dpop_jkt\":\"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I\"}", "dpop_jkt binds the code to a key (RFC 9449 10)"},
    {GOOD "&dpop_jkt=x", "invalid_request: dpop_jkt must be a base64url-encoded SHA-256 thumbprint", "dpop_jkt: one character"},
    {GOOD "&dpop_jkt=0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4IA", "invalid_request: dpop_jkt must be a base64url-encoded SHA-256 thumbprint", "dpop_jkt: 44 characters"},
    {GOOD "&dpop_jkt=0ZcOCORZNYy%2BDWpqq30jZyJGHTN0d2HglBV3uiguA4I", "invalid_request: dpop_jkt must be a base64url-encoded SHA-256 thumbprint", "dpop_jkt: the other alphabet"},

    {NEEDED, "invalid_request: A public client must send a code_challenge (PKCE)", "a public client without PKCE (specification 4.2)"},
    {GOOD "&code_challenge_method=S256", "{}", "PKCE: S256"},
    {GOOD "&code_challenge_method=S512", "{}", "PKCE: any other method is S256 (oauth.md S3)"},
    {GOOD "&code_challenge_method=PLAIN", "{}", "... plain is spelt exactly"},
    {GOOD "&code_challenge_method=plain", "invalid_request: code_challenge_method=plain is not supported; use S256", "PKCE: plain is refused (specification 4.2)"},
    {NEEDED "&code_challenge_method=plain", "invalid_request: code_challenge_method=plain is not supported; use S256", "... also without a challenge (oauth.md S3)"},
    {NEEDED "&code_challenge=" CHALLENGE "x", "invalid_request: code_challenge must be a base64url-encoded SHA-256 hash", "PKCE: 44 characters (RFC 7636 4.2)"},
    {NEEDED "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c", "invalid_request: code_challenge must be a base64url-encoded SHA-256 hash", "PKCE: 42 characters"},
    {NEEDED "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw%2BcM", "invalid_request: code_challenge must be a base64url-encoded SHA-256 hash", "PKCE: the other alphabet"},
    {NEEDED "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c%3D", "invalid_request: code_challenge must be a base64url-encoded SHA-256 hash", "PKCE: padding"},
    {NEEDED "&code_challenge=%C3%A49Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c", "invalid_request: code_challenge must be a base64url-encoded SHA-256 hash", "PKCE: UTF-8"},

    {"client_id=c&redirect_uri=https://a.example/cb&code_challenge=" CHALLENGE, "invalid_request: The parameter response_type is missing", "response_type is needed"},
    {"response_type=token&code_challenge=" CHALLENGE, "unsupported_response_type: response_type must be code", "response_type=token (specification 1)"},
    {"response_type=id_token", "unsupported_response_type: response_type must be code", "response_type=id_token"},
    {"response_type=code%20id_token", "unsupported_response_type: response_type must be code", "a mixed response_type"},
    {"response_type=none", "unsupported_response_type: response_type must be code", "response_type=none"},
    {"response_type=Code", "unsupported_response_type: response_type must be code", "response_type in capitals"},
    {GOOD "&response_mode=query", "{}", "response_mode=query"},
    {GOOD "&response_mode=fragment", "invalid_request: response_mode must be query", "response_mode=fragment"},
    {GOOD "&response_mode=form_post", "invalid_request: response_mode must be query", "response_mode=form_post"},
    {GOOD "&request=e30.e30.", "request_not_supported: The parameter request is not supported", "request (OpenID Connect Core 6.1)"},
    {GOOD "&request_uri=https://a.example/r", "request_uri_not_supported: The parameter request_uri is not supported", "request_uri (OpenID Connect Core 6.2)"},
    {GOOD "&registration=%7B%7D", "registration_not_supported: The parameter registration is not supported", "registration (OpenID Connect Core 7.2.1)"},

    {GOOD "&scope=openid+profile", "{\"scope\":\"openid profile\"}", "scope"},
    {GOOD "&scope=+b++a+b+", "{\"scope\":\"b a\"}", "scope: one blank between, each word once"},
    {GOOD "&scope=+", "{}", "scope: blanks alone are none"},
    {GOOD "&scope=a%22b", "invalid_scope: The scope has a forbidden character", "scope: a quote (RFC 6749 3.3)"},
    {GOOD "&scope=a%09b", "invalid_scope: The scope has a forbidden character", "scope: a tab"},
    {GOOD "&scope=%C3%A4", "invalid_scope: The scope has a forbidden character", "scope: UTF-8"},

    {GOOD "&resource=https://r.example", "{\"resource\":\"https://r.example\"}", "resource (RFC 8707)"},
    {GOOD "&resource=https://r.example&resource=https://r.example/", "{\"resource\":\"https://r.example\"}", "... twice, but for a slash (oauth.md 2.7)"},
    {GOOD "&resource=https://r.example&resource=https://s.example", "invalid_target: Only one resource can be requested per token", "... two different ones"},
    {GOOD "&resource=r", "invalid_target: The resource must be an absolute URI without a fragment", "... no URI"},
    {GOOD "&resource=https://r.example%23f", "invalid_target: The resource must be an absolute URI without a fragment", "... with a fragment"},
    {GOOD "&resource_types=urn:t:1+urn:t:2", "{\"resource_types\":[\"urn:t:1\",\"urn:t:2\"]}", "resource_types"},
    {GOOD "&resource_types=t", "invalid_request: resource_types must be absolute URIs", "... no URI"},
    {GOOD "&authorization_details=%5B%7B%22type%22:%22pay%22,%22n%22:1e300%7D%5D", "{\"details\":\"[{\\\"type\\\":\\\"pay\\\",\\\"n\\\":1e300}]\"}", "authorization_details (RFC 9396)"},
    {GOOD "&authorization_details=%7B%7D", "invalid_request: authorization_details must be a JSON array", "... an object (oauth.md C15)"},
    {GOOD "&authorization_details=x", "invalid_request: authorization_details must be a JSON array", "... not JSON"},
    {GOOD "&authorization_details=%5B%7B%7D%5D", "invalid_authorization_details: authorization_details[0] has no type", "... without type"},

    {GOOD "&prompt=none", "{\"prompt_none\":true}", "prompt=none"},
    {GOOD "&prompt=login", "{\"prompt_login\":true}", "prompt=login"},
    {GOOD "&prompt=consent+login", "{\"prompt_consent\":true,\"prompt_login\":true}", "prompt: two words"},
    {GOOD "&prompt=select_account", "{\"prompt_select\":true}", "prompt=select_account (world.md F5)"},
    {GOOD "&prompt=create+login", "{\"prompt_create\":true,\"prompt_login\":true}", "prompt=create, which the providers decide"},
    {GOOD "&prompt=none+select_account", "invalid_request: prompt=none cannot be combined with other values", "prompt: none_and_select"},
    {GOOD "&prompt=create+none", "invalid_request: prompt=none cannot be combined with other values", "prompt: none and create"},
    {GOOD "&prompt=login+login", "{\"prompt_login\":true}", "prompt: a word twice"},
    {GOOD "&prompt=none+login", "invalid_request: prompt=none cannot be combined with other values", "prompt: none with another (OpenID Connect Core 3.1.2.1)"},
    {GOOD "&prompt=consent+none", "invalid_request: prompt=none cannot be combined with other values", "... in either order"},
    {GOOD "&prompt=select", "invalid_request: prompt must be none, login, consent, select_account or create", "prompt: another word (specification 4.2)"},
    {GOOD "&prompt=None", "invalid_request: prompt must be none, login, consent, select_account or create", "prompt: in capitals"},
    {GOOD "&prompt=login,consent", "invalid_request: prompt must be none, login, consent, select_account or create", "prompt: a comma"},
    {GOOD "&max_age=0", "{\"max_age\":0}", "max_age=0"},
    {GOOD "&max_age=9999999999", "{\"max_age\":9999999999}", "max_age of ten digits"},
    {GOOD "&max_age=10000000000", "invalid_request: max_age must be a number of seconds", "... of eleven"},
    {GOOD "&max_age=-1", "invalid_request: max_age must be a number of seconds", "max_age: a sign"},
    {GOOD "&max_age=1.5", "invalid_request: max_age must be a number of seconds", "max_age: a fraction"},
    {GOOD "&max_age=%201", "invalid_request: max_age must be a number of seconds", "max_age: a blank"},
    {GOOD "&max_age=x", "invalid_request: max_age must be a number of seconds", "max_age: no number"},
    {GOOD "&acr_values=a+b&login_hint=ann@x.example&ui_locales=de+en&idp_hint=corp", "{\"acr_values\":\"a b\",\"idp_hint\":\"corp\",\"login_hint\":\"ann@x.example\",\"ui_locales\":\"de en\"}", "what is passed on"},

    {GOOD "&scope=a&scope=b", "invalid_request: The parameter scope is repeated", "a parameter twice (RFC 6749 3.1)"},
    {GOOD "&scope=a&scope=a", "invalid_request: The parameter scope is repeated", "... with one value"},
    {GOOD "&state=a&state=b&nonce=a&nonce=b", "invalid_request: The parameter state is repeated", "... the first one is named"},
    {GOOD "&dpop_jkt=a&dpop_jkt=b", "invalid_request: The parameter dpop_jkt is repeated", "... also dpop_jkt"},
    {GOOD "&scope=%ff", "invalid_request: A parameter is not form-encoded or not valid UTF-8", "a value that is no UTF-8 (oauth.md C6)"},
    {GOOD "&x=%", "invalid_request: A parameter is not form-encoded or not valid UTF-8", "... of an unknown parameter too"},
    {"response_type=token&scope=%22&prompt=x&request=y", "unsupported_response_type: response_type must be code", "the order of oauth.md 3.2: response_type first"},
    {NEEDED "&scope=%22&resource=r", "invalid_request: A public client must send a code_challenge (PKCE)", "... PKCE before scope"},
    {GOOD "&scope=%22&resource=r&prompt=x", "invalid_scope: The scope has a forbidden character", "... scope before resource"},
    {GOOD "&resource=r&prompt=x", "invalid_target: The resource must be an absolute URI without a fragment", "... resource before prompt"},
};

/* A limit: the parameter, its longest value in octets, and one octet of the value. */
static const struct { const char *name; size_t max; const char *octet; size_t octet_costs; } limits[] = {
    {"state",      AUTHORIZE_STATE_MAX,   "a",   1},
    {"state",      AUTHORIZE_STATE_MAX,   "%20", 3},
    {"nonce",      AUTHORIZE_NONCE_MAX,   "a",   1},
    {"acr_values", AUTHORIZE_HINT_MAX,    "a",   1},
    {"login_hint", AUTHORIZE_HINT_MAX,    "%20", 1},
    {"ui_locales", AUTHORIZE_LOCALES_MAX, "a",   1},
    {"idp_hint",   AUTHORIZE_IDP_MAX,     "a",   1},
};
/* clang-format on */

static void
test_limits(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        char *query = talloc_asprintf(mem, GOOD "&%s=", limits[i].name);
        size_t most = limits[i].max / limits[i].octet_costs;
        for (size_t j = 0; j < most; j++)
            query = talloc_strdup_append_buffer(query, limits[i].octet);
        ok(*read_as(mem, query, "public", NULL) == '{', "%s of %zu characters is read",
           limits[i].name, most);
        query = talloc_strdup_append_buffer(query, limits[i].octet);
        is_str(
            read_as(mem, query, "public", NULL),
            talloc_asprintf(mem, "invalid_request: The parameter %s is too long", limits[i].name),
            "... one more is refused");
    }
}

static void
test_clients(TALLOC_CTX *mem)
{
    static const char *code[] = {"refresh_token", "authorization_code", NULL};
    static const char *other[] = {"client_credentials", NULL};
    is_str(read_as(mem, NEEDED, "confidential", NULL), "{}",
           "a confidential client may do without PKCE (oauth.md S4)");
    is_str(read_as(mem, NEEDED "&code_challenge=x", "confidential", NULL),
           "invalid_request: code_challenge must be a base64url-encoded SHA-256 hash",
           "... but what it sends is checked");
    is_str(read_as(mem, GOOD, "public", code), "{}", "a client that registered the grant");
    is_str(read_as(mem, GOOD, "public", other),
           "unauthorized_client: The client must not use this grant type",
           "... and one that registered others (RFC 6749 4.1.2.1)");
}

/* Return the scope that a request of a client with a registered scope asks for. */
static const char *
scope_of(TALLOC_CTX *mem, const char *query, const char *registered)
{
    struct request *req = make_request(mem, query, "public", NULL);
    struct authorization authorization = {.scope = "unread"};
    req->client->scope = registered;
    return authorize_params_read(req, &authorization) == AZ_OK ? authorization.scope : "refused";
}

/* decisions.md "Omitted scope": an omitted scope is the registered one, decided before the user is
 * asked. */
static void
test_omitted_scope(TALLOC_CTX *mem)
{
    is_str(scope_of(mem, GOOD, "openid  email openid"), "openid email",
           "an omitted scope is the registered one");
    is_str(scope_of(mem, GOOD "&scope=", "openid email"), "openid email", "... so is an empty one");
    is_str(scope_of(mem, GOOD "&scope=+", "openid email"), "openid email", "... and blanks");
    is_str(scope_of(mem, GOOD "&scope=openid", "openid email"), "openid", "... not what is named");
    is_str(scope_of(mem, GOOD "&scope=x+openid", "openid email"), "x openid",
           "... and what is not registered beside it: policy cuts it");
    is_str(scope_of(mem, GOOD "&scope=x", "openid email"), "refused",
           "... but alone it is refused before the sign-in (decisions.md \"Early gate\")");
    is_str(scope_of(mem, GOOD "&scope=x", ""), "refused", "... also if nothing is registered");
    is_str(scope_of(mem, GOOD "&scope=x&authorization_details=%5B%7B%22type%22:%22t%22%7D%5D",
                    "openid email"),
           "x", "... but not beside details (decisions.md \"Details decide\")");
    is_str(scope_of(mem, GOOD, ""), "", "an empty registered scope asks for nothing");
    is_str(scope_of(mem, GOOD, NULL), "",
           "so does none, and it stays nothing: NULL would be what is registered by then");
}

static void
test_state(TALLOC_CTX *mem)
{
    is_str(authorize_state(make_request(mem, GOOD "&state=s&scope=%ff", "public", NULL)), "s",
           "state goes back with a refusal");
    is_str(authorize_state(make_request(mem, GOOD "&state=s&state=s", "public", NULL)), NULL,
           "... not when it came twice (oauth.md 3.2)");
    is_str(authorize_state(make_request(mem, GOOD "&state=%ff", "public", NULL)), NULL,
           "... nor when it cannot be read");
}

/* A request that is stored while the user signs in reads back unchanged. */
static void
test_stored(TALLOC_CTX *mem)
{
    struct request *req = make_request(
        mem,
        GOOD "&state=s&nonce=n&scope=b+a&resource=https://r.example&resource_types=urn:t:1&"
             "authorization_details=%5B%7B%22type%22:%22pay%22,%22n%22:1e300%7D%5D&prompt=login+"
             "consent&max_age=5&acr_values=x&login_hint=y&ui_locales=z&idp_hint=corp",
        "public", NULL);
    struct authorization before, after;
    json_t *object, *again;
    is_int(authorize_params_read(req, &before), AZ_OK, "a request with everything");
    before.flow_id = "f";
    before.asked_at = ENV_NOW;
    before.signed_in = true;
    before.hint_subject = "ann";
    authorization_dump(&req->op, &before, &object);
    const char *text = jsonx_dump(mem, object);
    is_int(authorization_load(&req->op, text, &after), AZ_OK, "... is stored and read again");
    authorization_dump(&req->op, &after, &again);
    is_str(jsonx_dump(mem, again), text, "... as it was");
    is_int(after.signed_in && after.prompt_login && after.prompt_consent && !after.prompt_none
               && after.max_age == 5,
           1, "... its flags too");

    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"client_id\":\"c\"}",
        "{\"client_id\":1,\"redirect_uri\":\"r\",\"flow_id\":\"f\",\"asked_at\":1}",
        "{\"client_id\":\"c\",\"redirect_uri\":\"r\",\"flow_id\":\"f\",\"asked_at\":\"1\"}",
        "{\"client_id\":\"c\",\"redirect_uri\":\"r\",\"flow_id\":\"f\",\"asked_at\":1,\"details\":"
        "\"[\"}",
        "{\"client_id\":\"c\",\"redirect_uri\":\"r\",\"flow_id\":\"f\",\"asked_at\":1,\"resource_"
        "types\":\"t\"}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct op op = env_op(mem, env_az(mem));
        is_int(authorization_load(&op, bad[i], &after), AZ_SERVER_ERROR,
               "no stored request of ours: %s", bad[i]);
    }
}

/* True if one consent covers both requests. */
static bool
same_consent(TALLOC_CTX *mem, const struct authorization *a, const struct authorization *b)
{
    struct op op = env_op(mem, NULL);
    unsigned char one[SHA256_OCTETS], two[SHA256_OCTETS];
    return authorization_consent_hash(&op, a, one) == AZ_OK
           && authorization_consent_hash(&op, b, two) == AZ_OK
           && memcmp(one, two, sizeof(one)) == 0;
}

static void
test_consent(TALLOC_CTX *mem)
{
    struct authorization base = {.client_id = "c",
                                 .redirect_uri = "https://a.example/cb",
                                 .scope = "a b",
                                 .resource = "https://r.example",
                                 .resource_types = env_json(mem, "['urn:t:1']"),
                                 .details = env_json(mem, "[{'type':'pay','n':1}]")},
                         other = base;
    other.redirect_uri = "https://a.example/other?x=y";
    other.state = "s";
    other.nonce = "n";
    other.scope = "b a";
    other.max_age = 7;
    ok(same_consent(mem, &base, &other),
       "consent covers a client, redirect host, scopes in any order, resource and details");
    static const struct {
        size_t offset;
        const char *value, *name;
    } texts[] = {
        {offsetof(struct authorization, client_id),    "d",                    "client"       },
        {offsetof(struct authorization, redirect_uri), "https://b.example/cb", "redirect host"},
        {offsetof(struct authorization, scope),        "a b c",                "scope more"   },
        {offsetof(struct authorization, scope),        "a",                    "scope less"   },
        {offsetof(struct authorization, scope),        NULL,                   "default scope"},
        {offsetof(struct authorization, resource),     "https://s.example",    "resource"     },
        {offsetof(struct authorization, resource),     NULL,                   "no resource"  },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        other = base;
        *(const char **) (void *) ((char *) &other + texts[i].offset) = texts[i].value;
        ok(!same_consent(mem, &base, &other), "... not another %s", texts[i].name);
    }
    other = base;
    other.resource_types = env_json(mem, "['urn:t:1','urn:t:2']");
    ok(!same_consent(mem, &base, &other), "... nor another type");
    other = base;
    other.details = env_json(mem, "[{'type':'pay','n':2}]");
    ok(!same_consent(mem, &base, &other), "... nor other details");
    other.details = env_json(mem, "[{'n':1,'type':'pay'}]");
    ok(same_consent(mem, &base, &other), "... whose members stand in any order");

    static const char *const hosts[][2] = {
        {"https://A.example:8443/cb", "a.example"      },
        {"http://127.0.0.1:3000/cb",  "127.0.0.1"      },
        {"http://[::1]:3000/cb",      "[::1]"          },
        {"com.example.app:/cb",       "com.example.app"},
    };
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        struct op op = env_op(mem, NULL);
        other.redirect_uri = hosts[i][0];
        is_str(authorization_redirect_host(&op, &other), hosts[i][1], "redirect host of %s",
               hosts[i][0]);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_str(read_as(mem, cases[i].query, "public", NULL), cases[i].wanted, "/authorize: %s",
               cases[i].name);
    test_limits(mem);
    test_clients(mem);
    test_omitted_scope(mem);
    test_state(mem);
    test_stored(mem);
    test_consent(mem);
    talloc_free(mem);
    return done();
}
