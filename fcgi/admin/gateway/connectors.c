#include "config.h"

#include "admin/gateway/connectors.h"

#include <string.h>

#include "admin/gateway/connector_private.h"
#include "admin/gateway/connector_resource.h"
#include "admin/policy/impact_limits.h"
#include "admin/resource/resource_body.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "crypto/secret.h"
#include "managed/names.h"
#include "managed/reader.h"
#include "store/gateway/connectors.h"

/* The body of an install. */
struct connector_install {
    const json_t *settings;
    bool create;
    const char *name; /* of the managed resource; NULL: the id */
};

static const char *
connector_name_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return managed_name_is_good(json_string_value(value)) ? NULL : "cannot name a managed resource";
}

/* clang-format off */
static const struct field install_fields[] = {
    {"settings",        FIELD_OBJECT,  .rule = managed_object_rule,
     FIELD_INTO(struct connector_install, settings),
     .help = "Values of the settings of its manifest; secrets are stored with the managed resource "
             "alone", .example = "{\"clientId\": \"abc\", \"clientSecret\": \"secret of the OAuth "
                                 "app\"}"},
    {"createResources", FIELD_BOOLEAN, FIELD_INTO(struct connector_install, create),
     .help = "Create its managed resource as well", .example = "true"},
    {"name",            FIELD_TEXT,    .max = MANAGED_NAME_MAX, .rule = connector_name_rule,
     FIELD_INTO(struct connector_install, name),
     .help = "Name of that resource; the id of the connector if it is left out",
     .example = "\"code\""},
};
/* clang-format on */
const struct field_table connector_install_table =
    FIELD_TABLE("ConnectorInstall", install_fields, 0);

/* ---- reading */

static const char *
or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* Return ConnectorDto of a manifest of the catalogue, a new reference. */
static json_t *
dto_of(const struct managed_manifest *manifest, bool installed)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:O}", "id", manifest->id, "name",
                     manifest->name, "description", or_empty(manifest->description), "category",
                     manifest->category, "resourceType", or_empty(manifest->resource_type),
                     "version", manifest->version, "installed", installed, "manifest",
                     (json_t *) (uintptr_t) manifest->document);
}

static bool
has_id(const json_t *ids, const json_t *id)
{
    json_t *item;
    size_t index;
    json_array_foreach (ids, index, item)
        if (json_equal(item, id))
            return true;
    return false;
}

enum az_status
connectors_available_handle(struct request *req)
{
    struct jsonx_build list = {jsonx_own(req->op.mem, json_array()), false};
    json_t *ids = connector_file_ids(&req->op), *installed = NULL, *id;
    size_t index;
    enum az_status st = connector_ids(&req->op, &installed);
    json_array_foreach (ids, index, id) {
        const struct managed_manifest *manifest = NULL;
        if (st == AZ_OK)
            st = connector_file_read(&req->op, json_string_value(id), &manifest);
        if (manifest != NULL)
            jsonx_append(&list, dto_of(manifest, has_id(installed, id)));
    }
    if (st == AZ_OK && (ids == NULL || list.lost))
        return op_no_memory(&req->op);
    return st == AZ_OK ? respond_json(req, 200, list.value) : st;
}

enum az_status
connector_get_handle(struct request *req)
{
    const struct managed_manifest *manifest = NULL;
    struct json_shown shown = {.dto = NULL};
    enum az_status st = json_rows_fetch(&req->op, &connectors_rows, req->path_value[0], &shown);
    if (st == AZ_OK && shown.dto == NULL)
        st = connector_file_read(&req->op, req->path_value[0], &manifest);
    if (st == AZ_OK && manifest != NULL)
        return respond_json(req, 200, jsonx_own(req->op.mem, dto_of(manifest, false)));
    return st == AZ_OK ? resource_respond(req, "connector", shown.dto) : st;
}

/* ---- installing */

/* Check the settings. Required ones may be missing if no resource is created. */
static enum az_status
check_settings(struct request *req, const struct managed_manifest *manifest,
               const struct connector_install *install)
{
    enum az_status st = connector_settings_check(req, manifest, install->settings);
    if (st != AZ_SERVER_ERROR && install->create
        && !managed_manifest_complete(manifest, install->settings, request_field_fault, req))
        st = AZ_INVALID;
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    return st == AZ_OK ? st : op_fail(&req->op, st, NULL, "cannot check the settings");
}

/* Create the managed resource, if the body asks for it. */
static enum az_status
create_resource(struct request *req, const struct managed_manifest *manifest,
                const struct connector_install *install)
{
    if (!install->create)
        return AZ_OK;
    json_t *document;
    enum az_status st =
        connector_resource_fill(req, manifest, install->settings,
                                install->name != NULL ? install->name : manifest->id, &document);
    return st == AZ_OK
               ? connector_resource_write(req, document, false, manifest->id, manifest->version)
               : st;
}

/* One installation. */
struct installation {
    struct request *req;
    const struct managed_manifest *manifest;
    const struct connector_install *install;
    const char *owner; /* or NULL */
    struct json_shown shown;
    bool taken; /* another request installed the connector first */
};

/* Store the connector, its resource and its policy data inside the open transaction. */
static enum az_status
connector_store(struct op *op, void *arg)
{
    struct installation *new = arg;
    struct request *req = new->req;
    const struct managed_manifest *manifest = new->manifest;
    const struct connector_install *install = new->install;
    const json_t *policy = managed_manifest_policy(manifest->document);
    json_t *plain = managed_manifest_plain(req->op.mem, manifest, install->settings);
    json_t *columns =
        plain != NULL ? jsonx_own(
            req->op.mem, json_pack("{s:s,s:O,s:O}", "version", manifest->version, "manifest",
                                   (json_t *) (uintptr_t) manifest->document, "settings", plain))
                      : NULL;
    struct json_row row = {.key = manifest->id, .columns = NULL, .owner = new->owner};
    if (columns == NULL || (row.columns = jsonx_dump(req->op.mem, columns)) == NULL)
        return op_no_memory(op);
    enum az_status st = json_rows_insert(op, &connectors_rows, &row, &new->shown);
    new->taken = st == AZ_CONFLICT;
    if (st == AZ_OK && policy != NULL)
        st = connector_policy_write(op, manifest->id, policy);
    return st == AZ_OK ? create_resource(req, manifest, install) : st;
}

/* Another request has installed the connector meanwhile: give the answer for a connector that is
 * installed already (specification 4.12). */
static enum az_status
show_installed(struct request *req)
{
    struct json_shown shown = {.dto = NULL};
    az_fault_clear(&req->op.fault);
    enum az_status st = json_rows_fetch(&req->op, &connectors_rows, req->path_value[0], &shown);
    if (st == AZ_OK && shown.dto == NULL)
        return op_fail(&req->op, AZ_CONFLICT, "The connector was removed meanwhile", NULL);
    return st == AZ_OK ? respond_json_text(req, 200, shown.dto) : st;
}

static enum az_status
install_new(struct request *req, const struct connector_install *install)
{
    const struct managed_manifest *manifest;
    enum az_status st = connector_file_read(&req->op, req->path_value[0], &manifest);
    if (st == AZ_OK && manifest == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such connector");
    if (st == AZ_OK)
        st = check_settings(req, manifest, install);
    if (st != AZ_OK)
        return st;
    struct installation new = {.req = req, .manifest = manifest, .install = install};
    if ((st = resource_owner_read(req, &new.owner)) != AZ_OK)
        return st;
    if (managed_manifest_policy(manifest->document) != NULL)
        st = connector_policy_save(req, connector_store, &new);
    else if ((st = db_begin(&req->op)) == AZ_OK)
        st = db_end(&req->op, connector_store(&req->op, &new));
    if (st == AZ_CONFLICT && new.taken)
        return show_installed(req);
    return st == AZ_OK ? respond_json_text(req, 201, new.shown.dto) : st;
}

enum az_status
connector_install_handle(struct request *req)
{
    struct json_shown shown = {.dto = NULL};
    struct connector_install install = {.create = false};
    resource_note(req, "id", req->path_value[0]);
    enum az_status st = resource_read_fields(req, &connector_install_table, &install);
    if (st == AZ_OK)
        st = json_rows_fetch(&req->op, &connectors_rows, req->path_value[0], &shown);
    if (st == AZ_OK)
        st =
            shown.dto != NULL ? respond_json_text(req, 200, shown.dto) : install_new(req, &install);
    secret_wipe((void *) (uintptr_t) req->body, req->body_length);
    resource_wipe_json(req->json);
    return st;
}

/* clang-format off */
const struct route_param connector_install_params[] = {
    SAVE_PARAMS,
    RESOURCE_OWNER_PARAM,
    {.name = NULL},
};
/* clang-format on */

/* ---- deleting */

static enum az_status
fail_in_use(struct request *req, json_t *blockers)
{
    const char *id = req->path_value[0];
    size_t count = json_array_size(blockers);
    const char *text = talloc_asprintf(req->op.mem, "Connector %s is used by %zu object%s", id,
                                       count, count == 1 ? "" : "s");
    req->error_body =
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:s,s:s,s:O}", "error", "connector_in_use", "error_description",
                            or_empty(text), "connectorId", id, "blockers", blockers));
    return op_fail(&req->op, AZ_CONFLICT, text, NULL);
}

/* Delete the connector and its policy data inside the open transaction. */
static enum az_status
connector_remove(struct op *op, void *arg)
{
    const struct request *req = arg;
    enum az_status st = connector_policy_write(op, req->path_value[0], NULL);
    return st == AZ_OK ? json_rows_delete(op, &connectors_rows, req->path_value[0], NULL) : st;
}

enum az_status
connector_delete_handle(struct request *req)
{
    const struct connector_stored *stored = NULL;
    json_t *blockers;
    resource_note(req, "id", req->path_value[0]);
    enum az_status st = connector_blockers(&req->op, req->path_value[0], &blockers);
    if (st == AZ_OK && json_array_size(blockers) > 0)
        return fail_in_use(req, blockers);
    if (st == AZ_OK)
        st = connector_stored_fetch(&req->op, req->path_value[0], &stored);
    if (st == AZ_OK && stored != NULL && managed_manifest_policy(stored->manifest) != NULL)
        st = connector_policy_save(req, connector_remove, req);
    else if (st == AZ_OK)
        st = json_rows_delete(&req->op, &connectors_rows, req->path_value[0], NULL);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}
