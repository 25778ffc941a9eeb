#include "config.h"

#include "store/gateway/served.h"

#include "store/db/db.h"

/* clang-format off */
static const struct db_stmt served_policy_stmt = {
    "served_policy", "SELECT coalesce(acceptable[1], '') AS revision FROM bundle_state", 0};
enum served_resources_column { SERVED_ID, SERVED_VERSION, SERVED_PROMPTS };
static const struct db_stmt served_resources_stmt = {
    "served_resources",
    "SELECT m.id, m.version, coalesce((SELECT sum(hashtextextended(l.key, hashtextextended(l.approved_sha256, 0))::numeric)"
    "   FROM gateway_listing l WHERE l.resource_id = m.id AND l.kind = 'prompt' AND l.listed AND l.approved_sha256 = l.seen_sha256) % 1e18, 0)::bigint"
    "  AS prompts FROM managed_resource m WHERE m.enabled ORDER BY m.id", 0};
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
    size_t count = (size_t) PQntuples(resources->result);
    *ret = (struct served){
        .revision = talloc_strdup(mem, revision != NULL ? revision : ""),
        .resource = talloc_zero_array(mem, struct served_resource, (unsigned) count + 1),
        .count = count,
    };
    if (ret->revision == NULL || ret->resource == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < count; i++)
        ret->resource[i] = (struct served_resource){
            .id = db_get_number(resources->result, (int) i, SERVED_ID, 0),
            .version = db_get_number(resources->result, (int) i, SERVED_VERSION, 0),
            .prompts = db_get_number(resources->result, (int) i, SERVED_PROMPTS, 0),
        };
    return AZ_OK;
}
