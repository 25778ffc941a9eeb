#include "config.h"

#include "admin/metrics.h"

#include <string.h>
#include <strings.h>

#include "base/settings/settings.h"
#include "crypto/digest.h"
#include "http/address.h"
#include "metrics/metrics.h"
#include "store/audit/proof/outgoing.h"
#include "store/audit/proof/seal/unsealed.h"
#include "store/policy/bundles.h"
#include "store/tokens/signing_keys.h"

/* The type of the text format (Prometheus exposition formats). */
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* True if the request has the Bearer token SVC_METRICS_TOKEN. */
static bool
shows_token(const struct request *req)
{
    bool equal;
    const char *header = request_header(req, "HTTP_AUTHORIZATION"),
               *token = req->op.az->cfg->metrics_token;
    if (token == NULL || *token == '\0' || header == NULL || strncasecmp(header, "Bearer ", 7) != 0)
        return false;
    return sha256_texts_equal(header + 7, token, &equal) == AZ_OK && equal;
}

/* The gauges, which are read when they are asked for. */
struct samples {
    struct metric_sample list[1 + PROCESS_STATES + 1 + SIGNING_USES + 1 + 4];
    size_t count;
};

static void
add_sample(struct samples *samples, enum metric metric, const char *value, int64_t number)
{
    samples->list[samples->count++] = (struct metric_sample){metric, {value}, number};
}

static void
read_processes(const struct metrics *metrics, struct samples *samples)
{
    uint64_t counts[PROCESS_STATES];
    metrics_count_processes(metrics, counts);
    for (int i = 0; i < PROCESS_STATES; i++)
        add_sample(samples, METRIC_DB_POOL, metrics_process_states[i], (int64_t) counts[i]);
}

/* Read how far what is sent of the audit log is. */
static enum az_status
read_streams(struct op *op, struct samples *samples)
{
    struct outgoing rows = {.name = OUTGOING_ROWS}, posts = {.name = OUTGOING_CHECKPOINTS};
    enum az_status st = outgoing_read(op, &rows);
    if (st == AZ_OK)
        st = outgoing_read(op, &posts);
    if (st == AZ_OK && rows.begun) {
        add_sample(samples, METRIC_STREAM_LAG, NULL, rows.lag);
        add_sample(samples, METRIC_STREAM_SKIPPED, NULL, rows.skipped);
        add_sample(samples, METRIC_STREAM_HELD, rows.name, rows.held);
    }
    if (st == AZ_OK && posts.begun)
        add_sample(samples, METRIC_STREAM_HELD, posts.name, posts.held);
    return st;
}

/* Read the metrics of the database. If it cannot be reached, the other metrics are shown, because
 * they are needed most then. */
static void
read_stored(struct op *op, struct samples *samples)
{
    struct bundle_served served = {.revision = NULL};
    int64_t ages[SIGNING_USES], unsealed;
    enum az_status st = bundle_current(op, &served);
    if (st == AZ_OK && served.revision != NULL)
        add_sample(samples, METRIC_BUNDLE_REVISION, served.revision, 1);
    if (st == AZ_OK)
        st = signing_keys_ages(op, ages);
    for (int use = 0; st == AZ_OK && use < SIGNING_USES; use++)
        if (ages[use] >= 0)
            add_sample(samples, METRIC_KEY_AGE, signing_use_name((enum signing_use) use),
                       ages[use]);
    if (st == AZ_OK)
        st = audit_unsealed_seconds(op, &unsealed);
    if (st == AZ_OK)
        add_sample(samples, METRIC_UNSEALED, NULL, unsealed);
    if (st == AZ_OK)
        read_streams(op, samples);
    az_fault_clear(&op->fault);
}

/* Answer a caller who may read the counters. Others get the 404 of an unknown path, because the
 * counters show how much the service is used and attacked. */
enum az_status
metrics_handle(struct request *req)
{
    const char *allowed = req->op.az->cfg->metrics_allow;
    bool known = !request_has_unnamed_proxy(req) && address_is_listed(req->ip, allowed);
    if ((!known && !shows_token(req)) || req->op.az->metrics == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
    struct samples samples = {.count = 0};
    add_sample(&samples, METRIC_BUILD, PACKAGE_VERSION, 1);
    read_processes(req->op.az->metrics, &samples);
    read_stored(&req->op, &samples);
    const char *text = metrics_text(req->op.mem, req->op.az->metrics, samples.list, samples.count);
    if (text == NULL)
        return op_no_memory(&req->op);
    return respond_octets(req, 200, METRICS_TYPE, text, strlen(text));
}
