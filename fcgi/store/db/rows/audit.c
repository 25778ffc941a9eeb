#include "config.h"

#include "store/db/rows/audit.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "store/db/keep/partitions.h"

#define INSERT                                                                                     \
    "INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"                                \
    " SELECT $1::timestamptz, nextval('audit_id_seq'), $2, $3::uuid, $4, $5, $6, $7, $8, $9, $10," \
    " $11::inet, $12, $13, $14, $15"

#define ASYNC "WITH async AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"

static const struct db_stmt audit_insert_stmt = {"audit_insert", INSERT, 15};

/* set_config makes only this transaction asynchronous: the answer does not wait for the row. */
static const struct db_stmt audit_send_stmt = {"audit_send", ASYNC INSERT " FROM async", 15};

void
audit_bind(struct db_params *params, const struct audit_entry *entry)
{
    db_text(params, entry->request_id);
    db_text(params, entry->flow_id);
    db_text(params, entry->client_id);
    db_text(params, entry->subject_id);
    db_text(params, entry->endpoint);
    db_text(params, entry->operation);
    db_text(params, entry->method);
    db_number(params, entry->http_status);
    db_text(params, entry->outcome);
    db_text(params, entry->ip);
    db_text(params, entry->user_agent);
    db_text(params, entry->explained != NULL ? entry->explained : entry->summary);
    db_octets(params, entry->input, entry->input_length);
    db_octets(params, entry->decision, entry->decision_length);
}

/* Read the types of authorization_details; *ret is NULL without any. False: no memory. */
static bool
audit_details_types(TALLOC_CTX *mem, const json_t *details, json_t **ret)
{
    struct jsonx_build types = {NULL, false};
    size_t index;
    json_t *entry;
    if (json_array_size(details) > 0)
        types.value = jsonx_own(mem, json_array());
    json_array_foreach (details, index, entry)
        if (json_is_string(json_object_get(entry, "type")))
            jsonx_append(&types, json_incref(json_object_get(entry, "type")));
    *ret = jsonx_built(&types);
    return !types.lost;
}

void
audit_explain(struct op *op, struct audit_entry *entry)
{
    json_t *before = NULL, *types;
    entry->explained = NULL;
    if ((entry->inactive == NULL && entry->codes == NULL && entry->error == NULL)
        || !audit_details_types(op->mem, entry->details, &types))
        return;
    json_t *summary = jsonx_own(
        op->mem,
        json_pack("{s:s*,s:s*,s:s*,s:s*,s:s*,s:O*,s:O*,s:s*,s:s*}", "inactive", entry->inactive,
                  "denyCodes", entry->codes, "grantType", entry->grant_type, "scope", entry->scope,
                  "resource", entry->resource, "resourceTypes",
                  json_array_size(entry->resource_types) > 0 ? entry->resource_types : NULL,
                  "detailsTypes", types, "error", entry->error, "reason", entry->reason));
    if (entry->summary != NULL
        && (jsonx_parse(op->mem, entry->summary, strlen(entry->summary), AUDIT_SUMMARY_DEPTH_MAX,
                        &before, NULL)
                != AZ_OK
            || json_object_update(summary, before) != 0))
        return;
    entry->explained = summary != NULL ? jsonx_dump(op->mem, summary) : NULL;
}

static struct db_batch *
audit_batch(struct op *op, const struct db_stmt *stmt, const struct audit_entry *entry)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, stmt, DB_NO_PARTITION, partition_day(op_now(op)));
    db_batch_adds(batch);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, entry);
    return batch;
}

enum az_status
audit_insert(struct op *op, const struct audit_entry *entry)
{
    struct db_batch *batch = audit_batch(op, &audit_insert_stmt, entry);
    enum az_status st = db_try(op, batch, false);
    if (st != AZ_SQL)
        return st;
    /* The day may have no partition yet (in a new cluster, or if housekeeping did not run): make it
     * and try once more. */
    if ((st = partition_make_day(op, partition_day(op_now(op)))) != AZ_OK)
        return st;
    return db_run(op, audit_batch(op, &audit_insert_stmt, entry), false);
}

enum az_status
audit_send(struct op *op, const struct audit_entry *entry)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    if (st != AZ_OK)
        return st;
    return db_send(op, audit_batch(op, &audit_send_stmt, entry));
}
