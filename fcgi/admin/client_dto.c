#include "config.h"

#include "admin/client_dto.h"

#include <stdio.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/uri.h"
#include "crypto/jwk_set.h"

/* Code points of one redirect URI, as of every other URI of a client but with room for a query. */
#define REDIRECT_URI_MAX URI_MAX

/* ---- rules of single fields ---- */

/* First and last code points nobody can see or that reorder what is around them: a clientId stands
 * in logs and pages. */
static const struct {
    unsigned first, last;
} unseen[] = {
    {0x00,    0x1f   },
    {0x7f,    0x9f   },
    {0xad,    0xad   },
    {0x61c,   0x61c  },
    {0x200b,  0x200f },
    {0x2028,  0x202e },
    {0x2060,  0x206f },
    {0xfeff,  0xfeff },
    {0xfff9,  0xfffb },
    {0xe0000, 0xe007f},
};

/* The code point at text, which is valid UTF-8; *text moves on. */
static unsigned
next_code_point(const char **text)
{
    const unsigned char *c = (const unsigned char *) *text;
    int more = c[0] >= 0xf0 ? 3 : c[0] >= 0xe0 ? 2 : c[0] >= 0xc0 ? 1 : 0;
    unsigned value = more == 0 ? c[0] : c[0] & (0x3fU >> more);
    for (int i = 1; i <= more; i++)
        value = value << 6 | (c[i] & 0x3fU);
    *text += 1 + more;
    return value;
}

static const char *
visible_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *at = json_string_value(value);
    (void) mem;
    while (*at != '\0') {
        unsigned point = next_code_point(&at);
        for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
            if (point >= unseen[i].first && point <= unseen[i].last)
                return "must not have control or invisible characters";
    }
    return NULL;
}

static const char *
client_id_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    if (*text == ' ' || text[strlen(text) - 1] == ' ')
        return "must not begin or end with a space";
    /* A URL's dot segments are removed on the way: such a client could not be addressed. */
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
        return "must not be . or ..";
    return visible_rule(mem, value);
}

static const char *
client_type_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    return strcmp(text, "confidential") == 0 || strcmp(text, "public") == 0
               ? NULL
               : "must be confidential or public";
}

/* What does not work yet is refused (decisions.md "Readings"): private_key_jwt comes with
 * assertions. */
static const char *
auth_method_rule(TALLOC_CTX *mem, const json_t *value)
{
    static const char *const methods[] = {"none", "client_secret_basic", "client_secret_post"};
    (void) mem;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(methods[i], json_string_value(value)) == 0)
            return NULL;
    return "must be none, client_secret_basic or client_secret_post";
}

static const char *
redirect_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return uri_redirect_fault(json_string_value(value));
}

/* Any scheme: https is asked of it with private_key_jwt alone (specification 4.7, oauth.md S12),
 * and of the fetch, whatever is registered (specification 5, rule 6). */
static const char *
jwks_uri_rule(TALLOC_CTX *mem, const json_t *value)
{
    struct uri uri;
    if (uri_parse(mem, json_string_value(value), &uri) != AZ_OK)
        return "is not a valid absolute URI";
    return uri.userinfo != NULL || uri.fragment != NULL
               ? "must not have user information or a fragment"
               : NULL;
}

/* Pages link to it: javascript: and data: would run there. */
static const char *
web_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return uri_web_fault(json_string_value(value));
}

static const char *
jwks_rule(TALLOC_CTX *mem, const json_t *value)
{
    struct jwk_set *set;
    const char *why = "cannot be read";
    if (jwk_set_parse(mem, value, JWK_SET_REGISTERED, &set, &why) == AZ_OK)
        return NULL;
    return talloc_asprintf(mem, "must be a JWK Set of public keys: %s", why);
}

/* clang-format off */
static const struct field client_fields[] = {
    /* name                      kind               max               required  rule              column */
    {"id",                         FIELD_READ_ONLY,   0,                false, NULL,             NULL},
    {"clientId",                   FIELD_TEXT,        256,              true,  client_id_rule,   NULL},
    {"clientName",                 FIELD_TEXT,        256,              false, visible_rule,     "client_name"},
    {"clientSecret",               FIELD_TEXT,        512,              false, visible_rule,     NULL},
    {"clientType",                 FIELD_TEXT,        0,                true,  client_type_rule, "client_type"},
    {"clientUri",                  FIELD_TEXT,        512,              false, web_rule,         "client_uri"},
    {"logoUri",                    FIELD_TEXT,        512,              false, web_rule,         "logo_uri"},
    {"enabled",                    FIELD_BOOLEAN,     0,                false, NULL,             "enabled"},
    {"redirectUris",               FIELD_TEXT_LIST,   REDIRECT_URI_MAX, false, redirect_rule,    "redirect_uris"},
    {"postLogoutRedirectUris",     FIELD_TEXT_LIST,   REDIRECT_URI_MAX, false, redirect_rule,    "post_logout_redirect_uris"},
    {"jwks",                       FIELD_OBJECT,      0,                false, jwks_rule,        "jwks"},
    {"jwksUri",                    FIELD_TEXT,        512,              false, jwks_uri_rule,    "jwks_uri"},
    {"tokenEndpointAuthMethod",    FIELD_TEXT,        64,               false, auth_method_rule, "auth_method"},
    {"registrationType",           FIELD_TEXT,        64,               false, NULL,             NULL},
    {"softwareStatement",          FIELD_UNSUPPORTED, 0,                false, NULL,             NULL},
    {"softwareStatementJson",      FIELD_UNSUPPORTED, 0,                false, NULL,             NULL},
    {"issuedSoftwareStatementJwt", FIELD_READ_ONLY,   0,                false, NULL,             NULL},
};
/* clang-format on */

/* ---- rules between fields ---- */

/* What one reading carries along, so that the rules below can tell faults too. */
struct reading {
    const json_t *object;                 /* the ClientDto */
    const struct client_dto_rules *rules; /* what it is held against */
    field_fault_fn *fault;                /* told of each fault */
    void *fault_arg;                      /* for it */
    bool faulty;                          /* there was one */
};

static void
tell(void *arg, const char *path, const char *why)
{
    struct reading *reading = arg;
    reading->faulty = true;
    reading->fault(reading->fault_arg, path, why);
}

/* Text of a member, NULL when it is absent or no text. */
static const char *
text_of(const struct reading *reading, const char *name)
{
    return json_string_value(json_object_get(reading->object, name));
}

static bool
text_is(const struct reading *reading, const char *name, const char *text)
{
    const char *given = text_of(reading, name);
    return given != NULL && strcmp(given, text) == 0;
}

static void
check_identity(struct reading *reading)
{
    const struct client_dto_rules *rules = reading->rules;
    const char *registration = rules->state != NULL ? rules->state->registration : "ADMIN";
    const char *id = text_of(reading, "clientId"), *given = text_of(reading, "registrationType");
    if (rules->path_id != NULL && id != NULL && strcmp(id, rules->path_id) != 0)
        tell(reading, "clientId", "cannot be changed: it differs from the one in the path");
    if (given != NULL && strcmp(given, registration) != 0)
        tell(reading, "registrationType",
             rules->state != NULL ? "cannot be changed" : "must be ADMIN when a client is created");
}

/* RFC 6749 section 2.1: a public client cannot keep a secret, so it has none and shows none. */
static void
check_secret(struct reading *reading)
{
    bool given = text_of(reading, "clientSecret") != NULL;
    const char *method = text_of(reading, "tokenEndpointAuthMethod");
    const struct client_state *state = reading->rules->state;
    if (text_is(reading, "clientType", "public")) {
        if (given)
            tell(reading, "clientSecret", "a public client has no secret");
        if (method != NULL && strcmp(method, "none") != 0)
            tell(reading, "tokenEndpointAuthMethod", "must be none for a public client");
    } else if (text_is(reading, "clientType", "confidential")) {
        if (method != NULL && strcmp(method, "none") == 0)
            tell(reading, "tokenEndpointAuthMethod", "must not be none for a confidential client");
        if (state != NULL && !state->has_secret && !given)
            tell(reading, "clientSecret", "is required when a client becomes confidential");
    }
}

static void
check_lists(struct reading *reading)
{
    static const char *const lists[] = {"redirectUris", "postLogoutRedirectUris"};
    char why[64];
    snprintf(why, sizeof(why), "must have at most %ld items", reading->rules->max_redirect_uris);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (json_array_size(json_object_get(reading->object, lists[i]))
            > (size_t) reading->rules->max_redirect_uris)
            tell(reading, lists[i], why);
}

/* RFC 7591 section 2: jwks and jwks_uri are not used together; which of the two would count? Keys
 * that let a client in come over TLS (specification 4.7). */
static void
check_keys(struct reading *reading)
{
    const char *uri = text_of(reading, "jwksUri"), *why = NULL;
    if (uri == NULL)
        return;
    if (json_is_object(json_object_get(reading->object, "jwks")))
        why = "cannot be given together with jwks";
    else if (text_is(reading, "tokenEndpointAuthMethod", "private_key_jwt"))
        why = uri_https_fault(uri);
    if (why != NULL)
        tell(reading, "jwksUri", why);
}

enum az_status
client_dto_read(TALLOC_CTX *mem, json_t *object, const struct client_dto_rules *rules,
                field_fault_fn *fault, void *fault_arg, struct client_dto *ret)
{
    struct reading reading = {object, rules, fault, fault_arg, false};
    json_t *columns = NULL;
    const json_t *id = json_object_get(object, "clientId");
    /* The path names the client of a PUT; its body may repeat it. */
    if (rules->path_id != NULL && (id == NULL || json_is_null(id)))
        json_object_set_new(object, "clientId", json_string(rules->path_id));
    enum az_status st =
        fields_read(mem, client_fields, sizeof(client_fields) / sizeof(client_fields[0]), object,
                    tell, &reading, &columns);
    check_identity(&reading);
    check_secret(&reading);
    check_lists(&reading);
    check_keys(&reading);
    if (st == AZ_SERVER_ERROR || reading.faulty)
        return st == AZ_SERVER_ERROR ? st : AZ_INVALID;
    ret->confidential = text_is(&reading, "clientType", "confidential");
    if (!ret->confidential)
        json_object_set_new(columns, "auth_method", json_string("none"));
    ret->client_id = text_of(&reading, "clientId");
    ret->secret = text_of(&reading, "clientSecret");
    ret->columns = jsonx_dump(mem, columns);
    return ret->columns != NULL ? AZ_OK : AZ_SERVER_ERROR;
}
