#include "config.h"

#include "admin/health.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/settings.h"
#include "policy/engine.h"
#include "store/db.h"
#include "store/schema.h"
#include "store/signing_keys.h"

enum az_status
health_live_handle(struct request *req)
{
    return respond_json(req, 200, jsonx_own(req->op.mem, json_pack("{s:s}", "status", "UP")));
}

static enum az_status
check_engine(struct op *op)
{
    struct engine_status status;
    return engine_revision(op, &status);
}

/* The bundle check is the one that matters to a caller: without an active revision nothing is
 * decided. */
static enum az_status
check_bundle(struct op *op)
{
    enum health_acceptable_column { HEALTH_GOOD };
    static const struct db_stmt stmt = {
        "health_acceptable", "SELECT $1 = ANY (acceptable) AS good FROM bundle_state", 1};
    struct engine_status status;
    struct db_params params = {.count = 0};
    PGresult *result;
    enum az_status st = engine_revision(op, &status);
    if (st != AZ_OK)
        return st;
    db_text(&params, status.active_revision);
    if ((st = db_exec(op, &stmt, &params, true, &result)) != AZ_OK)
        return st;
    if (!db_get_bool(result, 0, HEALTH_GOOD))
        return op_fail(op, AZ_UNAVAILABLE, NULL,
                       "the engine's active revision '%s' is not an acceptable one: %s",
                       status.active_revision, status.message);
    return AZ_OK;
}

/* What must work before this instance should get requests. */
static const struct check {
    const char *name;
    enum az_status (*run)(struct op *op);
} checks[] = {
    {"database",    db_connect        },
    {"migrations",  schema_check      },
    {"opa",         check_engine      },
    {"bundle",      check_bundle      },
    {"signing_key", signing_keys_check},
};

/* Details name hosts and settings: only a caller on this machine sees them. */
static bool
caller_is_local(const struct request *req)
{
    /* Behind a proxy of this machine everybody is local unless the proxy is trusted to say who
     * asks. */
    if (req->op.az->cfg->trusted_proxy_count == 0
        && request_header(req, "HTTP_X_FORWARDED_FOR") != NULL)
        return false;
    return req->ip != NULL && (strncmp(req->ip, "127.", 4) == 0 || strcmp(req->ip, "::1") == 0);
}

enum az_status
health_ready_handle(struct request *req)
{
    json_t *list = json_array();
    bool all = true;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        struct op op = {.mem = req->op.mem,
                        .az = req->op.az,
                        .request_id = req->op.request_id,
                        .now_ms = req->op.now_ms};
        bool up = checks[i].run(&op) == AZ_OK;
        all = all && up;
        json_array_append_new(
            list, json_pack("{s:s,s:s,s:s*}", "name", checks[i].name, "status", up ? "UP" : "DOWN",
                            "detail", !up && caller_is_local(req) ? op.fault.detail : NULL));
    }
    json_t *body = jsonx_own(req->op.mem,
                             json_pack("{s:s,s:o}", "status", all ? "UP" : "DOWN", "checks", list));
    return respond_json(req, all ? 200 : 503, body);
}
