#include "config.h"

#include "managed/auth.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/visible.h"
#include "base/words.h"
#include "crypto/secret.h"
#include "managed/reader.h"

/* Limits of the parameters that are added to requests for tokens. */
#define PARAMS_MAX 32
#define PARAM_VALUE_MAX 512
#define EXPIRES_IN_MAX (10 * 365 * 86400)

static const char *const discoveries[] = {"none", "prm", "issuer", NULL};
static const char *const registrations[] = {"static", "cimd", "dcr", NULL};
static const char *const redirects[] = {"own", "shared", NULL};
static const char *const token_methods[] = {"client_secret_basic", "client_secret_post",
                                            "private_key_jwt", "none", NULL};
static const char *const pkce_methods[] = {"S256", "force", "none", NULL};
static const char *const resource_params[] = {"send", "authorize_only", "never", NULL};
static const char *const body_formats[] = {"form", "json", NULL};
static const char *const subject_types[] = {"access_token", NULL};
static const char *const key_algs[] = {"RS256", "PS256", "ES256", "ES384", "EdDSA", NULL};
static const char *const validate_methods[] = {"GET", "HEAD", "POST", NULL};
static const char *const type_words[] = {
    "none",           "static_header", "basic",       "client_credentials",
    "token_exchange", "oauth_link",    "user_secret", NULL};

const struct managed_secret_row managed_secret_rows[MANAGED_SECRETS_MAX] = {
    {"value",        "value",         NULL,  offsetof(struct managed_secrets, value)        },
    {"password",     "password",      NULL,  offsetof(struct managed_secrets, password)     },
    {"clientSecret", "clientSecret",  NULL,  offsetof(struct managed_secrets, client_secret)},
    {"key",          "privateKeyJwt", "key", offsetof(struct managed_secrets, private_key)  },
};

/* upstreamAuth as the document has it. */
struct raw_auth {
    struct managed_auth auth;
    const json_t *private_key, *validate;
};

/* ---- members */

/* Parameters that the service sets itself; state and redirect_uri bind an answer to its request. */
static const char *
managed_params_rule(TALLOC_CTX *mem, const json_t *value)
{
    static const char *const ours[] = {"client_id",     "client_secret",         "client_assertion",
                                       "redirect_uri",  "response_type",         "state",
                                       "code",          "code_challenge",        "code_verifier",
                                       "grant_type",    "refresh_token",         "subject_token",
                                       "actor_token",   "client_assertion_type", "request",
                                       "response_mode", "request_uri",           NULL};
    const char *name;
    json_t *param;
    if (json_object_size(value) > PARAMS_MAX)
        return "must have at most 32 members";
    json_object_foreach ((json_t *) (uintptr_t) value, name, param) {
        if (words_has(ours, name))
            return field_fault_text(mem, "%s: is set by the service and cannot be given", name);
        if (*name == '\0' || strlen(name) > MANAGED_WORD_MAX || visible_fault(name) != NULL)
            return "has a name that is not one of a parameter";
        if (!json_is_string(param) || json_string_length(param) > PARAM_VALUE_MAX
            || visible_fault(json_string_value(param)) != NULL)
            return "must have texts of at most 512 octets without control characters";
    }
    return NULL;
}

static const char *
scheme_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    for (const char *c = json_string_value(value); *c != '\0'; c++)
        if ((unsigned char) *c <= 0x20 || (unsigned char) *c >= 0x7f)
            return "must be one word";
    return NULL;
}

static const char *
validate_path_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char) *c <= 0x20 || (unsigned char) *c >= 0x7f || strchr("\\#?", *c) != NULL)
            return "must be a path";
    return *text == '/' && strstr(text, "..") == NULL ? NULL : "must be a path";
}

/* clang-format off */
static const struct field key_fields[] = {
    {"kid", FIELD_TEXT, .max = MANAGED_WORD_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct managed_auth, key_id), .help = "Id of the key at the authorization server"},
    {"alg", FIELD_TEXT, .words = key_algs, FIELD_INTO(struct managed_auth, key_alg),
     .help = "Signature algorithm"},
    {"key", FIELD_ANY, .secret = true, .help = "Private key as PEM; never shown"},
};
static const struct field_table key_table = FIELD_TABLE(NULL, key_fields, 0);

static const struct field validate_fields[] = {
    {"method", FIELD_TEXT, .words = validate_methods,
     FIELD_INTO(struct managed_auth, validate_method), .help = "Method; GET if it is left out"},
    {"path",   FIELD_TEXT, .max = FIELD_URI_MAX, .rule = validate_path_rule,
     FIELD_INTO(struct managed_auth, validate_path), .help = "Path below upstreamUrl; required"},
};
static const struct field_table validate_table = FIELD_TABLE(NULL, validate_fields, 0);

#define INTO(member) FIELD_INTO(struct raw_auth, auth.member)
static const struct field auth_fields[] = {
    {"type",                  FIELD_TEXT,      .required = true, .words = type_words,
     INTO(type_name), .help = "How the gateway authenticates at the upstream",
     .example = "\"static_header\""},
    {"header",                FIELD_TEXT,      .max = MANAGED_WORD_MAX,
     .rule = header_credential_rule, INTO(header),
     .help = "Header field of the credential; Authorization if neither it nor query is given",
     .example = "\"Authorization\""},
    {"scheme",                FIELD_TEXT,      .may_be_empty = true, .max = FIELD_WORD_MAX,
     .rule = scheme_rule, INTO(scheme),
     .help = "Word before the credential; Bearer in Authorization, none elsewhere",
     .example = "\"Bearer\""},
    {"query",                 FIELD_TEXT,      .max = MANAGED_WORD_MAX, .rule = managed_word_rule,
     INTO(query), .help = "Parameter of the credential, in place of a header field"},
    {"value",                 FIELD_ANY,       .secret = true,
     .help = "The credential; never shown"},
    {"username",              FIELD_TEXT,      .max = FIELD_NAME_MAX, .rule = field_rule_visible,
     INTO(username), .help = "User name of HTTP Basic"},
    {"password",              FIELD_ANY,       .secret = true,
     .help = "Password of HTTP Basic; never shown"},
    {"provider",              FIELD_TEXT,      .max = FIELD_NAME_MAX, .rule = field_rule_visible,
     INTO(provider), .help = "Name of the provider, for people"},
    {"discovery",             FIELD_TEXT,      .words = discoveries, INTO(discovery),
     .help = "Source of the endpoints: none (they are given here), prm (metadata of the upstream) "
             "or issuer (its metadata)"},
    {"issuer",                FIELD_TEXT,      .max = FIELD_URI_MAX, INTO(issuer),
     .help = "Issuer of the upstream's authorization server"},
    {"authorizationEndpoint", FIELD_TEXT,      .max = FIELD_URI_MAX, INTO(authorization_endpoint),
     .help = "Address to which a person is sent to link an account"},
    {"tokenEndpoint",         FIELD_TEXT,      .max = FIELD_URI_MAX, INTO(token_endpoint),
     .help = "Address at which tokens are fetched"},
    {"revocationEndpoint",    FIELD_TEXT,      .max = FIELD_URI_MAX, INTO(revocation_endpoint),
     .help = "Address at which tokens of a removed link are revoked"},
    {"registration",          FIELD_TEXT,      .words = registrations, INTO(registration),
     .help = "static (clientId is given), cimd or dcr"},
    {"redirectUri",           FIELD_TEXT,      .words = redirects, INTO(redirect_uri),
     .help = "Address to which the authorization server sends people back, and with which this "
             "service is registered there: own, /gateway/connect/callback/{name} below the issuer, "
             "or shared, the same without the name, for a registration that cannot be changed yet: "
             "with shared, an answer may be that of another resource's server"},
    {"clientId",              FIELD_TEXT,      .max = FIELD_URI_MAX, .rule = field_rule_visible,
     INTO(client_id), .help = "client_id of this service there"},
    {"clientSecret",          FIELD_ANY,       .secret = true,
     .help = "Secret of this service there; never shown"},
    {"privateKeyJwt",         FIELD_OBJECT,    .shape = &key_table,
     FIELD_INTO(struct raw_auth, private_key), .help = "Key in place of a secret (RFC 7523)"},
    {"tokenAuthMethod",       FIELD_TEXT,      .words = token_methods, INTO(token_auth_method),
     .help = "How this service authenticates at the token endpoint"},
    {"scopes",                FIELD_TEXT_LIST, .max = MANAGED_SCOPES_MAX,
     .item_max = FIELD_NAME_MAX, .rule = managed_scope_rule, INTO(scopes),
     .help = "Scopes to ask for there"},
    {"scopeSeparator",        FIELD_TEXT,      .max = 4, INTO(scope_separator),
     .help = "Text between the scopes; a space if it is left out"},
    {"scopeParam",            FIELD_TEXT,      .max = FIELD_WORD_MAX, .rule = managed_word_rule,
     INTO(scope_param), .help = "Parameter with the scopes; scope if it is left out"},
    {"pkce",                  FIELD_TEXT,      .words = pkce_methods, INTO(pkce),
     .help = "S256; force: the same though the server does not announce it; or none if the server "
             "refuses it"},
    {"audience",              FIELD_TEXT,      .max = FIELD_URI_MAX, .rule = field_rule_visible,
     INTO(audience), .help = "Parameter audience of the request for a token"},
    {"resource",              FIELD_TEXT,      .max = FIELD_URI_MAX, .rule = field_rule_visible,
     INTO(resource), .help = "Parameter resource of the request for a token (RFC 8707)"},
    {"resourceParam",         FIELD_TEXT,      .words = resource_params, INTO(resource_param),
     .help = "Requests that have the parameter resource: send (all), authorize_only (that to which "
             "a person is sent) or never, for servers that refuse it with invalid_target"},
    {"authorizeParams",       FIELD_OBJECT,    .rule = managed_params_rule, INTO(authorize_params),
     .help = "More parameters of the authorization request"},
    {"tokenParams",           FIELD_OBJECT,    .rule = managed_params_rule, INTO(token_params),
     .help = "More parameters of the request for a token"},
    {"refreshParams",         FIELD_OBJECT,    .rule = managed_params_rule, INTO(refresh_params),
     .help = "More parameters of a refresh"},
    {"tokenBodyFormat",       FIELD_TEXT,      .words = body_formats, INTO(token_body_format),
     .help = "form, or json for servers that want it"},
    {"accessTokenPointer",    FIELD_TEXT,      .max = FIELD_NAME_MAX, .rule = managed_pointer_rule,
     INTO(access_token_pointer),
     .help = "JSON Pointer of the token in the answer; /access_token if it is left out"},
    {"accountPointer",        FIELD_TEXT,      .max = FIELD_NAME_MAX, .rule = managed_pointer_rule,
     INTO(account_pointer),
     .help = "JSON Pointer of the name of the account, which the person sees"},
    {"defaultExpiresIn",      FIELD_INTEGER,   .min = 1, .max = EXPIRES_IN_MAX,
     INTO(default_expires_in), .help = "Seconds that a token lives if the answer does not say"},
    {"subjectTokenType",      FIELD_TEXT,      .words = subject_types, INTO(subject_token_type),
     .help = "access_token: one that is made for that server"},
    {"requestedTokenType",    FIELD_TEXT,      .max = FIELD_URI_MAX, .rule = field_rule_visible,
     INTO(requested_token_type), .help = "requested_token_type of the exchange (RFC 8693 2.1)"},
    {"label",                 FIELD_TEXT,      .max = FIELD_NAME_MAX, .rule = field_rule_visible,
     INTO(label), .help = "Name of the secret on the link page"},
    {"help",                  FIELD_TEXT,      .max = FIELD_URI_MAX, .rule = field_rule_visible,
     INTO(help), .help = "Text that tells people where they find the secret"},
    {"validate",              FIELD_OBJECT,    .shape = &validate_table,
     FIELD_INTO(struct raw_auth, validate),
     .help = "Request that tries a secret before it is stored"},
};
const struct field_table managed_auth_table = FIELD_TABLE("UpstreamAuth", auth_fields, 0);

/* clang-format on */

/* Read the type that a word names; return false if the word is unknown. */
static bool
auth_type_of(const char *word, enum managed_auth_type *ret)
{
    for (unsigned i = 0; word != NULL && i < MANAGED_AUTH_TYPES; i++)
        if (strcmp(type_words[i], word) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

bool
managed_auth_is_shared(enum managed_auth_type type)
{
    return type == MANAGED_AUTH_STATIC_HEADER || type == MANAGED_AUTH_BASIC
           || type == MANAGED_AUTH_CLIENT_CREDENTIALS;
}

bool
managed_auth_is_linked(enum managed_auth_type type)
{
    return type == MANAGED_AUTH_OAUTH_LINK || type == MANAGED_AUTH_USER_SECRET;
}

void
reader_auth(struct reader *reader, const json_t *object)
{
    struct raw_auth raw = {.private_key = NULL};
    struct managed_auth *auth = &reader->resource->auth;
    *auth = (struct managed_auth){.type = MANAGED_AUTH_NONE, .type_name = "none"};
    if (object == NULL)
        return;
    /* Continue after a fault, so that one answer has all faults; the rules between members depend
     * on the type. */
    reader->at = "upstreamAuth.";
    reader_fields(reader, &managed_auth_table, object, &raw);
    bool typed = auth_type_of(raw.auth.type_name, &raw.auth.type);
    *auth = raw.auth;
    reader_part(reader, "privateKeyJwt", &key_table, raw.private_key, auth);
    if (reader_part(reader, "validate", &validate_table, raw.validate, auth) && raw.validate != NULL
        && auth->validate_path == NULL)
        reader_tell(reader, "validate.path", "is required");
    if (typed)
        reader_auth_rules(reader, object, raw.private_key, auth);
    reader->at = "";
}

/* ---- secrets */

enum az_status
managed_secrets_read(TALLOC_CTX *mem, const char *text, size_t length, struct managed_secrets *ret)
{
    struct managed_secrets secrets = {.value = NULL};
    json_t *object;
    if (jsonx_parse(mem, text, length, 1, &object, NULL) != AZ_OK)
        return AZ_INVALID;
    for (size_t i = 0; i < MANAGED_SECRETS_MAX; i++) {
        const json_t *value = json_object_get(object, managed_secret_rows[i].name);
        char *copy = json_is_string(value)
                         ? secret_copy(mem, json_string_value(value), json_string_length(value))
                         : NULL;
        if (json_is_string(value)) {
            secret_wipe((void *) (uintptr_t) json_string_value(value), json_string_length(value));
            if (copy == NULL)
                return AZ_SERVER_ERROR;
        }
        *(const char **) ((char *) &secrets + managed_secret_rows[i].offset) = copy;
    }
    *ret = secrets;
    return AZ_OK;
}
