/* Settings of connectors in the files (F2, F4). */
#include "config.h"

#include "base/json/jsonx.h"
#include "cli/instance/instance.h"

/* True if a manifest has a setting for a secret. */
static bool
is_secret(const json_t *connector, const char *name)
{
    const json_t *settings = json_object_get(json_object_get(connector, "manifest"), "settings");
    return json_is_true(json_object_get(
        json_object_get(json_object_get(settings, "properties"), name), "writeOnly"));
}

int
instance_check_settings(struct instance *run, const struct instance_kind *kind, const char *key,
                        const json_t *file)
{
    const json_t *settings = json_object_get(file, INSTANCE_SETTINGS);
    const struct call call = {.method = "GET", .path = instance_path(run->cli, kind, key)};
    struct answer answer;
    const char *name;
    json_t *value;
    if (kind->secret[0].member != NULL || json_object_size(settings) == 0)
        return CLI_OK;
    int status = call_send(run->cli, &call, &answer);
    if (status != CLI_OK || answer.status == 404) /* an unknown one is refused when it is applied */
        return status;
    if (answer.status != 200)
        return call_refuse(run->cli, &answer, NULL);
    json_object_foreach ((json_t *) (uintptr_t) settings, name, value)
        if (is_secret(answer.json, name))
            instance_refuse(run,
                            "connector %s: settings.%s is a secret and must not be in this file; "
                            "write {\"env\": NAME} or {\"file\": PATH} into upstreamAuth of the "
                            "file of its managed resource",
                            key, name);
    return CLI_OK;
}
