#include "config.h"

#include "admin/gateway/managed_resources.h"

#include <string.h>

#include "admin/gateway/managed_resource_dto.h"
#include "admin/resource/resource_page.h"
#include "admin/resource_faults.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/secret.h"
#include "http/fetch/fetch.h"
#include "store/gateway/resources.h"
#include "store/gateway/resources_admin.h"

/* Largest answer to a probe, in octets. Nothing of it is used. */
#define PROBE_ANSWER_MAX 65536

static const char *const statuses[] = {"pending", "active", "degraded", "error", "disabled", NULL};
static const char *const views[] = {"full", "summary", NULL};
/* clang-format off */
const struct route_param managed_resources_params[] = {
    {.name = "q", .help = "Only resources with this text in either name, in any case"},
    {.name = "status", .words = statuses, .help = "Only resources with this status"},
    {.name = "view", .words = views,
     .help = "summary leaves out routes, tools and the settings of the upstream"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL},
};
/* clang-format on */

static enum az_status
managed_load(struct op *op, const char *name, const void **ret)
{
    const struct resource_stored *stored = NULL;
    enum az_status st = resource_stored_fetch(op, name, &stored);
    *ret = stored;
    return st;
}

static enum az_status
managed_complete(struct op *op, struct resource_reading *reading)
{
    enum az_status st = managed_resource_complete(op, reading);
    return st == AZ_INVALID ? op_fail(op, AZ_INVALID_FIELDS, NULL, NULL) : st;
}

static const struct resource_secret managed_secret = {
    .purpose = KEYRING_MANAGED_RESOURCE,
    .place = resource_secrets_place,
};

const struct admin_resource managed_resources_resource = {
    .rows = &resources_admin_rows,
    .body = &managed_resource_body,
    .secret = &managed_secret,
    .taken_is_empty = true,
    .load = managed_load,
    .complete = managed_complete,
    .show = resource_faults_show,
};

/* ---- the probe ---- */

/* Request the upstream once. Any answer below 500 shows that it is reachable: an API may answer its
 * root with 401 or 404. */
static struct resource_probe
probe_upstream(struct op *op, const struct managed_resource *resource)
{
    const long timeout = op->az->cfg->safe_http_timeout;
    const struct fetch_request request = {
        .hosts = FETCH_GATEWAY,
        .url = resource->upstream_url,
        .max_octets = PROBE_ANSWER_MAX,
        .timeout = timeout < MANAGED_PROBE_SECONDS ? timeout : MANAGED_PROBE_SECONDS,
    };
    const struct az_fault before = op->fault;
    struct fetch_answer answer;
    struct resource_probe probe = {.ok = false};
    int64_t started = clock_monotonic_us();
    az_fault_clear(&op->fault);
    enum az_status st = fetch(op, &request, &answer);
    probe.latency_ms = (clock_monotonic_us() - started) / 1000;
    if (st == AZ_OK) {
        probe.http_status = answer.status;
        probe.ok = answer.status < 500;
        probe.error = probe.ok ? NULL : "the upstream answers with an error of its own";
    } else {
        /* An answer that is too large is an answer. */
        probe.ok = answer.fault == FETCH_FAULT_SIZE;
        probe.error = probe.ok ? NULL : talloc_strdup(op->mem, op->fault.detail);
    }
    op->fault = before;
    return probe;
}

static enum az_status
respond_probe(struct request *req, const struct resource_probe *probe)
{
    json_t *status = probe->http_status != 0 ? json_integer(probe->http_status) : NULL;
    return respond_json(
        req, 200,
        jsonx_own(req->op.mem,
                  json_pack("{s:b,s:o*,s:I,s:s*}", "ok", probe->ok, "httpStatus", status,
                            "latencyMs", (json_int_t) probe->latency_ms, "error", probe->error)));
}

enum az_status
managed_resource_probe_handle(struct request *req)
{
    const struct managed_resource *resource;
    struct resource_probe probe = {.ok = true};
    resource_note(req, managed_resource_body.key, req->path_value[0]);
    enum az_status st = resource_find(&req->op, req->path_value[0], &resource);
    if (st == AZ_OK && resource == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such managed resource");
    if (st != AZ_OK)
        return st;
    if (resource->upstream != MANAGED_STATIC && resource->upstream_url != NULL)
        probe = probe_upstream(&req->op, resource);
    else if (resource->upstream != MANAGED_STATIC)
        probe = (struct resource_probe){.error = "upstreamUrl is missing"};
    st = resource_record_probe(&req->op, resource, &probe);
    return st == AZ_OK ? respond_probe(req, &probe) : st;
}
