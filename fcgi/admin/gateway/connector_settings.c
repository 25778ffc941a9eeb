#include "config.h"

#include "admin/gateway/connector_private.h"

#include "base/json/schema/json_schema.h"

/* Report the failures of a JSON Schema: "/clientId" is the field settings.clientId. */
static void
tell_failures(struct request *req, const json_t *failures)
{
    json_t *failure;
    size_t index;
    json_array_foreach (failures, index, failure) {
        char *path = talloc_asprintf(req->op.mem, "settings%s",
                                     json_string_value(json_object_get(failure, "path")));
        for (char *c = path; c != NULL && *c != '\0'; c++)
            if (*c == '/')
                *c = '.';
        if (path != NULL)
            request_field_fault(req, path, json_string_value(json_object_get(failure, "message")));
    }
}

enum az_status
connector_settings_check(struct request *req, const struct managed_manifest *manifest,
                         const json_t *settings)
{
    json_t *schema = managed_manifest_schema(req->op.mem, manifest), *failures = NULL;
    enum az_status st = schema == NULL ? AZ_SERVER_ERROR
                        : settings == NULL
                            ? AZ_OK
                            : schema_validate(req->op.mem, schema, settings, &failures);
    tell_failures(req, failures);
    return st;
}

enum az_status
connector_settings_read(struct request *req, const struct managed_manifest *manifest,
                        const json_t *settings, json_t **ret)
{
    const char *name;
    json_t *value;
    enum az_status st = connector_settings_check(req, manifest, settings);
    *ret = managed_manifest_plain(req->op.mem, manifest, settings);
    if (*ret == NULL || (st != AZ_OK && st != AZ_INVALID))
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "cannot check the settings");
    json_object_foreach ((json_t *) (uintptr_t) settings, name, value)
        if (json_object_get(*ret, name) == NULL) {
            char *path = talloc_asprintf(req->op.mem, "settings.%s", name);
            st = AZ_INVALID;
            if (path != NULL)
                request_field_fault(req, path,
                                    "is a secret, which its managed resource has: set it there, in "
                                    "upstreamAuth");
        }
    return st == AZ_OK ? AZ_OK : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}
