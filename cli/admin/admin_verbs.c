/* Verbs of keys, clients, identity providers, sessions, consents and tokens: what each verb asks
 * for, how its options become members, and what it prints. */
#include "config.h"

#include "cli/admin/admin.h"
#include "cli/verbs.h"

#define AT(member) offsetof(struct cli_choices, member)
#define API "/admin/api/"

/* clang-format off */

/* ---- keys */

static const struct output_column admin_key_columns[] = {
    {"id",        "ID"},
    {"role",      "ROLE"},
    {"managedBy", "MANAGED BY"},
    {"createdAt", "CREATED"},
    {"expiresAt", "EXPIRES"},
    {"lastUsedAt", "USED"},
    {"revokedAt", "REVOKED"},
    {"label",     "LABEL"},
    {NULL, NULL},
};
const struct output_column key_columns[] = {
    {"kid",            "KID"},
    {"use",            "USE"},
    {"alg",            "ALG"},
    {"state",          "STATE"},
    {"createdAt",      "CREATED"},
    {"activatedAt",    "ACTIVE"},
    {"retiredAt",      "RETIRED"},
    {"publishedUntil", "PUBLISHED UNTIL"},
    {NULL, NULL},
};

/* ---- clients */

#define CLIENT_OPTIONS \
    {"auth-method", 0, "METHOD", AT(auth_method), false, \
     "Authentication at /token: none, client_secret_basic, client_secret_post, private_key_jwt " \
     "or spiffe_jwt"}, \
    {"client-uri", 0, "URL", AT(client_uri), false, "Web page of the client"}, \
    {"disable", 0, NULL, AT(disable), false, "Refuse all requests of the client"}, \
    {"dpop-bound", 0, NULL, AT(dpop_bound), false, \
     "Bind every token of the client to the key of a DPoP proof"}, \
    {"dpop-optional", 0, NULL, AT(dpop_optional), false, \
     "Give the client tokens without a DPoP proof too"}, \
    {"enable", 0, NULL, AT(enable), false, "Accept requests of the client"}, \
    {"file", 0, "FILE", AT(file), false, \
     "Take members of the client from the JSON object in FILE, or - for standard input"}, \
    {"id-token-alg", 0, "ALG", AT(id_token_alg), false, \
     "Algorithm of its ID tokens, one of SVC_OIDC_ID_TOKEN_ALGS"}, \
    {"jwks", 0, "FILE", AT(jwks), false, \
     "Take the public keys of the client from the JWK Set in FILE"}, \
    {"jwks-uri", 0, "URL", AT(jwks_uri), false, "Address of the public keys of the client"}, \
    {"logo-uri", 0, "URL", AT(logo_uri), false, "Picture of the client"}, \
    {"logout-uri", 0, "URL...", AT(logout_uris), false, \
     "Address to which a browser may go after a logout; may be repeated"}, \
    {"name", 0, "NAME", AT(name), false, "Name that people see"}, \
    {"pkce-optional", 0, NULL, AT(pkce_optional), false, \
     "Accept authorization requests of the confidential client without PKCE"}, \
    {"pkce-required", 0, NULL, AT(pkce_required), false, \
     "Demand PKCE (RFC 7636) of the confidential client too"}, \
    {"redirect-uri", 0, "URL...", AT(redirect_uris), false, \
     "Redirect URI of the client; may be repeated"}, \
    {"scope", 0, "SCOPE...", AT(scopes), false, \
     "Scope that the client may request at most; may be repeated"}, \
    {"type", 0, "TYPE", AT(type), false, "Either confidential or public"}, \
    {NULL, 0, NULL, 0, false, NULL}

static const struct cli_option client_create_options[] = {CLIENT_OPTIONS};
static const struct cli_option client_update_options[] = {CLIENT_OPTIONS};
static const struct cli_option client_delete_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};
static const struct cli_option client_rotate_options[] = {
    {"previous-ttl", 0, "SECONDS", AT(previous_ttl), false,
     "Accept the previous secret for SECONDS more, at most 2592000 (default 0)"},
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};

static const struct admin_member client_members[] = {
    {AT(auth_method),   "tokenEndpointAuthMethod", ADMIN_TEXT},
    {AT(client_uri),    "clientUri",               ADMIN_TEXT},
    {AT(disable),       "enabled",                 ADMIN_FALSE},
    {AT(dpop_bound),    "dpopBoundAccessTokens",   ADMIN_TRUE},
    {AT(dpop_optional), "dpopBoundAccessTokens",   ADMIN_FALSE},
    {AT(enable),        "enabled",                 ADMIN_TRUE},
    {AT(id_token_alg),  "idTokenSignedResponseAlg", ADMIN_TEXT},
    {AT(jwks),          "jwks",                    ADMIN_OBJECT},
    {AT(jwks_uri),      "jwksUri",                 ADMIN_TEXT},
    {AT(logo_uri),      "logoUri",                 ADMIN_TEXT},
    {AT(logout_uris),   "postLogoutRedirectUris",  ADMIN_WORDS},
    {AT(name),          "clientName",              ADMIN_TEXT},
    {AT(pkce_optional), "pkceRequired",            ADMIN_FALSE},
    {AT(pkce_required), "pkceRequired",            ADMIN_TRUE},
    {AT(redirect_uris), "redirectUris",            ADMIN_WORDS},
    {AT(scopes),        "scope",                   ADMIN_TEXT},
    {AT(type),          "clientType",              ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct admin_member rotation_members[] = {
    {AT(previous_ttl), "previousSecretTtlSeconds", ADMIN_NUMBER},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column client_columns[] = {
    {"clientId",         "CLIENT"},
    {"clientType",       "TYPE"},
    {"registrationType", "REGISTERED"},
    {"enabled",          "ENABLED"},
    {"clientName",       "NAME"},
    {NULL, NULL},
};
#define NO_CLIENT "is not a client; see `authzctl client list`"

/* ---- identity providers */

#define IDP_OPTIONS \
    {"auth-time", 0, NULL, AT(auth_time), false, \
     "The provider tells when the person signed in (auth_time), as it is taken to do"}, \
    {"authorization-endpoint", 0, "URL", AT(authorization_endpoint), false, \
     "Authorization endpoint, if discovery shall not tell it"}, \
    {"claim", 0, "CLAIM...", AT(claims), false, \
     "Claim that is kept of a person, and others are dropped; may be repeated"}, \
    {"client-id", 0, "ID", AT(client), false, "Name of this service at the provider"}, \
    {"disable", 0, NULL, AT(disable), false, "Let no user sign in at the provider"}, \
    {"discovery-url", 0, "URL", AT(discovery_url), false, \
     "Address of the metadata, if they do not stand below the issuer"}, \
    {"enable", 0, NULL, AT(enable), false, "Let users sign in at the provider"}, \
    {"file", 0, "FILE", AT(file), false, \
     "Take members, such as clientSecret, from the JSON object in FILE, or - for standard input"}, \
    {"issuer", 0, "URL", AT(issuer), false, "Issuer of the provider"}, \
    {"issuer-alias", 0, "TEXT...", AT(issuer_aliases), false, \
     "Other text of iss in its answers; may be repeated"}, \
    {"jwks-uri", 0, "URL", AT(jwks_uri), false, "Key set, if discovery shall not tell it"}, \
    {"logo", 0, "FILE", AT(logo), false, \
     "Show the PNG, JPEG or WebP picture in FILE, at most 16 KiB, where people choose a " \
     "provider"}, \
    {"name", 0, "NAME", AT(name), false, "Name that people see"}, \
    {"no-auth-time", 0, NULL, AT(no_auth_time), false, \
     "The provider does not tell it, so prompt=login and max_age are login_required there"}, \
    {"prompt", 0, "WORD...", AT(prompts), false, \
     "Word of prompt that the provider takes; may be repeated"}, \
    {"scope", 0, "SCOPE...", AT(scopes), false, \
     "Scope that is requested from the provider; may be repeated"}, \
    {"token-auth-method", 0, "METHOD", AT(auth_method), false, \
     "Authenticate there by METHOD: client_secret_basic, client_secret_post, private_key_jwt or " \
     "none"}, \
    {"token-endpoint", 0, "URL", AT(token_endpoint), false, \
     "Token endpoint, if discovery shall not tell it"}, \
    {"userinfo-endpoint", 0, "URL", AT(userinfo_endpoint), false, \
     "Userinfo endpoint, if discovery shall not tell it"}, \
    {NULL, 0, NULL, 0, false, NULL}

static const struct cli_option idp_create_options[] = {IDP_OPTIONS};
static const struct cli_option idp_update_options[] = {IDP_OPTIONS};
/* A change can be changed back, so it is no CLI_YES; the verb asks itself, with what follows. */
const struct cli_option idp_home_options[] = {
    {"yes", 'y', NULL, AT(defaults), false, "Do not ask before a change"},
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct cli_option idp_delete_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};

static const struct admin_member idp_members[] = {
    {AT(auth_time),              "sendsAuthTime",         ADMIN_TRUE},
    {AT(authorization_endpoint), "authorizationEndpoint", ADMIN_TEXT},
    {AT(auth_method),            "tokenAuthMethod",       ADMIN_TEXT},
    {AT(claims),                 "claims",                ADMIN_WORDS},
    {AT(client),                 "clientId",              ADMIN_TEXT},
    {AT(discovery_url),          "discoveryUrl",          ADMIN_TEXT},
    {AT(issuer_aliases),         "issuerAliases",         ADMIN_WORDS},
    {AT(disable),                "enabled",               ADMIN_FALSE},
    {AT(enable),                 "enabled",               ADMIN_TRUE},
    {AT(issuer),                 "issuer",                ADMIN_TEXT},
    {AT(jwks_uri),               "jwksUri",               ADMIN_TEXT},
    {AT(logo),                   "logo",                  ADMIN_LOGO},
    {AT(name),                   "name",                  ADMIN_TEXT},
    {AT(no_auth_time),           "sendsAuthTime",         ADMIN_FALSE},
    {AT(prompts),                "prompts",               ADMIN_WORDS},
    {AT(scopes),                 "scopes",                ADMIN_WORDS},
    {AT(token_endpoint),         "tokenEndpoint",         ADMIN_TEXT},
    {AT(userinfo_endpoint),      "userinfoEndpoint",      ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column idp_columns[] = {
    {"idpId",   "PROVIDER"},
    {"enabled", "ENABLED"},
    {"issuer",  "ISSUER"},
    {"name",    "NAME"},
    {NULL, NULL},
};
#define NO_IDP "is not an identity provider; see `authzctl idp list`"

/* ---- sessions and consents */

static const struct cli_option session_list_options[] = {ADMIN_BY_SUBJECT,
                                                         {NULL, 0, NULL, 0, false, NULL}};
static const struct cli_option restore_fence_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};
static const struct cli_option session_end_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};
static const struct cli_option consent_list_options[] = {
    {"client", 0, "CLIENT", AT(client), false, "Show those for CLIENT alone"},
    ADMIN_BY_SUBJECT,
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct cli_option consent_forget_options[] = {CLI_YES,
                                                           {NULL, 0, NULL, 0, false, NULL}};

static const struct admin_member session_filters[] = {
    {AT(subject), "subjectId", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct admin_member consent_filters[] = {
    {AT(client),  "clientId",  ADMIN_TEXT},
    {AT(subject), "subjectId", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column session_columns[] = {
    {"sid",       "SESSION"},
    {"subjectId", "SUBJECT"},
    {"idpId",     "PROVIDER"},
    {"createdAt", "CREATED"},
    {"expiresAt", "EXPIRES"},
    {NULL, NULL},
};
static const struct cli_option owner_list_options[] = {
    {"owner", 0, "NAME", AT(owner), false, "Show the objects of NAME alone"},
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member owner_filters[] = {
    {AT(owner), "owner", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column owner_columns[] = {
    {"kind",      "KIND"},
    {"key",       "KEY"},
    {"owner",     "OWNER"},
    {"updatedAt", "APPLIED"},
    {NULL, NULL},
};
static const struct output_column consent_columns[] = {
    {"id",        "ID"},
    {"subjectId", "SUBJECT"},
    {"clientId",  "CLIENT"},
    {"grantedAt", "GRANTED"},
    {"scope",     "SCOPE"},
    {"resource",  "RESOURCE"},
    {NULL, NULL},
};

/* ---- tokens */

static const struct cli_option token_list_options[] = {
    {"client", 0, "CLIENT", AT(client), false, "Show those of CLIENT alone"},
    {"limit", 0, "N", AT(limit), false, "Show at most N tokens, from 1 to 200 (default 20)"},
    {"page", 0, "N", AT(page), false, "Show the page N, counted from 0"},
    ADMIN_BY_SUBJECT,
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member token_filters[] = {
    {AT(client),  "clientId",  ADMIN_TEXT},
    {AT(subject), "subjectId", ADMIN_TEXT},
    {AT(limit),   "size",      ADMIN_TEXT},
    {AT(page),    "page",      ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column token_columns[] = {
    {"kind",      "KIND"},
    {"tokenId",   "ID"},
    {"clientId",  "CLIENT"},
    {"subjectId", "SUBJECT"},
    {"issuedAt",  "ISSUED"},
    {"expiresAt", "EXPIRES"},
    {"scope",     "SCOPE"},
    {"resource",  "RESOURCE"},
    {NULL, NULL},
};

const struct admin_verb people_verbs[] = {
    {ADMIN_VERB("admin-key link", "ID", 1, NULL, verbs_asking,
                "Make a link that signs a browser in to the console once",
                "The link is valid for 10 minutes and gives the rights of the admin key ID. "
                "Whoever opens it first is signed in, so keep it as you keep the key; it cannot be "
                "shown again. `authzctl admin-key list` has the ids."),
     .method = "POST", .path = API "admin-keys/{}/link",
     .missing = "is not a valid admin key; see `authzctl admin-key list`"},
    {ADMIN_VERB("admin-key list", "", 0, NULL, verbs_asking,
                "List the admin keys, including revoked ones",
                "The keys themselves are never shown."),
     .method = "GET", .path = API "admin-keys", .columns = admin_key_columns},
    {ADMIN_VERB("client create", "CLIENT", 1, client_create_options, cli_needs_all,
                "Create a client and print it, with its secret if it has one",
                "The secret cannot be shown again. CLIENT has no rights until `authzctl entitle` "
                "gives it some. Options take precedence over --file, whose members are those of "
                "the admin API (ClientDto)."),
     .method = "POST", .path = API "clients", .key = "clientId", .members = client_members},
    {ADMIN_VERB("client delete", "CLIENT", 1, client_delete_options, cli_needs_all,
                "Delete a client and revoke its tokens", NULL),
     .method = "DELETE", .path = API "clients/{}", .done = "was deleted", .missing = NO_CLIENT},
    {ADMIN_VERB("client list", "", 0, NULL, verbs_asking,
                "List the clients", NULL),
     .method = "GET", .path = API "clients", .columns = client_columns},
    {ADMIN_VERB("client rotate-secret", "CLIENT", 1, client_rotate_options, cli_needs_all,
                "Give a client a new secret and print it",
                "The secret cannot be shown again."),
     .method = "POST", .path = API "clients/{}/rotate-secret", .members = rotation_members,
     .missing = NO_CLIENT},
    {ADMIN_VERB("client show", "CLIENT", 1, NULL, verbs_asking,
                "Print a client, without its secret", NULL),
     .method = "GET", .path = API "clients/{}", .missing = NO_CLIENT},
    {ADMIN_VERB("client update", "CLIENT", 1, client_update_options, cli_needs_all,
                "Change members of a client and print it",
                "Members that neither an option nor --file names stay as they are. An option that "
                "may be repeated replaces the whole list. If another administrator changes the "
                "client meanwhile, nothing is changed."),
     .method = "PUT", .path = API "clients/{}", .key = "clientId", .members = client_members,
     .missing = NO_CLIENT},
    {ADMIN_VERB("consent forget", "ID", 1, consent_forget_options, verbs_asking,
                "Forget a consent, so that the user is asked again", NULL),
     .method = "DELETE", .path = API "consents/{}", .done = "was forgotten",
     .missing = "is not the id of a consent; see `authzctl consent list`"},
    {ADMIN_VERB("consent list", "", 0, consent_list_options, verbs_asking,
                "List the consents that users gave, at most 1000", NULL),
     .method = "GET", .path = API "consents", .members = consent_filters,
     .columns = consent_columns},
    {ADMIN_VERB_RUN("idp create", "IDP", 1, idp_create_options, cli_needs_all, idp_create_run,
                "Create an identity provider and print it",
                "A provider whose issuer cannot be used is disabled, unless --enable says "
                "otherwise, and a warning says why. `home` says whether its people keep their sub "
                "as their name. IDP becomes part of the redirect URI to register at the provider: "
                "ISSUER/authorize/callback/IDP. The secret of this service at the provider is the "
                "member clientSecret of --file, because other users of the host can read a command "
                "line. "
                "Without a logo, none is shown; \"logo\": null in --file takes it away."),
     .method = "POST", .path = API "identity-providers", .key = "idpId", .members = idp_members},
    {ADMIN_VERB("idp delete", "IDP", 1, idp_delete_options, cli_needs_all,
                "Delete an identity provider", NULL),
     .method = "DELETE", .path = API "identity-providers/{}", .done = "was deleted",
     .missing = NO_IDP},
    {ADMIN_VERB("idp list", "", 0, NULL, verbs_asking,
                "List the identity providers", NULL),
     .method = "GET", .path = API "identity-providers", .columns = idp_columns},
    {ADMIN_VERB("idp show", "IDP", 1, NULL, verbs_asking,
                "Print an identity provider, without its secret", NULL),
     .method = "GET", .path = API "identity-providers/{}", .missing = NO_IDP},
    {ADMIN_VERB("idp update", "IDP", 1, idp_update_options, cli_needs_all,
                "Change members of an identity provider and print it",
                "Members that neither an option nor --file names stay as they are, and so does the "
                "secret. If another administrator changes the provider meanwhile, nothing is "
                "changed."),
     .method = "PUT", .path = API "identity-providers/{}", .key = "idpId", .members = idp_members,
     .missing = NO_IDP},
    {ADMIN_VERB("keys list", "", 0, NULL, verbs_signing,
                "List the signing keys: next, active and retired",
                "The keys themselves are never shown. A retired key stays published until the time "
                  "of the last column."),
     .method = "GET", .path = API "keys", .columns = key_columns},
    {ADMIN_VERB("owner list", "", 0, owner_list_options, verbs_asking,
                "List the objects that directories of files keep as they say", "See `authzctl "
                                                                      "apply`."),
     .method = "GET", .path = API "object-owners", .members = owner_filters,
     .columns = owner_columns},
    {ADMIN_VERB("owner release", "KIND KEY", 2, NULL, cli_needs_all,
                "Release an object from its owner; the object stays",
                "After that, other files can adopt it. `authzctl owner list` has the names."),
     .method = "DELETE", .path = API "object-owners?kind={}&key={}", .done = "was released",
     .missing = "has no owner of this name; see `authzctl owner list`"},
    {ADMIN_VERB("restore-fence", "", 0, restore_fence_options, verbs_asking,
                "Revoke all tokens and end all sessions, after the database was restored",
                "A database that was restored to an earlier moment has forgotten what was revoked "
                "or used up since then. Run it before the restored service takes requests; "
                "doc/backup.md says what else to look at. Rights, clients and keys stay."),
     .method = "POST", .path = API "restore-fence"},
    {ADMIN_VERB("session end", "SESSION", 1, session_end_options, verbs_asking,
                "End a browser session", NULL),
     .method = "DELETE", .path = API "sessions/{}", .done = "was ended",
     .missing = "is not a session; see `authzctl session list`"},
    {ADMIN_VERB("session list", "", 0, session_list_options, verbs_asking,
                "List the browser sessions, at most 1000", NULL),
     .method = "GET", .path = API "sessions", .members = session_filters,
     .columns = session_columns},
    {ADMIN_VERB("token list", "", 0, token_list_options, verbs_asking,
                "List the live tokens, newest first",
                "The tokens themselves are never shown: ID is that of audit rows. With --json the "
                "page object of the admin API is printed; `last` is false if there are more."),
     .method = "GET", .path = API "tokens", .members = token_filters, .columns = token_columns,
     .list = "content"},
    {.verb = {.words = NULL}},
};
/* clang-format on */

const struct admin_verb *const admin_verbs[] = {people_verbs, gateway_verbs, audit_verbs, NULL};
