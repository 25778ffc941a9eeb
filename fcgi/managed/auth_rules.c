/* The rules between the members of upstreamAuth: what each type has and needs, and defaults. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "managed/reader.h"

/* Longest secret, in octets: a private key in PEM. All of one resource fit into SEAL_PLAIN_MAX. */
#define SECRET_MAX 8192

/* Bits of the types. */
#define BIT(type) (1U << MANAGED_AUTH_##type)
#define GRANTS (BIT(CLIENT_CREDENTIALS) | BIT(TOKEN_EXCHANGE))
#define CARRIED (BIT(STATIC_HEADER) | BIT(USER_SECRET))

/* clang-format off */
/* The types that have a member, and those that do not work without it. */
static const struct {
    const char *member;
    unsigned types, required;
} uses[] = {
    {"type",                  ~0U,                                                   0},
    {"header",                CARRIED | BIT(OAUTH_LINK),                             0},
    {"scheme",                CARRIED | BIT(OAUTH_LINK),                             0},
    {"query",                 CARRIED,                                               0},
    {"value",                 BIT(STATIC_HEADER),
     BIT(STATIC_HEADER)},
    {"username",              BIT(BASIC),                                            BIT(BASIC)},
    {"password",              BIT(BASIC),                                            BIT(BASIC)},
    {"provider",              BIT(OAUTH_LINK),                                       0},
    {"discovery",             BIT(OAUTH_LINK),                                       0},
    {"issuer",                GRANTS | BIT(OAUTH_LINK),                              0},
    {"authorizationEndpoint", BIT(OAUTH_LINK),                                       0},
    {"tokenEndpoint",         GRANTS | BIT(OAUTH_LINK),                              GRANTS},
    {"revocationEndpoint",    BIT(OAUTH_LINK),                                       0},
    {"registration",          BIT(OAUTH_LINK),                                       0},
    {"redirectUri",           BIT(OAUTH_LINK),                                       0},
    {"clientId",              GRANTS | BIT(OAUTH_LINK),                              GRANTS},
    {"clientSecret",          GRANTS | BIT(OAUTH_LINK),                              0},
    {"privateKeyJwt",         GRANTS,                                                0},
    {"tokenAuthMethod",       GRANTS | BIT(OAUTH_LINK),                              0},
    {"scopes",                GRANTS | BIT(OAUTH_LINK),                              0},
    {"scopeSeparator",        GRANTS | BIT(OAUTH_LINK),                              0},
    {"scopeParam",            BIT(OAUTH_LINK),                                       0},
    {"pkce",                  BIT(OAUTH_LINK),                                       0},
    {"audience",              GRANTS,                                                0},
    {"resource",              GRANTS | BIT(OAUTH_LINK),                              0},
    {"resourceParam",         BIT(OAUTH_LINK),                                       0},
    {"authorizeParams",       BIT(OAUTH_LINK),                                       0},
    {"tokenParams",           GRANTS | BIT(OAUTH_LINK),                              0},
    {"refreshParams",         BIT(OAUTH_LINK),                                       0},
    {"tokenBodyFormat",       GRANTS | BIT(OAUTH_LINK),                              0},
    {"accessTokenPointer",    GRANTS | BIT(OAUTH_LINK),                              0},
    {"accountPointer",        BIT(OAUTH_LINK),                                       0},
    {"defaultExpiresIn",      GRANTS | BIT(OAUTH_LINK),                              0},
    {"subjectTokenType",      BIT(TOKEN_EXCHANGE),                                   0},
    {"requestedTokenType",    BIT(TOKEN_EXCHANGE),                                   0},
    {"label",                 BIT(USER_SECRET),                                      0},
    {"help",                  BIT(USER_SECRET),                                      0},
    {"validate",              BIT(USER_SECRET),                                      0},
};
/* clang-format on */

static const char *
secret_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    if (json_is_object(value) || json_is_null(value))
        return NULL; /* {"set": true} keeps it, null clears it */
    if (text == NULL || *text == '\0' || json_string_length(value) > SECRET_MAX)
        return "must be a text of at most 8192 octets, {\"set\": true} or null";
    for (; *text != '\0'; text++)
        if ((unsigned char) *text < 0x20 && *text != '\n' && *text != '\r' && *text != '\t')
            return "must not have control characters";
    return NULL;
}

/* ---- the rules between members */

/* Refuse members of other types: a secret among them would be kept and never used. */
static void
check_uses(struct reader *reader, const json_t *object, const struct managed_auth *auth)
{
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        const json_t *value = json_object_get(object, uses[i].member);
        unsigned bit = 1U << auth->type;
        if (value != NULL && !json_is_null(value) && (uses[i].types & bit) == 0)
            reader_tell_text(reader, uses[i].member, "is no member of the type %s",
                             auth->type_name);
    }
}

static bool
secret_is_set(const struct reader *reader, const char *name)
{
    return json_object_get(reader->reading->secrets, name) != NULL;
}

/* Note the first member that the type does not work without. */
static void
managed_check_required(struct reader *reader, const json_t *object, const struct managed_auth *auth)
{
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        const json_t *value = json_object_get(object, uses[i].member);
        if ((uses[i].required & 1U << auth->type) == 0)
            continue;
        bool secret =
            strcmp(uses[i].member, "value") == 0 || strcmp(uses[i].member, "password") == 0;
        if (secret ? !secret_is_set(reader, uses[i].member) : !json_is_string(value))
            reader_missing(reader, talloc_asprintf(reader->mem, "upstreamAuth.%s", uses[i].member));
    }
}

/* Note what a client of another authorization server needs. */
static void
managed_check_client(struct reader *reader, const struct managed_auth *auth)
{
    bool linked = auth->type == MANAGED_AUTH_OAUTH_LINK;
    bool needs_secret = strcmp(auth->token_auth_method, "client_secret_basic") == 0
                        || strcmp(auth->token_auth_method, "client_secret_post") == 0;
    if (linked && strcmp(auth->discovery, "none") == 0 && auth->authorization_endpoint == NULL)
        reader_missing(reader, "upstreamAuth.authorizationEndpoint");
    if (linked && strcmp(auth->discovery, "none") == 0 && auth->token_endpoint == NULL)
        reader_missing(reader, "upstreamAuth.tokenEndpoint");
    if (linked && strcmp(auth->discovery, "issuer") == 0 && auth->issuer == NULL)
        reader_missing(reader, "upstreamAuth.issuer");
    if (linked && strcmp(auth->registration, "static") == 0 && auth->client_id == NULL)
        reader_missing(reader, "upstreamAuth.clientId");
    /* The upstream names its authorization server: the secret of one server must not go to the next
     * that it names. */
    if (linked && strcmp(auth->discovery, "prm") == 0 && strcmp(auth->registration, "static") == 0
        && auth->issuer == NULL && secret_is_set(reader, "clientSecret"))
        reader_missing(reader, "upstreamAuth.issuer");
    /* The subject token names it as its resource. */
    if (auth->type == MANAGED_AUTH_TOKEN_EXCHANGE && auth->issuer == NULL)
        reader_missing(reader, "upstreamAuth.issuer");
    if (strcmp(auth->token_auth_method, "private_key_jwt") == 0) {
        if (linked)
            reader_tell(reader, "tokenAuthMethod", "is not offered for oauth_link");
        else if (!secret_is_set(reader, "key"))
            reader_missing(reader, "upstreamAuth.privateKeyJwt.key");
    } else if (needs_secret && !secret_is_set(reader, "clientSecret")
               && (!linked || strcmp(auth->registration, "static") == 0)) {
        reader_missing(reader, "upstreamAuth.clientSecret");
    }
}

static void
managed_check_addresses(struct reader *reader, const struct managed_auth *auth)
{
    const struct {
        const char *member, *url;
    } addresses[] = {
        {"issuer",                auth->issuer                },
        {"authorizationEndpoint", auth->authorization_endpoint},
        {"tokenEndpoint",         auth->token_endpoint        },
        {"revocationEndpoint",    auth->revocation_endpoint   },
    };
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        const char *why =
            addresses[i].url != NULL ? reader_address_fault(reader, addresses[i].url, NULL) : NULL;
        if (why != NULL)
            reader_tell(reader, addresses[i].member, why);
    }
}

static void
check_secrets(struct reader *reader, const json_t *object)
{
    for (size_t i = 0; i < MANAGED_SECRETS_MAX; i++) {
        const struct managed_secret_row *row = &managed_secret_rows[i];
        const json_t *value = json_object_get(object, row->member);
        if (row->inner != NULL)
            value = json_object_get(value, row->inner);
        const char *why = value != NULL ? secret_rule(reader->mem, value) : NULL;
        if (why != NULL)
            reader_tell_text(reader, row->inner != NULL ? "privateKeyJwt.key" : row->member, "%s",
                             why);
    }
}

static void
default_text(const char **text, const char *value)
{
    if (*text == NULL)
        *text = value;
}

/* The credential goes into Authorization with Bearer, unless the document says otherwise. */
static void
default_place(struct managed_auth *auth)
{
    if (auth->type == MANAGED_AUTH_NONE || auth->query != NULL)
        return;
    default_text(&auth->header, "Authorization");
    default_text(&auth->scheme, auth->type == MANAGED_AUTH_BASIC                 ? "Basic"
                                : strcasecmp(auth->header, "Authorization") == 0 ? "Bearer"
                                                                                 : "");
}

static void
default_client(const struct reader *reader, const json_t *private_key, struct managed_auth *auth)
{
    bool secret = auth->type != MANAGED_AUTH_OAUTH_LINK || secret_is_set(reader, "clientSecret");
    default_text(&auth->discovery, "none");
    default_text(&auth->registration, "static");
    default_text(&auth->scope_separator, " ");
    default_text(&auth->scope_param, "scope");
    default_text(&auth->pkce, "S256");
    default_text(&auth->resource_param, "send");
    default_text(&auth->token_body_format, "form");
    default_text(&auth->access_token_pointer, "/access_token");
    default_text(&auth->subject_token_type, "access_token");
    default_text(&auth->token_auth_method, private_key != NULL ? "private_key_jwt"
                                           : secret            ? "client_secret_basic"
                                                               : "none");
    default_text(&auth->key_alg, "RS256");
    if (auth->validate_path != NULL)
        default_text(&auth->validate_method, "GET");
}

void
reader_auth_rules(struct reader *reader, const json_t *object, const json_t *private_key,
                  struct managed_auth *auth)
{
    check_uses(reader, object, auth);
    check_secrets(reader, object);
    managed_check_addresses(reader, auth);
    if (auth->header != NULL && auth->query != NULL)
        reader_tell(reader, "query", "cannot be given with header");
    default_place(auth);
    default_client(reader, private_key, auth);
    managed_check_required(reader, object, auth);
    if ((BIT(OAUTH_LINK) | GRANTS) & 1U << auth->type)
        managed_check_client(reader, auth);
    if (reader->resource->upstream == MANAGED_STATIC && auth->type != MANAGED_AUTH_NONE)
        reader_tell(reader, "type", "must be none for a STATIC resource");
}
