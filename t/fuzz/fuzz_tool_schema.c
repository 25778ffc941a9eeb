/* Schemas of tools, and arguments: a line feed stands between them. The reduced schema has no
 * fault, and the check ends. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "base/json/jsonx.h"
#include "base/json/schema/json_schema.h"
#include "fuzz/fuzz.h"
#include "gateway/mcp/message/tool_schema.h"
#include "gateway/mcp/tools/arguments.h"

static void
check_placing(TALLOC_CTX *mem, const json_t *args, const json_t *arguments)
{
    struct tool_request request = {.query = NULL};
    const char *why = NULL;
    if (arguments_place(mem, args, arguments, &request, &why) != AZ_OK) {
        MUST(why != NULL && request.query == NULL);
        return;
    }
    const char *name;
    json_t *value;
    MUST(strlen(request.query) <= ARGUMENTS_QUERY_MAX);
    MUST(request.query[strcspn(request.query, " \r\n#?")] == '\0');
    json_object_foreach (request.fields, name, value)
        MUST(json_string_value(value)[strcspn(json_string_value(value), "\r\n")] == '\0');
    json_object_foreach (request.path, name, value)
        MUST(json_string_length(value) > 0);
    MUST((request.body != NULL ? strlen(request.body) : 0) == request.body_length);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const uint8_t *cut = size > 0 ? memchr(data, '\n', size) : NULL;
    json_t *schema = NULL, *arguments = NULL;
    size_t first = cut != NULL ? (size_t) (cut - data) : size;
    if (cut != NULL && jsonx_parse(mem, (const char *) data, first, 100, &schema, NULL) == AZ_OK
        && jsonx_parse(mem, (const char *) cut + 1, size - first - 1, 100, &arguments, NULL)
               == AZ_OK) {
        const char *why = NULL;
        json_t *reduced = tool_schema_reduce(mem, schema);
        MUST(reduced != NULL && schema_fault(mem, reduced) == NULL);
        enum az_status st = tool_schema_check(mem, schema, arguments, &why);
        MUST(st == AZ_OK || (st == AZ_INVALID && why != NULL));
        tool_schema_fits(schema);
        check_placing(mem, schema, arguments);
    }
    talloc_free(mem);
    return 0;
}
