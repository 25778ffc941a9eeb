#include "config.h"

#include "admin/metrics.h"

#include <string.h>
#include <strings.h>

#include "base/settings.h"
#include "crypto/digest.h"
#include "http/address.h"
#include "http/counters.h"

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

/* Answer who may read the counters; anybody else gets the 404 of a path that is not there, because
 * the counters tell how much the service is used and attacked. */
enum az_status
metrics_handle(struct request *req)
{
    const char *allowed = req->op.az->cfg->metrics_allow;
    bool known = !request_has_unnamed_proxy(req) && address_is_listed(req->ip, allowed);
    if ((!known && !shows_token(req)) || req->op.az->counters == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
    const char *text = counters_text(req->op.mem, req->op.az->counters);
    if (text == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory for the metrics");
    return respond_octets(req, 200, METRICS_TYPE, text, strlen(text));
}
