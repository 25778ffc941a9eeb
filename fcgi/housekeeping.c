#include "config.h"

#include "housekeeping.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "audit/posts.h"
#include "audit/stream.h"
#include "base/cron.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "gateway/mcp/sync.h"
#include "http/fetch/documents.h"
#include "policy/save/plan/bundle_plan.h"
#include "store/audit/proof/prune/prune.h"
#include "store/audit/proof/seal/seal.h"
#include "store/audit/proof/seal/seal_file.h"
#include "store/audit/read/counts.h"
#include "store/clients/client_assertions.h"
#include "store/clients/client_use.h"
#include "store/db/keep/jobs.h"
#include "store/db/keep/locks.h"
#include "store/gateway/links.h"
#include "store/gateway/sessions.h"
#include "store/gateway/upstream_tokens.h"
#include "store/people/session_cleanup.h"
#include "store/policy/bundle_history.h"
#include "store/policy/bundles.h"
#include "store/policy/engines.h"
#include "store/policy/impact.h"
#include "store/policy/shadow.h"
#include "store/schema/partitions_maintain.h"
#include "store/schema/roles.h"
#include "store/tokens/ciba_requests.h"
#include "store/tokens/grants.h"
#include "store/tokens/proofs.h"
#include "store/tokens/signing_keys_turn.h"
#include "store/uma/delegations.h"
#include "store/uma/tickets.h"

/* Each job writes what it did to a note. Partitions are made even if no day of the audit log may be
 * dropped: without them no token can be stored two days later. */
static enum az_status
job_partitions(struct op *op, char *note, size_t size)
{
    int made = 0, dropped = 0;
    struct op sealing = op_beside(op, op->mem);
    enum az_status sealed = audit_seal_drops(&sealing);
    enum az_status st = partition_maintain(op, sealed == AZ_OK, &made, &dropped);
    snprintf(note, size, "%d created, %d dropped%s", made, dropped,
             sealed == AZ_RETRY ? "; the audit rows of an old day wait until they are sealed" : "");
    if (st != AZ_OK || sealed == AZ_OK || sealed == AZ_RETRY)
        return st;
    op->fault = sealing.fault;
    return sealed;
}

static enum az_status
job_signing_keys(struct op *op, char *note, size_t size)
{
    int begun = 0;
    enum az_status st = signing_keys_begin(op, &begun);
    if (st == AZ_OK)
        st = signing_keys_purge(op);
    snprintf(note, size,
             "%d keys of a new algorithm made active, retired keys that are no longer published "
             "removed",
             begun);
    return st;
}

static enum az_status
job_audit_seal(struct op *op, char *note, size_t size)
{
    struct audit_sealed sealed;
    enum az_status st = audit_seal(op, &sealed);
    if (st == AZ_OK)
        st = audit_seal_file(op);
    snprintf(note, size, "%lld audit rows sealed, the log has %lld leaves", (long long) sealed.rows,
             (long long) sealed.size);
    return st;
}

static enum az_status
job_audit_prune(struct op *op, char *note, size_t size)
{
    int64_t aged = 0;
    bool owns;
    enum az_status st = roles_owns(op, &owns);
    if (st == AZ_OK && owns)
        st = audit_prune(op, &aged);
    snprintf(note, size, "the hashes of %lld leaves are no longer kept", (long long) aged);
    return st;
}

static enum az_status
job_audit_stream(struct op *op, char *note, size_t size)
{
    struct streamed done;
    enum az_status st = audit_stream_run(op, &done);
    snprintf(note, size, "%lld audit rows sent, %lld skipped%s%s", (long long) done.sent,
             (long long) done.skipped, done.note != NULL ? "; " : "",
             done.note != NULL ? done.note : "");
    return st;
}

static enum az_status
job_policy(struct op *op, char *note, size_t size)
{
    bool withdrawn = false;
    enum az_status st = bundle_reconcile(op, false, &withdrawn);
    snprintf(note, size, "%s",
             withdrawn ? "withdrew a candidate whose save had ended" : "nothing to do");
    return st;
}

static enum az_status
job_policy_plan(struct op *op, char *note, size_t size)
{
    bool made = false;
    const char *warning = NULL;
    enum az_status st = plan_served(op, &made, &warning);
    snprintf(note, size, "%s",
             warning != NULL ? warning
             : made          ? "planned the policy that is served"
                             : "nothing to do");
    return st;
}

static enum az_status
job_idle_clients(struct op *op, char *note, size_t size)
{
    int removed = 0;
    enum az_status st = clients_remove_idle(op, &removed);
    snprintf(note, size, "%d idle clients removed", removed);
    return st;
}

static enum az_status
job_uma(struct op *op, char *note, size_t size)
{
    int64_t tickets = 0, delegations = 0;
    enum az_status st = uma_tickets_purge(op, &tickets);
    if (st == AZ_OK)
        st = delegations_purge(op, &delegations);
    snprintf(note, size, "%lld expired permission tickets and %lld ended delegations removed",
             (long long) tickets, (long long) delegations);
    return st;
}

/* In place of seconds: SVC_SESSION_CLEANUP_CRON says when the job is due. */
#define BY_CRON 0

/* The jobs: name, seconds between two runs, and the function: one that writes a note, one that
 * counts what `note` names, or a plain one with a fixed note. */
/* clang-format off */
static const struct job {
    const char *name;
    int every;
    enum az_status (*run)(struct op *op, char *note, size_t size);
    enum az_status (*count)(struct op *op, int64_t *ret);
    enum az_status (*plain)(struct op *op);
    const char *note;
    bool sends; /* waits for other servers, in a process of its own: it runs often, and only its
                   failures are logged */
} jobs[] = {
    {"audit_counts", 60,        .count = audit_counts_add, .note = "audit rows counted"},
    {"audit_seal", 60,          .run = job_audit_seal},
    {"audit_prune", 3600,       .run = job_audit_prune},
    {"partitions", 600,         .run = job_partitions},
    {"signing_keys", 300,       .run = job_signing_keys},
    {"engines", 3600,           .plain = engines_forget,
     .note = "reports of engines that sent none for a day removed"},
    {"policy", 600,             .run = job_policy},
    {"policy_plan", 60,         .run = job_policy_plan},
    {"bundles", 600,            .plain = bundle_history_prune,
     .note = "bundles older than the stored history removed"},
    {"impact", 600,             .count = impact_purge,
     .note = "old measurements of policy changes removed"},
    {"shadow", 600,             .count = shadow_purge, .note = "old shadows of the policy removed"},
    {"grants", 3600,            .plain = grants_purge,
     .note = "ended refresh token families removed"},
    {"upstream_tokens", 600,    .plain = upstream_tokens_purge,
     .note = "expired tokens of upstreams deleted"},
    {"dpop_proofs", 60,         .plain = proofs_purge,
     .note = "used DPoP proofs whose time is over forgotten"},
    {"links", 600,              .plain = link_requests_purge,
     .note = "expired links of accounts removed"},
    {"ciba", 600,               .plain = ciba_requests_purge,
     .note = "CIBA requests that ended an hour ago removed"},
    {"mcp_sessions", 600,       .count = session_rows_purge,
     .note = "rows of MCP sessions whose time is over deleted"},
    {"idle_clients", 3600,      .run = job_idle_clients},
    {"sessions", BY_CRON,       .count = session_cleanup,
     .note = "expired sessions, sign-ins and consent requests removed"},
    {"assertions", 600,         .count = client_assertions_purge,
     .note = "expired client assertions removed"},
    {"uma", 600,                .run = job_uma},
    {"mcp_tools", 3600,         .run = mcp_sync_all},
    {"audit_stream", HOUSEKEEPING_SENDING_EVERY, .run = job_audit_stream, .sends = true},
    {"audit_posts", HOUSEKEEPING_SENDING_EVERY, .count = audit_posts_run,
     .note = "checkpoints of the audit log posted", .sends = true},
    {"documents", 600,          .plain = documents_prune,
     .note = "fetched documents that are no longer used removed"},
};
/* clang-format on */
#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

/* Return the seconds until the job is due again. The program refuses to start with an expression
 * that cannot be parsed. */
static int64_t
next_due(const struct op *op, const struct job *job)
{
    struct cron cron;
    const char *why;
    if (job->every != BY_CRON)
        return job->every;
    if (cron_parse(op->az->cfg->session_cleanup_cron, &cron, &why) != AZ_OK)
        return 300;
    return cron_next(&cron, op_now(op)) - op_now(op);
}

/* Run the function of the job and write its note. */
static enum az_status
call_job(struct op *op, const struct job *job, char *note, size_t size)
{
    int64_t count = 0;
    if (job->run != NULL)
        return job->run(op, note, size);
    enum az_status st = job->count != NULL ? job->count(op, &count) : job->plain(op);
    if (job->count != NULL)
        snprintf(note, size, "%lld %s", (long long) count, job->note);
    else
        snprintf(note, size, "%s", job->note);
    return st;
}

static enum az_status
run_job(struct op *op, const struct job *job)
{
    char note[256] = "";
    bool ignored;
    enum az_status st = call_job(op, job, note, sizeof(note));
    const char *outcome = st == AZ_OK ? note : op->fault.detail;
    log_text(st != AZ_OK  ? AZ_SEV_ERROR
             : job->sends ? AZ_SEV_DEBUG
                          : AZ_SEV_INFO,
             "housekeeping", "%s: %s", job->name, outcome);
    struct op after = op_beside(op, op->mem);
    if (job_note(&after, job->name, outcome) != AZ_OK)
        log_text(AZ_SEV_WARN, "housekeeping", "%s: outcome not stored: %s", job->name,
                 after.fault.detail);
    lock_session_drop(&after, LOCK_JOBS, job->name, &ignored);
    return st;
}

/* The lock keeps two hosts from running the same job at once; the due time keeps them from running
 * it twice. *ret_held: another process holds the lock and nothing was done. */
static enum az_status
try_job(struct op *op, const struct job *job, bool only_if_due, bool *ret_held)
{
    bool locked = false, ours = false, ignored;
    enum az_status st = lock_session_try(op, LOCK_JOBS, job->name, &locked);
    if (st == AZ_OK)
        *ret_held = !locked;
    if (st != AZ_OK || !locked)
        return st;
    st = job_claim(op, job->name, next_due(op, job), only_if_due, &ours);
    if (st == AZ_OK && ours)
        return run_job(op, job);
    struct op after = op_beside(op, op->mem);
    lock_session_drop(&after, LOCK_JOBS, job->name, &ignored);
    return st;
}

void
housekeeping_run(struct az *az, bool sending)
{
    for (size_t i = 0; i < JOBS && !*az->stopping; i++) {
        if (jobs[i].sends != sending)
            continue;
        struct op op = {.mem = talloc_new(NULL), .az = az, .now_ms = (int64_t) time(NULL) * 1000};
        bool held = false;
        if (try_job(&op, &jobs[i], true, &held) != AZ_OK && op.fault.detail[0] != '\0')
            log_text(AZ_SEV_WARN, "housekeeping", "%s: %s", jobs[i].name, op.fault.detail);
        talloc_free(op.mem);
    }
}

enum az_status
housekeeping_all(struct op *op)
{
    enum az_status first = AZ_OK;
    char *names = talloc_strdup(op->mem, "");
    for (size_t i = 0; i < JOBS; i++) {
        bool held = false;
        enum az_status st = try_job(op, &jobs[i], false, &held);
        if (held)
            names = talloc_asprintf_append(names, "%s%s", *names != '\0' ? ", " : "", jobs[i].name);
        first = first == AZ_OK ? st : first;
    }
    if (first == AZ_OK && *names != '\0')
        return op_fail(op, AZ_CONFLICT, NULL,
                       "%s: not run, because another process is running the same job; try again "
                       "later",
                       names);
    return first;
}
