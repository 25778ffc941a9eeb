#include "config.h"

#include "admin/gateway/managed_resource_dto.h"

#include <string.h>

#include "admin/resource/resource.h"
#include "admin/resource/secret_address.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "managed/auth.h"
#include "managed/document.h"
#include "managed/merge.h"
#include "managed/status.h"
#include "store/gateway/resources.h"
#include "store/gateway/resources_admin.h"

/* Continue after an invalid member, to report errors in nested parts too. No fault depends on which
 * secrets are stored: one that is missing makes the resource pending. */
static void
managed_read_on(struct resource_reading *reading)
{
    struct managed_resource resource;
    if (!reading->faulty)
        return;
    const struct managed_reading document = {
        .mem = reading->mem,
        .document = reading->object,
        .insecure_hosts = reading->cfg->gateway_insecure_hosts,
        .name_max = reading->cfg->gateway_tool_name_max,
        .fault = reading->fault,
        .fault_arg = reading->fault_arg,
    };
    reading->lost = managed_read(&document, &resource) == AZ_SERVER_ERROR;
}

const struct resource_body managed_resource_body = {
    .fields = &managed_resource_table,
    .key = "name",
    .key_fixed = true,
    .check = managed_read_on,
};

/* One save. */
struct managed_save {
    struct op *op;
    struct resource_reading *reading;
    const struct resource_stored *stored; /* NULL: a new resource */
    json_t *document;                     /* to be stored: without secrets and tools */
    json_t *tools;                        /* to be stored */
    struct managed_secrets_change secrets;
    struct managed_resource resource;
};

static enum az_status
save_fail(struct managed_save *save, const char *why)
{
    return op_fail(save->op, AZ_SERVER_ERROR, NULL, "managed resource: %s", why);
}

/* Separate the sent object into the document, the tools and the secrets. */
static enum az_status
save_part(struct managed_save *save)
{
    char now[ISO8601_MS_SIZE];
    const struct resource_stored *stored = save->stored;
    json_t *sent = save->reading->object;
    const char *type = json_string_value(json_object_get(sent, "upstreamType"));
    bool is_mcp = type != NULL && strcmp(type, "MCP") == 0;
    save->document = jsonx_own(save->op->mem, jsonx_deep_copy(sent));
    save->tools = managed_tools_merge(save->op->mem, json_object_get(sent, "tools"),
                                      stored != NULL ? stored->tools : NULL, is_mcp);
    if (save->document == NULL || save->tools == NULL
        || iso8601_format_ms(save->op->now_ms, now) != AZ_OK
        || managed_secrets_take(save->op->mem, save->document,
                                stored != NULL ? stored->auth_type : NULL,
                                stored != NULL ? stored->secrets_set : NULL, now, &save->secrets)
               != AZ_OK)
        return save_fail(save, "out of memory");
    /* Remove the members that the service sets, and those that are null. */
    for (size_t i = 0; i < managed_resource_table.count; i++) {
        const struct field *row = &managed_resource_table.row[i];
        if (row->kind == FIELD_READ_ONLY || strcmp(row->name, "tools") == 0
            || json_is_null(json_object_get(save->document, row->name)))
            json_object_del(save->document, row->name);
    }
    return AZ_OK;
}

/* Refuse a kept secret whose address changes. */
static void
save_kept(struct managed_save *save)
{
    TALLOC_CTX *mem = save->op->mem;
    for (size_t i = 0; i < MANAGED_SECRETS_MAX && save->stored != NULL; i++) {
        const struct managed_secret_row *row = &managed_secret_rows[i];
        const char *fault = NULL;
        if (json_object_get(save->secrets.set, row->name) != NULL
            && json_object_get(save->secrets.given, row->name) == NULL)
            fault = secret_address_fault(mem, SECRET_OF_RESOURCE, row->name,
                                         save->stored->addresses, save->document);
        const char *path = fault != NULL ? talloc_asprintf(mem, "upstreamAuth.%s%s%s", row->member,
                                                           row->inner != NULL ? "." : "",
                                                           row->inner != NULL ? row->inner : "")
                                         : NULL;
        if (fault != NULL)
            resource_tell(save->reading, path != NULL ? path : "upstreamAuth", fault);
    }
}

/* Read the complete resource: the members that were sent, with their secrets, and the tools that
 * will be stored. */
static enum az_status
save_read(struct managed_save *save)
{
    json_t *whole = jsonx_own(save->op->mem, jsonx_copy(save->reading->object));
    if (whole == NULL || json_object_set(whole, "tools", save->tools) != 0)
        return save_fail(save, "out of memory");
    const struct managed_reading reading = {
        .mem = save->op->mem,
        .document = whole,
        .insecure_hosts = save->reading->cfg->gateway_insecure_hosts,
        .name_max = save->reading->cfg->gateway_tool_name_max,
        .secrets = save->secrets.set,
        .fault = save->reading->fault,
        .fault_arg = save->reading->fault_arg,
    };
    enum az_status st = managed_read(&reading, &save->resource);
    if (st == AZ_SERVER_ERROR)
        return save_fail(save, "out of memory");
    save_kept(save);
    return save->reading->faulty ? AZ_INVALID : st;
}

/* Open the secrets of the stored row, as an object. */
static enum az_status
open_stored(struct managed_save *save, json_t **ret)
{
    const struct resource_stored *stored = save->stored;
    struct op *op = save->op;
    unsigned char *plain;
    size_t length;
    *ret = NULL;
    if (stored == NULL || stored->sealed == NULL)
        return AZ_OK;
    const char *place = resource_secrets_place(op->mem, save->reading->key);
    if (place == NULL
        || keyring_open(op->mem, op->az->keyring, KEYRING_MANAGED_RESOURCE, place, stored->sealed,
                        stored->sealed_length, &plain, &length)
               != AZ_OK
        || jsonx_parse(op->mem, (const char *) plain, length, 1, ret, NULL) != AZ_OK)
        return save_fail(save, "the stored secrets do not open");
    return AZ_OK;
}

/* Make the object that is sealed: the secrets that are set afterwards, new or kept. */
static enum az_status
save_secrets(struct managed_save *save)
{
    struct jsonx_build sealed = {jsonx_own(save->op->mem, json_object()), false};
    json_t *kept, *time;
    const char *name;
    if (!save->secrets.any_change)
        return AZ_OK;
    enum az_status st = open_stored(save, &kept);
    if (st != AZ_OK)
        return st;
    json_object_foreach (save->secrets.set, name, time) {
        json_t *value = json_object_get(save->secrets.given, name);
        jsonx_set(&sealed, name, json_incref(value != NULL ? value : json_object_get(kept, name)));
    }
    json_t *object = jsonx_built(&sealed);
    char *text = object != NULL ? jsonx_dump(save->op->mem, object) : NULL;
    if (text == NULL)
        return save_fail(save, "out of memory");
    save->reading->secret = secret_copy(save->op->mem, text, strlen(text));
    secret_wipe(text, strlen(text));
    json_object_foreach (object, name, time)
        secret_wipe((void *) (uintptr_t) json_string_value(time), json_string_length(time));
    return save->reading->secret != NULL ? AZ_OK : save_fail(save, "out of memory");
}

/* Set the status that the save leads to, and its reason. */
static void
save_status(struct managed_save *save)
{
    const struct resource_stored *stored = save->stored;
    const struct managed_resource *resource = &save->resource;
    const struct managed_state state = {
        .status = stored != NULL ? stored->status : MANAGED_PENDING,
        .upstream = resource->upstream,
        .enabled = resource->enabled,
        .complete = resource->missing == NULL,
        .waiting = managed_tools_wait(resource),
    };
    enum managed_status status = managed_next_status(&state, MANAGED_SAVED);
    const char *reason = stored != NULL && stored->status == status ? stored->status_reason : NULL;
    bool redirects =
        reason != NULL && strncmp(reason, MANAGED_REDIRECTS, strlen(MANAGED_REDIRECTS)) == 0;
    if (resource->missing != NULL && status == MANAGED_PENDING)
        reason = talloc_asprintf(save->op->mem, "%s is missing", resource->missing);
    else if (status == MANAGED_PENDING || redirects)
        reason = managed_pending_reason(resource->upstream);
    else if (status == MANAGED_ACTIVE)
        reason = NULL;
    resource_set_column(save->reading, "status", json_string(managed_status_word(status)));
    if (reason != NULL)
        resource_set_column(save->reading, "status_reason", json_string(reason));
}

static void
save_columns(struct managed_save *save)
{
    struct resource_reading *reading = save->reading;
    const struct managed_resource *resource = &save->resource;
    resource_set_column(reading, "upstream_type",
                        json_string(managed_upstream_word(resource->upstream)));
    resource_set_column(reading, "enabled", json_boolean(resource->enabled));
    resource_set_column(reading, "document", json_incref(save->document));
    resource_set_column(reading, "tools", json_incref(save->tools));
    resource_set_column(reading, "secrets_set", json_incref(save->secrets.set));
    if (resource->missing != NULL)
        resource_set_column(reading, "missing", json_string(resource->missing));
    save_status(save);
}

/* Refuse an address that another resource has: a request would belong to both. */
static enum az_status
save_addresses(struct managed_save *save)
{
    const char *owner = NULL;
    enum az_status st = resource_public_owner(
        save->op, save->reading->key, (const char *const *) save->resource.public_urls, &owner);
    if (st != AZ_OK || owner == NULL)
        return st;
    return op_fail(
        save->op, AZ_CONFLICT,
        talloc_asprintf(save->op->mem, "An address of publicUrls is one of the resource %s", owner),
        NULL);
}

enum az_status
managed_resource_complete(struct op *op, struct resource_reading *reading)
{
    struct managed_save save = {.op = op, .reading = reading, .stored = reading->stored};
    enum az_status st = save_part(&save);
    if (st == AZ_OK)
        st = save_read(&save);
    if (st == AZ_OK)
        st = save_addresses(&save);
    if (st != AZ_OK) {
        resource_wipe_json(save.secrets.given);
        return st;
    }
    if (save.stored != NULL)
        reading->version = save.stored->version;
    save_columns(&save);
    st = save_secrets(&save);
    resource_wipe_json(save.secrets.given);
    return st;
}
