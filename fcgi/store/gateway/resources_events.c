/* Events of a managed resource: calls, probes, and syncs of its tools. */
#include "config.h"

#include <string.h>

#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "store/gateway/resources.h"

/* clang-format off */
/*
 * $1 id, $2 version, $3 status that the process knew, $4 the next status, $5 the next status if
 * there are many failures, $6 a failure, $7 how many are many, $8 their seconds, $9 reason, $10
 * probe, $11 now, $12 the reason replaces that of the same status. A status that another process changed meanwhile stays.
 */
static const struct db_stmt managed_event_stmt = {
    "managed_event",
    "WITH w AS (SELECT m.id, m.status, ARRAY(SELECT f FROM unnest(m.failures) f"
    "   WHERE f > $11::timestamptz - $8::integer * interval '1 second' ORDER BY f DESC LIMIT $7::integer - 1) AS recent"
    "  FROM managed_resource m WHERE m.id = $1::bigint AND m.version = $2::bigint FOR UPDATE),"
    " n AS (SELECT w.id, CASE WHEN w.status <> $3 THEN w.status"
    "   WHEN $6::boolean AND cardinality(w.recent) + 1 >= $7::integer THEN $5 ELSE $4 END AS status,"
    "   CASE WHEN $6::boolean THEN array_prepend($11::timestamptz, w.recent)"
    "    WHEN $4 = 'active' THEN '{}' ELSE w.recent END AS failures FROM w)"
    " UPDATE managed_resource m SET status = n.status, failures = n.failures,"
    "  last_probe = coalesce($10::json, m.last_probe),"
    "  status_reason = CASE WHEN $12::boolean AND n.status IN ('pending', 'degraded') THEN $9"
    "   WHEN m.status = n.status THEN m.status_reason WHEN n.status <> 'active' THEN $9 END,"
    "  status_changed_at = CASE WHEN m.status = n.status THEN m.status_changed_at ELSE $11::timestamptz END"
    " FROM n WHERE m.id = n.id", 12};

static const struct db_stmt managed_store_tools_stmt = {
    "managed_store_tools",
    "UPDATE managed_resource SET tools = $3::json, version = nextval('managed_resource_version_seq'), synced_at = $6::timestamptz,"
    " status_reason = CASE WHEN $4 <> 'active' THEN coalesce($5, status_reason) END,"
    " status_changed_at = CASE WHEN status = $4 THEN status_changed_at ELSE $6::timestamptz END, status = $4"
    " WHERE id = $1::bigint AND version = $2::bigint RETURNING id", 6};
/* clang-format on */

/* ---- what happened */

static struct managed_state
resource_state_of(const struct managed_resource *resource)
{
    return (struct managed_state){
        .status = resource->status,
        .upstream = resource->upstream,
        .enabled = resource->enabled,
        .complete = resource->missing == NULL,
        .waiting = managed_tools_wait(resource),
    };
}

/* Write an event and a probe (or NULL). */
static enum az_status
write_event(struct op *op, const struct managed_resource *resource, enum managed_event event,
            const char *reason, const char *probe)
{
    struct managed_state state = resource_state_of(resource), many = state;
    struct db_params params = {.count = 0};
    many.many = true;
    db_number(&params, resource->id);
    db_number(&params, resource->version);
    db_text(&params, managed_status_word(state.status));
    db_text(&params, managed_status_word(managed_next_status(&state, event)));
    db_text(&params, managed_status_word(managed_next_status(&many, event)));
    db_bool(&params, managed_event_is_failure(event));
    db_number(&params, MANAGED_FAILURES);
    db_number(&params, MANAGED_FAILURES_SECONDS);
    db_text(&params, reason != NULL ? reason : managed_event_reason(event));
    db_text(&params, probe);
    db_time(&params, op->now_ms);
    db_bool(&params, managed_event_tells(event));
    return db_exec(op, &managed_event_stmt, &params, false, NULL);
}

/* True if the event has a reason that the resource does not show yet. An upstream that redirects
 * each call to another address is told once, until the next save: it chooses the addresses, and
 * each would be a write. */
static bool
reason_is_news(const struct managed_resource *resource, enum managed_event event,
               const char *reason)
{
    const char *shown = resource->status_reason != NULL ? resource->status_reason : "";
    return managed_event_tells(event) && reason != NULL && resource->status != MANAGED_ERROR
           && strncmp(shown, MANAGED_REDIRECTS, strlen(MANAGED_REDIRECTS)) != 0;
}

bool
resource_event(struct op *op, const struct managed_resource *resource, enum managed_event event,
               const char *reason)
{
    const struct managed_state state = resource_state_of(resource);
    if (!managed_event_is_news(&state, event) && !reason_is_news(resource, event, reason))
        return false;
    const struct az_fault before = op->fault;
    az_fault_clear(&op->fault);
    if (write_event(op, resource, event, reason, NULL) != AZ_OK)
        log_text(AZ_SEV_ERROR, "status of a managed resource not stored", "%s: %s", resource->name,
                 op->fault.detail);
    op->fault = before;
    return true;
}

enum az_status
resource_record_probe(struct op *op, const struct managed_resource *resource,
                      const struct resource_probe *probe)
{
    char now[ISO8601_MS_SIZE];
    if (iso8601_format_ms(op->now_ms, now) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the clock is outside the years 1 to 9999");
    const char *text = jsonx_dump(
        op->mem,
        jsonx_own(op->mem,
                  json_pack("{s:s,s:b,s:o*,s:I,s:s*}", "at", now, "ok", probe->ok, "httpStatus",
                            probe->http_status != 0 ? json_integer(probe->http_status) : NULL,
                            "latencyMs", (json_int_t) probe->latency_ms, "error", probe->error)));
    if (text == NULL)
        return op_no_memory(op);
    return write_event(op, resource, probe->ok ? MANAGED_PROBE_OK : MANAGED_PROBE_FAILED,
                       probe->error, text);
}

enum az_status
resource_store_tools(struct op *op, const struct managed_resource *resource, const json_t *tools,
                     enum managed_event event, bool *ret_done)
{
    struct managed_state state = resource_state_of(resource);
    struct db_params params = {.count = 0};
    PGresult *result;
    const char *text = jsonx_dump(op->mem, tools);
    if (text == NULL)
        return op_no_memory(op);
    /* The event depends on whether a new tool waits for approval. */
    state.waiting = event == MANAGED_SYNC_CHANGED;
    db_number(&params, resource->id);
    db_number(&params, resource->version);
    db_text(&params, text);
    db_text(&params, managed_status_word(managed_next_status(&state, event)));
    db_text(&params, managed_event_reason(event));
    db_time(&params, op->now_ms);
    enum az_status st = db_exec(op, &managed_store_tools_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_done = PQntuples(result) > 0;
    return st;
}
