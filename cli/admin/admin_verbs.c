/* The verbs of the admin API: what each asks for, how its options become members, and what it
 * prints. */
#include "config.h"

#include "cli/admin/admin.h"
#include "cli/verbs.h"

#define AT(member) offsetof(struct cli_choices, member)

/* clang-format off */

/* ---- keys */

static const struct output_column admin_key_columns[] = {
    {"id",        "ID"},
    {"managedBy", "MANAGED BY"},
    {"createdAt", "CREATED"},
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
    {"auth-method", 0, "METHOD", AT(auth_method), false, "Authentication at /token: none, client_secret_basic, client_secret_post, private_key_jwt or spiffe_jwt"}, \
    {"client-uri", 0, "URL", AT(client_uri), false, "Web page of the client"}, \
    {"disable", 0, NULL, AT(disable), false, "Refuse all requests of the client"}, \
    {"dpop-bound", 0, NULL, AT(dpop_bound), false, "Bind every token of the client to the key of a DPoP proof"}, \
    {"dpop-optional", 0, NULL, AT(dpop_optional), false, "Give the client tokens without a DPoP proof too"}, \
    {"enable", 0, NULL, AT(enable), false, "Accept requests of the client"}, \
    {"file", 0, "FILE", AT(file), false, "Take members of the client from the JSON object in FILE, or - for standard input"}, \
    {"id-token-alg", 0, "ALG", AT(id_token_alg), false, "Algorithm of its ID tokens, one of SVC_OIDC_ID_TOKEN_ALGS"}, \
    {"jwks", 0, "FILE", AT(jwks), false, "Take the public keys of the client from the JWK Set in FILE"}, \
    {"jwks-uri", 0, "URL", AT(jwks_uri), false, "Address of the public keys of the client"}, \
    {"logo-uri", 0, "URL", AT(logo_uri), false, "Picture of the client"}, \
    {"logout-uri", 0, "URL...", AT(logout_uris), false, "Address to which a browser may go after a logout; may be repeated"}, \
    {"name", 0, "NAME", AT(name), false, "Name that people see"}, \
    {"redirect-uri", 0, "URL...", AT(redirect_uris), false, "Redirect URI of the client; may be repeated"}, \
    {"scope", 0, "SCOPE...", AT(scopes), false, "Scope that the client may request at most; may be repeated"}, \
    {"type", 0, "TYPE", AT(type), false, "Either confidential or public"}, \
    {NULL, 0, NULL, 0, false, NULL}

const struct cli_option client_create_options[] = {CLIENT_OPTIONS};
const struct cli_option client_update_options[] = {CLIENT_OPTIONS};
const struct cli_option client_delete_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};
const struct cli_option client_rotate_options[] = {
    {"previous-ttl", 0, "SECONDS", AT(previous_ttl), false, "Accept the previous secret for SECONDS more, at most 2592000 (default 0)"},
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
    {"authorization-endpoint", 0, "URL", AT(authorization_endpoint), false, "Authorization endpoint, if discovery shall not tell it"}, \
    {"client-id", 0, "ID", AT(client), false, "Name of this service at the provider"}, \
    {"disable", 0, NULL, AT(disable), false, "Let nobody sign in at the provider"}, \
    {"enable", 0, NULL, AT(enable), false, "Let users sign in at the provider"}, \
    {"file", 0, "FILE", AT(file), false, "Take members, such as clientSecret, from the JSON object in FILE, or - for standard input"}, \
    {"issuer", 0, "URL", AT(issuer), false, "Issuer of the provider"}, \
    {"jwks-uri", 0, "URL", AT(jwks_uri), false, "Key set, if discovery shall not tell it"}, \
    {"name", 0, "NAME", AT(name), false, "Name that people see"}, \
    {"scope", 0, "SCOPE...", AT(scopes), false, "Scope that is requested from the provider; may be repeated"}, \
    {"token-endpoint", 0, "URL", AT(token_endpoint), false, "Token endpoint, if discovery shall not tell it"}, \
    {"userinfo-endpoint", 0, "URL", AT(userinfo_endpoint), false, "Userinfo endpoint, if discovery shall not tell it"}, \
    {NULL, 0, NULL, 0, false, NULL}

const struct cli_option idp_create_options[] = {IDP_OPTIONS};
const struct cli_option idp_update_options[] = {IDP_OPTIONS};
/* A change can be changed back, so it is no CLI_YES; the verb asks itself, with what follows. */
const struct cli_option idp_home_options[] = {
    {"yes", 'y', NULL, AT(defaults), false, "Do not ask before a change"},
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option idp_delete_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};

static const struct admin_member idp_members[] = {
    {AT(authorization_endpoint), "authorizationEndpoint", ADMIN_TEXT},
    {AT(client),                 "clientId",              ADMIN_TEXT},
    {AT(disable),                "enabled",               ADMIN_FALSE},
    {AT(enable),                 "enabled",               ADMIN_TRUE},
    {AT(issuer),                 "issuer",                ADMIN_TEXT},
    {AT(jwks_uri),               "jwksUri",               ADMIN_TEXT},
    {AT(name),                   "name",                  ADMIN_TEXT},
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

/* ---- connectors */

const struct cli_option connector_install_options[] = {
    {"create", 0, NULL, AT(create), false, "Create the managed resource of the connector as well"},
    {"file", 0, "FILE", AT(file), false, "Take members, such as settings, from the JSON object in FILE, or - for standard input"},
    {"name", 0, "NAME", AT(name), false, "Name of the managed resource; the id of the connector if it is left out"},
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option connector_uninstall_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};
static const struct admin_member connector_members[] = {
    {AT(create), "createResources", ADMIN_TRUE},
    {AT(name),   "name",            ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column connector_columns[] = {
    {"id",        "CONNECTOR"},
    {"version",   "VERSION"},
    {"category",  "CATEGORY"},
    {"installed", "INSTALLED"},
    {"name",      "NAME"},
    {NULL, NULL},
};
#define NO_CONNECTOR "is not a connector; see `authzctl connector available`"
#define NOT_INSTALLED "is not an installed connector; see `authzctl connector list`"

/* ---- managed resources */

#define RESOURCE_OPTIONS \
    {"default-scope", 0, "SCOPE", AT(default_scope), false, "Scope of routes and tools that name none"}, \
    {"disable", 0, NULL, AT(disable), false, "Answer requests with 404 and hide the tools"}, \
    {"enable", 0, NULL, AT(enable), false, "Serve the resource"}, \
    {"file", 0, "FILE", AT(file), false, "Take members, such as routes and upstreamAuth, from the JSON object in FILE, or - for standard input"}, \
    {"name", 0, "NAME", AT(name), false, "Name that people see"}, \
    {"type", 0, "TYPE", AT(type), false, "Upstream: REST, MCP or STATIC"}, \
    {"url", 0, "URL", AT(url), false, "Address of the upstream"}, \
    {NULL, 0, NULL, 0, false, NULL}

const struct cli_option resource_create_options[] = {RESOURCE_OPTIONS};
const struct cli_option resource_update_options[] = {RESOURCE_OPTIONS};
const struct cli_option resource_delete_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};

const struct cli_option resource_approve_options[] = {
    {"pin", 0, "HASH", AT(pin), false, "Approve nothing but the description with this hash"},
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option resource_sync_options[] = {
    {"idp", 0, "IDP", AT(idp), false, "Identity provider of the person"},
    {"subject", 0, "SUBJECT", AT(subject), false, "Person whose linked account is used, for upstreams that know people alone"},
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member approval_members[] = {
    {AT(pin), "sha256", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct admin_member sync_members[] = {
    {AT(idp),     "idp",     ADMIN_TEXT},
    {AT(subject), "subject", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};

static const struct admin_member resource_members[] = {
    {AT(default_scope), "defaultScope", ADMIN_TEXT},
    {AT(disable),       "enabled",      ADMIN_FALSE},
    {AT(enable),        "enabled",      ADMIN_TRUE},
    {AT(name),          "displayName",  ADMIN_TEXT},
    {AT(type),          "upstreamType", ADMIN_TEXT},
    {AT(url),           "upstreamUrl",  ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column resource_columns[] = {
    {"name",         "RESOURCE"},
    {"upstreamType", "TYPE"},
    {"status",       "STATUS"},
    {"upstreamUrl",  "UPSTREAM"},
    {"statusReason", "REASON"},
    {NULL, NULL},
};
#define NO_RESOURCE "is not a managed resource; see `authzctl resource list`"

/* ---- sessions and consents */

#define SUBJECT {"subject", 0, "SUBJECT", AT(subject), false, "Show those of SUBJECT alone"}
const struct cli_option session_list_options[] = {SUBJECT, {NULL, 0, NULL, 0, false, NULL}};
const struct cli_option session_end_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};
const struct cli_option consent_list_options[] = {
    {"client", 0, "CLIENT", AT(client), false, "Show those for CLIENT alone"},
    SUBJECT,
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option consent_forget_options[] = {CLI_YES, {NULL, 0, NULL, 0, false, NULL}};

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

const struct cli_option token_list_options[] = {
    {"client", 0, "CLIENT", AT(client), false, "Show those of CLIENT alone"},
    {"limit", 0, "N", AT(limit), false, "Show at most N tokens, from 1 to 200 (default 20)"},
    {"page", 0, "N", AT(page), false, "Show the page N, counted from 0"},
    SUBJECT,
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

/* ---- audit */

#define BY_CLIENT {"client", 0, "CLIENT", AT(client), false, "Show those of CLIENT alone; CLIENT may be the label of an admin key"}
#define BY_ENDPOINT {"endpoint", 0, "PATH", AT(endpoint), false, "Show those of the endpoint PATH alone, for example /token"}
#define BY_FLOW {"flow", 0, "ID", AT(flow), false, "Show those of one sign-in and its tokens alone"}
#define BY_FROM {"from", 0, "DAY", AT(from), false, "Begin with DAY (UTC), for example 2026-01-31"}
#define BY_OUTCOME {"outcome", 0, "OUTCOME", AT(outcome), false, "Show those with OUTCOME alone: allowed, denied, rejected or error"}
#define BY_REQUEST {"request", 0, "ID", AT(request), false, "Show those of the request ID alone (X-Request-ID)"}
#define BY_TO {"to", 0, "DAY", AT(to), false, "End with DAY (UTC)"}

const struct cli_option audit_list_options[] = {
    BY_CLIENT, BY_ENDPOINT, BY_FLOW, BY_FROM,
    {"limit", 0, "N", AT(limit), false, "Show at most N rows, from 1 to 200 (default 20)"},
    BY_OUTCOME,
    {"page", 0, "N", AT(page), false, "Show the page N, counted from 0"},
    BY_REQUEST, SUBJECT, BY_TO,
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option audit_export_options[] = {
    BY_CLIENT, BY_ENDPOINT, BY_FLOW,
    {"format", 0, "FORMAT", AT(format), false, "Format of the export: json (default), ndjson or csv"},
    BY_FROM,
    {"from-instant", 0, "TIME", AT(from_instant), false, "Begin at TIME, for example 2026-01-31T12:00:00Z"},
    {"operation", 0, "NAME", AT(operation), false, "Export those of one operation alone, for example createClient"},
    BY_OUTCOME, BY_REQUEST,
    {"status", 0, "STATUS", AT(http_status), false, "Export those with this HTTP status alone"},
    SUBJECT, BY_TO,
    {"to-instant", 0, "TIME", AT(to_instant), false, "End before TIME"},
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option audit_tail_options[] = {
    BY_CLIENT, BY_ENDPOINT, BY_FLOW,
    {"interval", 0, "SECONDS", AT(interval), false, "Ask every SECONDS, from 1 to 3600 (default 2)"},
    {"limit", 0, "N", AT(limit), false, "Show N rows at first, from 1 to 200 (default 10)"},
    BY_OUTCOME, SUBJECT,
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option report_options[] = {
    BY_CLIENT, BY_FROM, BY_TO,
    {NULL, 0, NULL, 0, false, NULL},
};

#define FILTERS \
    {AT(client),   "clientId",  ADMIN_TEXT}, \
    {AT(endpoint), "endpoint",  ADMIN_TEXT}, \
    {AT(flow),     "flowId",    ADMIN_TEXT}, \
    {AT(outcome),  "outcome",   ADMIN_TEXT}, \
    {AT(subject),  "subjectId", ADMIN_TEXT}
#define DAYS {AT(from), "from", ADMIN_TEXT}, {AT(to), "to", ADMIN_TEXT}

static const struct admin_member audit_list_filters[] = {
    FILTERS, DAYS,
    {AT(request), "requestId", ADMIN_TEXT},
    {AT(limit),   "size",      ADMIN_TEXT},
    {AT(page),    "page",      ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
const struct admin_member audit_export_filters[] = {
    FILTERS, DAYS,
    {AT(request),      "requestId",   ADMIN_TEXT},
    {AT(operation),    "operation",   ADMIN_TEXT},
    {AT(http_status),  "status",      ADMIN_TEXT},
    {AT(from_instant), "fromInstant", ADMIN_TEXT},
    {AT(to_instant),   "toInstant",   ADMIN_TEXT},
    {AT(format),       "format",      ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
const struct admin_member audit_tail_filters[] = {FILTERS, {0, NULL, ADMIN_TEXT}};
const struct admin_member report_filters[] = {
    DAYS,
    {AT(client), "clientId", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
const struct output_column audit_columns[] = {
    {"id",        "ID"},
    {"createdAt", "TIME"},
    {"outcome",   "OUTCOME"},
    {"method",    "METHOD"},
    {"endpoint",  "ENDPOINT"},
    {"clientId",  "CLIENT"},
    {"subjectId", "SUBJECT"},
    {NULL, NULL},
};
#define NO_AUDIT "is not the id of an audit row; see `authzctl audit list`"

/* ---- policy */

const struct cli_option policy_try_options[] = {
    {"input", 0, "FILE", AT(input), true, "Input of the evaluation, the JSON object in FILE, or - for standard input"},
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member policy_try_members[] = {
    {AT(input), "input", ADMIN_OBJECT},
    {0, NULL, ADMIN_TEXT},
};

/* ---- accounts that people connected to managed resources */

const struct cli_option resource_disconnect_options[] = {
    {"subject", 0, "SUBJECT", AT(subject), false, "Person whose account is disconnected"},
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member disconnect_members[] = {
    {AT(subject), "subject", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
static const struct output_column connection_columns[] = {
    {"subject",     "SUBJECT"},
    {"idpId",       "IDP"},
    {"status",      "STATUS"},
    {"account",     "ACCOUNT"},
    {"connectedAt", "CONNECTED"},
    {"lastUsedAt",  "LAST USED"},
    {"lastError",   "ERROR"},
    {NULL, NULL},
};

/* ---- the table */

#define API "/admin/api/"

const struct admin_verb admin_verbs[] = {
    {"admin-key list", "GET", API "admin-keys", NULL, NULL, admin_key_columns, NULL, NULL, NULL, false},
    {"audit list", "GET", API "audit-logs", NULL, audit_list_filters, audit_columns, "content", NULL, NULL, false},
    {"audit replay", "POST", API "policy-rules/evaluate", "auditId", NULL, NULL, NULL, NULL, NO_AUDIT, true},
    {"audit show", "GET", API "audit-logs/{}", NULL, NULL, NULL, NULL, NULL, NO_AUDIT, false},
    {"client create", "POST", API "clients", "clientId", client_members, NULL, NULL, NULL, NULL, false},
    {"client delete", "DELETE", API "clients/{}", NULL, NULL, NULL, NULL, "was deleted", NO_CLIENT, false},
    {"client list", "GET", API "clients", NULL, NULL, client_columns, NULL, NULL, NULL, false},
    {"client rotate-secret", "POST", API "clients/{}/rotate-secret", NULL, rotation_members, NULL, NULL, NULL, NO_CLIENT, false},
    {"client show", "GET", API "clients/{}", NULL, NULL, NULL, NULL, NULL, NO_CLIENT, false},
    {"client update", "PUT", API "clients/{}", "clientId", client_members, NULL, NULL, NULL, NO_CLIENT, false},
    {"connector available", "GET", API "connectors/available", NULL, NULL, connector_columns, NULL, NULL, NULL, false},
    {"connector install", "POST", API "connectors/{}/install", NULL, connector_members, NULL, NULL, NULL, NO_CONNECTOR, false},
    {"connector list", "GET", API "connectors", NULL, NULL, connector_columns, NULL, NULL, NULL, false},
    {"connector show", "GET", API "connectors/{}", NULL, NULL, NULL, NULL, NULL, NO_CONNECTOR, false},
    {"connector uninstall", "DELETE", API "connectors/{}", NULL, NULL, NULL, NULL, "was uninstalled", NOT_INSTALLED, false},
    {"consent forget", "DELETE", API "consents/{}", NULL, NULL, NULL, NULL, "was forgotten", "is not the id of a consent; see `authzctl consent list`", false},
    {"consent list", "GET", API "consents", NULL, consent_filters, consent_columns, NULL, NULL, NULL, false},
    {"idp create", "POST", API "identity-providers", "idpId", idp_members, NULL, NULL, NULL, NULL, false},
    {"idp delete", "DELETE", API "identity-providers/{}", NULL, NULL, NULL, NULL, "was deleted", NO_IDP, false},
    {"idp list", "GET", API "identity-providers", NULL, NULL, idp_columns, NULL, NULL, NULL, false},
    {"idp show", "GET", API "identity-providers/{}", NULL, NULL, NULL, NULL, NULL, NO_IDP, false},
    {"idp update", "PUT", API "identity-providers/{}", "idpId", idp_members, NULL, NULL, NULL, NO_IDP, false},
    {"keys list", "GET", API "keys", NULL, NULL, key_columns, NULL, NULL, NULL, false},
    {"policy try", "POST", API "policy-rules/evaluate", "path", policy_try_members, NULL, NULL, NULL, NULL, false},
    {"resource approve", "POST", API "managed-resources/{}/tools/{}/approve", NULL, approval_members, NULL, NULL, "has the tool approved", "has no such tool; see `authzctl resource show`", false},
    {"resource connections", "GET", API "managed-resources/{}/connections", NULL, NULL, connection_columns, NULL, NULL, NO_RESOURCE, false},
    {"resource create", "POST", API "managed-resources", "name", resource_members, NULL, NULL, NULL, NULL, false},
    {"resource delete", "DELETE", API "managed-resources/{}", NULL, NULL, NULL, NULL, "was deleted", NO_RESOURCE, false},
    {"resource disconnect", "DELETE", API "managed-resources/{}/connections", NULL, disconnect_members, NULL, NULL, "was disconnected", "has no such connection; see `authzctl resource connections`", false},
    {"resource list", "GET", API "managed-resources", NULL, NULL, resource_columns, NULL, NULL, NULL, false},
    {"resource probe", "POST", API "managed-resources/{}/probe", NULL, NULL, NULL, NULL, NULL, NO_RESOURCE, false},
    {"resource show", "GET", API "managed-resources/{}", NULL, NULL, NULL, NULL, NULL, NO_RESOURCE, false},
    {"resource sync", "POST", API "managed-resources/{}/sync", NULL, sync_members, NULL, NULL, NULL, NO_RESOURCE, false},
    {"resource update", "PUT", API "managed-resources/{}", "name", resource_members, NULL, NULL, NULL, NO_RESOURCE, false},
    {"session end", "DELETE", API "sessions/{}", NULL, NULL, NULL, NULL, "was ended", "is not a session; see `authzctl session list`", false},
    {"session list", "GET", API "sessions", NULL, session_filters, session_columns, NULL, NULL, NULL, false},
    {"token list", "GET", API "tokens", NULL, token_filters, token_columns, "content", NULL, NULL, false},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false},
};
/* clang-format on */
