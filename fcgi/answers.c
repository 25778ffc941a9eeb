#include "config.h"

#include "answers.h"

#define ANSWER(its_name, rows) FIELD_TABLE(its_name, rows, FIELDS_ANSWER)
#define OPEN_ANSWER(its_name, rows)                                                                \
    FIELD_TABLE(its_name, rows, FIELDS_ANSWER | FIELDS_IGNORE_UNKNOWN)

/* clang-format off */

/* ---- metadata */

static const struct field metadata_fields[] = {
    {"issuer",                                FIELD_TEXT,      .required = true,
     .example = "\"https://auth.example\""},
    {"authorization_endpoint",                FIELD_TEXT,      .required = true,
     .example = "\"https://auth.example/authorize\""},
    {"token_endpoint",                        FIELD_TEXT,      .required = true,
     .example = "\"https://auth.example/token\""},
    {"jwks_uri",                              FIELD_TEXT,      .required = true,
     .example = "\"https://auth.example/.well-known/jwks.json\""},
    {"response_types_supported",              FIELD_TEXT_LIST, .required = true,
     .example = "[\"code\"]"},
    {"grant_types_supported",                 FIELD_TEXT_LIST, .required = true,
     .example = "[\"authorization_code\", \"refresh_token\", \"client_credentials\"]"},
};
const struct field_table answer_metadata = OPEN_ANSWER("Metadata", metadata_fields);

static const struct field key_fields[] = {
    {"kty", FIELD_TEXT, .required = true, .help = "Kind of the key (RFC 7517 4.1)",
     .example = "\"EC\""},
    {"kid", FIELD_TEXT, .required = true, .help = "Id of the key, in the header of what it signed",
     .example = "\"k-2026-01\""},
    {"use", FIELD_TEXT, .required = true, .help = "sig: it signs", .example = "\"sig\""},
    {"alg", FIELD_TEXT, .required = true, .help = "Algorithm of its signatures",
     .example = "\"ES256\""},
};
static const struct field_table key_table = OPEN_ANSWER("Key", key_fields);
static const struct field key_set_fields[] = {
    {"keys", FIELD_ARRAY, .required = true, .shape = &key_table},
};
const struct field_table answer_key_set = ANSWER("KeySet", key_set_fields);

static const struct field protected_resource_fields[] = {
    {"resource",                          FIELD_TEXT,      .required = true,
     .help = "The resource that a token must name",
     .example = "\"https://auth.example/gateway/mcp\""},
    {"authorization_servers",             FIELD_TEXT_LIST, .required = true, .help = "The issuer",
     .example = "[\"https://auth.example\"]"},
    {"scopes_supported",                  FIELD_TEXT_LIST, .required = true,
     .help = "Scopes for basic use", .example = "[\"mcp\"]"},
    {"bearer_methods_supported",          FIELD_TEXT_LIST, .required = true,
     .example = "[\"header\"]"},
    {"resource_name",                     FIELD_TEXT,      .required = true,
     .help = "Name for people", .example = "\"MCP gateway\""},
    {"dpop_signing_alg_values_supported", FIELD_TEXT_LIST,
     .help = "Algorithms of DPoP proofs (RFC 9449)"},
};
const struct field_table answer_protected_resource = ANSWER("ProtectedResource",
                                                            protected_resource_fields);

/* ---- tokens */

static const struct field token_fields[] = {
    {"access_token",          FIELD_TEXT,    .required = true,
     .help = "Opaque; introspection tells its meaning", .example = "\"at_example\""},
    {"token_type",            FIELD_TEXT,    .required = true,
     .help = "Bearer, or DPoP for a token that is bound to a key (RFC 9449)",
     .example = "\"Bearer\""},
    {"expires_in",            FIELD_INTEGER, .required = true, .help = "Seconds", .example = "600"},
    {"scope",                 FIELD_TEXT,    .required = true, .may_be_empty = true,
     .help = "Granted scopes, separated by spaces; fewer than requested if policy grants fewer",
     .example = "\"orders.read\""},
    {"refresh_token",         FIELD_TEXT, .help = "Opaque; each use may replace it"},
    {"id_token",              FIELD_TEXT,    .help = "JWT (OpenID Connect Core 2)"},
    {"authorization_details", FIELD_ARRAY,   .help = "Granted details (RFC 9396)"},
    {"issued_token_type",     FIELD_TEXT,    .help = "Token exchange only (RFC 8693)"},
};
const struct field_table answer_token = ANSWER("Token", token_fields);

static const struct field auth_request_fields[] = {
    {"auth_req_id", FIELD_TEXT,    .required = true,
     .help = "Opaque; the client polls /token with it", .example = "\"ar_example\""},
    {"expires_in",  FIELD_INTEGER, .required = true,
     .help = "Seconds in which the person must answer and the client must collect the tokens",
     .example = "300"},
    {"interval",    FIELD_INTEGER, .required = true, .help = "Minimum seconds between two polls",
     .example = "5"},
};
const struct field_table answer_auth_request = ANSWER("AuthenticationRequest", auth_request_fields);

static const struct field introspection_fields[] = {
    {"active",                FIELD_BOOLEAN,   .required = true,
     .help = "The token may be used now, for what the answer says", .example = "true"},
    {"inactive_reason",       FIELD_TEXT, .help = "policy_denied or invalid_token"},
    {"reason",                FIELD_TEXT, .help = "Text of the denial"},
    {"scope",                 FIELD_TEXT,      .may_be_empty = true,
     .help = "Scopes that count now", .example = "\"orders.read\""},
    {"client_id",             FIELD_TEXT, .help = "Client that got the token",
     .example = "\"shop\""},
    {"sub",                   FIELD_TEXT, .help = "User, or the client of a token of its own",
     .example = "\"alice\""},
    {"username",              FIELD_TEXT, .help = "Name of the user for people"},
    {"token_type",            FIELD_TEXT, .help = "Bearer or DPoP; none for a refresh token",
     .example = "\"Bearer\""},
    {"iss",                   FIELD_TEXT, .help = "Issuer of the token",
     .example = "\"https://auth.example\""},
    {"idp",                   FIELD_TEXT, .help = "idpId where the user signed in"},
    {"flow_id",               FIELD_TEXT, .help = "The same in all tokens of a sign-in"},
    {"resource",              FIELD_TEXT, .help = "Resource that the token is for"},
    {"aud",                   FIELD_TEXT, .help = "Audience of the token"},
    {"exp",                   FIELD_INTEGER,   .help = "Seconds since 1970"},
    {"iat",                   FIELD_INTEGER,   .help = "Seconds since 1970"},
    {"resource_types",        FIELD_TEXT_LIST, .help = "Resource types that the token is for"},
    {"matched_segments",      FIELD_TEXT_LIST, .help = "Segments of policy that matched"},
    {"authorization_details", FIELD_ARRAY, .help = "Details that count now (RFC 9396)"},
    {"deny_reasons",          FIELD_ARRAY,
     .help = "Reasons of a denial: code, category, control and message"},
    {"act",                   FIELD_OBJECT, .help = "The acting party (RFC 8693)"},
    {"cnf",                   FIELD_OBJECT, .help = "Key that the token is bound to (RFC 7800)"},
    {"acr",                   FIELD_TEXT,
     .help = "Authentication context of the sign-in (RFC 9470 6.2)"},
    {"auth_time",             FIELD_INTEGER,
     .help = "When the user signed in, seconds since 1970 (RFC 9470 6.2)"},
    {"obligations",           FIELD_OBJECT, .help = "What policy asks the caller to do"},
    {"extensions",            FIELD_OBJECT, .help = "Members of the operator's rules"},
};
const struct field_table answer_introspection = ANSWER("Introspection", introspection_fields);

static const struct field registration_fields[] = {
    {"client_id",                  FIELD_TEXT,    .required = true, .example = "\"d-example\""},
    {"client_id_issued_at",        FIELD_INTEGER, .required = true, .help = "Seconds since 1970",
     .example = "1769860800"},
    {"client_secret",              FIELD_TEXT, .help = "Shown this once"},
    {"client_secret_expires_at",   FIELD_INTEGER, .help = "0: the secret does not expire"},
    {"software_statement",         FIELD_TEXT, .help = "The statement of the request"},
};
const struct field_table answer_registration = OPEN_ANSWER("RegisteredClient", registration_fields);

static const struct field userinfo_fields[] = {
    {"sub", FIELD_TEXT, .required = true, .help = "Id of the user at this service",
     .example = "\"alice\""},
};
const struct field_table answer_userinfo = OPEN_ANSWER("UserInfo", userinfo_fields);

/* ---- access decisions */

static const struct field decision_point_fields[] = {
    {"policy_decision_point",       FIELD_TEXT, .required = true, .help = "Base of the endpoints",
     .example = "\"https://auth.example\""},
    {"access_evaluation_endpoint",  FIELD_TEXT, .required = true,
     .example = "\"https://auth.example/access/v1/evaluation\""},
    {"access_evaluations_endpoint", FIELD_TEXT, .required = true,
     .example = "\"https://auth.example/access/v1/evaluations\""},
};
const struct field_table answer_decision_point = ANSWER("DecisionPoint", decision_point_fields);

static const struct field decision_fields[] = {
    {"decision", FIELD_BOOLEAN, .required = true, .help = "The access is permitted",
     .example = "true"},
    {"context",  FIELD_OBJECT,
     .help = "What the operator's rules tell the caller; the reasons of a deny"},
};
const struct field_table answer_decision = ANSWER("AccessDecision", decision_fields);

static const struct field decisions_fields[] = {
    {"evaluations", FIELD_ARRAY,   .shape = &answer_decision},
    {"decision",    FIELD_BOOLEAN, .help = "In place of evaluations, of a single access request"},
    {"context",     FIELD_OBJECT,  .help = "The same"},
};
const struct field_table answer_decisions = ANSWER("AccessDecisions", decisions_fields);

static const struct field uma_id_fields[] = {
    {"_id", FIELD_TEXT, .required = true, .help = "Id of the resource", .example = "\"r-example\""},
};
const struct field_table answer_uma_id = ANSWER("UmaResourceId", uma_id_fields);

static const struct field ticket_fields[] = {
    {"ticket", FIELD_TEXT, .required = true, .help = "For the client that wants access",
     .example = "\"t-example\""},
};
const struct field_table answer_ticket = ANSWER("UmaTicket", ticket_fields);

static const struct field delegation_id_fields[] = {
    {"delegation_id", FIELD_TEXT, .required = true, .example = "\"d-example\""},
};
const struct field_table answer_delegation_id = ANSWER("DelegationId", delegation_id_fields);

static const char *const grantee_types[] = {"subject", "client", NULL};
static const char *const delegation_states[] = {"active", "expired", "revoked", NULL};
static const struct field delegation_fields[] = {
    {"delegation_id",      FIELD_TEXT,      .required = true, .example = "\"d-example\""},
    {"grantor_subject_id", FIELD_TEXT,      .required = true, .help = "The owner",
     .example = "\"alice\""},
    {"grantor_client_id",  FIELD_INTEGER,   .required = true, .help = "id of a client",
     .example = "7"},
    {"grantee_type",       FIELD_TEXT,      .required = true, .words = grantee_types,
     .example = "\"subject\""},
    {"grantee_subject_id", FIELD_TEXT, .help = "The person who may act", .example = "\"bob\""},
    {"grantee_client_id",  FIELD_INTEGER,   .help = "id of a client"},
    {"resource_id",        FIELD_TEXT,      .required = true, .example = "\"r-example\""},
    {"scopes",             FIELD_TEXT_LIST, .required = true, .help = "What the grantee may do",
     .example = "[\"view\"]"},
    {"expires_at",         FIELD_TEXT,      .help = "ISO 8601"},
    {"created_at",         FIELD_TEXT,      .required = true,
     .example = "\"2026-01-31T12:00:00Z\""},
    {"updated_at",         FIELD_TEXT,      .required = true,
     .example = "\"2026-01-31T12:00:00Z\""},
    {"revoked_at",         FIELD_TEXT, .help = "Time of the revocation"},
    {"status",             FIELD_TEXT,      .required = true, .words = delegation_states,
     .example = "\"active\""},
};
const struct field_table answer_delegation = ANSWER("Delegation", delegation_fields);

/* ---- health */

static const struct field health_fields[] = {
    {"status", FIELD_TEXT, .required = true, .help = "UP", .example = "\"UP\""},
};
const struct field_table answer_health = ANSWER("Health", health_fields);

static const struct field check_fields[] = {
    {"name",   FIELD_TEXT, .required = true, .example = "\"database\""},
    {"status", FIELD_TEXT, .required = true, .help = "UP, DOWN or DEGRADED", .example = "\"UP\""},
    {"detail", FIELD_TEXT, .help = "Shown to local callers only"},
};
static const struct field_table check_table = ANSWER("HealthCheck", check_fields);
static const struct field readiness_fields[] = {
    {"status", FIELD_TEXT,  .required = true,
     .help = "UP; DOWN if a check is DOWN; DEGRADED if another server fails that only some clients "
             "need", .example = "\"UP\""},
    {"checks", FIELD_ARRAY, .required = true, .shape = &check_table},
};
const struct field_table answer_readiness = ANSWER("Readiness", readiness_fields);

/* clang-format on */
