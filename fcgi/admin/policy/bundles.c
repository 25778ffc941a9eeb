#include "config.h"

#include "admin/policy/bundles.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "crypto/digest.h"
#include "http/header_value.h"
#include "http/shared.h"
#include "policy/decide/ask.h"
#include "policy/engine/engine.h"
#include "policy/engine/prepare.h"
#include "policy/save/bundle/bundle.h"
#include "store/db/db.h"
#include "store/policy/bundles.h"
#include "store/policy/engines.h"

/* Only this type on a 200 keeps an engine in long polling; any other makes it poll (policy.md 2.2).
 */
#define TYPE_LONG_POLL "application/vnd.openpolicyagent.bundles"
#define TYPE_POLL "application/gzip"
/* Longest hold, in seconds: below the read time-outs of the shipped web server
 * configurations. */
#define WAIT_MAX 25
/* Interval of checks without a notification, in milliseconds: a notification is missed only while
 * the database restarts. */
#define LOOK_EVERY_MS 5000
/* The same for an engine that has a candidate: if the process of the save died, the decisions of
 * this engine do not count until the candidate is withdrawn. */
#define LOOK_PENDING_MS 500

static enum az_status
bundle_check_key(struct request *req)
{
    bool equal;
    const char *header = request_header(req, "HTTP_X_BUNDLE_API_KEY");
    if (header == NULL)
        return op_fail(&req->op, AZ_BUNDLE_UNAUTHORIZED, NULL, "X-Bundle-API-Key is missing");
    if (sha256_texts_equal(header, req->op.az->cfg->bundle_api_key, &equal) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
    if (!equal)
        return op_fail(&req->op, AZ_BUNDLE_UNAUTHORIZED, NULL, "X-Bundle-API-Key is wrong");
    return AZ_OK;
}

const struct route_credential credential_bundle = {
    .check = bundle_check_key,
    .before_body = true,
    .schemes = (const char *const[]){"bundleKey", NULL},
};

/* Return the name that an engine gives itself when it fetches (etc/opa/opa.yaml); NULL without a
 * valid one. */
static const char *
fetching_instance(const struct request *req)
{
    const char *name = request_header(req, "HTTP_X_BUNDLE_INSTANCE");
    return name != NULL && *name != '\0' && strlen(name) <= ENGINE_INSTANCE_MAX
                   && utf8_valid(name, strlen(name))
               ? name
               : NULL;
}

static enum az_status
bundle_serve(struct request *req, const struct bundle_served *bundle, const char *type)
{
    /* Record the engine first, so that its verdict on the bundle cannot come earlier. */
    if (bundle->body != NULL) {
        enum az_status st = engines_note_fetch(&req->op, bundle->id, fetching_instance(req));
        if (st != AZ_OK)
            return st;
        prepare_keep(&req->op, bundle->revision, bundle->body, bundle->length);
    }
    respond_header(req, "ETag", talloc_asprintf(req->op.mem, "\"%s\"", bundle->etag));
    if (bundle->body == NULL)
        return respond_octets(req, 304, NULL, "", 0);
    return respond_octets(req, 200, type, bundle->body, bundle->length);
}

/* Find the bundle to serve. A candidate was never applied if the process of its save died; it is
 * withdrawn first. */
static enum az_status
bundle_look(struct request *req, const char *known, struct bundle_served *bundle)
{
    bool withdrawn = false;
    enum az_status st = bundle_fetch(&req->op, known, fetching_instance(req), bundle);
    if (st == AZ_OK && bundle->pending)
        st = bundle_reconcile(&req->op, false, &withdrawn);
    if (withdrawn)
        log_text(AZ_SEV_WARN, "candidate withdrawn",
                 "a policy save ended before its bundle was confirmed; the previous bundle is "
                 "served again");
    return st == AZ_OK && withdrawn ? bundle_fetch(&req->op, known, fetching_instance(req), bundle)
                                    : st;
}

/* Record the return of an engine that was given the candidate: if it has activated the candidate,
 * it sends its ETag (policy.md 2.4), which says the same as its status push and arrives earlier. */
static enum az_status
bundle_note_return(struct request *req, const struct bundle_served *bundle)
{
    const struct engine_report report = {
        .instance = fetching_instance(req),
        .revision = bundle->revision,
        .code = "",
        .message = "",
        .tried_ms = clock_realtime_ms(),
    };
    return bundle->body == NULL && report.instance != NULL ? engines_report(&req->op, &report)
                                                           : AZ_OK;
}

/* Hold the request until another bundle is published, a save calls the engines, or the time is up.
 * LISTEN comes before the first query, so that no bundle is missed. */
static enum az_status
bundle_hold(struct request *req, const char *known, long seconds, struct bundle_served *bundle)
{
    int64_t end = clock_monotonic_ms() + seconds * 1000, left;
    const char *called = bundle->called;
    enum az_status st = db_listen(&req->op, "svc_bundle");
    unsigned session = db_generation(req->op.az->db);
    while (st == AZ_OK && (st = bundle_look(req, known, bundle)) == AZ_OK) {
        int every = bundle->pending ? LOOK_PENDING_MS : LOOK_EVERY_MS;
        left = end - clock_monotonic_ms();
        if (bundle->body != NULL || strcmp(bundle->called, called) != 0 || left <= 0
            || *req->op.az->stopping)
            break;
        if (db_generation(req->op.az->db) == session && db_is_open(req->op.az->db))
            db_wait(&req->op, (int) (left < every ? left : every));
        else
            st = db_listen(&req->op, "svc_bundle"); /* a new session does not listen yet */
        session = db_generation(req->op.az->db);
    }
    struct op after = op_beside(&req->op, req->op.mem);
    db_unlisten(&after);
    return st;
}

/* True if this worker may be held: it is in the bundles pool, and another worker of the pool stays
 * free for status pushes. */
static bool
bundle_may_hold(const struct az *az)
{
    return strcmp(az->pool, "bundles") == 0 && az->shared != NULL
           && shared_place_take(az->shared, SHARED_LONG_POLL, az->pool_workers - 1);
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
        return op_no_memory(&req->op);
    if (!utf8_valid(known, strlen(known)))
        known = ""; /* not one of our tags, and not a text for the database */
    enum az_status st = engines_note_asked(&req->op, fetching_instance(req));
    if (st == AZ_OK)
        st = bundle_look(req, known, &bundle);
    if (st == AZ_OK && bundle.pending)
        st = bundle_note_return(req, &bundle);
    if (st != AZ_OK)
        return st;
    if (bundle.etag == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL,
                       "no bundle is published; run `authzctl db migrate`");
    if (bundle.body != NULL || wait == 0)
        return bundle_serve(req, &bundle, pooled ? TYPE_LONG_POLL : TYPE_POLL);
    if (bundle_may_hold(req->op.az)) {
        st = bundle_hold(req, known, wait, &bundle);
        shared_place_drop(req->op.az->shared, SHARED_LONG_POLL);
        return st == AZ_OK ? bundle_serve(req, &bundle, TYPE_LONG_POLL) : st;
    }
    /* After an immediate 304 the engine would ask again at once, 2,000 times a second. The whole
     * bundle as gzip makes it poll instead. */
    st = bundle_look(req, "", &bundle);
    return st == AZ_OK ? bundle_serve(req, &bundle, TYPE_POLL) : st;
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
                       "The status must be a JSON object with an instance label", NULL);
    /* An engine that has not fetched a bundle yet reports none. */
    if (bundle == NULL)
        return respond_empty(req, 200);
    engine_read_status(req->op.mem, bundle, &status);
    const struct engine_report report = {
        .instance = instance,
        .revision = status.active_revision,
        .code = status.code,
        .message = status.message,
        .tried_ms = status.tried_ms,
        .transport = status.transport,
    };
    enum az_status st = engines_report(&req->op, &report);
    return st == AZ_OK ? respond_empty(req, 200) : st;
}
