#include "config.h"

#include "store/uma/resources.h"

#include "base/words.h"

/* The lock of the owner makes the count exact. */
enum uma_resource_insert_column { RESOURCE_MADE, RESOURCE_OWNED };
static const struct db_stmt uma_resource_insert_stmt = {
    "uma_resource_insert",
    "WITH " UMA_OWNER
    " written AS (INSERT INTO uma_resource (id, client, subject, name, type, scopes)"
    "  SELECT $16::uuid, id, $18, $19, $20, $21::text[] FROM owner WHERE (SELECT count(*) FROM"
    "  uma_resource WHERE client = $17 AND subject = $18) < $22::integer RETURNING 1)," UMA_NOTED
    " SELECT EXISTS (SELECT 1 FROM written) AS made, EXISTS (SELECT 1 FROM owner) AS "
    "owned",
    22};

static const struct db_stmt uma_resource_replace_stmt = {
    "uma_resource_replace",
    "WITH written AS (UPDATE uma_resource SET name = $19, type = $20, scopes = $21::text[],"
    "  updated_at = now() WHERE " UMA_IS_OWN " RETURNING 1)," UMA_NOTED
    " SELECT EXISTS (SELECT 1 FROM written) AS found",
    21};

static const struct db_stmt uma_resource_delete_stmt = {
    "uma_resource_delete",
    "WITH written AS (DELETE FROM uma_resource WHERE " UMA_IS_OWN " RETURNING 1)," UMA_NOTED
    " SELECT EXISTS (SELECT 1 FROM written) AS found",
    18};

static const struct db_stmt uma_resource_get_stmt = {
    "uma_resource_get",
    "SELECT json_strip_nulls(json_build_object('_id', id, 'name', name, 'type', type,"
    " 'resource_scopes', scopes)) AS resource FROM uma_resource"
    " WHERE id = $1::uuid AND client = $2 AND subject = $3",
    3};

static const struct db_stmt uma_resource_list_stmt = {
    "uma_resource_list",
    "SELECT to_json(r.id) AS resource FROM uma_resource r WHERE r.client = $1 AND r.subject = $2"
    " ORDER BY r.id",
    2};

/* Add name, type and scopes. */
static void
bind_resource(struct op *op, struct db_params *params, const struct uma_resource *resource)
{
    const char **scopes = words_array_list(op->mem, resource->scopes);
    db_text(params, resource->name);
    db_text(params, resource->type);
    db_words(op->mem, params, scopes, scopes != NULL ? json_array_size(resource->scopes) : 0);
    params->lost = params->lost || scopes == NULL;
}

enum az_status
uma_resource_insert(struct op *op, const unsigned char id[UUID7_OCTETS],
                    const struct uma_owner *owner, const struct uma_resource *resource,
                    const struct audit_entry *audit, enum uma_made *ret)
{
    struct uma_write write;
    enum az_status st =
        uma_write_begin(op, &uma_resource_insert_stmt, true, id, owner, audit, &write);
    if (st != AZ_OK)
        return st;
    bind_resource(op, &write.step->params, resource);
    db_number(&write.step->params, UMA_RESOURCES_MAX);
    if ((st = uma_write_run(op, &write)) != AZ_OK)
        return st;
    *ret = db_get_bool(write.step->result, 0, RESOURCE_MADE)    ? UMA_MADE
           : db_get_bool(write.step->result, 0, RESOURCE_OWNED) ? UMA_FULL
                                                                : UMA_NOBODY;
    return AZ_OK;
}

enum az_status
uma_resource_replace(struct op *op, const unsigned char id[UUID7_OCTETS],
                     const struct uma_owner *owner, const struct uma_resource *resource,
                     const struct audit_entry *audit, bool *ret_found)
{
    struct uma_write write;
    enum az_status st =
        uma_write_begin(op, &uma_resource_replace_stmt, false, id, owner, audit, &write);
    if (st != AZ_OK)
        return st;
    bind_resource(op, &write.step->params, resource);
    if ((st = uma_write_run(op, &write)) == AZ_OK)
        *ret_found = db_get_bool(write.step->result, 0, 0);
    return st;
}

enum az_status
uma_resource_delete(struct op *op, const unsigned char id[UUID7_OCTETS],
                    const struct uma_owner *owner, const struct audit_entry *audit, bool *ret_found)
{
    return uma_write_object(op, &uma_resource_delete_stmt, id, owner, audit, ret_found);
}

enum az_status
uma_resource_get(struct op *op, const unsigned char id[UUID7_OCTETS], const struct uma_owner *owner,
                 const char **ret)
{
    return uma_fetch_object(op, &uma_resource_get_stmt, id, owner, ret);
}

enum az_status
uma_resource_list(struct op *op, const struct uma_owner *owner, const char **ret)
{
    return uma_fetch_list(op, &uma_resource_list_stmt, owner, ret);
}
