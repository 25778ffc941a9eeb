#include "config.h"

#include "admin/gateway/connector_resource.h"

#include <string.h>

#include "admin/gateway/managed_resource_dto.h"
#include "base/json/jsonx.h"
#include "crypto/keyring.h"
#include "http/response.h"
#include "managed/document.h"
#include "managed/import/import.h"
#include "store/gateway/connectors.h"
#include "store/gateway/resources.h"
#include "store/gateway/resources_admin.h"

enum az_status
connector_resource_fill(struct request *req, const struct managed_manifest *manifest,
                        const json_t *settings, const char *name, json_t **ret)
{
    TALLOC_CTX *mem = req->op.mem;
    enum az_status st = AZ_SERVER_ERROR;
    if ((*ret = managed_manifest_fill(mem, manifest, settings, name)) != NULL)
        st = managed_import(mem, manifest, *ret, request_field_fault, req);
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    return st == AZ_OK ? st : op_fail(&req->op, st, NULL, "out of memory");
}

enum az_status
connector_resource_read(struct op *op, const char *name, json_t **ret)
{
    struct json_shown shown = {.dto = NULL};
    enum az_status st = json_rows_fetch(op, &resources_admin_rows, name, &shown);
    if (st != AZ_OK)
        return st;
    if (shown.dto == NULL)
        return op_fail(op, AZ_CONFLICT, "A resource of the connector was deleted meanwhile", NULL);
    return jsonx_parse(op->mem, shown.dto, strlen(shown.dto), MANAGED_DOCUMENT_DEPTH, ret, NULL)
                   == AZ_OK
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "managed resource %s cannot be read", name);
}

static enum az_status
seal(struct op *op, const struct resource_reading *reading, struct json_row *row)
{
    unsigned char *box;
    if (reading->secret == NULL)
        return AZ_OK;
    const char *place = resource_secrets_place(op->mem, reading->key);
    if (place == NULL
        || keyring_seal(op->mem, op->az->keyring, KEYRING_MANAGED_RESOURCE, place, reading->secret,
                        strlen(reading->secret), &box, &row->sealed_length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot encrypt the secrets of %s", reading->key);
    row->sealed = box;
    return AZ_OK;
}

/* Read the document by the rules of a POST or PUT. */
static enum az_status
check(struct request *req, struct resource_reading *reading)
{
    enum az_status st = resource_body_read(&managed_resource_body, reading);
    if (st == AZ_OK)
        st = managed_resource_complete(&req->op, reading);
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    if (st == AZ_OK && !reading->lost && reading->columns != NULL)
        return AZ_OK;
    return st != AZ_OK ? st : op_no_memory(&req->op);
}

enum az_status
connector_resource_write(struct request *req, json_t *document, bool replaces,
                         const char *connector, const char *version)
{
    const char *name = json_string_value(json_object_get(document, "name"));
    const struct resource_stored *stored = NULL;
    struct resource_reading reading = {.mem = req->op.mem,
                                       .cfg = req->op.az->cfg,
                                       .object = document,
                                       .path_key = replaces ? name : NULL,
                                       .fault = request_field_fault,
                                       .fault_arg = req};
    struct json_row row = {.key = name};
    struct json_shown shown;
    enum az_status st = replaces ? resource_stored_fetch(&req->op, name, &stored) : AZ_OK;
    reading.stored = stored;
    if (st == AZ_OK)
        st = check(req, &reading);
    if (st == AZ_OK)
        st = seal(&req->op, &reading, &row);
    if (st != AZ_OK)
        return st;
    row.version = reading.version;
    if ((row.columns = jsonx_dump(req->op.mem, reading.columns)) == NULL)
        return op_no_memory(&req->op);
    st = replaces ? json_rows_replace(&req->op, &resources_admin_rows, &row, &shown)
                  : json_rows_insert(&req->op, &resources_admin_rows, &row, &shown);
    if (st == AZ_PRECONDITION_FAILED) { /* the request has no If-Match */
        az_fault_clear(&req->op.fault);
        return op_fail(&req->op, AZ_CONFLICT,
                       "A resource of the connector was changed at the same time; send it again",
                       NULL);
    }
    return st == AZ_OK ? connector_adopt(&req->op, connector, version, name) : st;
}
