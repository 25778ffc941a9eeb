/* The kinds of objects, and what is common to all of them. */
#include "config.h"

#include <stdarg.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "cli/instance/instance.h"
#include "crypto/digest.h"

#define API "/admin/api/"

/* Members that the service sets by itself (FIELD_READ_ONLY; t/contrib/listed.t compares), and
 * members that another one says already. */
static const char *const client_omitted[] = {"id",
                                             "issuedSoftwareStatementJwt",
                                             "softwareStatementJson",
                                             "registrationType",
                                             "createdAt",
                                             "updatedAt",
                                             "updatedBy",
                                             "lastUsedAt",
                                             "liveTokens",
                                             "allowed24h",
                                             "denied24h",
                                             NULL};
static const char *const provider_omitted[] = {
    "id", "home", "warnings", "clientSecretSet", "userinfoAt", "faults", NULL};
static const char *const connector_omitted[] = {"name",         "description", "category",
                                                "resourceType", "installed",   "installedAt",
                                                "updatedAt",    "manifest",    NULL};
static const char *const resource_omitted[] = {
    "connectorId", "connectorVersion", "status",       "statusReason",
    "leftOut",     "statusChangedAt",  "lastProbe",    "toolCount",
    "syncedAt",    "sharedRedirect",   "waitingTools", NULL};
static const char *const none_omitted[] = {NULL};

/* clang-format off */
const struct instance_kind instance_kinds[] = {
    {"provider",  "providers",  API "identity-providers", "idpId",    provider_omitted,
     {{NULL, "clientSecret", NULL}}},
    {"connector", "connectors", API "connectors",         "id",       connector_omitted,
     {{NULL, NULL, NULL}}},
    {"resource",  "resources",  API "managed-resources",  "name",     resource_omitted,
     {{"upstreamAuth", "value", NULL}, {"upstreamAuth", "password", NULL},
      {"upstreamAuth", "clientSecret", NULL}, {"upstreamAuth", "privateKeyJwt", "key"}}},
    {"rule",      NULL,         API "policy-rules",       "path",     none_omitted,
     {{NULL, NULL, NULL}}},
    {"row",       NULL,         API "policy-data",        "dataKey",  none_omitted,
     {{NULL, NULL, NULL}}},
    {"entry",     NULL,         API "policy-data",        "key",      none_omitted,
     {{NULL, NULL, NULL}}},
    {"client",    "clients",    API "clients",            "clientId", client_omitted,
     {{NULL, "clientSecret", NULL}}},
    {.name = NULL},
};
/* clang-format on */

const struct instance_kind *
instance_kind_named(const char *name)
{
    for (const struct instance_kind *kind = instance_kinds; kind->name != NULL; kind++)
        if (name != NULL && strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

json_t *
instance_table(TALLOC_CTX *mem)
{
    struct jsonx_build table = {jsonx_own(mem, json_object()), false};
    for (const struct instance_kind *kind = instance_kinds; kind->name != NULL; kind++)
        jsonx_set(&table, kind->name, json_object());
    return jsonx_built(&table);
}

json_t *
instance_object(const json_t *table, const char *kind, const char *key)
{
    return json_object_get(json_object_get(table, kind), key);
}

bool
instance_put(json_t *table, const char *kind, const char *key, json_t *object)
{
    return json_object_set_new(json_object_get(table, kind), key, object) == 0;
}

/* Remove the pins of tools but for the hash that was approved: the rest is what syncs found. */
static void
keep_pins(json_t *tools)
{
    size_t i;
    json_t *tool;
    json_array_foreach (tools, i, tool) {
        json_t *pin = json_object_get(tool, "pin"), *approved = json_object_get(pin, "approved");
        if (pin == NULL || json_object_get(pin, "status") == NULL)
            continue; /* it is in the form of the files */
        json_incref(approved);
        json_object_clear(pin);
        if (approved != NULL)
            json_object_set_new(pin, "sha256", approved);
        else
            json_object_del(tool, "pin");
    }
}

/* Remove the members that are null: an absent member and null are the same. */
static void
drop_nulls(json_t *object)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe (object, next, name, value)
        if (json_is_null(value))
            json_object_del(object, name);
}

json_t *
instance_normal(TALLOC_CTX *mem, const struct instance_kind *kind, const json_t *object)
{
    json_t *normal = jsonx_own(mem, jsonx_deep_copy(object));
    for (const char *const *name = kind->omitted; normal != NULL && *name != NULL; name++)
        json_object_del(normal, *name);
    for (size_t i = 0; i < INSTANCE_SECRETS_MAX && kind->secret[i].member != NULL; i++) {
        const struct instance_secret *row = &kind->secret[i];
        json_t *holder = row->outer != NULL ? json_object_get(normal, row->outer) : normal;
        if (row->inner != NULL)
            json_object_del(json_object_get(holder, row->member), row->inner);
        else
            json_object_del(holder, row->member);
    }
    drop_nulls(normal);
    keep_pins(json_object_get(normal, "tools"));
    return normal;
}

bool
instance_digest(const struct instance *run, const json_t *object, char *ret)
{
    char *text = jsonx_dump_sorted(run->cli->mem, object);
    bool done = text != NULL && sha256_hex(text, strlen(text), ret) == AZ_OK;
    talloc_free(text);
    return done;
}

const char *
instance_path(struct cli *cli, const struct instance_kind *kind, const char *key)
{
    return talloc_asprintf(cli->mem, "%s/%s", kind->path, call_escape(cli->mem, key));
}

void
instance_refuse(struct instance *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = talloc_vasprintf(run->cli->mem, format, arguments);
    va_end(arguments);
    output_error("%s: %s", run->cli->path, text != NULL ? text : "out of memory");
    run->refused = true;
}
