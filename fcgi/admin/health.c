#include "config.h"

#include "admin/health.h"

#include <string.h>
#include <talloc.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "http/fetch/documents.h"
#include "metrics/metrics.h"
#include "policy/decide/trust.h"
#include "policy/engine/engine.h"
#include "policy/engine/engine_embedded.h"
#include "store/audit/proof/outgoing.h"
#include "store/audit/proof/seal/signed.h"
#include "store/audit/proof/seal/unsealed.h"
#include "store/db/db.h"
#include "store/policy/engines.h"
#include "store/schema/schema.h"
#include "store/tokens/signing_keys.h"

enum az_status
health_live_handle(struct request *req)
{
    return respond_json(req, 200, jsonx_own(req->op.mem, json_pack("{s:s}", "status", "UP")));
}

/* Recent questions without a decision, at least, by which this instance is down if they are
 * most: fewer are a mishap, and an instance without requests says nothing. */
#define HEALTH_FAILURES_LEAST 10

/* Results that two checks share: an engine that hangs costs a worker one policy timeout, not two.
 */
struct health_findings {
    enum az_status engine;        /* outcome of asking the engine for its status */
    struct az_fault engine_fault; /* if it failed */
    struct engine_status status;  /* if it did not */
    bool decides;                 /* this service decides itself */
    const char *plan_note;        /* what OPA decides all the same, or NULL */
    enum az_status key;           /* outcome of opening the active signing key */
    struct az_fault key_fault;    /* if it failed */
};

static enum az_status
health_check_database(struct op *op, struct health_findings *found)
{
    (void) found;
    return db_connect(op);
}

static enum az_status
health_check_migrations(struct op *op, struct health_findings *found)
{
    (void) found;
    return schema_check(op);
}

/* Check that this service can decide itself, if the settings ask for that. */
static enum az_status
health_check_plan(struct op *op, struct health_findings *found)
{
    enum az_status st = embedded_check(op, &found->plan_note);
    found->decides = st == AZ_OK;
    return st;
}

/* Check that no rule contradicts itself: questions that meet it have no decision. */
static enum az_status
health_check_rules(struct op *op, struct health_findings *found)
{
    (void) found;
    return embedded_check_conflicts(op);
}

/* Advice for an engine that is not there or hangs. The service cannot do that: it does not start
 * the engine and has no right over its process. */
#define ENGINE_CURE                                                                                \
    "; if this lasts, restart Open Policy Agent (systemctl restart authz-opa, or its container; "  \
    "doc/runbook.md, Engine down)"

static enum az_status
health_check_engine(struct op *op, struct health_findings *found)
{
    found->engine = engine_revision(op, 0, &found->status);
    if (found->engine == AZ_OK)
        found->engine = engine_evaluates(op);
    if (found->engine == AZ_UNAVAILABLE) {
        const char *why = talloc_strdup(op->mem, op->fault.detail);
        az_fault_clear(&op->fault);
        op_fail(op, AZ_UNAVAILABLE, NULL, "%s%s", why != NULL ? why : "", ENGINE_CURE);
    }
    found->engine_fault = op->fault;
    return found->engine;
}

/* Check that the engine has an acceptable revision: without one the service makes no decision. */
static enum az_status
health_check_bundle(struct op *op, struct health_findings *found)
{
    bool good = false;
    if (found->engine != AZ_OK) {
        op->fault = found->engine_fault;
        return found->engine;
    }
    enum az_status st = engines_may_decide(op, found->status.active_revision, &good);
    if (st != AZ_OK)
        return st;
    if (!good)
        return op_fail(op, AZ_UNAVAILABLE, NULL,
                       "the active revision '%s' of the engine is not acceptable: %s",
                       found->status.active_revision, found->status.message);
    return AZ_OK;
}

/* Check that questions to policy get decisions, whatever keeps them from it. */
static enum az_status
health_check_decisions(struct op *op, struct health_findings *found)
{
    int64_t all, failed;
    (void) found;
    metrics_recent_decisions(op->az->metrics, &all, &failed);
    if (failed < HEALTH_FAILURES_LEAST || failed * 2 <= all)
        return AZ_OK;
    return op_fail(
        op, AZ_UNAVAILABLE, NULL,
        "%lld of %lld questions to policy in the last %d s have no decision; `detail` of "
        "their log lines tells why",
        (long long) failed, (long long) all, METRICS_RECENT_SECONDS);
}

/* Check that there is an active key. A key that does not open fails the next check, not this one.
 */
static enum az_status
health_check_signing_key(struct op *op, struct health_findings *found)
{
    found->key = signing_keys_check(op);
    found->key_fault = op->fault;
    return found->key == AZ_CONFLICT ? AZ_OK : found->key;
}

/* Check that SVC_CREDENTIAL_KEY opens what is sealed in the database. */
static enum az_status
health_check_credential_key(struct op *op, struct health_findings *found)
{
    op->fault = found->key_fault;
    return found->key;
}

/* Check that the trust bundle of workloads can be refreshed, if one is set. */
static enum az_status
health_check_trust_bundle(struct op *op, struct health_findings *found)
{
    struct trust_spiffe trust;
    (void) found;
    enum az_status st = trust_spiffe(op, NULL, &trust);
    return st == AZ_OK && trust.bundle_url != NULL
               ? document_check_fresh(op, DOCUMENT_TRUST_BUNDLE, trust.bundle_url)
               : st;
}

/* Check that housekeeping seals the audit log: rows that are not sealed can be changed unseen. */
static enum az_status
health_check_audit_seal(struct op *op, struct health_findings *found)
{
    int64_t seconds;
    (void) found;
    enum az_status st = audit_unsealed_seconds(op, &seconds);
    if (st == AZ_OK && seconds > AUDIT_UNSEALED_MAX)
        return op_fail(op, AZ_UNAVAILABLE, NULL,
                       "an audit row has not been sealed for %lld seconds; `authzctl audit seal` "
                       "tells why",
                       (long long) seconds);
    return st;
}

/* Say why the audit log is not sealed. */
static enum az_status
health_check_audit_log(struct op *op, struct health_findings *found)
{
    (void) found;
    const char *why = audit_signed_refusal(op->mem, op->az);
    return why == NULL ? AZ_OK : op_fail(op, AZ_CONFLICT, NULL, "%s", why);
}

/* True if the audit log is not sealed: the check is listed then alone. */
static bool
health_refuses_to_seal(const struct az *az)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    bool refuses = mem != NULL && audit_signed_refusal(mem, az) != NULL;
    talloc_free(mem);
    return refuses;
}

/* Check that a server which gets parts of the audit log does not refuse them. */
static enum az_status
health_check_audit_stream(struct op *op, struct health_findings *found)
{
    static const char *const names[] = {OUTGOING_ROWS, OUTGOING_CHECKPOINTS};
    enum az_status st = AZ_OK;
    (void) found;
    for (size_t i = 0; st == AZ_OK && i < sizeof(names) / sizeof(names[0]); i++) {
        struct outgoing outgoing = {.name = names[i]};
        st = outgoing_read(op, &outgoing);
        if (st == AZ_OK && outgoing.held)
            st = op_fail(op, AZ_UNAVAILABLE, NULL, "%s are not sent: %s", names[i],
                         outgoing.error != NULL ? outgoing.error : "the server refuses them");
    }
    return st;
}

/* True if parts of the audit log are sent to other servers. */
static bool
audit_log_is_sent(const struct az *az)
{
    return settings_sends_audit(az->cfg);
}

/* Status of a check that failed, and of the service then. */
#define DOWN "DOWN"
#define DEGRADED "DEGRADED"

/* Checks that must pass before this instance should get requests, in the order of gateway-admin.md
 * 7.1: bundle uses the result of opa, credential_key that of signing_key, and those of OPA that of
 * plan. A check that degrades does not stop requests: another server failed, and all instances
 * depend on it alike, or only saves need it. */
static const struct health_check {
    const char *name;
    enum az_status (*run)(struct op *op, struct health_findings *found);
    const char *failed;                 /* status if it fails */
    bool (*applies)(const struct az *); /* NULL: always */
    bool of_opa;                        /* degrades only, while the service decides itself */
} checks[] = {
    {"database",            health_check_database,       DOWN,     NULL,                   false},
    {"migrations",          health_check_migrations,     DOWN,     NULL,                   false},
    {"plan",                health_check_plan,           DEGRADED, embedded_wanted,        false},
    {"rules",               health_check_rules,          DEGRADED, embedded_wanted,        false},
    {"opa",                 health_check_engine,         DOWN,     NULL,                   true },
    {"bundle",              health_check_bundle,         DOWN,     NULL,                   true },
    {"decisions",           health_check_decisions,      DOWN,     NULL,                   false},
    {"signing_key",         health_check_signing_key,    DOWN,     NULL,                   false},
    {"credential_key",      health_check_credential_key, DOWN,     NULL,                   false},
    {"spiffe_trust_bundle", health_check_trust_bundle,   DEGRADED, NULL,                   false},
    {"audit_seal",          health_check_audit_seal,     DEGRADED, NULL,                   false},
    {"audit_log",           health_check_audit_log,      DEGRADED, health_refuses_to_seal, false},
    {"audit_stream",        health_check_audit_stream,   DEGRADED, audit_log_is_sent,      false},
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

/* The checks cost 4 ms and several trips, and the endpoint is public: their result is kept for this
 * time. Milliseconds. */
#define KEPT_MS 1000
/* A lasting failure is logged again after this time. Milliseconds. */
#define LOGGED_AGAIN_MS 60000

/* Result of the last checks of this process. Times are monotonic, in milliseconds. */
struct health {
    int64_t made; /* the checks ended */
    const char
        *detail[CHECKS]; /* reason of each failure, or a note of a check that passed, on this */
    unsigned failed;     /* bit per check */
    unsigned run;        /* those that apply */
    bool decides;        /* the service decides itself */
    unsigned logged;     /* `failed` as logged last */
    int64_t logged_at;
};

/* True if the caller is on this machine: only then may it see details, which name hosts and
 * settings. */
static bool
caller_is_local(const struct request *req)
{
    return !request_has_unnamed_proxy(req) && req->ip != NULL
           && (strncmp(req->ip, "127.", 4) == 0 || strcmp(req->ip, "::1") == 0);
}

/* Return the status of a check that failed. */
static const char *
failed_as(const struct health *health, size_t i)
{
    return checks[i].of_opa && health->decides ? DEGRADED : checks[i].failed;
}

/* Log each failed check: only local callers see the details. Another set of failures is logged at
 * once, so at most once in KEPT_MS, and the same one again after LOGGED_AGAIN_MS. */
static void
health_log(struct health *health)
{
    bool due = health->made - health->logged_at >= LOGGED_AGAIN_MS;
    if (health->failed == health->logged && !(health->failed != 0 && due))
        return;
    for (size_t i = 0; i < CHECKS; i++) {
        const struct log_field fields[] = {LOG_TEXT("check", checks[i].name),
                                           LOG_TEXT("detail", health->detail[i])};
        const char *message = strcmp(failed_as(health, i), DOWN) == 0 ? "not ready" : "degraded";
        if ((health->failed & 1u << i) != 0)
            log_line(AZ_SEV_WARN, message, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (health->failed == 0)
        log_line(AZ_SEV_INFO, "ready", NULL, 0);
    health->logged = health->failed;
    health->logged_at = health->made;
}

/* Run the checks and keep their result. */
static void
health_run(struct op *from, struct health *health)
{
    struct health_findings found;
    memset(&found, 0, sizeof(found));
    health->failed = health->run = 0;
    for (size_t i = 0; i < CHECKS; i++) {
        if (checks[i].applies != NULL && !checks[i].applies(from->az))
            continue;
        struct op op = op_beside(from, from->mem);
        bool up = checks[i].run(&op, &found) == AZ_OK;
        const char *why = *op.fault.detail != '\0' ? op.fault.detail : "no reason is known";
        talloc_free((void *) (uintptr_t) health->detail[i]);
        if (up)
            why = checks[i].run == health_check_plan ? found.plan_note : NULL;
        health->detail[i] = why != NULL ? talloc_strdup(health, why) : NULL;
        health->run |= 1u << i;
        health->failed |= up ? 0 : 1u << i;
    }
    health->decides = found.decides;
    health->made = clock_monotonic_ms();
    health_log(health);
}

/*
 * Return the result of the checks, made anew if it is older than KEPT_MS, or NULL if out of
 * memory.
 */
static const struct health *
health_result(struct op *op)
{
    struct az *az = op->az;
    if (az->health != NULL && clock_monotonic_ms() - az->health->made < KEPT_MS)
        return az->health;
    if (az->health == NULL)
        az->health = talloc_zero(az, struct health);
    if (az->health != NULL)
        health_run(op, az->health);
    return az->health;
}

/* Return the status of the service: the worst one of its checks. */
static const char *
health_status(const struct health *health)
{
    const char *status = "UP";
    for (size_t i = 0; i < CHECKS; i++)
        if ((health->failed & 1u << i) != 0 && strcmp(status, DOWN) != 0)
            status = failed_as(health, i);
    return status;
}

enum az_status
health_ready_handle(struct request *req)
{
    const struct health *health = health_result(&req->op);
    if (health == NULL)
        return op_no_memory(&req->op);
    struct jsonx_build list = {json_array(), false};
    for (size_t i = 0; i < CHECKS; i++) {
        bool up = (health->failed & 1u << i) == 0;
        if ((health->run & 1u << i) != 0)
            jsonx_append(&list, json_pack("{s:s,s:s,s:s*}", "name", checks[i].name, "status",
                                          up ? "UP" : failed_as(health, i), "detail",
                                          caller_is_local(req) ? health->detail[i] : NULL));
    }
    const char *status = health_status(health);
    json_t *body =
        jsonx_own(req->op.mem, json_pack("{s:s,s:o}", "status", status, "checks", list.value));
    return respond_json(req, strcmp(status, DOWN) != 0 ? 200 : 503, list.lost ? NULL : body);
}

json_t *
health_faults(struct op *op)
{
    const struct health *health = health_result(op);
    struct jsonx_build list = {jsonx_own(op->mem, json_array()), false};
    for (size_t i = 0; health != NULL && i < CHECKS; i++)
        if ((health->failed & 1u << i) != 0)
            jsonx_append(&list, json_pack("{s:s,s:s,s:s,s:s*}", "kind", "not_ready", "name",
                                          checks[i].name, "status", failed_as(health, i), "detail",
                                          health->detail[i]));
    return health != NULL ? jsonx_built(&list) : NULL;
}
