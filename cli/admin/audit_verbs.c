/* Verbs of the audit log, the report and the evaluation of policy: what each verb asks for, how its
 * options become members, and what it prints. */
#include "config.h"

#include "cli/admin/admin.h"
#include "cli/verbs.h"

#define AT(member) offsetof(struct cli_choices, member)
#define API "/admin/api/"

/* clang-format off */

/* ---- audit */

#define BY_CLIENT {"client", 0, "CLIENT", AT(client), false, \
                   "Show those of CLIENT alone; CLIENT may be the label of an admin key"}
#define BY_ENDPOINT {"endpoint", 0, "PATH", AT(endpoint), false, \
                     "Show those of the endpoint PATH alone, for example /token"}
#define BY_FLOW {"flow", 0, "ID", AT(flow), false, "Show those of one sign-in and its tokens alone"}
#define BY_FROM {"from", 0, "DAY", AT(from), false, "Begin with DAY (UTC), for example 2026-01-31"}
#define BY_OUTCOME {"outcome", 0, "OUTCOME", AT(outcome), false, \
                    "Show those with OUTCOME alone: allowed, denied, rejected or error"}
#define BY_REASON {"reason", 0, "CODE", AT(reason), false, \
                   "Show denials with the reason CODE alone"}
#define BY_REQUEST {"request", 0, "ID", AT(request), false, \
                    "Show those of the request ID alone (X-Request-ID)"}
#define BY_TO {"to", 0, "DAY", AT(to), false, "End with DAY (UTC)"}

static const struct cli_option audit_list_options[] = {
    BY_CLIENT, BY_ENDPOINT, BY_FLOW, BY_FROM,
    {"limit", 0, "N", AT(limit), false, "Show at most N rows, from 1 to 200 (default 20)"},
    BY_OUTCOME,
    {"page", 0, "N", AT(page), false, "Show the page N, counted from 0"},
    BY_REASON, BY_REQUEST, ADMIN_BY_SUBJECT, BY_TO,
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option audit_export_options[] = {
    BY_CLIENT, BY_ENDPOINT, BY_FLOW,
    {"format", 0, "FORMAT", AT(format), false,
     "Format of the export: json (default), ndjson, csv, ocsf (OCSF 1.3.0), otlp (OpenTelemetry "
     "logs), or lines (the log that proves itself)"},
    BY_FROM,
    {"from-instant", 0, "TIME", AT(from_instant), false,
     "Begin at TIME, for example 2026-01-31T12:00:00Z"},
    {"operation", 0, "NAME", AT(operation), false,
     "Export those of one operation alone, for example createClient"},
    BY_OUTCOME, BY_REASON, BY_REQUEST,
    {"status", 0, "STATUS", AT(http_status), false, "Export those with this HTTP status alone"},
    ADMIN_BY_SUBJECT, BY_TO,
    {"to-instant", 0, "TIME", AT(to_instant), false, "End before TIME"},
    {NULL, 0, NULL, 0, false, NULL},
};
const struct cli_option audit_tail_options[] = {
    BY_CLIENT, BY_ENDPOINT, BY_FLOW,
    {"interval", 0, "SECONDS", AT(interval), false,
     "Ask every SECONDS, from 1 to 3600 (default 2)"},
    {"limit", 0, "N", AT(limit), false, "Show N rows at first, from 1 to 200 (default 10)"},
    BY_OUTCOME, BY_REASON, ADMIN_BY_SUBJECT,
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
    {AT(reason),   "reason",    ADMIN_TEXT}, \
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

static const struct cli_option policy_try_options[] = {
    {"input", 0, "FILE", AT(input), true,
     "Input of the evaluation, the JSON object in FILE, or - for standard input"},
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member policy_try_members[] = {
    {AT(input), "input", ADMIN_OBJECT},
    {0, NULL, ADMIN_TEXT},
};

const struct admin_verb audit_verbs[] = {
    {ADMIN_VERB("audit list", "", 0, audit_list_options, verbs_asking,
                "List audit rows, newest first",
                "With --json the page object of the admin API is printed, with whole rows."),
     .method = "GET", .path = API "audit-logs", .members = audit_list_filters,
     .columns = audit_columns, .list = "content"},
    {ADMIN_VERB_RUN("audit replay", "ID", 1, NULL, verbs_entitling, audit_replay_run,
                "Let the policy of today decide a stored question again, and show the changes",
                "ID is the id of an audit row with a decision. Nothing is issued or revoked."),
     .method = "POST", .path = API "policy-rules/evaluate", .key = "auditId", .missing = NO_AUDIT,
     .key_is_number = true},
    {ADMIN_VERB_RUN("audit show", "ID", 1, NULL, verbs_asking, audit_show_run,
                "Print an audit row with the question to policy and its answer", NULL),
     .method = "GET", .path = API "audit-logs/{}", .missing = NO_AUDIT},
    {ADMIN_VERB("policy try", "PATH", 1, policy_try_options, verbs_entitling,
                "Evaluate a rule or value of the active policy with an input",
                "PATH is that of a Cedar rule, of an entrypoint as svc/decision/issue, or of any "
                "package and rule with slashes for dots. For a Cedar rule `result` lists the ids "
                "of the policies that the input satisfies and of those whose evaluation failed; "
                "its input may be a request as `cedar authorize` reads it, with its entities as "
                "the member `entities`. Nothing is issued."),
     .method = "POST", .path = API "policy-rules/evaluate", .key = "path",
     .members = policy_try_members},
    {.verb = {.words = NULL}},
};
/* clang-format on */
