/* Exports of other servers: whatever they say, no secret and no wildcard gets into the files, and
 * each member of the source is in the report (doc/design/instance.md F8). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/instance/import.h"
#include "cli/instance/instance.h"
#include "fuzz/fuzz.h"

/* The nesting of a document (cli/instance/import.c). */
#define DEPTH_MAX 64

static void
check_addresses(const json_t *object, const char *list)
{
    size_t i;
    json_t *item;
    json_array_foreach (json_object_get(object, list), i, item)
        MUST(json_is_string(item) && strchr(json_string_value(item), '*') == NULL);
}

static void
check_file(TALLOC_CTX *mem, const char *path, const json_t *object, bool keycloak)
{
    const bool client = strncmp(path, "clients/", 8) == 0;
    MUST(client || strncmp(path, "providers/", 10) == 0);
    MUST(instance_key_of(mem, client ? "clients" : "providers", path) != NULL);
    MUST(json_is_object(object) && json_object_get(object, "clientSecret") == NULL);
    if (keycloak && client) {
        check_addresses(object, "redirectUris");
        check_addresses(object, "postLogoutRedirectUris");
    }
}

static void
check_import(TALLOC_CTX *mem, const json_t *document, bool keycloak)
{
    struct cli cli = {.mem = mem};
    struct import import = {
        .cli = &cli,
        .files = jsonx_own(mem, json_object()),
        .lines = jsonx_own(mem, json_array()),
        .bindings = jsonx_own(mem, json_pack("{s:{}}", "clients")),
    };
    const char *path;
    json_t *object, *line;
    size_t i;
    bool taken = keycloak ? import_keycloak(&import, document) : import_hydra(&import, document);
    MUST(!import.lost);
    MUST(taken || json_object_size(import.files) == 0);
    MUST(import.mapped + import.told <= json_array_size(import.lines));
    json_object_foreach (import.files, path, object)
        check_file(mem, path, object, keycloak);
    json_array_foreach (import.lines, i, line)
        MUST(strchr(json_string_value(line), '\n') == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *document = NULL;
    if (jsonx_parse(mem, (const char *) data, size, DEPTH_MAX, &document, NULL) == AZ_OK) {
        check_import(mem, document, true);
        check_import(mem, document, false);
    }
    talloc_free(mem);
    return 0;
}
