#include "config.h"

#include "uma/uma_resources.h"

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "store/uma/resources.h"
#include "uma/owner.h"

/* clang-format off */
static const struct field resource_fields[] = {
    {"_id",             FIELD_READ_ONLY, .shown = FIELD_TEXT, .help = "Set by the service"},
    {"name",            FIELD_TEXT,      .max = FIELD_NAME_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct uma_resource, name), .help = "Shown to people", .example = "\"Holidays\""},
    {"type",            FIELD_TEXT,      .max = FIELD_URI_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct uma_resource, type), .help = "Type URI",
     .example = "\"https://shop.example/types/album\""},
    {"resource_scopes", FIELD_TEXT_LIST, .max = UMA_SCOPES_MAX, .item_max = UMA_SCOPE_CHARS_MAX,
     .rule = uma_scope_rule, FIELD_INTO(struct uma_resource, scopes),
     .help = "What can be done with the resource", .example = "[\"view\"]"},
};
/* clang-format on */
const struct field_table uma_resource_table =
    FIELD_TABLE("UmaResource", resource_fields, FIELDS_IGNORE_UNKNOWN);

/* Read the body. Absent scopes count as an empty list, and repeated ones once. */
static enum az_status
uma_read_resource(struct request *req, struct uma_resource *ret)
{
    struct uma_resource resource = {.name = NULL};
    enum az_status st = uma_read(req, &uma_resource_table, req->json, &resource);
    if (st != AZ_OK)
        return st;
    resource.scopes = resource.scopes != NULL ? words_array_once(req->op.mem, resource.scopes)
                                              : jsonx_own(req->op.mem, json_array());
    if (resource.scopes == NULL)
        return op_no_memory(&req->op);
    *ret = resource;
    return AZ_OK;
}

/* Prepare the audit row: the resource's id and members. */
static enum az_status
note_resource(struct request *req, int status, const char *id, const struct uma_resource *resource)
{
    return uma_note_write(req, status,
                          json_pack("{s:s,s:s*,s:s*,s:O}", "resource_id", id, "name",
                                    resource->name, "type", resource->type, "resource_scopes",
                                    resource->scopes));
}

static enum az_status
respond_id(struct request *req, int status, const char *id)
{
    return respond_json(req, status, jsonx_own(req->op.mem, json_pack("{s:s}", "_id", id)));
}

enum az_status
uma_resource_register_handle(struct request *req)
{
    const struct uma_owner owner = uma_request_owner(req);
    struct uma_resource resource;
    unsigned char id[UUID7_OCTETS];
    char text[UUID7_TEXT_LENGTH + 1];
    enum uma_made made = UMA_NOBODY;
    enum az_status st = uma_read_resource(req, &resource);
    if (st == AZ_OK)
        st = uma_new_id(&req->op, id, text);
    if (st == AZ_OK)
        st = note_resource(req, 201, text, &resource);
    if (st == AZ_OK)
        st = uma_resource_insert(&req->op, id, &owner, &resource, &req->audit, &made);
    if (st != AZ_OK)
        return st;
    if (made == UMA_NOBODY)
        return uma_owner_gone(req);
    if (made == UMA_FULL)
        return op_fail(&req->op, AZ_CONFLICT, "The maximum number of resources is reached",
                       "the owner has %d resources", UMA_RESOURCES_MAX);
    req->audited = true;
    respond_header(req, "Location",
                   talloc_asprintf(req->op.mem, "%s/resource_registration/resource/%s",
                                   req->op.az->cfg->oidc_issuer, text));
    return respond_id(req, 201, text);
}

enum az_status
uma_resource_list_handle(struct request *req)
{
    return uma_respond_list(req, uma_resource_list);
}

enum az_status
uma_resource_show_handle(struct request *req)
{
    return uma_respond_object(req, uma_resource_get);
}

enum az_status
uma_resource_replace_handle(struct request *req)
{
    const struct uma_owner owner = uma_request_owner(req);
    struct uma_resource resource;
    unsigned char id[UUID7_OCTETS];
    bool found = false;
    enum az_status st = uma_path_id(req, id);
    if (st == AZ_OK)
        st = uma_read_resource(req, &resource);
    if (st == AZ_OK)
        st = note_resource(req, 200, req->path_value[0], &resource);
    if (st == AZ_OK)
        st = uma_resource_replace(&req->op, id, &owner, &resource, &req->audit, &found);
    if (st != AZ_OK)
        return st;
    if (!found)
        return uma_no_such(req);
    req->audited = true;
    return respond_id(req, 200, req->path_value[0]);
}

enum az_status
uma_resource_delete_handle(struct request *req)
{
    return uma_respond_ended(req, uma_resource_delete, "resource_id");
}
