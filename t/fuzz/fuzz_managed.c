/* Documents of managed resources: an input is the object; what is accepted has the properties that
 * the gateway relies on. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "managed/auth.h"
#include "managed/choose.h"
#include "managed/document.h"
#include "managed/merge.h"
#include "managed/names.h"

#define DEPTH 32

static void
collect(void *arg, const char *path, const char *why)
{
    unsigned *faults = arg;
    MUST(path != NULL && why != NULL && *why != '\0');
    (*faults)++;
}

static void
check_headers(const struct managed_headers *headers)
{
    for (size_t i = 0; i < headers->count; i++) {
        MUST(strpbrk(headers->item[i].name, "\r\n: ") == NULL && *headers->item[i].name != '\0');
        MUST(strpbrk(headers->item[i].value, "\r\n") == NULL);
        MUST(strcasecmp(headers->item[i].name, "Host") != 0);
        MUST(strcasecmp(headers->item[i].name, "Authorization") != 0);
        MUST(strcasecmp(headers->item[i].name, "Transfer-Encoding") != 0);
    }
}

static void
check_resource(const struct managed_resource *resource)
{
    MUST(managed_name_is_good(resource->name) && resource->display_name != NULL);
    MUST((resource->upstream == MANAGED_STATIC) <= (resource->upstream_url == NULL));
    MUST(resource->upstream_url == NULL || strncmp(resource->upstream_url, "http", 4) == 0);
    for (size_t i = 0; i < resource->routes; i++) {
        const struct managed_route *route = &resource->route[i];
        MUST(route->id != NULL && route->methods != NULL && route->methods[0] != NULL);
        MUST(json_is_array(route->scopes) && *route->path == '/');
        MUST((resource->upstream == MANAGED_STATIC) == (route->response != NULL));
        check_headers(&route->request_headers);
    }
    for (size_t i = 0; i < resource->tools; i++) {
        const struct managed_tool *tool = &resource->tool[i];
        MUST(strlen(tool->exposed.shown) <= MANAGED_EXPOSED_MAX && tool->input_schema != NULL);
        MUST((resource->upstream == MANAGED_MCP) == (tool->route == NULL));
        MUST(tool->served == managed_tool_is_served(resource, tool));
        for (size_t j = 0; j < i; j++)
            MUST(!managed_names_clash(&tool->exposed, &resource->tool[j].exposed));
    }
}

/* Check that a document which a save takes is read whole when it is stored, and that the tools
 * which stay of a refused one are sound. */
static void
check_stored(TALLOC_CTX *mem, const json_t *object, enum az_status saved)
{
    struct managed_resource resource = {.name = NULL};
    const struct managed_reading reading = {
        .mem = mem, .document = object, .insecure_hosts = "localhost", .stored = true};
    enum az_status st = managed_read(&reading, &resource);
    MUST(st == AZ_OK || (st == AZ_INVALID && saved == AZ_INVALID));
    MUST(st != AZ_OK || (saved == AZ_OK) == (resource.left_outs == 0));
    for (size_t i = 0; i < resource.tools; i++)
        for (size_t j = 0; j < i; j++)
            MUST(!managed_names_clash(&resource.tool[i].exposed, &resource.tool[j].exposed));
    for (size_t i = 0; i < resource.routes; i++)
        MUST(resource.route[i].methods != NULL
             && !(resource.route[i].left_out && resource.route[i].enabled));
}

/* No secret stays in the document that is stored. */
static void
check_secrets(TALLOC_CTX *mem, const json_t *object)
{
    json_t *document = jsonx_own(mem, json_deep_copy(object));
    struct managed_secrets_change change;
    MUST(managed_secrets_take(mem, document, NULL, NULL, "now", &change) == AZ_OK);
    json_t *auth = json_object_get(document, "upstreamAuth");
    for (size_t i = 0; i < MANAGED_SECRETS_MAX; i++) {
        const struct managed_secret_row *row = &managed_secret_rows[i];
        json_t *value = json_object_get(auth, row->member);
        if (row->inner != NULL)
            value = json_object_get(value, row->inner);
        MUST(!json_is_string(value));
        MUST((json_object_get(change.given, row->name) != NULL)
             == (json_object_get(change.set, row->name) != NULL));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct managed_resource resource = {.name = NULL};
    unsigned faults = 0;
    json_t *object = NULL;

    jsonx_parse(mem, (const char *) data, size, DEPTH, &object, NULL);
    const struct managed_reading reading = {.mem = mem,
                                            .document = object,
                                            .insecure_hosts = "localhost",
                                            .fault = collect,
                                            .fault_arg = &faults};
    enum az_status st = managed_read(&reading, &resource);
    MUST(st == AZ_OK || st == AZ_INVALID);
    MUST((st == AZ_OK) == (faults == 0));
    if (st == AZ_OK)
        check_resource(&resource);
    check_stored(mem, object, st);
    if (json_is_object(object)) {
        check_secrets(mem, object);
        MUST(managed_tools_merge(mem, json_object_get(object, "tools"),
                                 json_object_get(object, "tools"), true)
             != NULL);
    }
    talloc_free(mem);
    return 0;
}
