/* The context of /introspect: an accepted input is the JSON object that it appears to be. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "oauth/parameters/parameters.h"

static bool
scopes_good(struct op *op, const json_t *scopes)
{
    size_t index;
    json_t *word, *words;
    if (json_is_string(scopes))
        return scope_parse(op, json_string_value(scopes), &words) == AZ_OK;
    json_array_foreach ((json_t *) (uintptr_t) scopes, index, word)
        if (!json_is_string(word))
            return false;
    return scopes == NULL || json_is_array(scopes);
}

static bool
is_good(TALLOC_CTX *mem, const char *text)
{
    struct op op = {.mem = mem};
    json_t *value = NULL;
    return strlen(text) <= CONTEXT_TEXT_MAX
           && jsonx_parse(mem, text, strlen(text), CONTEXT_DEPTH_MAX, &value, NULL) == AZ_OK
           && json_is_object(value) && scopes_good(&op, json_object_get(value, "scopes"));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct op op = {.mem = mem};
    const char *text = talloc_strndup(mem, (const char *) data, size);
    json_t *context = NULL;

    enum az_status st = context_parse(&op, text, &context);
    MUST(st == op.fault.status);
    MUST(st == AZ_OK || st == AZ_INVALID_REQUEST || st == AZ_INVALID_SCOPE);
    MUST((st == AZ_OK) == is_good(mem, text));
    MUST((st == AZ_OK) == json_is_object(context));
    const json_t *scopes = json_object_get(context, "scopes");
    MUST(scopes == NULL || json_is_array(scopes));
    talloc_free(mem);
    return 0;
}
