#include "config.h"

#include "admin/resource/owner.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "http/form.h"
#include "http/request.h"

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
