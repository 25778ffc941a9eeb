/* OpenAPI documents: an input is the document; the routes and tools of what is accepted are
 * bounded, and have no reference. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "managed/import/openapi.h"

static void
note_place(void *arg, const char *path, const char *why)
{
    unsigned *faults = arg;
    MUST(path != NULL && why != NULL && *why != '\0');
    (*faults)++;
}

/* A text under the name $ref is a reference; a property of that name is an object or a boolean. */
static bool
has_reference(const json_t *value)
{
    const char *name;
    json_t *member;
    size_t index;
    json_object_foreach ((json_t *) (uintptr_t) value, name, member)
        if ((strcmp(name, "$ref") == 0 && json_is_string(member)) || has_reference(member))
            return true;
    json_array_foreach (value, index, member)
        if (has_reference(member))
            return true;
    return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct openapi_import import;
    unsigned faults = 0;
    json_t *document = NULL;
    struct openapi_reading reading = {.mem = mem, .fault = note_place, .fault_arg = &faults};

    jsonx_parse(mem, (const char *) data, size, 32, &document, NULL);
    reading.document = document;
    enum az_status st = openapi_read(&reading, &import);
    MUST(st == AZ_OK || st == AZ_INVALID);
    MUST((st == AZ_OK) == (faults == 0));
    if (st == AZ_OK) {
        MUST(json_array_size(import.routes) == json_array_size(import.tools));
        MUST(json_array_size(import.routes) <= OPENAPI_OPERATIONS_MAX);
        MUST(!has_reference(import.tools));
        MUST(jsonx_dump(mem, import.routes) != NULL && jsonx_dump(mem, import.tools) != NULL);
    }
    talloc_free(mem);
    return 0;
}
