#include "config.h"

#include "admin/health.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/settings.h"
#include "policy/decide/engine.h"
#include "store/db/db.h"
#include "store/db/schema.h"
#include "store/policy/engines.h"
#include "store/tokens/signing_keys.h"

enum az_status
health_live_handle(struct request *req)
{
    return respond_json(req, 200, jsonx_own(req->op.mem, json_pack("{s:s}", "status", "UP")));
}

/* Results that two checks share: an engine that hangs costs a worker one policy timeout, not two.
 */
struct health_findings {
    enum az_status engine;        /* outcome of asking the engine for its status */
    struct az_fault engine_fault; /* if it failed */
    struct engine_status status;  /* if it did not */
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

static enum az_status
health_check_engine(struct op *op, struct health_findings *found)
{
    found->engine = engine_revision(op, 0, &found->status);
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

/* Checks that must pass before this instance should get requests, in the order of gateway-admin.md
 * 7.1: bundle uses the result of opa, credential_key that of signing_key. */
static const struct health_check {
    const char *name;
    enum az_status (*run)(struct op *op, struct health_findings *found);
} checks[] = {
    {"database",       health_check_database      },
    {"migrations",     health_check_migrations    },
    {"opa",            health_check_engine        },
    {"bundle",         health_check_bundle        },
    {"signing_key",    health_check_signing_key   },
    {"credential_key", health_check_credential_key},
};

/* True if the caller is on this machine: only then may it see details, which name hosts and
 * settings. */
static bool
caller_is_local(const struct request *req)
{
    return !request_has_unnamed_proxy(req) && req->ip != NULL
           && (strncmp(req->ip, "127.", 4) == 0 || strcmp(req->ip, "::1") == 0);
}

enum az_status
health_ready_handle(struct request *req)
{
    struct jsonx_build list = {json_array(), false};
    struct health_findings found;
    bool all = true;
    memset(&found, 0, sizeof(found));
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        struct op op = {.mem = req->op.mem,
                        .az = req->op.az,
                        .request_id = req->op.request_id,
                        .now_ms = req->op.now_ms};
        bool up = checks[i].run(&op, &found) == AZ_OK;
        all = all && up;
        jsonx_append(&list, json_pack("{s:s,s:s,s:s*}", "name", checks[i].name, "status",
                                      up ? "UP" : "DOWN", "detail",
                                      !up && caller_is_local(req) ? op.fault.detail : NULL));
    }
    json_t *body = jsonx_own(
        req->op.mem, json_pack("{s:s,s:o}", "status", all ? "UP" : "DOWN", "checks", list.value));
    return respond_json(req, all ? 200 : 503, list.lost ? NULL : body);
}
