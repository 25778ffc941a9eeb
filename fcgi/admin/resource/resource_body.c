#include "config.h"

#include "admin/resource/resource_body.h"

#include <string.h>

#include "base/digits.h"
#include "base/json/field_rules.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "http/form.h"
#include "http/request.h"

void
resource_tell(struct resource_reading *reading, const char *name, const char *why)
{
    reading->faulty = true;
    reading->fault(reading->fault_arg, name, why);
}

static void
resource_tell_field(void *arg, const char *path, const char *why)
{
    resource_tell(arg, path, why);
}

const char *
resource_text(const struct resource_reading *reading, const char *name)
{
    return json_string_value(json_object_get(reading->object, name));
}

bool
resource_text_is(const struct resource_reading *reading, const char *name, const char *text)
{
    const char *given = resource_text(reading, name);
    return given != NULL && strcmp(given, text) == 0;
}

void
resource_set_column(struct resource_reading *reading, const char *column, json_t *value)
{
    if (reading->columns == NULL)
        json_decref(value);
    else if (json_object_set_new(reading->columns, column, value) != 0)
        reading->lost = true;
}

/* PUT: the path names the row. Another key in the body is a fault, or is ignored, as the table
 * says. */
static void
resource_settle_key(const struct resource_body *body, struct resource_reading *reading)
{
    const char *given = resource_text(reading, body->key);
    const json_t *value = json_object_get(reading->object, body->key);
    if (reading->path_key == NULL)
        return;
    if (body->key_fixed && given != NULL && strcmp(given, reading->path_key) != 0)
        resource_tell(reading, body->key, "cannot be changed: it differs from the one in the path");
    if (body->key_fixed && value != NULL && !json_is_null(value))
        return;
    if (json_object_set_new(reading->object, body->key, json_string(reading->path_key)) != 0)
        reading->lost = true;
}

enum az_status
resource_body_read(const struct resource_body *body, struct resource_reading *reading)
{
    reading->key = reading->secret = NULL;
    reading->columns = NULL;
    resource_settle_key(body, reading);
    enum az_status st = fields_read(reading->mem, body->fields, reading->object,
                                    resource_tell_field, reading, NULL, &reading->columns);
    if (body->check != NULL)
        body->check(reading);
    if (st == AZ_SERVER_ERROR || reading->lost || reading->faulty) {
        reading->columns = NULL;
        return st == AZ_SERVER_ERROR || reading->lost ? AZ_SERVER_ERROR : AZ_INVALID;
    }
    reading->key = resource_text(reading, body->key);
    reading->secret = body->secret != NULL ? resource_text(reading, body->secret) : NULL;
    return AZ_OK;
}

const struct route_param resource_owner_params[] = {RESOURCE_OWNER_PARAM, {.name = NULL}};

enum az_status
resource_owner_read(struct request *req, const char **ret)
{
    enum az_status st = req->params == 0 && *req->query != '\0'
                            ? request_parse_form(req, req->query, strlen(req->query))
                            : AZ_OK;
    *ret = st == AZ_OK ? request_param(req, "owner") : NULL;
    if (*ret == NULL)
        return st;
    json_t *owner = jsonx_own(req->op.mem, json_string(*ret));
    const char *why = owner == NULL                   ? "cannot be read"
                      : strlen(*ret) > FIELD_NAME_MAX ? "is too long"
                      : **ret == '\0'                 ? "is empty"
                                                      : field_rule_visible(req->op.mem, owner);
    if (why == NULL)
        return AZ_OK;
    request_field_error(req, "owner", why);
    return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

enum az_status
path_id_read(struct request *req, int64_t *ret)
{
    return digits_read(req->path_value[0], INT64_MAX, ret)
               ? AZ_OK
               : op_fail(&req->op, AZ_NOT_FOUND, NULL, "the id in the path is not a number");
}
