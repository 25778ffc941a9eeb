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

/* What two checks rest on is found out once: an engine that hangs costs a worker one policy
 * timeout, not two. */
struct findings {
    enum az_status engine;        /* of asking the engine for its status */
    struct az_fault engine_fault; /* if it failed */
    struct engine_status status;  /* if it did not */
    enum az_status key;           /* of opening the active signing key */
    struct az_fault key_fault;    /* if it failed */
};

static enum az_status
check_database(struct op *op, struct findings *found)
{
    (void) found;
    return db_connect(op);
}

static enum az_status
check_migrations(struct op *op, struct findings *found)
{
    (void) found;
    return schema_check(op);
}

static enum az_status
check_engine(struct op *op, struct findings *found)
{
    found->engine = engine_revision(op, &found->status);
    found->engine_fault = op->fault;
    return found->engine;
}

/* The bundle check is the one that matters to a caller: without an active revision nothing is
 * decided. */
static enum az_status
check_bundle(struct op *op, struct findings *found)
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
                       "the engine's active revision '%s' is not an acceptable one: %s",
                       found->status.active_revision, found->status.message);
    return AZ_OK;
}

/* There is an active key; that it cannot be opened is the next check's to say. */
static enum az_status
check_signing_key(struct op *op, struct findings *found)
{
    found->key = signing_keys_check(op);
    found->key_fault = op->fault;
    return found->key == AZ_CONFLICT ? AZ_OK : found->key;
}

/* SVC_CREDENTIAL_KEY opens what is sealed in the database. */
static enum az_status
check_credential_key(struct op *op, struct findings *found)
{
    op->fault = found->key_fault;
    return found->key;
}

/* What must work before this instance should get requests, in the order of gateway-admin.md 7.1:
 * opa comes before bundle, signing_key before credential_key, which rest on what those found. */
static const struct check {
    const char *name;
    enum az_status (*run)(struct op *op, struct findings *found);
} checks[] = {
    {"database",       check_database      },
    {"migrations",     check_migrations    },
    {"opa",            check_engine        },
    {"bundle",         check_bundle        },
    {"signing_key",    check_signing_key   },
    {"credential_key", check_credential_key},
};

/* Details name hosts and settings: only a caller on this machine sees them. */
static bool
caller_is_local(const struct request *req)
{
    /* Behind a proxy of this machine everybody is local unless the proxy is trusted to say who
     * asks. */
    if (req->op.az->cfg->trusted_proxy_count == 0
        && req->io->variable(req->io, "HTTP_X_FORWARDED_FOR") != NULL)
        return false;
    return req->ip != NULL && (strncmp(req->ip, "127.", 4) == 0 || strcmp(req->ip, "::1") == 0);
}

enum az_status
health_ready_handle(struct request *req)
{
    struct jsonx_build list = {json_array(), false};
    struct findings found;
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
