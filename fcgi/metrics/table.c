/*
 * THE table of metrics, and the values of their labels. build-aux/reference reads this file: a
 * row stands on lines of its own, and each list of values on one.
 */
#include "config.h"

#include "metrics/metrics.h"

/* clang-format off */

/* Upper bounds of a request's time, in microseconds. A /token takes 1 to 3 ms on a small machine, so
 * most bounds lie around that; 2.5 s is above SVC_POLICY_TIMEOUT_MS (default 2 s), so that its
 * failures are one bucket; above 10 s web servers and clients have given up, and long polls lie. */
static const uint32_t request_bounds[] = {500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 10000000, 0};
/* Upper bounds of an engine's answer, in microseconds. A decision takes 0.4 to 0.7 ms; 100 ms is the
 * time after which an introspection reads its token again (token/show.c), and 2 s the default of
 * SVC_POLICY_TIMEOUT_MS. */
static const uint32_t engine_bounds[] = {250, 500, 750, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2000000, 0};
/* Upper bounds of a decision in process, in microseconds: the shipped policy takes some 20, a rule
 * that walks through much data thousands, and SVC_POLICY_TIMEOUT_MS ends it. */
static const uint32_t embedded_bounds[] = {10, 25, 50, 100, 250, 500, 1000, 2500, 10000, 50000, 250000, 1000000, 2000000, 0};
/* Upper bounds of an upstream's answer, in microseconds. 30 s is the default of
 * SVC_GATEWAY_RESPONSE_TIMEOUT. */
static const uint32_t upstream_bounds[] = {1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000, 30000000, 0};

/* Upper bounds of a measurement of a change, in microseconds: 100,000 decisions take some 10 s with
 * the rests, 60 s is the default of SVC_IMPACT_SECONDS, and 600 s its most. */
static const uint32_t impact_bounds[] = {100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000, 30000000, 60000000, 120000000, 300000000, 600000000, 0};

/* Statuses that the service answers with. The first values are found first. */
static const char *const codes[] = {"200", "400", "401", "302", "304", "404", "204", "403", "429", "503", "201", "303", "405", "409", "410", "412", "413", "414", "415", "422", "500", "502", "504", "other", NULL};
/* Members `evaluation` of policy's input. */
static const char *const evaluations[] = {"issue", "introspect", "preview", "register", "authzen", "authzen_batch", "gateway", "gateway_tools", "admin", "other", NULL};
/* Entrypoints of decisions (policy/engine/entrypoints.c). */
static const char *const entrypoints[] = {"svc/decision/issue", "svc/decision/introspect", "svc/decision/register", "svc/decision/authzen", "svc/decision/authzen_batch", "svc/decision/gateway", "svc/decision/gateway_tools", "svc/decision/admin", "other", NULL};
static const char *const engines[] = {"opa", "embedded", NULL};
static const char *const engine_outcomes[] = {"answered", "failed", NULL};
static const char *const outcomes[] = {"allowed", "denied", "error", NULL};
/* Categories of reasons (policy/decide/decision.c). */
static const char *const categories[] = {"none", "client", "registration", "trust", "grant", "token", "subject", "resource", "details", "scope", "delegation", "environment", "policy", "system", "other", NULL};
/* Types of grants, written by build-aux/grants from oauth/grants.c. */
static const char *const grants[] = {"client_credentials", "authorization_code", "refresh_token", "urn:openid:params:grant-type:ciba", "urn:ietf:params:oauth:grant-type:token-exchange", "other", NULL};
static const char *const upstream_types[] = {"REST", "MCP", NULL};
/* Outcomes of calls (gateway/upstream/upstream_call.c). */
static const char *const upstream_outcomes[] = {"answered", "failed", "unreachable", "timeout", "invalid", "refused", NULL};
static const char *const booleans[] = {"true", "false", NULL};
/* Types of upstreamAuth with accounts of people, and what becomes of them (gateway/link). */
static const char *const link_types[] = {"oauth_link", "user_secret", "other", NULL};
static const char *const link_results[] = {"needed", "connected", "declined", "refused", "failed", "refreshed", "refresh_failed", "lost", "disconnected", "other", NULL};
/* Codes of faults of identity providers (oidc/upstream/upstream_fault.c). */
static const char *const provider_faults[] = {
    "client_refused",   "redirect_refused",  "scope_refused", "request_refused",    "issuer_other",
    "userinfo_refused", "userinfo_unusable", "encrypted",     "id_token_too_large", "no_auth_time",
    "claims_incomplete", "secret_ended", "other", NULL};
/* Causes for which families end by themselves (store/tokens/grants_use.c). */
static const char *const family_ends[] = {"replaced", "sibling", "code", "other", NULL};
static const char *const tool_upstreams[] = {"REST", "MCP", "STATIC", NULL};
static const char *const tool_outcomes[] = {"done", "failed", "denied", "rejected", "error", NULL};
/* Outcomes of the comparison of decisions of the machine with OPA (policy/engine/witness.c). */
static const char *const witness_results[] = {"same", "differs", "other_revision", "failed", NULL};
/* Results of decisions that are put to the shadow (policy/shadow/serve.c): classes of impact, and
 * reasons why there is no class. */
static const char *const shadow_results[] = {"same", "newlyDenied", "newlyAllowed", "narrowed", "widened", "other", "notKnown", "moved", "dropped", NULL};
/* Ends of a measurement of what a change of policy would do (policy/impact/run.c). */
static const char *const impact_results[] = {"whole", "sampled", "truncated", "failed", NULL};
/* Results of the spans of a request (trace/trace.c, audit/traces.c). */
static const char *const trace_results[] = {"sent", "dropped", "failed", NULL};
static const char *const uses[] = {"oidc", "statement", "audit", "access", NULL};
static const char *const streams[] = {"rows", "checkpoints", NULL};

const char *const metrics_process_states[PROCESS_STATES + 1] = {"closed", "idle", "busy", NULL};

static bool
is_audited(const struct metric_place *place)
{
    return place->audited;
}

static bool
is_rate_limited(const struct metric_place *place)
{
    return place->rate_limited && place->whole_path;
}

const struct metric_row metric_table[METRICS] = {
    [METRIC_HTTP_REQUESTS] = {"svc_http_requests_total",
     "Answers by route, method and status.",
     METRIC_COUNTER, ROUTES_BY_ROW, .label = {{"code", codes}}},
    [METRIC_HTTP_SECONDS] = {"svc_http_request_seconds",
     "Time from the beginning of a request to its answer.",
     METRIC_HISTOGRAM, ROUTES_BY_ROW, .bounds = request_bounds},
    [METRIC_UNAUDITED] = {"svc_unaudited_requests_total",
     "Requests to audited endpoints that left no audit row, because they proved nothing and changed nothing.",
     METRIC_COUNTER, ROUTES_BY_ROW, .of = is_audited, .from_zero = true},
    [METRIC_RATE_LIMITED] = {"svc_ratelimit_rejected_total",
     "Requests that the rate limit refused.",
     METRIC_COUNTER, ROUTES_BY_PATH, .of = is_rate_limited, .from_zero = true},
    [METRIC_LINES_LEFT_OUT] = {"svc_log_lines_left_out_total",
     "Log lines of requests without an audit row that were left out, beyond the limit per address and minute.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true},
    [METRIC_DECISIONS] = {"svc_decisions_total",
     "Questions to policy by their outcome; the category is that of the first reason of a denial, and system if there is no decision, or one that is refused.",
     METRIC_COUNTER, ROUTES_NONE, .label = {{"evaluation", evaluations}, {"outcome", outcomes}, {"reason_category", categories}}},
    [METRIC_ENGINES] = {"svc_policy_engine_total",
     "Questions that an engine decided, or failed to: opa, or embedded for a decision in process. One that the machine gave up counts for OPA alone.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"engine", engines}, {"outcome", engine_outcomes}}},
    [METRIC_ENGINE_SECONDS] = {"svc_opa_seconds",
     "Time of OPA for a decision, with its connection; failures count too.",
     METRIC_HISTOGRAM, ROUTES_NONE, .bounds = engine_bounds, .from_zero = true},
    [METRIC_EMBEDDED_SECONDS] = {"svc_policy_embedded_seconds",
     "Time of a decision in process; failures count too.",
     METRIC_HISTOGRAM, ROUTES_NONE, .bounds = embedded_bounds, .from_zero = true},
    [METRIC_GIVE_UPS] = {"svc_policy_give_ups_total",
     "Questions that OPA decided because the machine could not promise its answer, by entrypoint; the log has the reason.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"entrypoint", entrypoints}}},
    [METRIC_WITNESS] = {"svc_policy_witness_total",
     "Decisions of the embedded engine that OPA was asked about: the same answer, another one, an answer by another revision, or none.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"result", witness_results}}},
    [METRIC_SHADOW] = {"svc_policy_shadow_total",
     "Decisions that were put to the shadow of the policy, by what it would change; moved: by another revision than it is made of, dropped: the queue was full.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"result", shadow_results}}},
    [METRIC_IMPACT_RUNS] = {"svc_impact_runs_total",
     "Measurements of what a change of policy would do to recorded decisions, by their end; sampled: there were more decisions than are looked at; truncated: the time was over.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"result", impact_results}}},
    [METRIC_IMPACT_SECONDS] = {"svc_impact_seconds",
     "Time of a measurement of a change of policy, with its rests; failures count too.",
     METRIC_HISTOGRAM, ROUTES_NONE, .bounds = impact_bounds, .from_zero = true},
    [METRIC_IMPACT_REFUSED] = {"svc_impact_refused_total",
     "Saves of policy that a limit or a guard refused.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true},
    [METRIC_IMPACT_OVERRIDDEN] = {"svc_impact_overridden_total",
     "Saves of policy that passed guards, or changed them, with a reason.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true},
    [METRIC_TOKENS_ISSUED] = {"svc_tokens_issued_total",
     "Successful requests to /token by grant.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"grant", grants}}},
    [METRIC_FAMILY_ENDS] = {"svc_family_ends_total",
     "Sign-ins that ended because a refresh token or a code was used again, by its state.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"why", family_ends}}},
    [METRIC_INTROSPECTIONS] = {"svc_introspect_total",
     "Introspections that were answered, by the member active of the answer.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"active", booleans}}},
    [METRIC_UPSTREAM_CALLS] = {"svc_gateway_upstream_total",
     "Requests of the gateway to upstreams by the type of the resource and the outcome: an answer below 500, one that is a failure, no connection, no answer in time, an answer that cannot be passed on, or a refused credential.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"type", upstream_types}, {"outcome", upstream_outcomes}}},
    [METRIC_UPSTREAM_SECONDS] = {"svc_gateway_upstream_seconds",
     "Time from the beginning of a request to an upstream to the head of its answer.",
     METRIC_HISTOGRAM, ROUTES_NONE, .bounds = upstream_bounds, .from_zero = true},
    [METRIC_PROVIDER_FAULTS] = {"svc_provider_fault_total",
     "Sign-ins that an identity provider ends because it is not set up, by what is wrong.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"code", provider_faults}}},
    [METRIC_LINKS] = {"svc_link_total",
     "Events of accounts that people link to managed resources, by the type of upstreamAuth.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"type", link_types}, {"result", link_results}}},
    [METRIC_TOOL_CALLS] = {"svc_gateway_tool_calls_total",
     "Calls of MCP tools by the kind of their upstream; failed: the upstream answered with a failure.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"upstream", tool_upstreams}, {"outcome", tool_outcomes}}},
    [METRIC_DB_POOL] = {"svc_db_pool",
     "Processes of this host that have served a request: busy ones serve one now, idle ones wait with a database connection, closed ones without.",
     METRIC_GAUGE, ROUTES_NONE, .label = {{"state", metrics_process_states}}},
    [METRIC_BUNDLE_REVISION] = {"svc_bundle_revision_info",
     "The revision of policy that is served to the engines.",
     METRIC_GAUGE, ROUTES_NONE, .label = {{"revision", NULL}}},
    [METRIC_KEY_AGE] = {"svc_key_age_seconds",
     "Age of the oldest active signing key since it became active.",
     METRIC_GAUGE, ROUTES_NONE, .label = {{"use", uses}}},
    [METRIC_UNSEALED] = {"svc_audit_unsealed_seconds",
     "Age of the oldest audit row that no checkpoint covers; 0 if there is none.",
     METRIC_GAUGE, ROUTES_NONE, .label = {{NULL, NULL}}},
    [METRIC_STREAM_LAG] = {"svc_audit_stream_lag_rows",
     "Audit rows that wait to be sent to the collector.",
     METRIC_GAUGE, ROUTES_NONE, .label = {{NULL, NULL}}},
    [METRIC_STREAM_SKIPPED] = {"svc_audit_stream_skipped_total",
     "Audit rows that the collector refused alone, and that were skipped.",
     METRIC_STORED, ROUTES_NONE, .label = {{NULL, NULL}}},
    [METRIC_STREAM_HELD] = {"svc_audit_stream_held",
     "1 if the server refuses the credential, or has no such address: rows of SVC_AUDIT_STREAM_URL, checkpoints of SVC_AUDIT_CHECKPOINT_URL.",
     METRIC_GAUGE, ROUTES_NONE, .label = {{"stream", streams}}},
    [METRIC_TRACES] = {"svc_traces_total",
     "Traced requests, by what became of their spans; dropped: the queue was full, failed: the collector did not take them.",
     METRIC_COUNTER, ROUTES_NONE, .from_zero = true, .label = {{"result", trace_results}}},
    [METRIC_BUILD] = {"svc_build_info",
     "The version that runs.",
     METRIC_GAUGE, ROUTES_NONE, .label = {{"version", NULL}}},
};
/* clang-format on */
