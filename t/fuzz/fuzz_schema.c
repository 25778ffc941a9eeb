/*
 * The row validator. An input is a schema, a line break and a value; without line break the schema
 * is the shipped subset in small and the input is the value.
 */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/json_schema.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"

#define DEPTH 32

static const char every_keyword[] =
    "{\"type\":[\"object\",\"array\",\"string\"],\"required\":[\"a\"],\"properties\":{"
    "\"a\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,\"uniqueItems\":true,\"items\":{"
    "\"anyOf\":[{\"type\":\"string\",\"minLength\":1,\"maxLength\":4},{\"type\":\"integer\","
    "\"minimum\":1,\"maximum\":9},{\"const\":null},{\"enum\":[[],{\"b\":1.0}]}]}},"
    "\"u\":{\"format\":\"uri\"},\"c\":{\"format\":\"cidr\"},\"z\":{\"format\":\"timezone\"},"
    "\"t\":{\"format\":\"hh:mm\"},\"p\":{\"pattern\":\"^[a-z]+$\"}},"
    "\"additionalProperties\":false}";

/* Each failure has a path that is a pointer of bounded length, and a message. */
static void
check_failures(const json_t *failures)
{
    size_t index;
    const json_t *failure;
    MUST(json_array_size(failures) >= 1 && json_array_size(failures) <= SCHEMA_FAILURES_MAX);
    json_array_foreach (failures, index, failure) {
        const json_t *path = json_object_get(failure, "path");
        const json_t *message = json_object_get(failure, "message");
        MUST(json_object_size(failure) == 2 && json_string_length(message) > 0);
        MUST(json_is_string(path) && json_string_length(path) <= SCHEMA_PATH_MAX);
        MUST(json_string_length(path) == 0 || *json_string_value(path) == '/');
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data, *line = memchr(data, '\n', size);
    size_t length = line != NULL ? (size_t) (line - text) : 0;
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *schema, *value, *failures = NULL;

    if (line == NULL
            ? jsonx_parse(mem, every_keyword, strlen(every_keyword), DEPTH, &schema, NULL) == AZ_OK
            : jsonx_parse(mem, text, length, DEPTH, &schema, NULL) == AZ_OK) {
        const char *rest = line != NULL ? line + 1 : text;
        bool sound = schema_fault(mem, schema) == NULL;
        MUST(sound || line != NULL);
        if (jsonx_parse(mem, rest, size - (size_t) (rest - text), DEPTH, &value, NULL) == AZ_OK) {
            enum az_status status = schema_validate(mem, schema, value, &failures);
            MUST(sound ? status == AZ_OK || status == AZ_INVALID : status == AZ_SERVER_ERROR);
            MUST((status == AZ_INVALID) == (failures != NULL));
            if (failures != NULL)
                check_failures(failures);
        }
    }
    talloc_free(mem);
    return 0;
}
