#include "config.h"

#include "store/gateway/served.h"

#include "store/db/db.h"
#include "store/db/trip/db_row.h"

/* clang-format off */
static const struct db_stmt served_policy_stmt = {
    "served_policy", "SELECT coalesce(acceptable[1], '') AS revision FROM bundle_state", 0};
static const struct db_stmt served_resources_stmt = {
    "served_resources",
    "SELECT m.id, m.version, coalesce((SELECT sum(hashtextextended(l.key, hashtextextended(l.approved_sha256, 0))::numeric)"
    "   FROM gateway_listing l WHERE l.resource_id = m.id AND l.kind = 'prompt' AND l.listed AND l.approved_sha256 = l.seen_sha256) % 1e18, 0)::bigint"
    "  AS prompts FROM managed_resource m WHERE m.enabled ORDER BY m.id", 0};
static const struct db_column served_resources_columns[] = {
    {"id",      DB_INTO(struct served_resource, id)},
    {"version", DB_INTO(struct served_resource, version)},
    {"prompts", DB_INTO(struct served_resource, prompts)},
};
/* clang-format on */

enum az_status
served_read(struct op *op, TALLOC_CTX *mem, struct served *ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *policy = db_batch_add(batch, &served_policy_stmt);
    struct db_step *resources = db_batch_add(batch, &served_resources_stmt);
    enum az_status st = db_run(op, batch, true);
    if (st != AZ_OK)
        return st;
    const char *revision = db_get(policy->result, 0, 0);
    if ((ret->revision = talloc_strdup(mem, revision != NULL ? revision : "")) == NULL)
        return op_no_memory(op);
    st = db_read_rows(op, resources->result,
                      DB_TABLE(struct served_resource, served_resources_columns), &ret->resource,
                      &ret->count);
    if (st == AZ_OK)
        talloc_steal(mem, ret->resource);
    return st;
}
