#include "config.h"

#include "admin/bundles.h"

#include <string.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/settings.h"
#include "crypto/digest.h"
#include "crypto/secret.h"
#include "http/header_value.h"
#include "http/shared.h"
#include "policy/ask.h"
#include "policy/bundle.h"
#include "policy/engine.h"
#include "store/bundles.h"
#include "store/db.h"

/* Only this type on a 200 keeps an engine in long polling; any other makes it poll (policy.md 2.2).
 */
#define TYPE_LONG_POLL "application/vnd.openpolicyagent.bundles"
#define TYPE_POLL "application/gzip"
/* Longest hold: below the read time-outs of the web servers we ship configurations for. Seconds. */
#define WAIT_MAX 25
/* A notification can be missed only while the database restarts; look again so often. Milliseconds.
 */
#define LOOK_EVERY_MS 5000

/* Compared as digests, so that neither length nor content shows in the time. */
static enum az_status
check_key(struct request *req)
{
    unsigned char shown[SHA256_OCTETS], wanted[SHA256_OCTETS];
    const char *header = request_header(req, "HTTP_X_BUNDLE_API_KEY"),
               *key = req->op.az->cfg->bundle_api_key;
    if (header == NULL)
        return op_fail(&req->op, AZ_BUNDLE_UNAUTHORIZED, NULL, "X-Bundle-API-Key is missing");
    if (sha256(header, strlen(header), shown) != AZ_OK || sha256(key, strlen(key), wanted) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
    if (!secret_equal(shown, sizeof(shown), wanted, sizeof(wanted)))
        return op_fail(&req->op, AZ_BUNDLE_UNAUTHORIZED, NULL, "X-Bundle-API-Key is wrong");
    return AZ_OK;
}

const struct route_credential credential_bundle = {"bundle key", check_key, true};

static enum az_status
serve(struct request *req, const struct bundle_served *bundle, const char *type)
{
    respond_header(req, "ETag", talloc_asprintf(req->op.mem, "\"%s\"", bundle->etag));
    if (bundle->body == NULL)
        return respond_octets(req, 304, NULL, "", 0);
    return respond_octets(req, 200, type, bundle->body, bundle->length);
}

/* Holds the request until another bundle is published or the time is up. LISTEN comes before the
 * look, so none is missed. */
static enum az_status
hold(struct request *req, const char *known, long seconds, struct bundle_served *bundle)
{
    int64_t end = clock_monotonic_ms() + seconds * 1000, left;
    enum az_status st = db_listen(&req->op, "svc_bundle");
    while (st == AZ_OK && (st = bundle_fetch(&req->op, known, bundle)) == AZ_OK) {
        left = end - clock_monotonic_ms();
        if (bundle->body != NULL || left <= 0 || *req->op.az->stopping)
            break;
        db_wait(&req->op, (int) (left < LOOK_EVERY_MS ? left : LOOK_EVERY_MS));
        if (db_raw(req->op.az->db) == NULL)
            st = db_listen(&req->op, "svc_bundle");
    }
    struct op after = {.mem = req->op.mem, .az = req->op.az};
    db_unlisten(&after);
    return st;
}

/* A worker may be held only in the bundles pool, and one of that pool always stays free for status
 * pushes. */
static bool
may_hold(const struct az *az)
{
    return strcmp(az->pool, "bundles") == 0 && az->shared != NULL
           && shared_hold_take(az->shared, az->pool_workers - 1);
}

enum az_status
bundle_get_handle(struct request *req)
{
    struct bundle_served bundle = {.etag = NULL};
    const char *known = header_first_tag(req->op.mem, request_header(req, "HTTP_IF_NONE_MATCH"));
    long wait = header_prefer_wait(request_header(req, "HTTP_PREFER"), WAIT_MAX);
    bool pooled = strcmp(req->op.az->pool, "bundles") == 0;
    if (strcmp(req->path_value[0], BUNDLE_NAME) != 0)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no bundle %s", req->path_value[0]);
    if (known == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "no memory");
    enum az_status st = bundle_fetch(&req->op, known, &bundle);
    if (st != AZ_OK)
        return st;
    if (bundle.etag == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL,
                       "no bundle is published; run `authzctl db migrate`");
    if (bundle.body != NULL || wait == 0)
        return serve(req, &bundle, pooled ? TYPE_LONG_POLL : TYPE_POLL);
    if (may_hold(req->op.az)) {
        st = hold(req, known, wait, &bundle);
        shared_hold_drop(req->op.az->shared);
        return st == AZ_OK ? serve(req, &bundle, TYPE_LONG_POLL) : st;
    }
    /* An immediate 304 would be asked again at once, 2,000 times a second: the whole bundle as gzip
     * turns polling on. */
    st = bundle_fetch(&req->op, "", &bundle);
    return st == AZ_OK ? serve(req, &bundle, TYPE_POLL) : st;
}

enum az_status
bundle_status_handle(struct request *req)
{
    struct engine_status status;
    json_t *push =
        jsonx_own(req->op.mem, json_loadb(req->body, req->body_length, ENGINE_STATUS_FLAGS, NULL));
    const char *instance = engine_instance(json_object_get(push, "labels"));
    const json_t *bundle = json_object_get(json_object_get(push, "bundles"), BUNDLE_NAME);
    if (instance == NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "The status must be a JSON object with a label", NULL);
    /* An engine that has not fetched anything yet reports no bundles: nothing to note. */
    if (bundle == NULL)
        return respond_empty(req, 200);
    engine_read_status(req->op.mem, bundle, &status);
    enum az_status st =
        bundle_report(&req->op, instance, status.active_revision, status.code, status.message);
    return st == AZ_OK ? respond_empty(req, 200) : st;
}
