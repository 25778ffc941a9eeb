#include "config.h"

#include "admin/people/client_dto.h"

#include <stdio.h>
#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/spiffe_id.h"
#include "base/uri.h"
#include "base/words.h"
#include "crypto/jwk_set.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "store/clients/clients_admin.h"
#include "token/software_statement.h"

/* Longest redirect URI, in code points. */
#define REDIRECT_URI_MAX URI_MAX
/* Shortest secret that an administrator can give, in octets: 128 bits if it is random. */
#define CLIENT_SECRET_MIN 16

/* The method of clients that have keys in place of a secret (OpenID Connect Core 9). */
#define CLIENT_KEYED "private_key_jwt"
/* The method of workloads, whose keys are in the SPIFFE trust bundle. */
#define CLIENT_WORKLOAD "spiffe_jwt"

/* ---- rules of single fields ---- */

static const char *
client_id_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    if (*text == ' ' || text[strlen(text) - 1] == ' ')
        return "must not begin or end with a space";
    /* A proxy may remove dot segments from a path, so this clientId could not be used in one. */
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
        return "must not be . or ..";
    return field_rule_visible(mem, value);
}

/* A shorter secret could be guessed at /token, from many addresses at once (RFC 6749 section
 * 10.10). Shorter ones that are stored already stay valid. */
static const char *
client_secret_rule(TALLOC_CTX *mem, const json_t *value)
{
    size_t length = json_string_length(value);
    if (length < CLIENT_SECRET_MIN)
        return field_fault_text(mem, "must have at least %d octets, not %zu", CLIENT_SECRET_MIN,
                                length);
    return field_rule_visible(mem, value);
}

static const char *const client_types[] = {"confidential", "public", NULL};
static const char *const client_auth_methods[] = {
    "none", "client_secret_basic", "client_secret_post", CLIENT_KEYED, CLIENT_WORKLOAD, NULL};

/* clang-format off */
static const struct field client_fields[] = {
    {"id",                         FIELD_READ_ONLY, .shown = FIELD_INTEGER,
     .help = "Number of the row"},
    {"clientId",                   FIELD_TEXT,      .max = FIELD_NAME_MAX, .rule = client_id_rule,
     .help = "client_id of its requests; a POST needs it, a PUT has it in its path",
     .example = "\"shop\""},
    {"clientName",                 FIELD_TEXT,      .max = FIELD_NAME_MAX,
     .rule = field_rule_visible, .column = "client_name",
     .help = "Shown to users on the consent page", .example = "\"Shop\""},
    {"clientSecret",               FIELD_TEXT,      .max = FIELD_SECRET_MAX,
     .rule = client_secret_rule,
     .help = "Of a confidential client without private_key_jwt or spiffe_jwt; made by the service "
             "if it is left out, and shown this once"},
    {"clientType",                 FIELD_TEXT,      .required = true, .words = client_types,
     .column = "client_type", .help = "A public client cannot keep a secret",
     .example = "\"confidential\""},
    {"clientUri",                  FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = field_rule_web_uri, .column = "client_uri", .help = "Page about the client",
     .example = "\"https://shop.example/about\""},
    {"logoUri",                    FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = field_rule_web_uri, .column = "logo_uri",
     .help = "Picture of the client; kept, and shown on no page of the service"},
    {"enabled",                    FIELD_BOOLEAN,   .column = "enabled",
     .help = "A client that is not enabled gets no tokens, and its tokens are inactive",
     .example = "true"},
    {"redirectUris",               FIELD_TEXT_LIST, .max = SETTINGS_REDIRECT_URIS_MAX,
     .item_max = REDIRECT_URI_MAX, .rule = field_rule_redirect_uri, .column = "redirect_uris",
     .help = "Where codes may be sent; at most SVC_MAX_REDIRECT_URIS",
     .example = "[\"https://shop.example/callback\"]"},
    {"postLogoutRedirectUris",     FIELD_TEXT_LIST, .max = SETTINGS_REDIRECT_URIS_MAX,
     .item_max = REDIRECT_URI_MAX, .rule = field_rule_redirect_uri,
     .column = "post_logout_redirect_uris",
     .help = "Where browsers may return after a logout; at most SVC_MAX_REDIRECT_URIS",
     .example = "[\"https://shop.example/\"]"},
    {"jwks",                       FIELD_OBJECT,    .rule = jwk_set_rule, .column = "jwks",
     .help = "Public keys of the client (RFC 7517), by which it authenticates with "
             "private_key_jwt"},
    {"jwksUri",                    FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = field_rule_keys_uri, .column = "jwks_uri",
     .help = "Address of its public keys, in place of jwks"},
    {"tokenEndpointAuthMethod",    FIELD_TEXT,      .max = FIELD_WORD_MAX,
     .words = client_auth_methods, .column = "auth_method",
     .help = "How the client authenticates; none for a public client, spiffe_jwt for a workload "
             "whose clientId is its SPIFFE ID", .example = "\"client_secret_basic\""},
    {"registrationType",           FIELD_TEXT,      .max = FIELD_WORD_MAX,
     .help = "ADMIN for a new client; cannot be changed"},
    {"scope",                      FIELD_TEXT,      .may_be_empty = true, .max = SCOPE_TEXT_MAX,
     .rule = field_rule_scope, .column = "scope",
     .help = "Scopes that the client may ask for, separated by spaces; null: no limit",
     .example = "\"openid orders.read\""},
    {"idTokenSignedResponseAlg",   FIELD_TEXT,      .words = settings_id_token_algs,
     .column = "id_token_signed_response_alg",
     .help = "Algorithm of its ID tokens, one of SVC_OIDC_ID_TOKEN_ALGS; null: RS256",
     .example = "\"RS256\""},
    {"dpopBoundAccessTokens",      FIELD_BOOLEAN,   .column = "dpop_bound",
     .help = "Bind every token of the client to the key of a DPoP proof (RFC 9449 5.2); a request "
             "without a proof is refused", .example = "false"},
    {"pkceRequired",               FIELD_BOOLEAN,   .column = "pkce_required",
     .help = "Refuse authorization requests without a code_challenge (PKCE, RFC 7636), also of "
             "this confidential client; a public client always needs one", .example = "false"},
    {"softwareStatement",          FIELD_OBJECT,
     .help = "Claims of the statement that the service signs for the client"},
    {"softwareStatementJson",      FIELD_TEXT,      .max = SOFTWARE_STATEMENT_CLAIMS_MAX,
     .help = "The same claims as JSON text"},
    {"issuedSoftwareStatementJwt", FIELD_READ_ONLY, .help = "The signed statement"},
    {"createdAt",                  FIELD_READ_ONLY, .help = "When the client was made"},
    {"updatedAt",                  FIELD_READ_ONLY, .help = "Last change of the stored client"},
    {"updatedBy",                  FIELD_READ_ONLY,
     .help = "Label of the admin key, or the person, whose request to the admin API changed it "
             "last"},
    {"lastUsedAt",                 FIELD_READ_ONLY,
     .help = "Last request of the client that was allowed or denied, known a minute later; absent: "
             "there was none in a year"},
    {"liveTokens",                 FIELD_READ_ONLY, .shown = FIELD_INTEGER,
     .help = "Of a page: its access tokens that are live; absent if more than 5,000 tokens are "
             "stored"},
    {"allowed24h",                 FIELD_READ_ONLY, .shown = FIELD_INTEGER,
     .help = "Of a page: decisions of this hour and the 23 before that allowed it something, known "
             "a minute later"},
    {"denied24h",                  FIELD_READ_ONLY, .shown = FIELD_INTEGER,
     .help = "Of a page: those that denied it something"},
};
const struct field_table client_table = FIELD_TABLE("ClientDto", client_fields, 0);
/* clang-format on */

/* ---- rules between fields ---- */

/* The row that a PUT replaces, or NULL. */
static const struct client_state *
client_stored(const struct resource_reading *reading)
{
    return reading->stored;
}

static void
client_check_registration(struct resource_reading *reading)
{
    const struct client_state *stored = client_stored(reading);
    const char *registration = stored != NULL ? stored->registration : "ADMIN";
    const char *given = resource_text(reading, "registrationType");
    if (given != NULL && strcmp(given, registration) != 0)
        resource_tell(reading, "registrationType",
                      stored != NULL ? "cannot be changed" : "must be ADMIN for a new client");
}

/* RFC 6749 section 2.1: a public client cannot keep a secret, so it has none and sends none. One
 * with a metadata document may have keys there, and its document decides that. */
static void
client_check_public(struct resource_reading *reading, const char *method)
{
    const struct client_state *stored = client_stored(reading);
    bool by_document = stored != NULL && strcmp(stored->registration, "CIMD") == 0
                       && strcmp(stored->type, "public") == 0 && stored->auth_method != NULL;
    const char *kept = by_document ? stored->auth_method : "none";
    if (resource_text(reading, "clientSecret") != NULL)
        resource_tell(reading, "clientSecret", "must be absent: a public client has no secret");
    if (method != NULL && strcmp(method, kept) != 0)
        resource_tell(reading, "tokenEndpointAuthMethod",
                      by_document ? "cannot be changed: the client's metadata document decides it"
                                  : "must be none for a public client");
    resource_set_column(reading, "auth_method", json_string(kept));
}

static void
client_check_confidential(struct resource_reading *reading, const char *method)
{
    bool given = resource_text(reading, "clientSecret") != NULL;
    bool workload = method != NULL && strcmp(method, CLIENT_WORKLOAD) == 0;
    bool keyed = workload || (method != NULL && strcmp(method, CLIENT_KEYED) == 0);
    const struct client_state *stored = client_stored(reading);
    if (method != NULL && strcmp(method, "none") == 0)
        resource_tell(reading, "tokenEndpointAuthMethod",
                      "must not be none for a confidential client");
    if (keyed && given)
        resource_tell(reading, "clientSecret",
                      "must be absent: the client has keys in place of a secret");
    if (!keyed && stored != NULL && !stored->has_secret && !given)
        resource_tell(reading, "clientSecret", "is required because the client has none yet");
}

static void
client_check_secret(struct resource_reading *reading)
{
    const char *method = resource_text(reading, "tokenEndpointAuthMethod");
    if (resource_text_is(reading, "clientType", "public"))
        client_check_public(reading, method);
    else if (resource_text_is(reading, "clientType", "confidential"))
        client_check_confidential(reading, method);
}

static void
client_check_lists(struct resource_reading *reading)
{
    static const char *const lists[] = {"redirectUris", "postLogoutRedirectUris"};
    long max = reading->cfg->max_redirect_uris;
    char why[64];
    snprintf(why, sizeof(why), "must have at most %ld items", max);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (json_array_size(json_object_get(reading->object, lists[i])) > (size_t) max)
            resource_tell(reading, lists[i], why);
}

/* Check the name and the keys of a workload (oauth.md J9). Its clientId is its SPIFFE ID and
 * its keys are in the trust bundle, so an assertion by keys of its own would never be accepted. */
static void
client_check_workload(struct resource_reading *reading)
{
    const char *client_id = resource_text(reading, "clientId");
    const char *fault = client_id != NULL ? spiffe_id_fault(client_id) : NULL;
    if (fault != NULL)
        resource_tell(reading, "clientId",
                      field_fault_text(reading->mem, "must be a SPIFFE ID: it %s", fault));
    if (json_is_object(json_object_get(reading->object, "jwks")))
        resource_tell(reading, "jwks", "must be absent: its keys are in the SPIFFE trust bundle");
    if (resource_text(reading, "jwksUri") != NULL)
        resource_tell(reading, "jwksUri",
                      "must be absent: its keys are in the SPIFFE trust bundle");
}

/* True if a confidential client is a workload: by its method, or by its clientId if it is
 * registered for private_key_jwt. */
static bool
client_is_workload(const struct resource_reading *reading)
{
    const char *client_id = resource_text(reading, "clientId");
    return resource_text_is(reading, "clientType", "confidential")
           && (resource_text_is(reading, "tokenEndpointAuthMethod", CLIENT_WORKLOAD)
               || (resource_text_is(reading, "tokenEndpointAuthMethod", CLIENT_KEYED)
                   && client_id != NULL && spiffe_id_begins(client_id)));
}

/* RFC 7591 section 2: jwks and jwks_uri are not used together. Keys that authenticate a client are
 * there, and are fetched over TLS (specification 4.7). */
static void
client_check_keys(struct resource_reading *reading)
{
    const char *uri = resource_text(reading, "jwksUri"), *why = NULL;
    const json_t *jwks = json_object_get(reading->object, "jwks");
    bool inline_keys = json_is_object(jwks);
    bool keyed = resource_text_is(reading, "clientType", "confidential")
                 && resource_text_is(reading, "tokenEndpointAuthMethod", CLIENT_KEYED);
    if (client_is_workload(reading))
        client_check_workload(reading);
    else if (uri != NULL && inline_keys)
        resource_tell(reading, "jwksUri", "cannot be given together with jwks");
    else if (keyed && uri != NULL && (why = uri_https_fault(uri)) != NULL)
        resource_tell(reading, "jwksUri", why);
    else if (keyed && inline_keys && jwk_set_rule(reading->mem, jwks) == NULL
             && (why = jws_set_fault(jwks)) != NULL)
        resource_tell(reading, "jwks", why);
    else if (keyed && uri == NULL && !inline_keys)
        resource_tell(reading, "jwks", "or jwksUri is required for private_key_jwt");
}

/* A scope of null or of blanks removes the ceiling. As a ceiling it would let nothing through, and
 * a member that is absent keeps the stored one. */
static void
client_check_scope(struct resource_reading *reading)
{
    const json_t *value = json_object_get(reading->object, "scope");
    const char *rest = json_string_value(value), *word;
    size_t length;
    if (json_is_null(value) || (rest != NULL && !words_next(&rest, &word, &length)))
        resource_set_column(reading, "scope", json_null());
}

/* Check the algorithm of ID tokens. One that is stored may stay when the service no longer lists
 * it, so that an administrator can edit the other members; the client gets RS256 then. */
static void
client_check_id_token_alg(struct resource_reading *reading)
{
    const struct client_state *stored = client_stored(reading);
    const char *alg = resource_text(reading, "idTokenSignedResponseAlg");
    if (json_is_null(json_object_get(reading->object, "idTokenSignedResponseAlg")))
        resource_set_column(reading, "id_token_signed_response_alg", json_null());
    /* The field table has refused other words. */
    if (!words_has(settings_id_token_algs, alg) || words_has(reading->cfg->id_token_algs, alg)
        || (stored != NULL && stored->id_token_alg != NULL
            && strcmp(stored->id_token_alg, alg) == 0))
        return;
    resource_tell(reading, "idTokenSignedResponseAlg", "must be listed in SVC_OIDC_ID_TOKEN_ALGS");
}

/* Check dpopBoundAccessTokens (RFC 9449 5.2). Without DPoP such a client gets no token. A stored
 * true may stay, so that an administrator can edit the other members. */
static void
client_check_dpop(struct resource_reading *reading)
{
    const struct client_state *stored = client_stored(reading);
    if (json_is_true(json_object_get(reading->object, "dpopBoundAccessTokens"))
        && !reading->cfg->dpop_enabled && (stored == NULL || !stored->dpop_bound))
        resource_tell(reading, "dpopBoundAccessTokens",
                      "must not be true while SVC_DPOP_ENABLED is false");
}

/* ---- the statement ---- */

/* Return the claims of a JSON text, or NULL after telling its fault. */
static json_t *
client_parse_statement(struct resource_reading *reading, const char *text)
{
    json_t *claims = NULL;
    const char *why = "out of memory";
    if (strlen(text) > SOFTWARE_STATEMENT_CLAIMS_MAX)
        why = "is too long";
    else if (jsonx_parse(reading->mem, text, strlen(text), JWT_DEPTH_MAX, &claims, &why) == AZ_OK
             && !json_is_object(claims))
        why = "must be the text of a JSON object", claims = NULL;
    if (claims == NULL)
        resource_tell(reading, "softwareStatementJson", why);
    return claims;
}

/* Only its issuer may change the statement that a client registered with. An edit by an
 * administrator must not, or the client could do more than was stated. */
static void
client_check_stated(struct resource_reading *reading, const char *name, const json_t *claims)
{
    const char *text = client_stored(reading)->statement;
    json_t *stated = NULL;
    if (text == NULL
        || jsonx_parse(reading->mem, text, strlen(text), JWT_DEPTH_MAX, &stated, NULL) != AZ_OK
        || !json_equal(stated, claims))
        resource_tell(reading, name, "cannot be changed: the client registered with it");
}

/* Return the claims of softwareStatement or softwareStatementJson, which must agree, or NULL;
 * *ret_name is the member they are from. */
static json_t *
client_find_statement(struct resource_reading *reading, const char **ret_name)
{
    json_t *claims = json_object_get(reading->object, "softwareStatement"), *parsed = NULL;
    const char *text = resource_text(reading, "softwareStatementJson");
    if (text != NULL && *text != '\0')
        parsed = client_parse_statement(reading, text);
    *ret_name = json_is_object(claims) ? "softwareStatement" : "softwareStatementJson";
    if (!json_is_object(claims))
        return parsed;
    if (parsed != NULL && !json_equal(claims, parsed))
        resource_tell(reading, "softwareStatementJson", "differs from softwareStatement");
    return claims;
}

/* Set both columns of the statement, whichever of the two members was given. */
static void
client_check_statement(struct resource_reading *reading)
{
    const struct client_state *stored = client_stored(reading);
    const char *name, *text = resource_text(reading, "softwareStatementJson");
    json_t *claims = client_find_statement(reading, &name);
    if (claims == NULL)
        return;
    if (stored != NULL && strcmp(stored->registration, "STATEMENT") == 0) {
        client_check_stated(reading, name, claims);
        return;
    }
    const char *why =
        software_statement_fault(reading->mem, claims, resource_text(reading, "clientId"));
    if (why != NULL)
        resource_tell(reading, name, why);
    if (text == NULL && (text = jsonx_dump(reading->mem, claims)) == NULL)
        reading->lost = true;
    resource_set_column(reading, "software_statement", json_incref(claims));
    resource_set_column(reading, "software_statement_json", json_string(text));
}

static void
client_check(struct resource_reading *reading)
{
    /* Not in the table: a PUT has it in its path, and the reader puts it into the object. */
    const json_t *id = json_object_get(reading->object, "clientId");
    if (id == NULL || json_is_null(id))
        resource_tell(reading, "clientId", "is required");
    client_check_registration(reading);
    client_check_secret(reading);
    client_check_lists(reading);
    client_check_keys(reading);
    client_check_scope(reading);
    client_check_id_token_alg(reading);
    client_check_dpop(reading);
    client_check_statement(reading);
}

const struct resource_body client_body = {
    .fields = &client_table,
    .key = "clientId",
    .key_fixed = true,
    .secret = "clientSecret",
    .check = client_check,
};
