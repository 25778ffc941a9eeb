#include "config.h"

#include "admin/client_dto.h"

#include <stdio.h>
#include <string.h>

#include "base/field_rules.h"
#include "base/jsonx.h"
#include "base/uri.h"
#include "crypto/jwk_set.h"
#include "crypto/jwt.h"
#include "token/software_statement.h"

/* Code points of one redirect URI, as of every other URI of a client but with room for a query. */
#define REDIRECT_URI_MAX URI_MAX

/* ---- rules of single fields ---- */

static const char *
client_id_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    if (*text == ' ' || text[strlen(text) - 1] == ' ')
        return "must not begin or end with a space";
    /* A URL's dot segments are removed on the way: such a client could not be addressed. */
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
        return "must not be . or ..";
    return field_rule_visible(mem, value);
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

/* clang-format off */
static const struct field client_fields[] = {
    {"id",                         FIELD_READ_ONLY, .max = 0},
    {"clientId",                   FIELD_TEXT,      .required = true, .max = 256, .rule = client_id_rule},
    {"clientName",                 FIELD_TEXT,      .max = 256, .rule = field_rule_visible, .column = "client_name"},
    {"clientSecret",               FIELD_TEXT,      .max = 512, .rule = field_rule_visible},
    {"clientType",                 FIELD_TEXT,      .required = true, .rule = client_type_rule, .column = "client_type"},
    {"clientUri",                  FIELD_TEXT,      .max = 512, .rule = field_rule_web_uri, .column = "client_uri"},
    {"logoUri",                    FIELD_TEXT,      .max = 512, .rule = field_rule_web_uri, .column = "logo_uri"},
    {"enabled",                    FIELD_BOOLEAN,   .column = "enabled"},
    {"redirectUris",               FIELD_TEXT_LIST, .item_max = REDIRECT_URI_MAX, .rule = field_rule_redirect_uri, .column = "redirect_uris"},
    {"postLogoutRedirectUris",     FIELD_TEXT_LIST, .item_max = REDIRECT_URI_MAX, .rule = field_rule_redirect_uri, .column = "post_logout_redirect_uris"},
    {"jwks",                       FIELD_OBJECT,    .rule = jwk_set_rule, .column = "jwks"},
    {"jwksUri",                    FIELD_TEXT,      .max = 512, .rule = field_rule_keys_uri, .column = "jwks_uri"},
    {"tokenEndpointAuthMethod",    FIELD_TEXT,      .max = 64, .rule = auth_method_rule, .column = "auth_method"},
    {"registrationType",           FIELD_TEXT,      .max = 64},
    {"softwareStatement",          FIELD_OBJECT,    .max = 0},
    {"softwareStatementJson",      FIELD_TEXT,      .max = 0},
    {"issuedSoftwareStatementJwt", FIELD_READ_ONLY, .max = 0},
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

/* ---- the statement ---- */

/* Claims of a JSON text; NULL with the fault told. */
static json_t *
parse_statement(TALLOC_CTX *mem, struct reading *reading, const char *text)
{
    json_t *claims = NULL;
    const char *why = "no memory";
    if (strlen(text) > SOFTWARE_STATEMENT_CLAIMS_MAX)
        why = "is too long";
    else if (jsonx_parse(mem, text, strlen(text), JWT_DEPTH_MAX, &claims, &why) == AZ_OK
             && !json_is_object(claims))
        why = "must be the text of a JSON object", claims = NULL;
    if (claims == NULL)
        tell(reading, "softwareStatementJson", why);
    return claims;
}

/* What a client registered with is its issuer's word: an administrator's edit neither changes nor
 * drops it, or the client could do more than was stated. */
static void
check_stated(TALLOC_CTX *mem, struct reading *reading, const char *name, const json_t *claims)
{
    const char *stored = reading->rules->state->statement;
    json_t *known = NULL;
    if (stored == NULL
        || jsonx_parse(mem, stored, strlen(stored), JWT_DEPTH_MAX, &known, NULL) != AZ_OK
        || !json_equal(known, claims))
        tell(reading, name, "cannot be changed: the client registered with it");
}

/* Claims to be signed, from either field; both say the same. */
static json_t *
read_statement(TALLOC_CTX *mem, struct reading *reading)
{
    json_t *claims = json_object_get(reading->object, "softwareStatement");
    const char *text = text_of(reading, "softwareStatementJson");
    const char *name = json_is_object(claims) ? "softwareStatement" : "softwareStatementJson";
    const struct client_state *state = reading->rules->state;
    if (!json_is_object(claims))
        claims = NULL;
    json_t *parsed = text != NULL && *text != '\0' ? parse_statement(mem, reading, text) : NULL;
    if (claims != NULL && parsed != NULL && !json_equal(claims, parsed))
        tell(reading, "softwareStatementJson", "differs from softwareStatement");
    if (claims == NULL)
        claims = parsed;
    if (claims == NULL)
        return NULL;
    if (state != NULL && strcmp(state->registration, "STATEMENT") == 0) {
        check_stated(mem, reading, name, claims);
        return NULL;
    }
    const char *why = software_statement_fault(mem, claims, text_of(reading, "clientId"));
    if (why != NULL)
        tell(reading, name, why);
    return claims;
}

/* Both columns, whichever of the two fields was given. */
static bool
set_statement(TALLOC_CTX *mem, const struct reading *reading, json_t *columns, json_t *claims)
{
    const char *text = text_of(reading, "softwareStatementJson");
    if (text == NULL)
        text = jsonx_dump(mem, claims);
    return text != NULL && json_object_set(columns, "software_statement", claims) == 0
           && json_object_set_new(columns, "software_statement_json", json_string(text)) == 0;
}

enum az_status
client_dto_read(TALLOC_CTX *mem, json_t *object, const struct client_dto_rules *rules,
                field_fault_fn *fault, void *fault_arg, struct client_dto *ret)
{
    struct reading reading = {object, rules, fault, fault_arg, false};
    json_t *columns = NULL;
    const json_t *id = json_object_get(object, "clientId");
    bool lost = false;
    /* The path names the client of a PUT; its body may repeat it. */
    if (rules->path_id != NULL && (id == NULL || json_is_null(id)))
        lost = json_object_set_new(object, "clientId", json_string(rules->path_id)) != 0;
    enum az_status st =
        fields_read(mem, FIELDS(client_fields, 0), object, tell, &reading, NULL, &columns);
    check_identity(&reading);
    check_secret(&reading);
    check_lists(&reading);
    check_keys(&reading);
    json_t *statement = read_statement(mem, &reading);
    if (st == AZ_SERVER_ERROR || lost)
        return AZ_SERVER_ERROR;
    if (reading.faulty)
        return AZ_INVALID;
    ret->confidential = text_is(&reading, "clientType", "confidential");
    if (!ret->confidential)
        lost = json_object_set_new(columns, "auth_method", json_string("none")) != 0;
    if (lost || (statement != NULL && !set_statement(mem, &reading, columns, statement)))
        return AZ_SERVER_ERROR;
    ret->statement = statement;
    ret->client_id = text_of(&reading, "clientId");
    ret->secret = text_of(&reading, "clientSecret");
    ret->columns = jsonx_dump(mem, columns);
    return ret->columns != NULL ? AZ_OK : AZ_SERVER_ERROR;
}
