#include "config.h"

#include "admin/gateway/connector_sync.h"

#include <string.h>

#include "admin/gateway/connector_private.h"
#include "admin/gateway/connector_resource.h"
#include "admin/policy/impact_limits.h"
#include "admin/resource/resource.h"
#include "admin/resource/resource_body.h"
#include "base/json/jsonx.h"
#include "crypto/secret.h"
#include "managed/reader.h"
#include "store/db/rows/object_owners.h"
#include "store/gateway/connectors.h"

static const char *const truths[] = {"true", "false", NULL};

/* The syncs of one request. */
struct connector_syncs {
    struct request *req;
    const char *owner;      /* of the one connector that is synced, or NULL */
    const json_t *settings; /* of it, in place of the stored ones; NULL: they stay */
    bool force;
    bool saves; /* the transaction is that of a save of policy */
    struct jsonx_build report;
};

/* clang-format off */
const struct route_param connector_sync_params[] = {
    {.name = "force", .words = truths,
     .help = "true: sync also if a scope implies others than before; else the report has a "
             "warning, and nothing of the connector is changed"},
    SAVE_PARAMS,
    RESOURCE_OWNER_PARAM,
    {.name = NULL},
};
static const struct field sync_fields[] = {
    {"settings", FIELD_OBJECT, .rule = managed_object_rule,
     FIELD_INTO(struct connector_syncs, settings),
     .help = "Settings in place of those of the connector, without secrets; absent: they stay",
     .example = "{\"clientId\": \"abc\"}"},
};
/* clang-format on */
const struct field_table connector_sync_table = FIELD_TABLE("ConnectorSyncRequest", sync_fields, 0);

/* The sync of one connector. */
struct connector_sync {
    const struct connector_syncs *all;
    struct request *req;
    bool force;
    const char *id;
    const struct connector_stored *stored;
    const struct managed_manifest *manifest;
    json_t *settings;            /* that hold from now on */
    json_t *added;               /* names of new scopes */
    struct jsonx_build warnings; /* sentences */
    struct jsonx_build report;   /* of its resources */
};

static void
connector_warn(struct connector_sync *sync, const char *text)
{
    jsonx_append(&sync->warnings, json_string(text));
}

/* Compare the scopes. Return false if a scope would imply others than before and the request has no
 * `force`: tokens and grants may contain the scope already. */
static bool
sync_scopes(struct connector_sync *sync)
{
    TALLOC_CTX *mem = sync->req->op.mem;
    const json_t *was = json_object_get(sync->stored->manifest, "scopes");
    json_t *changed = managed_scopes_changed(mem, was, sync->manifest->scopes), *name;
    size_t index;
    sync->added = managed_scopes_added(mem, was, sync->manifest->scopes);
    sync->warnings.lost = sync->warnings.lost || changed == NULL || sync->added == NULL;
    json_array_foreach (changed, index, name)
        connector_warn(
            sync,
            talloc_asprintf(mem, "%s implies other scopes than before%s", json_string_value(name),
                            sync->force ? "" : "; nothing is changed without force=true"));
    return json_array_size(changed) == 0 || sync->force;
}

/* Update one managed resource. */
static enum az_status
sync_resource(struct connector_sync *sync, const char *name)
{
    struct op *op = &sync->req->op;
    json_t *document, *filled = NULL;
    enum az_status st = connector_resource_read(op, name, &document);
    if (st == AZ_OK)
        st = connector_resource_fill(sync->req, sync->manifest, sync->settings, name, &filled);
    if (st != AZ_OK)
        return st;
    if (!managed_manifest_update(document, filled))
        return op_no_memory(&sync->req->op);
    size_t count = json_array_size(json_object_get(document, "routes"));
    jsonx_append(&sync->report, json_pack("{s:s,s:I,s:O}", "resource", name, "routeCount",
                                          (json_int_t) count, "scopesAdded", sync->added));
    return connector_resource_write(sync->req, document, true, sync->id, sync->manifest->version);
}

/* Write the policy data if it differs from that of the earlier manifest; otherwise changes of the
 * operator stay. AZ_RETRY: it differs, and writing it needs a save of policy. */
static enum az_status
sync_policy(struct connector_sync *sync)
{
    const json_t *was = managed_manifest_policy(sync->stored->manifest);
    const json_t *is = managed_manifest_policy(sync->manifest->document);
    if (was == is || json_equal(was, is))
        return AZ_OK;
    return sync->all->saves ? connector_policy_write(&sync->req->op, sync->id, is) : AZ_RETRY;
}

static enum az_status
sync_apply(struct connector_sync *sync)
{
    struct op *op = &sync->req->op;
    const char *text = jsonx_dump(op->mem, sync->manifest->document), *settings = NULL;
    json_t *name;
    size_t index;
    enum az_status st = AZ_OK;
    sync->settings = sync->stored->settings;
    if (sync->all->settings != NULL) {
        st = connector_settings_read(sync->req, sync->manifest, sync->all->settings,
                                     &sync->settings);
        settings = st == AZ_OK ? jsonx_dump(op->mem, sync->settings) : NULL;
    }
    if (st == AZ_OK && (text == NULL || (sync->all->settings != NULL && settings == NULL)))
        st = op_no_memory(&sync->req->op);
    if (st == AZ_OK)
        st = connector_update(op, sync->id, sync->manifest->version, text, settings);
    if (st == AZ_OK)
        st = sync_policy(sync);
    json_array_foreach (sync->stored->resources, index, name)
        if (st == AZ_OK)
            st = sync_resource(sync, json_string_value(name));
    return st;
}

/* Sync one connector and append its part of the report. */
static enum az_status
sync_one(struct connector_syncs *all, const char *id)
{
    struct request *req = all->req;
    struct connector_sync sync = {
        .all = all,
        .req = req,
        .id = id,
        .force = all->force,
        .warnings = {jsonx_own(req->op.mem, json_array()), false},
        .report = {jsonx_own(req->op.mem, json_array()), false}
    };
    enum az_status st = connector_stored_fetch(&req->op, id, &sync.stored);
    if (st == AZ_OK && sync.stored == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such connector");
    if (st == AZ_OK)
        st = connector_file_read(&req->op, id, &sync.manifest);
    if (st != AZ_OK)
        return st;
    const char *version = json_string_value(json_object_get(sync.stored->manifest, "version"));
    if (sync.manifest == NULL) {
        connector_warn(&sync, "There is no good manifest in the catalogue; nothing is changed");
    } else if (sync_scopes(&sync)) {
        version = sync.manifest->version;
        st = sync_apply(&sync);
    }
    json_t *resources = jsonx_built(&sync.report), *warnings = jsonx_built(&sync.warnings);
    if (st == AZ_OK && (resources == NULL || warnings == NULL))
        return op_no_memory(&sync.req->op);
    jsonx_append(&all->report, json_pack("{s:s,s:s,s:O,s:O}", "connectorId", id, "version", version,
                                         "resources", resources, "warnings", warnings));
    return st;
}

/* Sync what the path names, inside the open transaction. */
static enum az_status
sync_all(struct op *op, void *arg)
{
    struct connector_syncs *all = arg;
    const char *only = all->req->path_value[0];
    json_t *ids, *id;
    size_t index;
    all->report = (struct jsonx_build){jsonx_own(op->mem, json_array()), false};
    if (only != NULL) {
        enum az_status one = sync_one(all, only);
        return one == AZ_OK && all->owner != NULL
                   ? object_owner_mark(op, all->owner, connectors_rows.owned, only)
                   : one;
    }
    enum az_status st = connector_ids(op, &ids);
    if (st != AZ_OK)
        return st;
    json_array_foreach (ids, index, id)
        if (st == AZ_OK)
            st = sync_one(all, json_string_value(id));
    return st;
}

/* Sync in a transaction, which is that of a save if policy data changes. */
static enum az_status
sync_in_transaction(struct request *req, struct connector_syncs *all)
{
    enum az_status st = db_begin(&req->op);
    if (st == AZ_OK)
        st = db_end(&req->op, sync_all(&req->op, all));
    if (st != AZ_RETRY)
        return st;
    all->saves = true;
    return connector_policy_save(req, sync_all, all);
}

enum az_status
connector_sync_handle(struct request *req)
{
    struct connector_syncs all = {.req = req};
    const char *force = request_param(req, "force");
    if (req->path_value[0] != NULL)
        resource_note(req, "id", req->path_value[0]);
    if (force != NULL && strcmp(force, "true") != 0 && strcmp(force, "false") != 0)
        return request_invalid_field(req, "force", "must be true or false");
    all.force = force != NULL && strcmp(force, "true") == 0;
    enum az_status st = resource_owner_read(req, &all.owner);
    if (st == AZ_OK && req->path_value[0] != NULL)
        st = resource_read_fields(req, &connector_sync_table, &all);
    if (st == AZ_OK)
        st = sync_in_transaction(req, &all);
    secret_wipe((void *) (uintptr_t) req->body, req->body_length);
    resource_wipe_json(req->json);
    if (st != AZ_OK)
        return st;
    json_t *list = jsonx_built(&all.report);
    if (list == NULL)
        return op_no_memory(&req->op);
    return respond_json(req, 200, jsonx_own(req->op.mem, json_pack("{s:O}", "connectors", list)));
}
