/* Manifests of connectors: an input is the object; what is accepted fills without a variable that
 * stays, and shows no secret. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "managed/import/manifest.h"

static void
collect(void *arg, const char *path, const char *why)
{
    unsigned *faults = arg;
    MUST(path != NULL && why != NULL && *why != '\0');
    (*faults)++;
}

/* Return settings with a text for each property; the secrets have one of their own. */
static json_t *
settings_of(TALLOC_CTX *mem, const struct managed_manifest *manifest)
{
    json_t *settings = jsonx_own(mem, json_object()), *property;
    const char *name;
    json_object_foreach (json_object_get(manifest->settings, "properties"), name, property) {
        bool secret = json_is_true(json_object_get(property, "writeOnly"));
        json_object_set_new(settings, name, json_string(secret ? "5ecret" : "plain"));
    }
    return settings;
}

static void
check_manifest(TALLOC_CTX *mem, const struct managed_manifest *manifest)
{
    json_t *settings = settings_of(mem, manifest);
    json_t *document = managed_manifest_fill(mem, manifest, settings, "name");
    MUST(document != NULL && managed_manifest_schema(mem, manifest) != NULL);
    const json_t *policy = managed_manifest_policy(manifest->document);
    MUST(policy == NULL || json_is_object(policy));
    json_object_del(document, "upstreamAuth");
    const char *plain = jsonx_dump(mem, managed_manifest_plain(mem, manifest, settings));
    MUST(strstr(plain, "\"5ecret\"") == NULL
         || strstr(jsonx_dump(mem, manifest->document), "5ecret") != NULL);
    json_t *again = managed_manifest_fill(mem, manifest, settings, "name");
    MUST(managed_manifest_update(document, again));
    MUST(json_array_size(managed_scopes_added(mem, manifest->scopes, manifest->scopes)) == 0);
    MUST(json_array_size(managed_scopes_added(mem, NULL, manifest->scopes))
         == json_array_size(manifest->scopes));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct managed_manifest manifest;
    unsigned faults = 0;
    json_t *object = NULL;

    jsonx_parse(mem, (const char *) data, size, MANIFEST_DEPTH, &object, NULL);
    enum az_status st = managed_manifest_read(mem, object, collect, &faults, &manifest);
    MUST(st == AZ_OK || st == AZ_INVALID);
    MUST((st == AZ_OK) == (faults == 0));
    if (st == AZ_OK)
        check_manifest(mem, &manifest);
    talloc_free(mem);
    return 0;
}
