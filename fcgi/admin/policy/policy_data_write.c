#include "config.h"

#include "admin/policy/policy_data_write.h"

#include "admin/policy/impact_limits.h"
#include "admin/policy/policy_refusal.h"
#include "base/json/jsonx.h"
#include "http/header_value.h"
#include "policy/rows/data_check.h"

/* Tries of a write that finds the row changed since it was read. */
#define TRIES 5

enum az_status
policy_data_save(struct request *req, const struct data_change *change, bool as_read,
                 struct policy_data_written *ret)
{
    struct data_change limited = *change;
    struct save_limits limits;
    enum az_status st = save_params_read(req, &limits, &limited.message, &limited.if_revision);
    limited.limits = &limits;
    if (st == AZ_OK)
        st = save_data_row(&req->op, &limited, req->admin.label, &ret->outcome, &ret->created);
    ret->data_key = change->data_key;
    /* Another ifRevision than the active one stays so: trying again would not heal it. */
    ret->again = st == AZ_PRECONDITION_FAILED && ret->outcome.row_changed && as_read
                 && !request_has_if_match(req);
    if (ret->outcome.failures != NULL)
        req->error_body = jsonx_own(req->op.mem, json_pack("{s:s,s:O}", "dataKey", change->data_key,
                                                           "failures", ret->outcome.failures));
    st = policy_refuse(req, st, &ret->outcome);
    return st;
}

enum az_status
policy_data_put(struct request *req, const struct policy_payload *payload, bool must_be_new,
                const struct policy_row *read, struct policy_data_written *ret)
{
    struct policy_row row;
    const char *schema = NULL;
    enum az_status st = policy_payload_target(req, payload->data_key, &row, &schema);
    if (st == AZ_OK && must_be_new && row.payload != NULL)
        return op_fail(&req->op, AZ_CONFLICT, "A row with this dataKey already exists", NULL);
    if (st == AZ_OK)
        st = request_if_match(req, row.digest);
    if (st == AZ_OK)
        st = policy_payload_check(req, payload->data_key, schema, payload->value);
    if (st != AZ_OK)
        return st;
    const struct data_change change = {
        .data_key = payload->data_key,
        .payload = payload->text,
        .version = payload->version,
        .in_bundle =
            payload->has_in_bundle ? payload->in_bundle : row.payload == NULL || row.in_bundle,
        .if_match = read != NULL                ? read->digest
                    : request_has_if_match(req) ? row.digest
                                                : NULL,
        .must_be_new = must_be_new,
    };
    ret->warning = data_check_warning(schema);
    return policy_data_save(req, &change, read != NULL, ret);
}

enum az_status
policy_data_remove(struct request *req, const struct policy_row *row,
                   struct policy_data_written *ret)
{
    const struct data_change change = {.data_key = row->data_key, .if_match = row->digest};
    enum az_status st = request_if_match(req, row->digest);
    return st == AZ_OK ? policy_data_save(req, &change, true, ret) : st;
}

enum az_status
policy_data_retry(struct request *req, policy_data_try_fn *attempt, void *arg,
                  struct policy_data_written *ret)
{
    for (int i = 0; i < TRIES; i++) {
        *ret = (struct policy_data_written){.data_key = NULL};
        enum az_status st = attempt(req, arg, ret);
        if (!ret->again)
            return st;
        az_fault_clear(&req->op.fault);
    }
    return op_fail(&req->op, AZ_SAVE_IN_PROGRESS, "Other writers keep changing the row; try again",
                   NULL);
}

enum az_status
policy_data_respond(struct request *req, const struct policy_data_written *written, bool removed)
{
    struct policy_row row = {.payload = NULL};
    policy_add_outcome(req, &written->outcome, written->warning);
    if (removed)
        return respond_empty(req, 204);
    enum az_status st = policy_data_fetch(&req->op, written->data_key, &row);
    if (st != AZ_OK)
        return st;
    if (row.payload == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "the row was deleted after the save");
    return policy_respond(req, written->created ? 201 : 200, row.dto, row.digest);
}
