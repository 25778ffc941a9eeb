#include "config.h"

#include "answers.h"

#include "store/people/admin_keys.h"

#define ANSWER(its_name, rows) FIELD_TABLE(its_name, rows, FIELDS_ANSWER)
#define OPEN_ANSWER(its_name, rows)                                                                \
    FIELD_TABLE(its_name, rows, FIELDS_ANSWER | FIELDS_IGNORE_UNKNOWN)

/* clang-format off */

static const struct field new_admin_key_fields[] = {
    {"id",        FIELD_TEXT, .required = true,
     .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf12\""},
    {"label",     FIELD_TEXT, .required = true, .help = "Name of the key in the audit log",
     .example = "\"deploy-robot\""},
    {"managedBy", FIELD_TEXT, .required = true,
     .help = "environment: it is a setting; admin: it was made by this API",
     .example = "\"admin\""},
    {"role",      FIELD_TEXT, .required = true, .words = admin_role_words,
     .example = "\"operator\""},
    {"createdAt", FIELD_TEXT, .required = true, .example = "\"2026-01-31T12:00:00Z\""},
    {"createdBy", FIELD_TEXT, .required = true,
     .help = "Label of the key that made it, or authzctl", .example = "\"ops\""},
    {"expiresAt", FIELD_TEXT, .help = "End of the key; absent: it is valid until it is revoked"},
    {"key",       FIELD_TEXT, .required = true, .help = "Shown this once",
     .example = "\"ak_example\""},
    {"sessions",  FIELD_INTEGER, .required = true, .help = "Sessions of the console: 0",
     .example = "0"},
};
const struct field_table answer_new_admin_key = ANSWER("NewAdminApiKey", new_admin_key_fields);

static const struct field console_link_fields[] = {
    {"url",       FIELD_TEXT, .required = true, .max = 0,
     .help = "Shown this once. A browser that opens it signs in with the rights of the key",
     .example = "\"https://as.example/portal/#/link/example\""},
    {"expiresAt", FIELD_TEXT, .required = true, .help = "End of the link, if it is not used before",
     .example = "\"2026-01-31T12:10:00.000Z\""},
};
const struct field_table answer_console_link = ANSWER("ConsoleLink", console_link_fields);

static const struct field console_session_fields[] = {
    {"keyId",     FIELD_TEXT,
     .help = "Id of the admin key; absent for a person and in development mode",
     .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf12\""},
    {"subjectId", FIELD_TEXT,
     .help = "The person who signed in at an identity provider; absent for a key"},
    {"label",     FIELD_TEXT, .required = true, .help = "Label of the key, or the person again",
     .example = "\"ops\""},
    {"role",      FIELD_TEXT, .required = true, .words = admin_role_words,
     .example = "\"operator\""},
    {"createdAt", FIELD_TEXT,
     .help = "Begin of the session; absent, with the other times, for a request with a key"},
    {"idleUntil", FIELD_TEXT, .help = "End of the session without another request"},
    {"expiresAt", FIELD_TEXT, .help = "End of the session in any case"},
};
const struct field_table answer_console_session = ANSWER("ConsoleSession", console_session_fields);

static const struct field plaintext_fields[] = {
    {"key", FIELD_TEXT, .required = true, .help = "The key itself", .example = "\"ak_example\""},
};
const struct field_table answer_plaintext = ANSWER("AdminApiKeyPlaintext", plaintext_fields);

static const struct field audit_row_fields[] = {
    {"id",             FIELD_INTEGER, .required = true, .example = "4711"},
    {"createdAt",      FIELD_TEXT,    .required = true, .example = "\"2026-01-31T12:00:00Z\""},
    {"requestId",      FIELD_TEXT,    .required = true, .help = "X-Request-ID of the answer",
     .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf12\""},
    {"flowId",         FIELD_TEXT,
     .help = "The same in all requests of a sign-in and its tokens"},
    {"clientId",       FIELD_TEXT,    .help = "Of an admin request: the label of the key",
     .example = "\"shop\""},
    {"subjectId",      FIELD_TEXT, .help = "User that the request was about"},
    {"endpoint",       FIELD_TEXT,    .required = true,
     .help = "Path of the row of the routing table", .example = "\"/token\""},
    {"method",         FIELD_TEXT,    .required = true, .example = "\"POST\""},
    {"outcome",        FIELD_TEXT,    .required = true,
     .help = "allowed, denied, rejected or error", .example = "\"allowed\""},
    {"ip",             FIELD_TEXT, .help = "Address of the caller"},
    {"userAgent",      FIELD_TEXT, .help = "Header User-Agent of the caller"},
    {"policyInput",    FIELD_OBJECT,  .help = "The question that policy was asked"},
    {"policyDecision", FIELD_OBJECT,  .help = "Its answer, with the revision"},
    {"requestSummary", FIELD_OBJECT,  .required = true,
     .help = "Operation, status, and what the endpoint noted",
     .example = "{\"operation\": \"token\", \"status\": 200}"},
    {"leafIndex",      FIELD_INTEGER,
     .help = "Of an export: number of its leaf in the log over all rows; absent before it is "
             "sealed"},
    {"leafHash",       FIELD_TEXT,
     .help = "Of an export: SHA-256 of its leaf as it was sealed, hex"},
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

static const struct field fence_fields[] = {
    {"clients",         FIELD_INTEGER, .required = true,
     .help = "Clients of which every token, refresh token and code ended", .example = "12"},
    {"sessions",        FIELD_INTEGER, .required = true, .help = "Browser sessions that were ended",
     .example = "40"},
    {"consoleSessions", FIELD_INTEGER, .required = true,
     .help = "Sessions of the console that were ended", .example = "1"},
    {"pending",         FIELD_INTEGER, .required = true,
     .help = "Sign-ins, approvals, links and tickets under way that were dropped", .example = "3"},
};
const struct field_table answer_fence = ANSWER("RestoreFence", fence_fields);

static const struct field key_fields[] = {
    {"kid",            FIELD_TEXT,    .required = true,
     .help = "Its name in the key set and in headers of tokens", .example = "\"Zk6UL2_example\""},
    {"use",            FIELD_TEXT,    .required = true,
     .help = "oidc: ID tokens; statement: software statements; audit: the audit log; access: JWT "
             "access tokens", .example = "\"oidc\""},
    {"alg",            FIELD_TEXT,    .help = "Algorithm of its signatures",
     .example = "\"RS256\""},
    {"state",          FIELD_TEXT,    .required = true,
     .help = "next: published, and not used yet; active: signs; retired: only verifies",
     .example = "\"active\""},
    {"createdAt",      FIELD_TEXT,    .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
    {"activatedAt",    FIELD_TEXT,    .help = "Absent while it is next"},
    {"retiredAt",      FIELD_TEXT,    .help = "Absent before it is retired"},
    {"ageSeconds",     FIELD_INTEGER, .required = true,
     .help = "Seconds since it became active; of a next key, since it was made",
     .example = "86400"},
    {"publishedUntil", FIELD_TEXT,    .help = "Of a retired key: the end of its publication"},
};
const struct field_table answer_key = ANSWER("SigningKey", key_fields);

static const struct field live_token_fields[] = {
    {"kind",      FIELD_TEXT, .required = true, .help = "access or refresh",
     .example = "\"access\""},
    {"tokenId",   FIELD_TEXT, .required = true,
     .help = "Id of the token in audit rows, and no credential",
     .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf12\""},
    {"clientId",  FIELD_TEXT, .required = true, .example = "\"shop\""},
    {"subjectId", FIELD_TEXT, .required = true,
     .help = "Person, or the client if the token is its own", .example = "\"alice\""},
    {"scope",     FIELD_TEXT, .may_be_empty = true, .help = "Scopes that were granted",
     .example = "\"orders.read\""},
    {"resource",  FIELD_TEXT, .help = "Resource that the token is for"},
    {"issuedAt",  FIELD_TEXT, .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
    {"expiresAt", FIELD_TEXT, .required = true,
     .help = "Of a refresh token: its end if it is not used",
     .example = "\"2026-01-31T12:05:00.000Z\""},
};
static const struct field_table live_token_table = ANSWER("LiveToken", live_token_fields);

static const struct field token_page_fields[] = {
    {"content", FIELD_ARRAY,   .required = true, .shape = &live_token_table,
     .help = "Tokens of this page"},
    {"number",  FIELD_INTEGER, .required = true, .help = "Number of the page, from 0",
     .example = "0"},
    {"size",    FIELD_INTEGER, .required = true, .help = "Tokens of a page", .example = "20"},
    {"last",    FIELD_BOOLEAN, .required = true, .help = "There is no further page",
     .example = "true"},
};
const struct field_table answer_token_page = ANSWER("LiveTokenPage", token_page_fields);

static const struct field audit_page_fields[] = {
    {"content",          FIELD_ARRAY,   .required = true, .shape = &answer_audit_row,
     .help = "Rows of this page"},
    {"empty",            FIELD_BOOLEAN, .required = true, .help = "The page has no row",
     .example = "false"},
    {"first",            FIELD_BOOLEAN, .required = true, .help = "The page is the first",
     .example = "true"},
    {"last",             FIELD_BOOLEAN, .required = true, .help = "The page is the last",
     .example = "true"},
    {"number",           FIELD_INTEGER, .required = true, .help = "Number of the page, from 0",
     .example = "0"},
    {"size",             FIELD_INTEGER, .required = true, .help = "Rows that a page may have",
     .example = "20"},
    {"numberOfElements", FIELD_INTEGER, .required = true, .help = "Rows of this page",
     .example = "1"},
    {"totalPages",       FIELD_INTEGER, .required = true, .example = "1"},
    {"totalElements",    FIELD_INTEGER, .required = true, .help = "Rows of all pages",
     .example = "1"},
    {"pageable",         FIELD_OBJECT,  .required = true,
     .help = "The same facts, as clients of Spring expect them", .example = "{}"},
    {"sort",             FIELD_OBJECT,  .required = true,
     .help = "Order, as clients of Spring expect it", .example = "{}"},
};
const struct field_table answer_audit_page = ANSWER("PageAuditLogDto", audit_page_fields);

static const struct field audit_search_fields[] = {
    {"content", FIELD_ARRAY, .required = true, .shape = &answer_audit_row,
     .help = "Rows found, newest first; perhaps fewer than asked for, or none, although there are "
             "more"},
    {"next",    FIELD_TEXT,
     .help = "The value of `after` for the next page; absent: nothing is left"},
};
const struct field_table answer_audit_search = ANSWER("AuditSearch", audit_search_fields);

static const struct field audit_export_fields[] = {
    {"exportedAt", FIELD_TEXT,    .required = true, .example = "\"2026-01-31T12:00:00Z\""},
    {"filters",    FIELD_OBJECT,  .required = true, .help = "Parameters of the request",
     .example = "{\"outcome\": \"denied\"}"},
    {"rows",       FIELD_ARRAY,   .required = true, .shape = &answer_audit_row,
     .help = "Newest first"},
    {"count",      FIELD_INTEGER, .required = true, .help = "Number of rows", .example = "1"},
    {"truncated",  FIELD_BOOLEAN, .required = true,
     .help = "There were more rows than SVC_AUDIT_EXPORT_MAX_ROWS", .example = "false"},
};
const struct field_table answer_audit_export = ANSWER("AuditExport", audit_export_fields);

/* The members that parts of the governance report share: decisions by outcome, and those of one client or endpoint. */
#define OUTCOMES \
    {"allowed", FIELD_INTEGER, .required = true}, \
    {"denied",  FIELD_INTEGER, .required = true}, \
    {"errors",  FIELD_INTEGER, .required = true}
#define DECISIONS \
    {"decisions", FIELD_INTEGER, .required = true}, \
    {"denied",    FIELD_INTEGER, .required = true}, \
    {"errors",    FIELD_INTEGER, .required = true}, \
    {"pct",       FIELD_ANY,     .required = true, .help = "Of all decisions"}
static const struct field agent_decisions_fields[] = {
    {"clientId",   FIELD_TEXT, .required = true},
    {"clientName", FIELD_TEXT, .max = 0},
    DECISIONS,
};
static const struct field_table agent_decisions_table = ANSWER("ClientBreakdown",
                                                               agent_decisions_fields);
static const struct field endpoint_decisions_fields[] = {
    {"endpoint", FIELD_TEXT, .required = true},
    DECISIONS,
};
static const struct field_table endpoint_decisions_table = ANSWER("EndpointBreakdown",
                                                                  endpoint_decisions_fields);
static const struct field denial_reason_fields[] = {
    {"reason", FIELD_TEXT,    .required = true},
    {"count",  FIELD_INTEGER, .required = true},
    {"before", FIELD_INTEGER, .required = true, .help = "Its number in the period before"},
    {"pct",    FIELD_ANY,     .required = true,
     .help = "Of all denials; a denial may have several reasons"},
};
static const struct field_table denial_reason_table = ANSWER("DenialReason", denial_reason_fields);
static const struct field reason_trend_fields[] = {
    {"reason", FIELD_TEXT,  .required = true},
    {"counts", FIELD_ARRAY, .required = true,
     .help = "Denials with this reason at each point of the trend"},
};
static const struct field_table reason_trend_table = ANSWER("ReasonTrend", reason_trend_fields);
static const struct field hour_fields[] = {
    {"hour",  FIELD_TEXT,    .required = true, .help = "Its begin"},
    {"total", FIELD_INTEGER, .required = true},
    OUTCOMES,
};
static const struct field_table hour_table = ANSWER("HourBreakdown", hour_fields);
static const struct field period_before_fields[] = {
    {"periodStart",    FIELD_TEXT,    .required = true},
    {"periodEnd",      FIELD_TEXT,    .required = true},
    {"totalDecisions", FIELD_INTEGER, .required = true},
    OUTCOMES,
};
static const struct field_table period_before_table = ANSWER("PeriodBefore", period_before_fields);
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
static const struct field_table reported_provider_table = ANSWER("ReportedProvider",
                                                                 reported_provider_fields);
static const struct field policy_change_fields[] = {
    {"action",     FIELD_TEXT, .required = true},
    {"entityId",   FIELD_TEXT, .required = true},
    {"entityType", FIELD_TEXT, .required = true},
    {"timestamp",  FIELD_TEXT, .required = true},
    {"id",         FIELD_INTEGER, .required = true, .help = "Number of the bundle, as entityId"},
    {"message",    FIELD_TEXT, .help = "Why it was saved"},
    {"who",        FIELD_TEXT, .help = "Label of the admin key"},
    {"effect",     FIELD_OBJECT,
     .help = "What it changed in recorded decisions, if that was measured, as `impact` of a "
             "bundle"},
};
static const struct field_table policy_change_table = ANSWER("PolicyChange", policy_change_fields);
static const struct field reported_resource_fields[] = {
    {"name",              FIELD_TEXT,    .required = true, .help = "Its displayName"},
    {"resourceIndicator", FIELD_TEXT,    .required = true,
     .help = "Address that tokens for it name (RFC 8707)"},
    {"decisionCount",     FIELD_INTEGER, .required = true,
     .help = "Decisions about requests to it in the period"},
};
static const struct field_table reported_resource_table = ANSWER("ReportedResource",
                                                                 reported_resource_fields);
static const struct field governance_fields[] = {
    {"generatedAt",            FIELD_TEXT,      .required = true},
    {"periodStart",            FIELD_TEXT,      .required = true},
    {"periodEnd",              FIELD_TEXT,      .required = true},
    {"totalDecisions",         FIELD_INTEGER,   .required = true},
    OUTCOMES,
    {"allowedPct",             FIELD_ANY,       .required = true},
    {"deniedPct",              FIELD_ANY,       .required = true},
    {"errorsPct",              FIELD_ANY,       .required = true},
    {"activeRules",            FIELD_INTEGER,   .required = true},
    {"totalRules",             FIELD_INTEGER,   .required = true},
    {"dataKeys",               FIELD_INTEGER,   .required = true},
    {"activeAgentCount",       FIELD_INTEGER,   .required = true,
     .help = "Clients with a decision in the period"},
    {"identityProviderCount",  FIELD_INTEGER,   .required = true},
    {"protectedResourceCount", FIELD_INTEGER,   .required = true,
     .help = "UMA resources and managed resources"},
    {"trendLabels",            FIELD_TEXT_LIST, .required = true,
     .help = "Days on which the points begin"},
    {"trendAllowed",           FIELD_ARRAY,     .required = true},
    {"trendDenied",            FIELD_ARRAY,     .required = true},
    {"trendErrors",            FIELD_ARRAY,     .required = true},
    {"byClient",               FIELD_ARRAY,     .required = true, .shape = &agent_decisions_table},
    {"byEndpoint",             FIELD_ARRAY,     .required = true,
     .shape = &endpoint_decisions_table},
    {"denialReasons",          FIELD_ARRAY,     .required = true, .shape = &denial_reason_table},
    {"reasonTrend",            FIELD_ARRAY,     .required = true, .shape = &reason_trend_table,
     .help = "The same reasons over time"},
    {"byHour",                 FIELD_ARRAY,     .required = true, .shape = &hour_table,
     .help = "Hours with decisions, of the last 8 days; of one client, of the last 2"},
    {"before",                 FIELD_OBJECT,    .required = true, .shape = &period_before_table,
     .help = "The period of as many days before"},
    {"clients",                FIELD_ARRAY,     .required = true, .shape = &agent_table},
    {"identityProviders",      FIELD_ARRAY,     .required = true,
     .shape = &reported_provider_table},
    {"resources",              FIELD_ARRAY,     .required = true,
     .shape = &reported_resource_table},
    {"recentPolicyChanges",    FIELD_ARRAY,     .required = true, .shape = &policy_change_table},
};
const struct field_table answer_governance = ANSWER("GovernanceReportDto", governance_fields);

static const struct field resource_sync_fields[] = {
    {"resource",    FIELD_TEXT,      .required = true, .help = "Name of the managed resource",
     .example = "\"github\""},
    {"routeCount",  FIELD_INTEGER,   .required = true, .help = "Routes that it has now",
     .example = "3"},
    {"scopesAdded", FIELD_TEXT_LIST, .required = true,
     .help = "Names of the scopes that are new in the manifest", .example = "[\"github:write\"]"},
};
static const struct field_table resource_sync_table = ANSWER("ResourceSync", resource_sync_fields);
static const struct field connector_sync_fields[] = {
    {"connectorId", FIELD_TEXT,      .required = true, .example = "\"github\""},
    {"version",     FIELD_TEXT,      .required = true, .help = "Version that is installed now",
     .example = "\"1.0.0\""},
    {"resources",   FIELD_ARRAY,     .required = true, .shape = &resource_sync_table,
     .help = "Its managed resources that were changed"},
    {"warnings",    FIELD_TEXT_LIST, .required = true,
     .help = "What was found, and why nothing was changed", .example = "[]"},
};
static const struct field_table connector_sync_table = ANSWER("ConnectorSync",
                                                              connector_sync_fields);
static const struct field sync_fields[] = {
    {"connectors", FIELD_ARRAY, .required = true, .shape = &connector_sync_table},
};
const struct field_table answer_sync = ANSWER("SyncReport", sync_fields);

static const struct field probe_fields[] = {
    {"ok",         FIELD_BOOLEAN, .required = true,
     .help = "The upstream answered, and not with a status of 500 or more", .example = "true"},
    {"httpStatus", FIELD_INTEGER, .help = "Status code of its answer; absent: there was none",
     .example = "200"},
    {"latencyMs",  FIELD_INTEGER, .required = true,
     .help = "Time until the answer was there, in milliseconds", .example = "42"},
    {"error",      FIELD_TEXT,    .help = "What is wrong, for the operator"},
};
const struct field_table answer_probe = ANSWER("ProbeResult", probe_fields);

static const struct field rotation_fields[] = {
    {"clientId",                FIELD_TEXT, .required = true, .example = "\"shop\""},
    {"clientSecret",            FIELD_TEXT, .required = true, .help = "Shown this once",
     .example = "\"made-by-the-service\""},
    {"rotatedAt",               FIELD_TEXT, .required = true,
     .example = "\"2026-01-31T12:00:00Z\""},
    {"previousSecretExpiresAt", FIELD_TEXT,
     .help = "End of the earlier secret; absent: it ended at once"},
};
const struct field_table answer_rotation = ANSWER("RotatedSecret", rotation_fields);

static const struct field control_fields[] = {
    {"id",           FIELD_TEXT,      .required = true, .example = "\"authzen\""},
    {"decides",      FIELD_TEXT,      .required = true, .help = "What the control decides",
     .example = "\"Access requests of other programs\""},
    {"entrypoints",  FIELD_TEXT_LIST, .required = true, .help = "Decisions that ask the control",
     .example = "[\"access\"]"},
    {"configurable", FIELD_BOOLEAN,   .required = true, .help = "The control has rows of settings",
     .example = "true"},
    {"reasons",      FIELD_ARRAY,     .required = true,
     .help = "Its reasons to deny: code, category and message",
     .example = "[{\"code\": \"client_disabled\"}]"},
};
const struct field_table answer_control = OPEN_ANSWER("Control", control_fields);

static const struct field home_issuer_fields[] = {
    {"issuer",       FIELD_TEXT,      .help = "The home issuer; absent: there is none",
     .example = "\"https://login.example\""},
    {"idpId",        FIELD_TEXT,
     .help = "Its provider; absent if no provider has this issuer"},
    {"source",       FIELD_TEXT,      .required = true,
     .help = "What decides: setting (SVC_SUBJECT_HOME_ISSUER), stored (by the first sign-in or a "
             "PUT), oldest (the oldest enabled provider, as long as none is stored) or "
             "none", .example = "\"stored\""},
    {"consequences", FIELD_TEXT_LIST, .help = "Of a PUT: what follows from the change"},
};
const struct field_table answer_home_issuer = ANSWER("HomeIssuerAnswer", home_issuer_fields);

static const struct field same_secrets_fields[] = {
    {"same", FIELD_ARRAY, .required = true,
     .help = "For each secret, in order: it is the one that the object was marked with",
     .example = "[true, false]"},
};
const struct field_table answer_same_secrets = ANSWER("SameSecrets", same_secrets_fields);

static const struct field evaluation_fields[] = {
    {"result",      FIELD_ANY,     .help = "Answer of the engine to the input",
     .example = "{\"allow\": true}"},
    {"endpoint",    FIELD_TEXT,    .help = "Replay: the endpoint that asked"},
    {"createdAt",   FIELD_TEXT,    .help = "Replay: the time of the stored decision"},
    {"before",      FIELD_ANY,     .help = "Replay: the stored decision"},
    {"comparable",  FIELD_BOOLEAN,
     .help = "Replay: the whole input was stored, so that it was evaluated again"},
    {"notComparable", FIELD_TEXT,  .help = "Replay that is not comparable: why, and what to do"},
    {"notStored",   FIELD_TEXT_LIST,
     .help = "Replay that is not comparable: JSON Pointers of the values that were not stored"},
    {"after",       FIELD_ANY,
     .help = "Replay that is comparable: the decision by today's policy"},
    {"changed",     FIELD_BOOLEAN, .help = "Replay that is comparable: the two differ"},
    {"changes",     FIELD_ARRAY,   .help = "Replay: how they differ"},
    {"undefined",   FIELD_BOOLEAN, .help = "The path has no value for this input"},
    {"explanation", FIELD_ANY, .help = "Trace, if explain asks for it"},
    {"metrics",     FIELD_ANY, .help = "Times of the engine, in nanoseconds"},
    {"revision",    FIELD_TEXT,    .may_be_empty = true,
     .help = "Revision of the policy that answered",
     .example = "\"0123456789abcdef0123456789abcdef\""},
};
const struct field_table answer_evaluation = ANSWER("PolicyEvaluation", evaluation_fields);

static const struct field impact_progress_fields[] = {
    {"done",      FIELD_INTEGER, .required = true, .help = "Decisions that were looked at",
     .example = "5200"},
    {"of",        FIELD_INTEGER, .required = true, .help = "Decisions to look at, at most",
     .example = "100000"},
    {"elapsedMs", FIELD_INTEGER, .required = true, .example = "840"},
};
static const struct field_table impact_progress = ANSWER("PolicyImpactProgress",
                                                         impact_progress_fields);
static const struct field impact_sampled_fields[] = {
    {"p",        FIELD_ANY,     .required = true,
     .help = "Probability with which each row was taken", .example = "0.01"},
    {"seed",     FIELD_INTEGER, .required = true,
     .help = "Seed of the hash of ids that chose the rows", .example = "2718281828"},
    {"selected", FIELD_INTEGER, .required = true, .help = "Audit rows that it was taken of",
     .example = "10000000"},
    {"taken",    FIELD_INTEGER, .required = true, .help = "Rows that were taken",
     .example = "100000"},
    {"widest",   FIELD_INTEGER, .required = true,
     .help = "Decisions of the row with the most: a batch is taken as a whole", .example = "1"},
};
static const struct field_table impact_sampled = ANSWER("PolicyImpactSampled",
                                                        impact_sampled_fields);
static const struct field impact_fields[] = {
    {"id",                FIELD_INTEGER, .required = true, .example = "7"},
    {"state",             FIELD_TEXT,    .required = true, .help = "running, done or failed",
     .example = "\"done\""},
    {"createdAt",         FIELD_TEXT,    .required = true,
     .example = "\"2026-11-24T12:00:00.000Z\""},
    {"by",                FIELD_TEXT,    .required = true,
     .help = "Label of the admin key, or authzctl", .example = "\"ci\""},
    {"selection",         FIELD_OBJECT,  .required = true,
     .help = "since, until, decisions, filter and limits, as they were asked for",
     .example = "{\"since\": \"24h\", \"decisions\": 100000}"},
    {"progress",          FIELD_OBJECT,  .required = true, .shape = &impact_progress},
    {"note",              FIELD_TEXT,    .help = "Why it failed"},
    {"baseRevision",      FIELD_TEXT,    .required = true, .help = "Revision that decides now",
     .example = "\"0123456789abcdef0123456789abcdef\""},
    {"candidateRevision", FIELD_TEXT,    .required = true,
     .help = "Revision that the change would make",
     .example = "\"abcdef0123456789abcdef0123456789\""},
    {"asOf",              FIELD_INTEGER,
     .help = "Largest id of an audit row that was looked at or could have been"},
    {"from",              FIELD_TEXT,    .help = "Begin of the period"},
    {"to",                FIELD_TEXT,    .help = "End of the period"},
    {"truncated",         FIELD_BOOLEAN,
     .help = "Not all that was chosen was looked at: the time was over. Limits and guards are not "
             "measured then"},
    {"sampled",           FIELD_OBJECT,  .shape = &impact_sampled,
     .help = "There are more rows than may be looked at, so each was taken at random; absent: all "
             "were looked at"},
    {"estimates",         FIELD_OBJECT,
     .help = "Of a sample, by class: estimate of all decisions, and upper, which is not below the "
             "truth in 95 of 100 samples"},
    {"empty",             FIELD_BOOLEAN, .help = "The period has no decision that matches"},
    {"looked",            FIELD_INTEGER, .help = "Decisions looked at: the classes and notKnown"},
    {"asked",             FIELD_INTEGER, .help = "Decisions that both policies were asked for"},
    {"unreached",         FIELD_INTEGER,
     .help = "Decisions of entry points that the change cannot reach: unchanged, and not "
             "asked for"},
    {"same",              FIELD_INTEGER, .help = "Unchanged"},
    {"newlyDenied",       FIELD_INTEGER, .help = "Allowed now, and not with the change"},
    {"newlyAllowed",      FIELD_INTEGER, .help = "The reverse"},
    {"narrowed",          FIELD_INTEGER, .help = "Allowed with fewer rights"},
    {"widened",           FIELD_INTEGER, .help = "Allowed with rights that are not given now"},
    {"other",             FIELD_INTEGER, .help = "Another difference, counted in otherBy"},
    {"mixed",             FIELD_INTEGER, .help = "Widened decisions that lose rights too"},
    {"otherBy",           FIELD_OBJECT,
     .help = "lifetimeLonger, lifetimeShorter, singleUse, obligations, claims, extensions, "
             "context, stepUp, reasons"},
    {"failing",           FIELD_INTEGER,
     .help = "The change gives no decision, which is answered by 503"},
    {"words",             FIELD_INTEGER, .help = "Unchanged but for the messages of reasons"},
    {"drifted",           FIELD_INTEGER,
     .help = "The active policy does not give the recorded answer any more"},
    {"notKnown",          FIELD_ARRAY,
     .help = "[{why, count, builtin}]: gives_up, damaged, no_entrypoint, hidden"},
    {"blind",             FIELD_ARRAY,
     .help = "[{what, rows}]: what the change may do beside this, and the decisions looked at that "
             "it concerns: introspect (of the token of a request to a managed resource), or the "
             "row of data that the service reads itself"},
    {"byClient",          FIELD_ARRAY,
     .help = "Counts of the classes by client, the largest first; the last item may be others"},
    {"byEndpoint",        FIELD_ARRAY,   .help = "The same by endpoint"},
    {"bySubject",         FIELD_ARRAY,   .help = "The same by subject"},
    {"byScope",           FIELD_ARRAY,   .help = "gained and lost by scope"},
    {"byReason",          FIELD_ARRAY,   .help = "added and removed by reason code"},
    {"clients",           FIELD_INTEGER, .help = "Clients with a difference"},
    {"people",            FIELD_INTEGER, .help = "Subjects with a difference"},
    {"guards",            FIELD_ARRAY,
     .help = "Guards that were counted: name, of, the counts, and refused with limit, max, seen, "
             "of, and of a sample estimate and upper; notMeasured: it takes no sample, or why says "
             "what else"},
    {"limits",            FIELD_OBJECT,
     .help = "The limits of the request, with the members of a guard but for its name"},
    {"examples",          FIELD_OBJECT,
     .help = "Examples by class: auditId, index, createdAt, endpoint, clientId, subjectId, before, "
             "after"},
};
const struct field_table answer_impact = ANSWER("PolicyImpact", impact_fields);

static const struct field deploy_fields[] = {
    {"mode",           FIELD_TEXT,    .required = true, .example = "\"merge\""},
    {"activation",     FIELD_TEXT,    .required = true,
     .help = "confirmed: every living engine has the revision; pending or unconfirmed: not known "
             "yet; dry-run: nothing was saved", .example = "\"confirmed\""},
    {"revision",       FIELD_TEXT,    .required = true,
     .example = "\"0123456789abcdef0123456789abcdef\""},
    {"previousEtag",   FIELD_TEXT,    .required = true, .may_be_empty = true,
     .help = "Digest of the earlier bundle",
     .example = "\"0000000000000000000000000000000000000000000000000000000000000000\""},
    {"newEtag",        FIELD_TEXT,    .required = true, .help = "Digest of this bundle",
     .example = "\"1111111111111111111111111111111111111111111111111111111111111111\""},
    {"rulesUpserted",  FIELD_INTEGER, .required = true,
     .help = "Listed in the request and not protected", .example = "1"},
    {"rulesAdded",     FIELD_INTEGER, .required = true, .example = "1"},
    {"rulesChanged",   FIELD_INTEGER, .required = true, .example = "0"},
    {"rulesUnchanged", FIELD_INTEGER, .required = true, .example = "0"},
    {"rulesDeleted",   FIELD_INTEGER, .required = true, .example = "0"},
    {"rulesProtected", FIELD_INTEGER, .required = true, .help = "Kept, because they are shipped",
     .example = "0"},
    {"dataUpserted",   FIELD_INTEGER, .required = true,
     .help = "Listed in the request and not protected", .example = "1"},
    {"dataAdded",      FIELD_INTEGER, .required = true, .example = "1"},
    {"dataChanged",    FIELD_INTEGER, .required = true, .example = "0"},
    {"dataUnchanged",  FIELD_INTEGER, .required = true, .example = "0"},
    {"dataDeleted",    FIELD_INTEGER, .required = true, .example = "0"},
    {"dataProtected",  FIELD_INTEGER, .required = true, .help = "Kept, because they are shipped",
     .example = "0"},
    {"warnings",       FIELD_TEXT_LIST,
     .help = "Rules of the bundle that decide nothing: a package, hook, type or action that is not "
             "read"},
};
const struct field_table answer_deploy = ANSWER("PolicyBundleDeployResult", deploy_fields);

static const struct field bundle_fields[] = {
    {"id",              FIELD_INTEGER,   .required = true, .example = "12"},
    {"createdAt",       FIELD_TEXT,      .required = true, .example = "\"2026-01-31T12:00:00Z\""},
    {"revision",        FIELD_TEXT,      .required = true, .help = "Revision that engines report",
     .example = "\"0123456789abcdef0123456789abcdef\""},
    {"etag",            FIELD_TEXT,      .required = true, .help = "Digest of the bundle",
     .example = "\"1111111111111111111111111111111111111111111111111111111111111111\""},
    {"previousEtag",    FIELD_TEXT, .help = "Digest of the one before"},
    {"triggerSource",   FIELD_TEXT,      .required = true,
     .help = "deploy, rollback, policy-rule, policy-data, connector or shipped",
     .example = "\"deploy\""},
    {"triggeredBy",     FIELD_TEXT, .help = "Label of the admin key"},
    {"message",         FIELD_TEXT, .help = "Why it was saved", .example = "\"Limit of orders\""},
    {"impact",          FIELD_OBJECT,
     .help = "What it changed in recorded decisions: id of the measurement, looked, and the count "
             "of each class; notMeasured says why there is none"},
    {"overrideBy",      FIELD_TEXT,
     .help = "Id of the admin key that passed guards with it, or authzctl"},
    {"overrideReason",  FIELD_TEXT, .help = "Why guards were passed"},
    {"bundleSizeBytes", FIELD_INTEGER,   .required = true, .example = "81920"},
    {"ruleCount",       FIELD_INTEGER,   .required = true, .example = "1"},
    {"rulePaths",       FIELD_TEXT_LIST, .required = true, .example = "[\"custom/example.rego\"]"},
    {"dataKeys",        FIELD_TEXT_LIST, .required = true, .example = "[\"example.limits\"]"},
    {"nextId",          FIELD_INTEGER,
     .help = "Of the newest bundle: the id that the next save gets, unless another save is refused "
             "before"},
};
const struct field_table answer_bundle = ANSWER("BundleAuditLogDto", bundle_fields);

static const struct field bundle_content_fields[] = {
    {"rules", FIELD_ARRAY, .required = true, .help = "Rules of the bundle, with their text",
     .example = "[]"},
    {"data",  FIELD_ARRAY, .required = true, .help = "Data rows of the bundle, with their payload",
     .example = "[]"},
};
const struct field_table answer_bundle_content = ANSWER("BundleContent", bundle_content_fields);

static const struct field difference_fields[] = {
    {"added",   FIELD_TEXT_LIST, .required = true, .help = "Only in the later bundle",
     .example = "[\"custom/example.rego\"]"},
    {"removed", FIELD_TEXT_LIST, .required = true, .help = "Only in the earlier bundle",
     .example = "[]"},
    {"changed", FIELD_ARRAY,     .required = true, .help = "In both, with the difference",
     .example = "[]"},
};
static const struct field_table difference_table = ANSWER("Difference", difference_fields);
static const struct field bundle_difference_fields[] = {
    {"rules", FIELD_OBJECT, .required = true, .shape = &difference_table},
    {"data",  FIELD_OBJECT, .required = true, .shape = &difference_table},
};
const struct field_table answer_bundle_difference = ANSWER("BundleDifference",
                                                           bundle_difference_fields);

/* clang-format on */
