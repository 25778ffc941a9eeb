#include "config.h"

#include "admin/gateway/connector_private.h"

#include "admin/policy/impact_limits.h"
#include "admin/policy/policy_refusal.h"
#include "base/json/jsonx.h"
#include "managed/import/manifest.h"
#include "store/gateway/connectors.h"
#include "store/policy/policy_rows.h"

enum az_status
connector_policy_write(struct op *op, const char *id, const json_t *payload)
{
    const char *key = managed_manifest_key(op->mem, id), *text = NULL;
    if (key == NULL || (payload != NULL && (text = jsonx_dump(op->mem, payload)) == NULL))
        return op_no_memory(op);
    if (payload != NULL) {
        enum az_status st = policy_data_write(op, key, text, NULL, true);
        return st == AZ_OK ? connector_row_hold(op, key, true) : st;
    }
    enum az_status st = connector_row_hold(op, key, false);
    return st == AZ_OK ? policy_data_delete(op, key) : st;
}

enum az_status
connector_policy_save(struct request *req, save_apply_fn *apply, void *arg)
{
    struct save_limits limits;
    struct save_plan plan = {.apply = apply,
                             .arg = arg,
                             .mode = SAVE_STRICT,
                             .source = "connector",
                             .who = req->admin.label,
                             .limits = &limits};
    struct save_outcome outcome = {.revision = NULL};
    enum az_status st = save_params_read(req, &limits, &plan.message, &plan.if_revision);
    if (st == AZ_OK)
        st = policy_refuse(req, save_policy(&req->op, &plan, &outcome), &outcome);
    if (st == AZ_OK)
        policy_add_outcome(req, &outcome, NULL);
    return st;
}
