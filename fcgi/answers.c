#include "config.h"

#include "answers.h"

#define ANSWER(its_name, rows) FIELD_TABLE(its_name, rows, FIELDS_ANSWER)
#define OPEN_ANSWER(its_name, rows)                                                                \
    FIELD_TABLE(its_name, rows, FIELDS_ANSWER | FIELDS_IGNORE_UNKNOWN)

/* clang-format off */

/* ---- metadata */

static const struct field metadata_fields[] = {
    {"issuer",                                FIELD_TEXT,      .required = true},
    {"authorization_endpoint",                FIELD_TEXT,      .required = true},
    {"token_endpoint",                        FIELD_TEXT,      .required = true},
    {"jwks_uri",                              FIELD_TEXT,      .required = true},
    {"response_types_supported",              FIELD_TEXT_LIST, .required = true},
    {"grant_types_supported",                 FIELD_TEXT_LIST, .required = true},
};
const struct field_table answer_metadata = OPEN_ANSWER("Metadata", metadata_fields);

static const struct field key_fields[] = {
    {"kty", FIELD_TEXT, .required = true},
    {"kid", FIELD_TEXT, .required = true},
    {"use", FIELD_TEXT, .required = true},
    {"alg", FIELD_TEXT, .required = true},
};
static const struct field_table key_table = OPEN_ANSWER("Key", key_fields);
static const struct field key_set_fields[] = {
    {"keys", FIELD_ARRAY, .required = true, .shape = &key_table},
};
const struct field_table answer_key_set = ANSWER("KeySet", key_set_fields);

/* ---- tokens */

static const struct field token_fields[] = {
    {"access_token",          FIELD_TEXT,    .required = true, .help = "Opaque; introspection tells its meaning"},
    {"token_type",            FIELD_TEXT,    .required = true},
    {"expires_in",            FIELD_INTEGER, .required = true, .help = "Seconds"},
    {"scope",                 FIELD_TEXT,    .required = true, .may_be_empty = true, .help = "Granted scopes, separated by spaces; fewer than requested if policy grants fewer"},
    {"refresh_token",         FIELD_TEXT, .max = 0},
    {"id_token",              FIELD_TEXT,    .help = "JWT (OpenID Connect Core 2)"},
    {"authorization_details", FIELD_ARRAY,   .help = "Granted details (RFC 9396)"},
    {"issued_token_type",     FIELD_TEXT,    .help = "Token exchange only (RFC 8693)"},
};
const struct field_table answer_token = ANSWER("Token", token_fields);

static const struct field introspection_fields[] = {
    {"active",                FIELD_BOOLEAN,   .required = true},
    {"inactive_reason",       FIELD_TEXT, .max = 0},
    {"reason",                FIELD_TEXT, .max = 0},
    {"scope",                 FIELD_TEXT,      .may_be_empty = true},
    {"client_id",             FIELD_TEXT, .max = 0},
    {"sub",                   FIELD_TEXT, .max = 0},
    {"username",              FIELD_TEXT, .max = 0},
    {"token_type",            FIELD_TEXT, .max = 0},
    {"iss",                   FIELD_TEXT, .max = 0},
    {"idp",                   FIELD_TEXT, .max = 0},
    {"flow_id",               FIELD_TEXT, .max = 0},
    {"resource",              FIELD_TEXT, .max = 0},
    {"aud",                   FIELD_TEXT, .max = 0},
    {"exp",                   FIELD_INTEGER,   .help = "Seconds since 1970"},
    {"iat",                   FIELD_INTEGER,   .help = "Seconds since 1970"},
    {"resource_types",        FIELD_TEXT_LIST, .max = 0},
    {"matched_segments",      FIELD_TEXT_LIST, .max = 0},
    {"authorization_details", FIELD_ARRAY, .max = 0},
    {"deny_reasons",          FIELD_ARRAY, .max = 0},
    {"act",                   FIELD_OBJECT, .max = 0},
    {"cnf",                   FIELD_OBJECT, .max = 0},
    {"obligations",           FIELD_OBJECT, .max = 0},
    {"extensions",            FIELD_OBJECT, .max = 0},
};
const struct field_table answer_introspection = ANSWER("Introspection", introspection_fields);

static const struct field registration_fields[] = {
    {"client_id",                  FIELD_TEXT,    .required = true},
    {"client_id_issued_at",        FIELD_INTEGER, .required = true, .help = "Seconds since 1970"},
    {"client_secret",              FIELD_TEXT, .max = 0},
    {"client_secret_expires_at",   FIELD_INTEGER, .help = "0: the secret does not expire"},
    {"software_statement",         FIELD_TEXT, .max = 0},
};
const struct field_table answer_registration = OPEN_ANSWER("RegisteredClient", registration_fields);

static const struct field userinfo_fields[] = {
    {"sub", FIELD_TEXT, .required = true},
};
const struct field_table answer_userinfo = OPEN_ANSWER("UserInfo", userinfo_fields);

/* ---- access decisions */

static const struct field decision_point_fields[] = {
    {"policy_decision_point",       FIELD_TEXT, .required = true},
    {"access_evaluation_endpoint",  FIELD_TEXT, .required = true},
    {"access_evaluations_endpoint", FIELD_TEXT, .required = true},
};
const struct field_table answer_decision_point = ANSWER("DecisionPoint", decision_point_fields);

static const struct field decision_fields[] = {
    {"decision", FIELD_BOOLEAN, .required = true, .help = "The access is permitted"},
    {"context",  FIELD_OBJECT,  .help = "What the operator's rules tell the caller; the reasons of a deny"},
};
const struct field_table answer_decision = ANSWER("AccessDecision", decision_fields);

static const struct field decisions_fields[] = {
    {"evaluations", FIELD_ARRAY,   .shape = &answer_decision},
    {"decision",    FIELD_BOOLEAN, .help = "In place of evaluations, of a single access request"},
    {"context",     FIELD_OBJECT,  .help = "The same"},
};
const struct field_table answer_decisions = ANSWER("AccessDecisions", decisions_fields);

static const struct field uma_id_fields[] = {
    {"_id", FIELD_TEXT, .required = true},
};
const struct field_table answer_uma_id = ANSWER("UmaResourceId", uma_id_fields);

static const struct field ticket_fields[] = {
    {"ticket", FIELD_TEXT, .required = true},
};
const struct field_table answer_ticket = ANSWER("UmaTicket", ticket_fields);

static const struct field delegation_id_fields[] = {
    {"delegation_id", FIELD_TEXT, .required = true},
};
const struct field_table answer_delegation_id = ANSWER("DelegationId", delegation_id_fields);

static const char *const grantee_types[] = {"subject", "client", NULL};
static const char *const delegation_states[] = {"active", "expired", "revoked", NULL};
static const struct field delegation_fields[] = {
    {"delegation_id",      FIELD_TEXT,      .required = true},
    {"grantor_subject_id", FIELD_TEXT,      .required = true},
    {"grantor_client_id",  FIELD_INTEGER,   .required = true, .help = "id of a client"},
    {"grantee_type",       FIELD_TEXT,      .required = true, .words = grantee_types},
    {"grantee_subject_id", FIELD_TEXT, .max = 0},
    {"grantee_client_id",  FIELD_INTEGER,   .help = "id of a client"},
    {"resource_id",        FIELD_TEXT,      .required = true},
    {"scopes",             FIELD_TEXT_LIST, .required = true},
    {"expires_at",         FIELD_TEXT,      .help = "ISO 8601"},
    {"created_at",         FIELD_TEXT,      .required = true},
    {"updated_at",         FIELD_TEXT,      .required = true},
    {"revoked_at",         FIELD_TEXT, .max = 0},
    {"status",             FIELD_TEXT,      .required = true, .words = delegation_states},
};
const struct field_table answer_delegation = ANSWER("Delegation", delegation_fields);

/* ---- administration */

static const struct field admin_key_fields[] = {
    {"id",        FIELD_TEXT, .required = true},
    {"label",     FIELD_TEXT, .required = true},
    {"managedBy", FIELD_TEXT, .required = true},
    {"createdAt", FIELD_TEXT, .required = true},
    {"revokedAt", FIELD_TEXT, .max = 0},
};
const struct field_table answer_admin_key = ANSWER("AdminApiKeyView", admin_key_fields);

static const struct field new_admin_key_fields[] = {
    {"id",        FIELD_TEXT, .required = true},
    {"label",     FIELD_TEXT, .required = true},
    {"managedBy", FIELD_TEXT, .required = true},
    {"createdAt", FIELD_TEXT, .required = true},
    {"key",       FIELD_TEXT, .required = true, .help = "Shown this once"},
};
const struct field_table answer_new_admin_key = ANSWER("NewAdminApiKey", new_admin_key_fields);

static const struct field plaintext_fields[] = {
    {"key", FIELD_TEXT, .required = true},
};
const struct field_table answer_plaintext = ANSWER("AdminApiKeyPlaintext", plaintext_fields);

static const struct field audit_row_fields[] = {
    {"id",             FIELD_INTEGER, .required = true},
    {"createdAt",      FIELD_TEXT,    .required = true},
    {"requestId",      FIELD_TEXT,    .required = true},
    {"flowId",         FIELD_TEXT,    .help = "The same in all requests of a sign-in and its tokens"},
    {"clientId",       FIELD_TEXT,    .help = "Of an admin request: the label of the key"},
    {"subjectId",      FIELD_TEXT, .max = 0},
    {"endpoint",       FIELD_TEXT,    .required = true},
    {"method",         FIELD_TEXT,    .required = true},
    {"outcome",        FIELD_TEXT,    .required = true, .help = "allowed, denied, rejected or error"},
    {"ip",             FIELD_TEXT, .max = 0},
    {"userAgent",      FIELD_TEXT, .max = 0},
    {"policyInput",    FIELD_OBJECT,  .help = "The question that policy was asked"},
    {"policyDecision", FIELD_OBJECT,  .help = "Its answer, with the revision"},
    {"requestSummary", FIELD_OBJECT,  .required = true, .help = "Operation, status, and what the endpoint noted"},
};
const struct field_table answer_audit_row = ANSWER("AuditLogDto", audit_row_fields);

static const struct field token_facts_fields[] = {
    {"active",    FIELD_BOOLEAN, .required = true, .help = "It is live; policy was not asked"},
    {"reason",    FIELD_TEXT,    .help = "Why it is not live"},
    {"tokenId",   FIELD_TEXT, .max = 0},
    {"kind",      FIELD_TEXT,    .help = "access or refresh"},
    {"flowId",    FIELD_TEXT, .max = 0},
    {"clientId",  FIELD_TEXT, .max = 0},
    {"subjectId", FIELD_TEXT, .max = 0},
    {"scope",     FIELD_TEXT,    .may_be_empty = true},
    {"resource",  FIELD_TEXT, .max = 0},
    {"issuedAt",  FIELD_TEXT, .max = 0},
    {"expiresAt", FIELD_TEXT, .max = 0},
    {"revoked",   FIELD_BOOLEAN, .help = "Of a revocation: this request ended it"},
};
const struct field_table answer_token_facts = ANSWER("TokenFacts", token_facts_fields);

static const struct field audit_page_fields[] = {
    {"content",          FIELD_ARRAY,   .required = true, .shape = &answer_audit_row},
    {"empty",            FIELD_BOOLEAN, .required = true},
    {"first",            FIELD_BOOLEAN, .required = true},
    {"last",             FIELD_BOOLEAN, .required = true},
    {"number",           FIELD_INTEGER, .required = true},
    {"size",             FIELD_INTEGER, .required = true},
    {"numberOfElements", FIELD_INTEGER, .required = true},
    {"totalPages",       FIELD_INTEGER, .required = true},
    {"totalElements",    FIELD_INTEGER, .required = true},
    {"pageable",         FIELD_OBJECT,  .required = true},
    {"sort",             FIELD_OBJECT,  .required = true},
};
const struct field_table answer_audit_page = ANSWER("PageAuditLogDto", audit_page_fields);

static const struct field audit_export_fields[] = {
    {"exportedAt", FIELD_TEXT,    .required = true},
    {"filters",    FIELD_OBJECT,  .required = true},
    {"rows",       FIELD_ARRAY,   .required = true, .shape = &answer_audit_row},
    {"count",      FIELD_INTEGER, .required = true},
    {"truncated",  FIELD_BOOLEAN, .required = true, .help = "There were more rows than SVC_AUDIT_EXPORT_MAX_ROWS"},
};
const struct field_table answer_audit_export = ANSWER("AuditExport", audit_export_fields);

static const struct field agent_decisions_fields[] = {
    {"clientId",   FIELD_TEXT,    .required = true},
    {"clientName", FIELD_TEXT,    .max = 0},
    {"decisions",  FIELD_INTEGER, .required = true},
    {"pct",        FIELD_ANY,     .required = true, .help = "Of all decisions"},
};
static const struct field_table agent_decisions_table = ANSWER("ClientBreakdown", agent_decisions_fields);
static const struct field endpoint_decisions_fields[] = {
    {"endpoint",  FIELD_TEXT,    .required = true},
    {"decisions", FIELD_INTEGER, .required = true},
    {"pct",       FIELD_ANY,     .required = true, .help = "Of all decisions"},
};
static const struct field_table endpoint_decisions_table = ANSWER("EndpointBreakdown", endpoint_decisions_fields);
static const struct field denial_reason_fields[] = {
    {"reason", FIELD_TEXT,    .required = true},
    {"count",  FIELD_INTEGER, .required = true},
    {"pct",    FIELD_ANY,     .required = true, .help = "Of all denials; a denial may have several reasons"},
};
static const struct field_table denial_reason_table = ANSWER("DenialReason", denial_reason_fields);
static const struct field agent_fields[] = {
    {"clientId",         FIELD_TEXT, .required = true},
    {"clientName",       FIELD_TEXT, .max = 0},
    {"clientType",       FIELD_TEXT, .required = true},
    {"registrationType", FIELD_TEXT, .required = true},
};
static const struct field_table agent_table = ANSWER("ReportedClient", agent_fields);
static const struct field reported_provider_fields[] = {
    {"issuer", FIELD_TEXT, .required = true},
    {"name",   FIELD_TEXT, .max = 0},
};
static const struct field_table reported_provider_table = ANSWER("ReportedProvider", reported_provider_fields);
static const struct field policy_change_fields[] = {
    {"action",     FIELD_TEXT, .required = true},
    {"entityId",   FIELD_TEXT, .required = true},
    {"entityType", FIELD_TEXT, .required = true},
    {"timestamp",  FIELD_TEXT, .required = true},
};
static const struct field_table policy_change_table = ANSWER("PolicyChange", policy_change_fields);
static const struct field governance_fields[] = {
    {"generatedAt",            FIELD_TEXT,      .required = true},
    {"periodStart",            FIELD_TEXT,      .required = true},
    {"periodEnd",              FIELD_TEXT,      .required = true},
    {"totalDecisions",         FIELD_INTEGER,   .required = true},
    {"allowed",                FIELD_INTEGER,   .required = true},
    {"denied",                 FIELD_INTEGER,   .required = true},
    {"errors",                 FIELD_INTEGER,   .required = true},
    {"allowedPct",             FIELD_ANY,       .required = true},
    {"deniedPct",              FIELD_ANY,       .required = true},
    {"errorsPct",              FIELD_ANY,       .required = true},
    {"activeRules",            FIELD_INTEGER,   .required = true},
    {"totalRules",             FIELD_INTEGER,   .required = true},
    {"dataKeys",               FIELD_INTEGER,   .required = true},
    {"activeAgentCount",       FIELD_INTEGER,   .required = true, .help = "Clients with a decision in the period"},
    {"identityProviderCount",  FIELD_INTEGER,   .required = true},
    {"protectedResourceCount", FIELD_INTEGER,   .required = true, .help = "UMA resources"},
    {"trendLabels",            FIELD_TEXT_LIST, .required = true, .help = "Days on which the points begin"},
    {"trendAllowed",           FIELD_ARRAY,     .required = true},
    {"trendDenied",            FIELD_ARRAY,     .required = true},
    {"trendErrors",            FIELD_ARRAY,     .required = true},
    {"byClient",               FIELD_ARRAY,     .required = true, .shape = &agent_decisions_table},
    {"byEndpoint",             FIELD_ARRAY,     .required = true, .shape = &endpoint_decisions_table},
    {"denialReasons",          FIELD_ARRAY,     .required = true, .shape = &denial_reason_table},
    {"clients",                FIELD_ARRAY,     .required = true, .shape = &agent_table},
    {"identityProviders",      FIELD_ARRAY,     .required = true, .shape = &reported_provider_table},
    {"resources",              FIELD_ARRAY,     .required = true, .help = "Managed resources; none yet"},
    {"recentPolicyChanges",    FIELD_ARRAY,     .required = true, .shape = &policy_change_table},
};
const struct field_table answer_governance = ANSWER("GovernanceReportDto", governance_fields);

static const struct field rotation_fields[] = {
    {"clientId",                FIELD_TEXT, .required = true},
    {"clientSecret",            FIELD_TEXT, .required = true, .help = "Shown this once"},
    {"rotatedAt",               FIELD_TEXT, .required = true},
    {"previousSecretExpiresAt", FIELD_TEXT, .max = 0},
};
const struct field_table answer_rotation = ANSWER("RotatedSecret", rotation_fields);

static const struct field consent_fields[] = {
    {"id",           FIELD_INTEGER, .required = true},
    {"subjectId",    FIELD_TEXT,    .required = true},
    {"clientId",     FIELD_TEXT,    .required = true},
    {"redirectHost", FIELD_TEXT,    .required = true, .may_be_empty = true},
    {"scope",        FIELD_TEXT,    .may_be_empty = true},
    {"resource",     FIELD_TEXT,    .may_be_empty = true},
    {"grantedAt",    FIELD_TEXT,    .required = true},
};
const struct field_table answer_consent = ANSWER("Consent", consent_fields);

static const struct field session_fields[] = {
    {"sid",       FIELD_TEXT, .required = true},
    {"subjectId", FIELD_TEXT, .required = true},
};
const struct field_table answer_session = OPEN_ANSWER("Session", session_fields);

static const struct field control_fields[] = {
    {"id",           FIELD_TEXT,      .required = true},
    {"decides",      FIELD_TEXT,      .required = true},
    {"entrypoints",  FIELD_TEXT_LIST, .required = true},
    {"configurable", FIELD_BOOLEAN,   .required = true},
};
const struct field_table answer_control = OPEN_ANSWER("Control", control_fields);

static const struct field evaluation_fields[] = {
    {"result",      FIELD_ANY,     .help = "Answer of the engine to the input"},
    {"endpoint",    FIELD_TEXT,    .help = "Replay: the endpoint that asked"},
    {"createdAt",   FIELD_TEXT,    .help = "Replay: the time of the stored decision"},
    {"before",      FIELD_ANY,     .help = "Replay: the stored decision"},
    {"after",       FIELD_ANY,     .help = "Replay: the decision by today's policy"},
    {"changed",     FIELD_BOOLEAN, .help = "Replay: the two differ"},
    {"changes",     FIELD_ARRAY,   .help = "Replay: how they differ"},
    {"undefined",   FIELD_BOOLEAN, .help = "The path has no value for this input"},
    {"explanation", FIELD_ANY, .max = 0},
    {"metrics",     FIELD_ANY, .max = 0},
    {"revision",    FIELD_TEXT,    .required = true, .may_be_empty = true},
};
const struct field_table answer_evaluation = ANSWER("PolicyEvaluation", evaluation_fields);

static const struct field deploy_fields[] = {
    {"mode",           FIELD_TEXT,    .required = true},
    {"activation",     FIELD_TEXT,    .required = true},
    {"revision",       FIELD_TEXT,    .required = true},
    {"previousEtag",   FIELD_TEXT,    .required = true, .may_be_empty = true},
    {"newEtag",        FIELD_TEXT,    .required = true},
    {"rulesUpserted",  FIELD_INTEGER, .required = true},
    {"rulesAdded",     FIELD_INTEGER, .required = true},
    {"rulesChanged",   FIELD_INTEGER, .required = true},
    {"rulesUnchanged", FIELD_INTEGER, .required = true},
    {"rulesDeleted",   FIELD_INTEGER, .required = true},
    {"rulesProtected", FIELD_INTEGER, .required = true},
    {"dataUpserted",   FIELD_INTEGER, .required = true},
    {"dataAdded",      FIELD_INTEGER, .required = true},
    {"dataChanged",    FIELD_INTEGER, .required = true},
    {"dataUnchanged",  FIELD_INTEGER, .required = true},
    {"dataDeleted",    FIELD_INTEGER, .required = true},
    {"dataProtected",  FIELD_INTEGER, .required = true},
};
const struct field_table answer_deploy = ANSWER("PolicyBundleDeployResult", deploy_fields);

static const struct field bundle_fields[] = {
    {"id",              FIELD_INTEGER,   .required = true},
    {"createdAt",       FIELD_TEXT,      .required = true},
    {"revision",        FIELD_TEXT,      .required = true},
    {"etag",            FIELD_TEXT,      .required = true},
    {"previousEtag",    FIELD_TEXT, .max = 0},
    {"triggerSource",   FIELD_TEXT,      .required = true},
    {"triggeredBy",     FIELD_TEXT, .max = 0},
    {"message",         FIELD_TEXT, .help = "Why it was saved"},
    {"bundleSizeBytes", FIELD_INTEGER,   .required = true},
    {"ruleCount",       FIELD_INTEGER,   .required = true},
    {"rulePaths",       FIELD_TEXT_LIST, .required = true},
    {"dataKeys",        FIELD_TEXT_LIST, .required = true},
};
const struct field_table answer_bundle = ANSWER("BundleAuditLogDto", bundle_fields);

static const struct field bundle_content_fields[] = {
    {"rules", FIELD_ARRAY, .required = true},
    {"data",  FIELD_ARRAY, .required = true},
};
const struct field_table answer_bundle_content = ANSWER("BundleContent", bundle_content_fields);

static const struct field difference_fields[] = {
    {"added",   FIELD_TEXT_LIST, .required = true},
    {"removed", FIELD_TEXT_LIST, .required = true},
    {"changed", FIELD_ARRAY,     .required = true},
};
static const struct field_table difference_table = ANSWER("Difference", difference_fields);
static const struct field bundle_difference_fields[] = {
    {"rules", FIELD_OBJECT, .required = true, .shape = &difference_table},
    {"data",  FIELD_OBJECT, .required = true, .shape = &difference_table},
};
const struct field_table answer_bundle_difference = ANSWER("BundleDifference", bundle_difference_fields);

/* ---- health */

static const struct field health_fields[] = {
    {"status", FIELD_TEXT, .required = true},
};
const struct field_table answer_health = ANSWER("Health", health_fields);

static const struct field check_fields[] = {
    {"name",   FIELD_TEXT, .required = true},
    {"status", FIELD_TEXT, .required = true},
    {"detail", FIELD_TEXT, .help = "Shown to local callers only"},
};
static const struct field_table check_table = ANSWER("HealthCheck", check_fields);
static const struct field readiness_fields[] = {
    {"status", FIELD_TEXT,  .required = true},
    {"checks", FIELD_ARRAY, .required = true, .shape = &check_table},
};
const struct field_table answer_readiness = ANSWER("Readiness", readiness_fields);

/* clang-format on */
